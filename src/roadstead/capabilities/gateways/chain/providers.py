"""The DNS-01 provider of the platform, as a block of a TenantGateway and of an issuer alike.

Source: tenant-gateway 2.1, 2.5 rows 7, 9 and 10, 2.7, 3.6.
"""

from collections.abc import Callable
from typing import Any

from roadstead.capabilities.gateways.chain.classes import Cluster
from roadstead.capabilities.gateways.chain.names import PROVIDER
from roadstead.capabilities.gateways.fields import (
    CLOUDFLARE,
    DEFAULT_ALGORITHM,
    DIGITALOCEAN,
    PROVIDERS,
    RFC2136,
    ROUTE53,
)

DEFAULTS = {
    "dns01-cloudflare-secret-name": "cloudflare-api-token-secret",
    "dns01-cloudflare-secret-key": "api-token",
    "dns01-route53-region": "",
    "dns01-route53-access-key-id": "",
    "dns01-route53-secret-name": "",
    "dns01-route53-secret-key": "secret-access-key",
    "dns01-digitalocean-secret-name": "digitalocean-api-token-secret",
    "dns01-digitalocean-secret-key": "access-token",
    "dns01-rfc2136-nameserver": "",
    "dns01-rfc2136-tsig-key-name": "",
    "dns01-rfc2136-tsig-algorithm": DEFAULT_ALGORITHM,
    "dns01-rfc2136-secret-name": "",
    "dns01-rfc2136-secret-key": "tsig-secret-key",
}
"""What each key of `_cluster` is where the platform's values say nothing."""

NEEDED = {
    ROUTE53: ("dns01-route53-region",),
    RFC2136: (
        "dns01-rfc2136-nameserver",
        "dns01-rfc2136-tsig-key-name",
        "dns01-rfc2136-secret-name",
    ),
}
"""The keys that a provider cannot do without, in the order they are asked for."""


def provider_of(cluster: Cluster) -> str:
    """The provider that is set, whether it is supported or not."""
    return cluster.get(PROVIDER) or CLOUDFLARE


def missing(cluster: Cluster) -> str:
    """The first key that the provider needs and does not have; empty for none."""
    needed = NEEDED.get(provider_of(cluster), ())
    return next((key for key in needed if not cluster.get(key, "").strip()), "")


def block(cluster: Cluster) -> dict[str, Any]:
    """The block of the provider, under its name. The provider is a supported one."""
    provider = provider_of(cluster)
    return {provider: _BLOCKS[provider](cluster)}


def _value(cluster: Cluster, key: str) -> str:
    return cluster.get(key) or DEFAULTS[key]


def _ref(cluster: Cluster, provider: str) -> dict[str, str]:
    return {
        "name": _value(cluster, f"dns01-{provider}-secret-name"),
        "key": _value(cluster, f"dns01-{provider}-secret-key"),
    }


def _cloudflare(cluster: Cluster) -> dict[str, Any]:
    return {"apiTokenSecretRef": _ref(cluster, CLOUDFLARE)}


def _route53(cluster: Cluster) -> dict[str, Any]:
    """Without a Secret there is no reference to one, so that ambient credentials work."""
    made: dict[str, Any] = {"region": _value(cluster, "dns01-route53-region")}
    if access := _value(cluster, "dns01-route53-access-key-id"):
        made["accessKeyID"] = access
    ref = _ref(cluster, ROUTE53)
    return made | ({"secretAccessKeySecretRef": ref} if ref["name"] else {})


def _digitalocean(cluster: Cluster) -> dict[str, Any]:
    return {"tokenSecretRef": _ref(cluster, DIGITALOCEAN)}


def _rfc2136(cluster: Cluster) -> dict[str, Any]:
    return {
        "nameserver": _value(cluster, "dns01-rfc2136-nameserver"),
        "tsigKeyName": _value(cluster, "dns01-rfc2136-tsig-key-name"),
        "tsigAlgorithm": _value(cluster, "dns01-rfc2136-tsig-algorithm"),
        "tsigSecretSecretRef": _ref(cluster, RFC2136),
    }


_BLOCKS: dict[str, Callable[[Cluster], dict[str, Any]]] = dict(
    zip(PROVIDERS, (_cloudflare, _route53, _digitalocean, _rfc2136), strict=True)
)
