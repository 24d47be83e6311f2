"""`roadstead service secret template`: the skeleton of a Secret that a service requires.

Every value is empty: it is filled in an editor that encrypts, and never by this program.
"""

from typing import Annotated

import typer

from roadstead.capabilities.services.api.parts import Secret
from roadstead.cli.main import complain
from roadstead.cli.options import application
from roadstead.cli.out import Screen
from roadstead.cli.service.gather import SECRET_SUFFIX
from roadstead.cli.service.session import Catalogs, PlatformFile, begin, chosen
from roadstead.cli.service.told import lines
from roadstead.errors import InputError
from roadstead.kube.documents import dump

EXAMPLES = (
    "roadstead service secret template wiki db -f catalog/ --platform platform.yaml",
    "sops --encrypt --in-place secrets/wiki/db.sops.yaml",
)
app = application()

FAILED = 2
_HOME = {"KeycloakOIDCClient": {"operator.keycloak.org/kind": "KeycloakOIDCClient"}}


@app.command()
def secret(
    what: Annotated[str, typer.Argument(metavar="template", help="What to print.")],
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Whose Secret.")],
    name: Annotated[str, typer.Argument(metavar="SECRET", help="Its name, such as oidc.")],
    *,
    files: Catalogs = None,
    platform: PlatformFile = "",
) -> int:
    """Print the skeleton of a required Secret with empty values, to be piped into `sops`."""
    if what != "template":
        raise InputError(f"`service secret {what}` is unknown", hint="use template")
    session = begin(files or (), platform)
    for problem in session.problems:
        complain(problem)
    page = Screen.here("never")
    if session.catalog is None:
        lines(page, session.findings)
        return FAILED
    (one,) = chosen(session.catalog, [service])
    keys = sorted({key for held in one.required_secrets if held.name == name for key in held.keys})
    if not keys:
        raise InputError(
            f"service {service} requires no Secret `{name}`", hint=_known(one.required_secrets)
        )
    provider = session.catalog.platform.identity.provider
    labels = (
        _HOME["KeycloakOIDCClient"] if (name, provider) == ("oidc", "keycloak-operator") else {}
    )
    metadata = {"name": f"{service}-{name}", "namespace": service}
    page.write(
        dump(
            [
                {
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": {**metadata, **({"labels": labels} if labels else {})},
                    "type": "Opaque",
                    "stringData": dict.fromkeys(keys, ""),
                }
            ]
        )
    )
    page.talk(f"next: encrypt it as {session.secrets_folder}/{service}/{name}{SECRET_SUFFIX}")
    return 0


def _known(required: tuple[Secret, ...]) -> str:
    names = sorted({one.name for one in required})
    return f"it requires {', '.join(names)}" if names else "it requires none"
