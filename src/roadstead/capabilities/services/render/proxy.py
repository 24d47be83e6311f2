"""oauth2-proxy in front of a bare UI. Source: contract 3.9; R-IDP-02, R-IDP-06.

Discovery is skipped and tokens are redeemed in the cluster, so a login depends neither on public
DNS nor on a way back through the Gateway.
"""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.services.api.kinds import DEPLOYMENT, SERVICE
from roadstead.capabilities.services.api.parts import FORWARD_AUTH, TCP
from roadstead.capabilities.services.render import roles
from roadstead.capabilities.services.render.part import (
    AUTH,
    IDENTITY_FILE,
    Rendered,
    in_order,
    rendered,
    selector,
)
from roadstead.capabilities.services.render.pod import resources
from roadstead.capabilities.services.render.policies import PROXY_PORT, proxied
from roadstead.capabilities.services.render.workload import rolling
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.refs import Kind

_USER = 65532
_PORT_NAME = f"tcp-{PROXY_PORT}"
_SECRETS = {
    "OAUTH2_PROXY_CLIENT_SECRET": "client-secret",
    "OAUTH2_PROXY_COOKIE_SECRET": "cookie-secret",
}


def proxies(seen: Snapshot) -> Iterator[Rendered]:
    """One proxy a route port, since it chooses upstreams by path, never by host.

    Where Envoy asks instead of passing through, one for all.
    """
    if seen.service.auth.mode != FORWARD_AUTH:
        return
    service = seen.service
    for port in service.route_ports if proxied(seen) else (None,):
        name = f"{service.name}-auth" + ("" if port is None else f"-{port}")
        selects = selector(seen, AUTH)
        if port is not None:
            # Policies use the pair alone; without this two proxies would share endpoints.
            key = f"{seen.platform.label_prefix}/auth-port"
            selects = in_order({**selects, key: str(port)})
        yield _made(seen, DEPLOYMENT, name, selects, _deployment(seen, selects, port))
        served = {
            "name": _PORT_NAME,
            "port": PROXY_PORT,
            "protocol": TCP,
            "targetPort": PROXY_PORT,
        }
        spec = {"type": "ClusterIP", "selector": selects, "ports": [served]}
        yield _made(seen, SERVICE, name, selects, spec)


def arguments(seen: Snapshot, port: int | None) -> list[str]:
    """What oauth2-proxy is started with; no secret is among it. port: None where Envoy asks."""
    service, settings = seen.service, seen.platform.identity
    name, issuer, inside = service.name, settings.issuer_url, settings.backchannel_url
    upstream = "static://200"
    if port is not None:
        # The slash at the end makes it match every path.
        upstream = f"http://{name}.{name}.svc.{seen.platform.cluster.dns_domain}:{port}/"
    return [
        "--provider=keycloak-oidc",
        f"--client-id={name}",
        f"--oidc-issuer-url={issuer}",
        "--skip-oidc-discovery=true",
        f"--login-url={issuer}/protocol/openid-connect/auth",
        f"--redeem-url={inside}/protocol/openid-connect/token",
        f"--oidc-jwks-url={inside}/protocol/openid-connect/certs",
        "--code-challenge-method=S256",
        "--scope=openid email profile groups",
        "--email-domain=*",
        *(f"--allowed-group={group}" for group in groups(seen)),
        f"--http-address=0.0.0.0:{PROXY_PORT}",
        "--reverse-proxy=true",
        "--skip-provider-button=true",
        "--cookie-secure=true",
        *(f"--skip-auth-route={path}" for path in sorted(service.auth.skip_paths)),
        f"--upstream={upstream}",
    ]


def groups(seen: Snapshot) -> list[str]:
    """The groups as the token spells them, sorted."""
    full = seen.platform.identity.groups_full_path
    return sorted(
        f"/{group}" if full and not group.startswith("/") else group
        for group in seen.service.auth.groups
    )


def _deployment(seen: Snapshot, selects: dict[str, str], port: int | None) -> dict[str, Any]:
    defaults = seen.platform.default_resources
    container = {
        "name": "oauth2-proxy",
        "image": seen.platform.identity.forward_auth.image,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(seen, port),
        "ports": [{"name": _PORT_NAME, "containerPort": PROXY_PORT, "protocol": TCP}],
        "env": [_secret(seen, name) for name in sorted(_SECRETS)],
        "resources": resources(defaults.get("requests", {}), defaults.get("limits", {})),
        "readinessProbe": _probe("/ready"),
        "livenessProbe": _probe("/ping"),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsGroup": _USER,
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{key: value for key, value in container.items() if value}],
    }
    labels = in_order({"app.kubernetes.io/name": seen.service.name, **selects})
    return {
        "replicas": 1,
        "revisionHistoryLimit": 3,
        "progressDeadlineSeconds": 600,
        "strategy": rolling(),
        "selector": {"matchLabels": selects},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }


def _secret(seen: Snapshot, variable: str) -> dict[str, Any]:
    reference = {"name": f"{seen.service.name}-oidc", "key": _SECRETS[variable]}
    return {"name": variable, "valueFrom": {"secretKeyRef": reference}}


def _probe(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": PROXY_PORT}}


def _made(
    seen: Snapshot, kind: Kind, name: str, selects: dict[str, str], spec: dict[str, Any]
) -> Rendered:
    return rendered(
        seen,
        kind,
        name,
        file=IDENTITY_FILE,
        field="auth.mode",
        role=roles.PROXY,
        rest={"spec": spec},
        labels=selects,
    )
