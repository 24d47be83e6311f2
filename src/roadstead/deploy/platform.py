"""What a platform installs beside our own: values for the attachments' process, and the chain.

For the attachments two facts are derived from the bundle, and nothing is looked up in the cluster:
a package stays there when the bundle stops emitting it, so what runs says nothing of what is
declared. Which CNI is in place is not asked either. Of tenant gateways the manifests are packed
that the chain renders. Source: endpoint-attachments 8.3, tenant-gateway 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

from roadstead.capabilities.gateways.chain import Chain
from roadstead.capabilities.gateways.chain.names import ROOT_HOST
from roadstead.capabilities.gateways.chain.policies import policies
from roadstead.capabilities.gateways.chain.release import cleanup, release
from roadstead.capabilities.gateways.chain.values import values_secret

Json = dict[str, Any]

ENGINE = "cozystack.cozystack-engine"
COMPONENT = "cozystack-controller"
COZY_PROXY = "cozystack.cozy-proxy"
ROBOT_LB = "cozystack.hetzner-robotlb"
WITH_COMMON_PACKAGES = frozenset({"isp-full", "isp-full-generic"})
"""Variants of the bundle that emit the shared list of packages, cozy-proxy among them."""

CHART, SECTION = "cozystackController", "endpointAttachments"
CONTRACT, NODE_PORTS = "cozyProxyContractImplemented", "allocateNodePorts"
FLAGS = {
    CONTRACT: "--cozy-proxy-contract-implemented",
    NODE_PORTS: "--endpoint-attachment-allocate-node-ports",
}
"""The argument of the process that each value under `endpointAttachments` becomes."""

PARTS = ("issuers", "policies", "gateways", "releases", "cleanup", "values")
BY_DEFAULT = PARTS[:3]
"""The rest is what the platform's own charts install; its clean-up is a hook of a release."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The platform's system bundle, as far as attachments depend on it.

    variant: `isp-full`, `isp-full-generic`, `isp-hosted`. engine: `oidc` where login is by OIDC.
    enabled, disabled: `bundles.enabledPackages` and `bundles.disabledPackages`. The older list
        `bundle-enable` decides node ports of `external: true`, and nothing here.
    values: what the component `cozystack-controller` is given for other reasons.
    """

    variant: str
    engine: Literal["default", "oidc"] = "default"
    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    telemetry_disabled: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)


def declares_cozy_proxy(bundle: Bundle) -> bool:
    """Tell whether the bundle emits the package that carries a `method`."""
    return bundle.variant in WITH_COMMON_PACKAGES and COZY_PROXY not in bundle.disabled


def needs_node_ports(bundle: Bundle) -> bool:
    """Tell whether RobotLB is declared: it sends traffic to node ports."""
    return ROBOT_LB in bundle.enabled and ROBOT_LB not in bundle.disabled


def component_values(bundle: Bundle) -> Json:
    """The values of `cozystack-controller`, ours merged beside what is there.

    A value that does not hold has no key, so a bundle that declares nothing renders the same bytes
    as before; one left over from an earlier render goes.
    """
    values: Json = deepcopy(dict(bundle.values))
    chart: Json = values.pop(CHART, None) or {}
    section: Json = chart.pop(SECTION, None) or {}
    told = {CONTRACT: declares_cozy_proxy(bundle), NODE_PORTS: needs_node_ports(bundle)}
    section = {key: value for key, value in section.items() if key not in told}
    section |= {key: holds for key, holds in told.items() if holds}
    if bundle.telemetry_disabled:
        chart["disableTelemetry"] = True
    if section:
        chart[SECTION] = section
    return {**values, CHART: chart} if chart else values


def engine_package(bundle: Bundle, components: Mapping[str, Any] | None = None) -> Json:
    """The Package of the engine, in either variant, with what its other components are given."""
    spec: Json = {"variant": bundle.engine}
    given: Json = deepcopy(dict(components or {}))
    if values := component_values(bundle):
        given[COMPONENT] = {**given.get(COMPONENT, {}), "values": values}
    if given:
        spec["components"] = given
    return {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "Package",
        "metadata": {"name": ENGINE},
        "spec": spec,
    }


def chart_arguments(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that the chart adds to the process; none for a value that is not `true`.

    values: of the component, as `component_values` gives them. Text is no boolean: a template
    takes `"false"` for true.
    """
    section = (values.get(CHART) or {}).get(SECTION) or {}
    return tuple(flag for key, flag in FLAGS.items() if section.get(key) is True)


def manifests(chain: Chain, parts: Sequence[str]) -> Iterator[Json]:
    """The manifests of some parts, in the order in which they can be applied."""
    cluster = chain.platform.cluster
    owners = [row for row in chain.rows if row.rendered is not None]
    if "issuers" in parts:
        yield from chain.issuers
    if "policies" in parts:
        yield from policies(cluster.get(ROOT_HOST, ""))
    if "gateways" in parts:
        yield from (r.rendered.gateway for r in owners if r.rendered and r.rendered.gateway)
    if "releases" in parts:
        for row in owners:
            yield release(row.place.namespace, row.place.tenant.chosen)
    if "cleanup" in parts:
        for row in owners:
            yield from cleanup(row.place.namespace)
    if "values" in parts:
        yield values_secret(cluster)


def packed(chain: Chain, parts: Sequence[str] = BY_DEFAULT) -> dict[str, list[Json]]:
    """The manifests as files of a folder that a platform applies, in the order of their names.

    A part without anything in it has no file.
    """
    found = {name: list(manifests(chain, (name,))) for name in PARTS if name in parts}
    return {f"{PARTS.index(name)}0-{name}.yaml": bodies for name, bodies in found.items() if bodies}
