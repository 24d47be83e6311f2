"""`roadstead manifests WHAT`: what is installed, printed or put in a folder."""

from pathlib import Path
from typing import Annotated

import typer

from roadstead.cli.options import Out, Output, Quiet, application, chosen
from roadstead.cli.out import Screen, as_json
from roadstead.deploy.rbac import ACCOUNTS, HOME, Account
from roadstead.deploy.shipped import FILES, OBJECTS, WHAT, Asked, files_of
from roadstead.errors import InputError
from roadstead.kube.names import is_label
from roadstead.kube.nearest import did_you_mean

EXAMPLES = (
    "roadstead manifests rbac | kubectl apply -f -",
    "roadstead manifests rbac --account roadstead-attachments",
    "roadstead manifests policies | kubectl apply -f -",
    "roadstead manifests crds --out deploy/",
    "roadstead manifests webhook -n cozy-system",
    "roadstead manifests chart --out deploy/",
    "roadstead manifests dashboards > roadstead.json",
)
app = application()


@app.command()
def manifests(
    what: Annotated[str, typer.Argument(metavar="|".join(WHAT), help="What to print.")],
    *,
    out: Out = "",
    output: Output = "",
    home: Annotated[
        str, typer.Option("--namespace", "-n", help="The namespace of the accounts.")
    ] = HOME,
    account: Annotated[
        str,
        typer.Option("--account", metavar="NAME", help="Of `rbac`, `policies` this account alone."),
    ] = "",
    quiet: Quiet = False,
) -> int:
    """Print what is installed, or what goes with it.

    `crds`, `rbac`, `policies`, `workloads` and `webhook` are what runs, as objects; `chart` and
    `kustomize` are the same as folders; `alerts` and `dashboards` are for monitoring, `schemas`
    for editors.


    The ApplicationDefinition CRD is for development clusters; never apply it over the
    platform's own. `policies` hold our accounts to what RBAC cannot say. `tenant-tiers` are
    roles that the platform's and Kubernetes' own take up; `tenant-roles` are the same rules for
    whoever merges them into the platform's roles by hand: never apply them over those. The
    webhook's registration is to be applied last, once its Deployment is available. Formats:
    yaml, json.
    """
    form = chosen(output, ("yaml", "json"))
    if what not in WHAT:
        raise InputError(f"there are no manifests `{what}`", hint=f"use {' or '.join(WHAT)}")
    if not is_label(home):
        raise InputError(f"`{home}` is no name of a namespace")
    if form == "json" and what in FILES:
        raise InputError(f"`{what}` is files in their own form", hint="leave `-o json` out")
    asked = Asked(home, _accounts(account))
    page = Screen.here("never", quiet=quiet)
    if out:
        for name, text in files_of(what, asked).items():
            _save(Path(out) / name, text)
            page.talk(f"wrote {Path(out) / name}")
        return 0
    if form == "json":
        items = OBJECTS[what](asked)
        page.write(as_json("List", {"items": items}).replace("cli.roadstead/v1", "v1", 1))
        return 0
    page.write(_stream(what, files_of(what, asked)))
    return 0


def _stream(what: str, files: dict[str, str]) -> str:
    """Several files as one text; those of different forms each below its name."""
    if what in OBJECTS or len(files) == 1:
        return "---\n".join(files.values())
    return "".join(f"# {name}\n{text}" for name, text in files.items())


def _accounts(name: str) -> tuple[Account, ...]:
    """The account of a name, or all.

    Raises: InputError.
    """
    found = tuple(one for one in ACCOUNTS if name in {"", one.name})
    if not found:
        known = ", ".join(one.name for one in ACCOUNTS)
        hint = did_you_mean(name, (one.name for one in ACCOUNTS), f"known: {known}")
        raise InputError(f"there is no account `{name}`", hint=hint)
    return found


def _save(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", place=str(file)) from None
