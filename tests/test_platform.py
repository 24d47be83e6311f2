"""What the platform's bundle makes of two facts: row T79, and each trap of the contract.

Source: endpoint-attachments 8.3.
"""

from copy import deepcopy
from typing import Any, Literal

import pytest

from roadstead.cli.main import load
from roadstead.deploy.platform import (
    COMPONENT,
    COZY_PROXY,
    FLAGS,
    ROBOT_LB,
    Bundle,
    chart_arguments,
    component_values,
    engine_package,
)

VARIANTS = ("isp-full", "isp-full-generic", "isp-hosted")
ENGINES: tuple[Literal["default", "oidc"], ...] = ("default", "oidc")
PROXY, PORTS = "cozyProxyContractImplemented", "allocateNodePorts"


def section(values: dict[str, Any]) -> dict[str, Any]:
    """What stands under our own key."""
    found: dict[str, Any] = values.get("cozystackController", {}).get("endpointAttachments", {})
    return found


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("proxy_off", [False, True])
@pytest.mark.parametrize("robot", [False, True])
@pytest.mark.parametrize("telemetry_off", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_matrix(
    variant: str,
    proxy_off: bool,
    robot: bool,
    telemetry_off: bool,
    engine: Literal["default", "oidc"],
) -> None:
    """T79: both values as the table says, beside what was there, in either variant."""
    bundle = Bundle(
        variant,
        engine,
        enabled=frozenset({ROBOT_LB} if robot else ()),
        disabled=frozenset({COZY_PROXY} if proxy_off else ()),
        telemetry_disabled=telemetry_off,
    )
    wanted: dict[str, Any] = {"disableTelemetry": True} if telemetry_off else {}
    ours = {
        **({PROXY: True} if variant != "isp-hosted" and not proxy_off else {}),
        **({PORTS: True} if robot else {}),
    }
    wanted |= {"endpointAttachments": ours} if ours else {}

    values = component_values(bundle)
    spec = engine_package(bundle)["spec"]

    assert ({"cozystackController": wanted} if wanted else {}) == values
    assert engine == spec["variant"]
    assert ({COMPONENT: {"values": values}} if wanted else {}) == spec.get("components", {})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bundle_that_declares_nothing_renders_as_before(
    engine: Literal["default", "oidc"],
) -> None:
    """Not even an empty map is left behind."""
    assert {} == component_values(Bundle("isp-hosted", engine))
    assert {"variant": engine} == engine_package(Bundle("isp-hosted", engine))["spec"]


def test_what_others_have_set_is_kept() -> None:
    """Trap: the keys are merged, at every depth, and nothing that was handed in is changed."""
    values = {
        "cozystackController": {
            "disableTelemetry": True,
            "debug": True,
            "endpointAttachments": {"another": 1},
        },
        "other": [1],
    }
    before = deepcopy(values)

    assert {
        "cozystackController": {
            "disableTelemetry": True,
            "debug": True,
            "endpointAttachments": {"another": 1, PROXY: True},
        },
        "other": [1],
    } == component_values(Bundle("isp-full", values=values))
    assert before == values


def test_other_components_of_the_engine_are_kept() -> None:
    """The generic variant gives its API server a node selector in the same place."""
    others = {"cozystack-api": {"values": {"x": 1}}, COMPONENT: {"enabled": True}}

    components = engine_package(Bundle("isp-full-generic"), others)["spec"]["components"]

    assert {"x": 1} == components["cozystack-api"]["values"]
    assert components[COMPONENT]["enabled"]
    assert {PROXY: True} == section(components[COMPONENT]["values"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_package_that_still_runs_is_not_declared(variant: str) -> None:
    """Trap: packages stay when they are no longer emitted; neither that nor an old value counts."""
    left = {"cozystackController": {"endpointAttachments": {PROXY: True, PORTS: True}}}
    bundle = Bundle(variant, disabled=frozenset({COZY_PROXY}), values=left)

    assert {} == component_values(bundle)


def test_a_package_that_is_enabled_and_disabled_is_disabled() -> None:
    """`disabledPackages` wins in the bundle, so it does here."""
    both = frozenset({COZY_PROXY, ROBOT_LB})

    assert {} == component_values(Bundle("isp-full", enabled=both, disabled=both))


def test_a_hosted_platform_never_carries_the_contract() -> None:
    """Even with the package enabled by name: that variant does not emit it."""
    bundle = Bundle("isp-hosted", enabled=frozenset({COZY_PROXY}))

    assert {} == component_values(bundle)


@pytest.mark.parametrize("name", ["robotlb", "hetzner-robotlb", "cozystack.robotlb"])
def test_the_older_list_of_packages_is_another_switch(name: str) -> None:
    """Trap: `bundle-enable` decides node ports of `external: true`, under a shorter name."""
    bundle = Bundle(
        "isp-hosted", enabled=frozenset({name}), values={"bundle-enable": "robotlb,hetzner-robotlb"}
    )

    assert {"bundle-enable": "robotlb,hetzner-robotlb"} == component_values(bundle)


@pytest.mark.parametrize("proxy", [False, True])
@pytest.mark.parametrize("ports", [False, True])
def test_a_value_becomes_an_argument_that_run_knows(proxy: bool, ports: bool) -> None:
    """And a false one, or one that is missing, becomes none."""
    told = {PROXY: proxy, PORTS: ports}
    taken = {flag for one in load("run")[0].params for flag in one.opts}

    arguments = chart_arguments({"cozystackController": {"endpointAttachments": told}})

    assert tuple(flag for key, flag in FLAGS.items() if told[key]) == arguments
    assert set(arguments) <= taken


@pytest.mark.parametrize("value", ["true", "false", 1, None, {}])
def test_what_is_no_boolean_is_no_argument(value: object) -> None:
    """Text that says `false` is true to a template."""
    values = {"cozystackController": {"endpointAttachments": {PROXY: value, PORTS: value}}}

    assert () == chart_arguments(values)


@pytest.mark.parametrize("values", [{}, {"cozystackController": None}, {"cozystackController": {}}])
def test_the_default_chart_has_no_argument(values: dict[str, Any]) -> None:
    """The default render stays what it was."""
    assert () == chart_arguments(values)
