"""`roadstead manifests crds|rbac`: what is installed, printed or written to a folder."""

from pathlib import Path
from typing import Annotated

import typer

from roadstead.cli.options import Out, Output, Quiet, application, chosen
from roadstead.cli.out import Screen, as_json
from roadstead.deploy.crds import crds
from roadstead.deploy.rbac import HOME, rbac
from roadstead.errors import InputError
from roadstead.kube.documents import dump
from roadstead.kube.names import is_label

EXAMPLES = (
    "roadstead manifests rbac | kubectl apply -f -",
    "roadstead manifests crds --out deploy/",
)
app = application()
WHAT = ("crds", "rbac")


@app.command()
def manifests(
    what: Annotated[str, typer.Argument(metavar="crds|rbac", help="What to print.")],
    out: Out = "",
    output: Output = "",
    home: Annotated[
        str, typer.Option("--namespace", "-n", help="The namespace of the account.")
    ] = HOME,
    quiet: Quiet = False,
) -> int:
    """Print the CustomResourceDefinitions, or the account with its permissions.

    The ApplicationDefinition CRD is for development clusters; never apply it over the
    platform's own. Formats: yaml, json.
    """
    form = chosen(output, ("yaml", "json"))
    if what not in WHAT:
        raise InputError(f"there are no manifests `{what}`", hint=f"use {' or '.join(WHAT)}")
    if not is_label(home):
        raise InputError(f"`{home}` is no name of a namespace")
    files = files_of(what, home)
    page = Screen.here("never", quiet=quiet)
    if out:
        for name, text in files.items():
            _save(Path(out) / name, text)
            page.talk(f"wrote {Path(out) / name}")
        return 0
    if form == "json":
        items = list(crds().values()) if what == "crds" else list(rbac(home))
        page.write(as_json("List", {"items": items}).replace("cli.roadstead/v1", "v1", 1))
        return 0
    page.write("---\n".join(files.values()))
    return 0


def files_of(what: str, home: str = HOME) -> dict[str, str]:
    """The generated files, by their name below `deploy/`."""
    if what == "rbac":
        return {"rbac.yaml": dump(rbac(home))}
    return {f"crds/{name}": dump([body]) for name, body in crds().items()}


def generated() -> dict[str, str]:
    """The same files as the repository holds them."""
    found = {name: text for what in WHAT for name, text in files_of(what).items()}
    return {f"deploy/{name}": text for name, text in found.items()}


def _save(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", place=str(file)) from None
