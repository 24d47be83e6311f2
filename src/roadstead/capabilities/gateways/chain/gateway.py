"""A tenant's own gateway release: whether it renders, and the TenantGateway that it makes.

A refusal stops this release and no other. Source: tenant-gateway 2.5 to 2.7.
"""

from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.gateways.api import TENANT_GATEWAY
from roadstead.capabilities.gateways.chain.classes import (
    SOLVERS,
    Cluster,
    allowed_classes,
    class_of,
    default_class,
    edge_classes,
    mode_of,
    solver_of,
    split,
)
from roadstead.capabilities.gateways.chain.findings import (
    GATEWAY_REFUSED,
    did_you_mean,
    passed,
    refused,
)
from roadstead.capabilities.gateways.chain.names import (
    ATTACHED,
    CLASS,
    GATEWAY_NAME,
    ISSUER,
    PASSTHROUGH,
    PROVIDER,
    PUBLISHING,
    ROOT,
    SOLVER,
    WILDCARD,
)
from roadstead.capabilities.gateways.chain.providers import block, missing, provider_of
from roadstead.capabilities.gateways.fields import (
    DNS01,
    EDGE,
    EXISTING_SECRET,
    HTTP01,
    ISSUERS,
    PRODUCTION,
    PROVIDERS,
)
from roadstead.decision import Finding, ask, stopped

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Release:
    """What one release is rendered from.

    namespace: of the release, and of the TenantGateway. host: `_namespace.host`.
    chosen: the chart's value `gatewayClassName`; empty where the tenant chose nothing.
    services: the chart's value `tlsPassthroughServices`.
    """

    namespace: str
    cluster: Cluster
    host: str
    chosen: str = ""
    services: tuple[str, ...] = PASSTHROUGH

    @property
    def gateway_class(self) -> str:
        """The class it lands on."""
        return class_of(self.cluster, self.chosen)

    @property
    def mode(self) -> str:
        """Its certificate mode."""
        return mode_of(self.cluster, self.gateway_class)

    @property
    def publishing(self) -> bool:
        """Whether the platform itself publishes through this Gateway."""
        return self.namespace == (self.cluster.get(PUBLISHING) or ROOT)

    @property
    def issues(self) -> bool:
        """Whether certificates are asked for, so that solver, provider and issuer are read."""
        return self.mode in {HTTP01, DNS01}

    def no(self, rule: str, message: str) -> Finding:
        """Refuse it."""
        about = TENANT_GATEWAY.ref(self.namespace, GATEWAY_NAME)
        return refused(rule, GATEWAY_REFUSED, message, about)


def has_a_host(seen: Release) -> Finding:
    """Refuse a tenant without a domain: there is nothing to serve."""
    if seen.host:
        return passed("has-a-host")
    return seen.no(
        "has-a-host",
        "_namespace.host is empty: set tenant.spec.host, or a host on a tenant above it",
    )


def default_class_is_a_name(seen: Release) -> Finding:
    """Refuse a platform default of blanks alone."""
    stated = seen.cluster.get(CLASS, "")
    if not stated or stated.strip():
        return passed("default-class-is-a-name")
    return seen.no("default-class-is-a-name", f"_cluster.{CLASS} holds only white space")


def chosen_class_is_a_name(seen: Release) -> Finding:
    """Refuse a tenant's class of blanks alone."""
    if not seen.chosen or seen.chosen.strip():
        return passed("chosen-class-is-a-name")
    return seen.no(
        "chosen-class-is-a-name",
        "gatewayClass holds only white space: leave tenant.spec.gatewayClass out, or name a "
        "class of gateway.tenantSelectableClasses",
    )


def chosen_class_is_allowed(seen: Release) -> Finding:
    """Refuse a class that the platform does not let tenants name.

    Source: seed 004, how a tenant picks a class.
    """
    chosen = seen.chosen.strip()
    allowed = allowed_classes(seen.cluster)
    if not chosen or chosen in allowed:
        return passed("chosen-class-is-allowed")
    return seen.no(
        "chosen-class-is-allowed",
        f"gatewayClass `{chosen}` is none of {', '.join(allowed)}: choose one of these, or add it "
        f"to gateway.tenantSelectableClasses{did_you_mean(chosen, allowed)}",
    )


