"""`roadstead manifests WHAT`: what is installed, printed or put in a folder."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.cli.options import Out, Output, Quiet, application, chosen
from roadstead.cli.out import Screen, as_json
from roadstead.deploy.account_policies import account_policies
from roadstead.deploy.admission import admission
from roadstead.deploy.crds import crds
from roadstead.deploy.rbac import ACCOUNTS, HOME, Account, rbac
from roadstead.deploy.tenants import NOTE, tenant_roles, tenant_tiers
from roadstead.errors import InputError
from roadstead.kube.documents import dump
from roadstead.kube.names import is_label

EXAMPLES = (
    "roadstead manifests rbac | kubectl apply -f -",
    "roadstead manifests rbac --account roadstead-attachments",
    "roadstead manifests policies | kubectl apply -f -",
    "roadstead manifests crds --out deploy/",
    "roadstead manifests webhook -n cozy-system",
)
app = application()
WHAT = ("crds", "policies", "rbac", "tenant-roles", "tenant-tiers", "webhook")
FILES = {
    "policies": "policies/accounts.yaml",
    "rbac": "rbac/accounts.yaml",
    "tenant-roles": "rbac/tenant-roles.yaml",
    "tenant-tiers": "rbac/tenant-tiers.yaml",
    "webhook": "webhook/lineage.yaml",
}
"""The file of each below `deploy/`; the definitions have one each."""


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
    """Print definitions, our accounts and their policies, what tenants may do, or the webhook.

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
    accounts = _accounts(account)
    files = files_of(what, home, accounts)
    page = Screen.here("never", quiet=quiet)
    if out:
        for name, text in files.items():
            _save(Path(out) / name, text)
            page.talk(f"wrote {Path(out) / name}")
        return 0
    if form == "json":
        items = _documents(what, home, accounts)
        page.write(as_json("List", {"items": items}).replace("cli.roadstead/v1", "v1", 1))
        return 0
    page.write("---\n".join(files.values()))
    return 0


def _accounts(name: str) -> tuple[Account, ...]:
    """The account of a name, or all.

    Raises: InputError.
    """
    found = tuple(one for one in ACCOUNTS if name in {"", one.name})
    if not found:
        known = ", ".join(one.name for one in ACCOUNTS)
        raise InputError(f"there is no account `{name}`", hint=f"known: {known}")
    return found


def _documents(what: str, home: str, accounts: Sequence[Account]) -> list[dict[str, Any]]:
    made: dict[str, Callable[[], Iterable[dict[str, Any]]]] = {
        "crds": lambda: crds().values(),
        "policies": lambda: account_policies(home, accounts),
        "rbac": lambda: rbac(home, accounts),
        "tenant-roles": tenant_roles,
        "tenant-tiers": tenant_tiers,
        "webhook": lambda: admission(home),
    }
    return list(made[what]())


def files_of(what: str, home: str = HOME, accounts: Sequence[Account] = ACCOUNTS) -> dict[str, str]:
    """The generated files, by their name below `deploy/`."""
    if what == "crds":
        return {f"crds/{name}": dump([body]) for name, body in crds().items()}
    text = dump(_documents(what, home, accounts))
    return {FILES[what]: NOTE + text if what == "tenant-roles" else text}


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
