"""Registration at Keycloak. Source: contract 3.9; R-IDP-02, R-IDP-06.

Never a realm import: that is documented to create only, and never updates.
"""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import KEYCLOAK_CLIENT, KEYCLOAK_OIDC_CLIENT
from roadstead.capabilities.services.api.parts import FORWARD_AUTH, OIDC
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import IDENTITY_FILE, Rendered, rendered
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.objects import canonical
from roadstead.kube.refs import CONFIG_MAP, Kind

SECRET_KEY = "client-secret"  # noqa: S105 - the name of a key
_CALLBACK = "/oauth2/callback"
_OPERATOR = "keycloak-operator"
_CONFIG_CLI = "config-cli"


def registration(seen: Snapshot) -> Iterator[Rendered]:
    """The service as a client of the realm, in the form the platform's provider reads."""
    if seen.service.auth.mode not in {OIDC, FORWARD_AUTH}:
        return
    provider = seen.platform.identity.provider
    if provider == _OPERATOR:
        yield _operator_client(seen)
    elif provider == _CONFIG_CLI:
        yield _fragment(seen)
    else:
        yield _made(seen, KEYCLOAK_CLIENT, {"spec": _edp_client(seen)})


def redirects(seen: Snapshot) -> list[str]:
    """Where Keycloak may send people back to: each host with each path, sorted."""
    auth = seen.service.auth
    paths = (_CALLBACK,) if auth.mode == FORWARD_AUTH else auth.redirect_paths
    hosts = [route.host for route in seen.service.ingress_routes]
    return sorted(f"https://{host}{path}" for host in hosts for path in paths)


def _home(seen: Snapshot) -> str:
    route = seen.service.primary_route
    return f"https://{route.host}" if route else ""


def _mapper(seen: Snapshot) -> dict[str, Any]:
    return {
        "name": "audience",
        "protocol": "openid-connect",
        "protocolMapper": "oidc-audience-mapper",
        "config": {
            "access.token.claim": "true",
            "id.token.claim": "true",
            "included.client.audience": seen.service.name,
        },
    }


def _edp_client(seen: Snapshot) -> dict[str, Any]:
    name, realm = seen.service.name, seen.platform.identity.realm_ref
    return {
        "clientId": name,
        "name": name,
        **({"realmRef": {"kind": realm.kind, "name": realm.name}} if realm else {}),
        "public": False,
        "standardFlowEnabled": True,
        "directAccess": False,
        "secret": f"${name}-oidc:{SECRET_KEY}",
        "webUrl": _home(seen),
        "redirectUris": redirects(seen),
        "webOrigins": ["+"],
        "defaultClientScopes": ["groups"],
        "protocolMappers": [_mapper(seen)],
    }


def _operator_client(seen: Snapshot) -> Rendered:
    """The Keycloak operator's own kind, which lives beside its Keycloak object.

    Its name is the client's id.
    """
    settings, name = seen.platform.identity, seen.service.name
    spec = {
        **({"keycloakCRName": settings.realm_ref.name} if settings.realm_ref else {}),
        "realm": settings.realm,
        "client": {
            "displayName": name,
            "enabled": True,
            "loginFlows": ["STANDARD"],
            "redirectUris": redirects(seen),
            "webOrigins": ["+"],
            "auth": {
                "method": "client-secret",
                "secretRef": {"name": f"{name}-oidc", "key": SECRET_KEY},
            },
        },
    }
    return _made(seen, KEYCLOAK_OIDC_CLIENT, {"spec": spec}, namespace=settings.namespace)


def _fragment(seen: Snapshot) -> Rendered:
    """One client in the form keycloak-config-cli imports; the secret stays in its environment."""
    name = seen.service.name
    variable = f"{name.upper().replace('-', '_')}_CLIENT_SECRET"
    client = {
        "clientId": name,
        "name": name,
        "protocol": "openid-connect",
        "publicClient": False,
        "standardFlowEnabled": True,
        "directAccessGrantsEnabled": False,
        "secret": f"$(env:{variable})",
        "baseUrl": _home(seen),
        "redirectUris": redirects(seen),
        "webOrigins": ["+"],
        "defaultClientScopes": ["groups"],
        "protocolMappers": [_mapper(seen)],
    }
    realm = {"realm": seen.platform.identity.realm, "clients": [client]}
    label = {f"{seen.platform.label_prefix}/keycloak-config": "client"}
    data = {f"{name}.json": canonical(realm).decode()}
    return _made(seen, CONFIG_MAP, {"data": data}, labels=label)


def _made(
    seen: Snapshot,
    kind: Kind,
    rest: dict[str, Any],
    *,
    namespace: str | None = None,
    labels: dict[str, str] | None = None,
) -> Rendered:
    return rendered(
        seen,
        kind,
        seen.service.name,
        namespace=namespace,
        file=IDENTITY_FILE,
        field="auth.mode",
        role=roles.CLIENT,
        rest=rest,
        labels=labels,
    )