def publishing_class_ends_tls_as_the_default(seen: Release) -> Finding:
    """Refuse that the publishing tenant alone moves to where TLS ends elsewhere.

    The cluster's issuers are rendered from the default, and point at this very Gateway.
    Source: seed 004, when the configured names and the installed classes disagree.
    """
    chosen, default = seen.chosen.strip(), default_class(seen.cluster)
    edges = edge_classes(seen.cluster)
    if not (seen.publishing and chosen) or (chosen in edges) is (default in edges):
        return passed("publishing-class-ends-tls-as-the-default")
    return seen.no(
        "publishing-class-ends-tls-as-the-default",
        f"{seen.namespace} publishes the platform, and its class `{chosen}` does not end TLS "
        f"where the default `{default}` does: change gateway.className instead",
    )


def solver_is_supported(seen: Release) -> Finding:
    """Refuse an unknown solver, where one is read."""
    solver = solver_of(seen.cluster)
    if not seen.issues or solver in SOLVERS:
        return passed("solver-is-supported")
    supported = ", ".join(SOLVERS)
    return seen.no("solver-is-supported", f"_cluster.{SOLVER} `{solver}` is none of {supported}")


def provider_is_supported(seen: Release) -> Finding:
    """Refuse an unknown DNS-01 provider, where one is read."""
    provider = provider_of(seen.cluster)
    if seen.mode != DNS01 or provider in PROVIDERS:
        return passed("provider-is-supported")
    supported = ", ".join(PROVIDERS)
    return seen.no(
        "provider-is-supported", f"_cluster.{PROVIDER} `{provider}` is none of {supported}"
    )


def issuer_is_supported(seen: Release) -> Finding:
    """Refuse an unknown issuer, where one is read."""
    issuer = seen.cluster.get(ISSUER) or PRODUCTION
    if not seen.issues or issuer in ISSUERS:
        return passed("issuer-is-supported")
    return seen.no(
        "issuer-is-supported",
        f"issuerName (_cluster.{ISSUER}) `{issuer}` is none of {', '.join(ISSUERS)}",
    )


def provider_is_whole(seen: Release) -> Finding:
    """Refuse a DNS-01 provider that lacks what it cannot do without."""
    key = missing(seen.cluster) if seen.mode == DNS01 else ""
    if not key:
        return passed("provider-is-whole")
    provider = provider_of(seen.cluster)
    return seen.no("provider-is-whole", f"_cluster.{key} is empty, and {provider} needs it")


RULES = (
    has_a_host,
    default_class_is_a_name,
    chosen_class_is_a_name,
    chosen_class_is_allowed,
    publishing_class_ends_tls_as_the_default,
    solver_is_supported,
    provider_is_supported,
    issuer_is_supported,
    provider_is_whole,
)  # the first that refuses is reported


@dataclass(frozen=True, slots=True)
class Rendered:
    """What came of a release. gateway: the TenantGateway; None where it was refused."""

    gateway: Json | None
    findings: tuple[Finding, ...]

    @property
    def refusal(self) -> Finding | None:
        """Why there is none."""
        return self.findings[-1] if self.gateway is None else None


def render(seen: Release) -> Rendered:
    """Judge one release and render its TenantGateway."""
    findings = ask(RULES, seen)
    return Rendered(None if stopped(findings) else tenant_gateway(seen), findings)


def tenant_gateway(seen: Release) -> Json:
    """The TenantGateway of a release that no rule refuses.

    `tlsPassthroughListeners` is never in it: a list that was set by hand stays as it is.
    """
    mode = seen.mode
    spec: Json = {"apex": seen.host, "certMode": mode, "gatewayClassName": seen.gateway_class}
    if seen.issues:
        spec["issuerName"] = seen.cluster.get(ISSUER) or PRODUCTION
    if mode == DNS01:
        spec["dns01"] = {"provider": provider_of(seen.cluster), **block(seen.cluster)}
    if mode == EXISTING_SECRET:
        spec["wildcardSecretRef"] = {"name": seen.cluster[WILDCARD]}
    # Upstream writes the list into every tenant's; Gateways then fight over the same namespaces.
    attached = split(seen.cluster.get(ATTACHED, "")) if seen.publishing else ()
    if attached:
        spec["attachedNamespaces"] = list(attached)
    if mode != EDGE and seen.services:
        spec["tlsPassthroughServices"] = list(seen.services)
    return {
        "apiVersion": TENANT_GATEWAY.api_version,
        "kind": TENANT_GATEWAY.kind,
        "metadata": {"name": GATEWAY_NAME, "namespace": seen.namespace},
        "spec": spec,
    }
