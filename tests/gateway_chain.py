"""The fixtures of the chain's matrix: charts, values and tenants. Source: tenant-gateway 11."""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.gateways.chain import Release, Rendered, Tenant, render
from roadstead.capabilities.gateways.chain.names import TENANT, TENANT_PREFIX

Json = dict[str, Any]

CLUSTER = {"solver": "http01", "issuer-name": "letsencrypt-prod", "expose-ingress": "tenant-root"}


def values(**gateway: Any) -> Json:
    """Platform values with these keys under `gateway`."""
    return {"gateway": gateway}


def publishing(gateway: Mapping[str, Any] | None = None, **certificates: Any) -> Json:
    """Platform values with these keys under `publishing.certificates`."""
    return {"publishing": {"certificates": certificates}, "gateway": dict(gateway or {})}


def cluster(**more: str) -> dict[str, str]:
    """`_cluster` of fixtures C and D, with keys added; `_` stands for `-`. None leaves out."""
    return {**CLUSTER, **{name.replace("_", "-"): value for name, value in more.items()}}


def c(chosen: str = "", host: str = "example.org", **more: str) -> Release:
    """Fixture C: the publishing tenant's release."""
    return Release("tenant-root", cluster(**more), host, chosen)


def d(chosen: str = "", host: str = "alice.example.org", **more: str) -> Release:
    """Fixture D: a child tenant's release."""
    return Release("tenant-alice", cluster(**more), host, chosen)


def made(seen: Release) -> Rendered:
    """What came of a release."""
    return render(seen)


def spec(seen: Release) -> Json:
    """The spec of the TenantGateway that it renders."""
    rendered = render(seen)
    assert rendered.gateway is not None, rendered.findings[-1]
    found: Json = rendered.gateway["spec"]
    return found


def tenant(path: str, *, gateway: bool = False, chosen: str = "", host: str = "") -> Tenant:
    """A Tenant. path: `root`, `a` under it, `a/b` under that."""
    *above, name = path.split("/")
    namespace = TENANT_PREFIX + "-".join(above or ["root"])
    return Tenant(TENANT.ref(namespace, name), gateway=gateway, chosen=chosen, host=host)
