"""TenantGateway in the offline world: every row of the matrix, as on the API server.

Source: tenant-gateway 1, TG-001 to TG-011.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway_admission import LISTENERS, ROWS, Row, gateway, listener, misread
from roadstead.capabilities.gateways.api import TENANT_GATEWAY
from roadstead.capabilities.gateways.fields import TENANT_GATEWAY_DEFINITION
from roadstead.errors import ClusterError
from roadstead.kube.schema import KEYED, Field, Rule, definition_of
from roadstead.sim.admission import rules
from roadstead.sim.requests import By
from roadstead.sim.world import World

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REF = TENANT_GATEWAY.ref("tenant-foo", "cozystack")


def answered(row: Row) -> tuple[ClusterError | None, Mapping[str, Any]]:
    """What the world answers to a row, and the spec that is stored."""
    at = World(NOW)
    try:
        there = at.create(TENANT_GATEWAY, row.old or row.new, By.OTHER)
        if row.old is not None:
            meta = {**row.new["metadata"], "resourceVersion": there.meta.resource_version}
            there = at.replace(TENANT_GATEWAY, {**row.new, "metadata": meta}, By.OTHER)
    except ClusterError as error:
        return error, {}
    return None, there.body["spec"]


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_row_of_the_matrix(row: Row) -> None:
    """What `plan` lets through, the server does, and it refuses in the server's words."""
    error, spec = answered(row)

    assert (422 if row.problems else 0) == (error.status if error else 0)
    assert [] == (misread(error.message, row.problems) if error else [])
    assert row.stored == tuple((name, spec[name]) for name, _ in row.stored)


def undescribed(schema: Mapping[str, Any], path: str = "") -> list[str]:
    """The fields that `kubectl explain` would say nothing of."""
    found = [] if schema.get("description") else [path]
    for name, below in (schema.get("properties") or {}).items():
        found += undescribed(below, f"{path}.{name}")
    return found + (undescribed(schema["items"], f"{path}[]") if "items" in schema else [])


def test_every_field_says_what_it_is() -> None:
    """Nobody has to guess; the server alone describes metadata."""
    (version,) = definition_of(TENANT_GATEWAY_DEFINITION)["spec"]["versions"]

    assert [".metadata"] == undescribed(version["schema"]["openAPIV3Schema"])


def test_the_names_of_the_definition_are_the_contracts() -> None:
    """`kubectl get tgw`, and its columns in their order. Source: tenant-gateway 1, 1.1."""
    made = definition_of(TENANT_GATEWAY_DEFINITION)
    (version,) = made["spec"]["versions"]
    columns = [c for c in version["additionalPrinterColumns"] if not c.get("priority")]

    assert {
        "kind": "TenantGateway",
        "listKind": "TenantGatewayList",
        "plural": "tenantgateways",
        "singular": "tenantgateway",
        "shortNames": ["tgw"],
        "categories": ["roadstead", "exposure"],
    } == made["spec"]["names"]
    assert ("Namespaced", "v1alpha1", {"status": {}}) == (
        made["spec"]["scope"],
        version["name"],
        version["subresources"],
    )
    assert [
        ("Apex", ".spec.apex", "string"),
        ("Mode", ".spec.certMode", "string"),
        ("Ready", '.status.conditions[?(@.type=="Ready")].status', "string"),
        ("Age", ".metadata.creationTimestamp", "date"),
    ] == [(c["name"], c["jsonPath"], c["type"]) for c in columns]


def test_every_listener_that_breaks_a_rule_is_named() -> None:
    """A rule of list items is asked of each of them."""
    error, _ = answered(
        Row("", gateway(tlsPassthroughListeners=[listener("a", 80), listener("b", 443)]))
    )

    assert error is not None
    assert f"{LISTENERS}[0].port: Invalid value" in error.message
    assert f"{LISTENERS}[1].port: Invalid value" in error.message


FROZEN = Field("", "object", rules=(Rule("self.port == oldSelf.port", "port is frozen"),))


@pytest.mark.parametrize(
    ("keyed", "told"),
    [
        pytest.param(True, ["top.list[0]"], id="known-again-by-its-key"),
        pytest.param(False, [], id="a-plain-list-has-no-old-items"),
    ],
)
def test_a_rule_of_a_change_knows_an_item_by_its_key(keyed: bool, told: list[str]) -> None:
    """As the server does: where the list is no map, such a rule is not asked."""
    keys = ("name",) if keyed else ()
    items = Field("", "array", items=FROZEN, list_type=KEYED if keyed else "", keys=keys)
    top = Field("", "object", fields={"top": Field("", "object", fields={"list": items})})
    old = {"top": {"list": [{"name": "b", "port": 1}, {"name": "a", "port": 2}]}}
    new = {"top": {"list": [{"name": "a", "port": 3}, {"name": "b", "port": 1}]}}

    assert told == [problem.field for problem in rules.problems(top, new, old)]
