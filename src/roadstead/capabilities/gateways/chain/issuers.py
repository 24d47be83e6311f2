"""The cluster's issuers. Source: tenant-gateway 2.10.

Whether the solver pins a section is decided from the platform's default class alone: a tenant's
own class never gets this far.
"""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.gateways.api import CLUSTER_ISSUER, GATEWAY_API
from roadstead.capabilities.gateways.chain.classes import (
    SOLVERS,
    Cluster,
    default_class,
    edge_classes,
    solver_of,
)
from roadstead.capabilities.gateways.chain.findings import ISSUER_REFUSED, passed, refused
from roadstead.capabilities.gateways.chain.names import (
    CLASS,
    ENABLED,
    GATEWAY_NAME,
    PROVIDER,
    PUBLISHING,
    ROOT,
    SOLVER,
    YES,
)
from roadstead.capabilities.gateways.chain.providers import block, missing, provider_of
from roadstead.capabilities.gateways.fields import DNS01, PRODUCTION, PROVIDERS, STAGING
from roadstead.decision import Finding, Verdict
from roadstead.kube.refs import Ref

Json = dict[str, Any]

SELF_SIGNED = "selfsigned-cluster-issuer"
SERVERS: Mapping[str, str] = {
    PRODUCTION: "https://acme-v02.api.letsencrypt.org/directory",
    STAGING: "https://acme-staging-v02.api.letsencrypt.org/directory",
}
_ABOUT: tuple[Ref, ...] = tuple(CLUSTER_ISSUER.ref("", name) for name in SERVERS)


def _no(rule: str, message: str) -> Finding:
    return refused(rule, ISSUER_REFUSED, message, *_ABOUT)


def default_class_is_a_name(cluster: Cluster) -> Finding:
    """Refuse a platform default of blanks alone: nothing could be compared with it."""
    stated = cluster.get(CLASS, "")
    if not stated or stated.strip():
        return passed("issuers-know-the-class")
    return _no("issuers-know-the-class", f"_cluster.{CLASS} holds only white space")


def solver_is_supported(cluster: Cluster) -> Finding:
    """Refuse an unknown solver."""
    solver = solver_of(cluster)
    if solver in SOLVERS:
        return passed("issuers-know-the-solver")
    supported = ", ".join(SOLVERS)
    return _no("issuers-know-the-solver", f"_cluster.{SOLVER} `{solver}` is none of {supported}")


def provider_is_supported(cluster: Cluster) -> Finding:
    """Refuse an unknown DNS-01 provider, where one is read."""
    provider = provider_of(cluster)
    if solver_of(cluster) != DNS01 or provider in PROVIDERS:
        return passed("issuers-know-the-provider")
    supported = ", ".join(PROVIDERS)
    return _no(
        "issuers-know-the-provider", f"_cluster.{PROVIDER} `{provider}` is none of {supported}"
    )


def provider_is_whole(cluster: Cluster) -> Finding:
    """Refuse a DNS-01 provider that lacks what it cannot do without."""
    key = missing(cluster) if solver_of(cluster) == DNS01 else ""
    if not key:
        return passed("issuers-have-the-provider")
    needs = f"{provider_of(cluster)} needs it"
    return _no("issuers-have-the-provider", f"_cluster.{key} is empty, and {needs}")


RULES = (
    default_class_is_a_name,
    solver_is_supported,
    provider_is_supported,
    provider_is_whole,
)


def issuers(cluster: Cluster) -> tuple[tuple[Json, ...], tuple[Finding, ...]]:
    """The issuers, or every reason why there are none."""
    findings = tuple(rule(cluster) for rule in RULES)
    if stops := tuple(one for one in findings if one.verdict is Verdict.REFUSE):
        return (), stops
    solver = solver_for(cluster)
    acme = [
        _issuer(
            name,
            {
                "acme": {
                    "server": server,
                    "privateKeySecretRef": {"name": name},
                    "solvers": [solver],
                }
            },
        )
        for name, server in SERVERS.items()
    ]
    return (*acme, _issuer(SELF_SIGNED, {"selfSigned": {}})), ()


def _issuer(name: str, spec: Json) -> Json:
    return {
        "apiVersion": CLUSTER_ISSUER.api_version,
        "kind": CLUSTER_ISSUER.kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def solver_for(cluster: Cluster) -> Json:
    """The one solver of both issuers. The provider is a supported one."""
    if solver_of(cluster) == DNS01:
        return {"dns01": block(cluster)}
    publishing = cluster.get(PUBLISHING) or ROOT
    if cluster.get(ENABLED) != YES:
        return {"http01": {"ingress": {"ingressClassName": publishing}}}
    parent: Json = {
        "group": GATEWAY_API,
        "kind": "Gateway",
        "name": GATEWAY_NAME,
        "namespace": publishing,
    }
    # An edge Gateway has no listener of that name; the challenge attaches by its hostname.
    if default_class(cluster) not in edge_classes(cluster):
        parent["sectionName"] = "http"
    return {"http01": {"gatewayHTTPRoute": {"parentRefs": [parent]}}}
