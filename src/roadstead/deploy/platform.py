"""What the platform tells the attachments' process, from the bundle that it installs.

Two facts are derived and nothing is looked up in the cluster: a package stays there when the
bundle stops emitting it, so what runs says nothing of what is declared. Which CNI is in place is
not asked either. Source: endpoint-attachments 8.3.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

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
