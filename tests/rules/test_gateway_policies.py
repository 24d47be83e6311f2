"""The admission policies, their CEL evaluated as the API server does it: TG-189 to TG-191.

Source: tenant-gateway 2.11.
"""

from typing import Any

import pytest
from cel_expr_python import cel  # type: ignore[import-untyped]  # its package has no types
from cel_expr_python.ext import ext_strings  # type: ignore[import-untyped]  # its package has no types

from gateway_policies import GATEWAY, LABELLED, LABELS, ROOT_HOST, ROWS, Row
from roadstead.capabilities.gateways.api import HOST_LABEL
from roadstead.capabilities.gateways.chain.policies import (
    GATEWAYS,
    INGRESSES,
    Policy,
    policies,
    stated,
)

BY_NAME = {one.name: one for one in stated(ROOT_HOST)}
SAYS = dict.fromkeys(
    ("object", "oldObject", "request", "namespaceObject", "variables"), cel.Type.DYN
)
ENVIRONMENT = cel.NewEnv(variables=SAYS, extensions=[ext_strings.ExtStrings()])


def value(expression: str, given: dict[str, Any]) -> Any:
    """What an expression gives, as Python's own values."""
    return plain(ENVIRONMENT.compile(expression).eval(data=given).value())


def plain(found: Any) -> Any:
    """A CEL value, lists unpacked."""
    if isinstance(found, str | bool | int):
        return found
    return [plain(one.value() if hasattr(one, "value") else one) for one in found]


def request(row: Row) -> dict[str, Any]:
    """What an expression may look at."""
    return {
        "object": row.body(),
        "oldObject": None if row.old is None else row.body(old=True),
        "request": {
            "namespace": row.namespace,
            "operation": "CREATE" if row.old is None else "UPDATE",
            "userInfo": {"username": "someone", "groups": list(row.groups)},
        },
        "namespaceObject": {
            "metadata": {"name": row.namespace, "labels": LABELS.get(row.namespace, {})}
        },
    }


def refusal(policy: Policy, row: Row) -> str:
    """What a policy says of a request; empty where it lets it through, or is not asked."""
    given = request(row)
    if policy.where and not value(policy.where, given):
        return ""
    known: dict[str, Any] = {}
    for name, text in policy.variables:
        known[name] = value(text, {**given, "variables": known})
    given["variables"] = known
    return "" if value(policy.holds, given) is True else str(value(policy.says, given))


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_request_is_judged(row: Row) -> None:
    """What passes passes, and a refusal says which name, and whose domain it should be in."""
    said = refusal(BY_NAME[row.policy], row)

    assert (bool(row.says), True) == (bool(said), row.says in said), said


def test_letters_do_not_count_in_hostnames() -> None:
    """TG-189: the API server takes no upper case here; whatever does is compared in small."""
    spec = {"listeners": [{"name": "l", "hostname": "FOO.example.com"}]}
    row = Row("", GATEWAYS, GATEWAY, spec, namespace=LABELLED)

    assert "" == refusal(BY_NAME[GATEWAYS], row)


def test_every_policy_denies_and_is_bound() -> None:
    """A policy that is not bound does nothing; one that ignores failures lets everything in."""
    made = policies(ROOT_HOST)
    judges, bindings = made[::2], made[1::2]

    assert {"Fail"} == {one["spec"]["failurePolicy"] for one in judges}
    assert {"Forbidden"} == {
        check["reason"] for one in judges for check in one["spec"]["validations"]
    }
    assert [one["metadata"]["name"] for one in judges] == [
        one["spec"]["policyName"] for one in bindings
    ]
    assert [["Deny"]] * len(bindings) == [one["spec"]["validationActions"] for one in bindings]
    assert [{"internal.cozystack.io/managed-by-cozystack": ""}] * len(made) == [
        one["metadata"]["labels"] for one in made
    ]
    assert {("CREATE", "UPDATE")} == {
        tuple(rule["operations"])
        for one in judges
        for rule in one["spec"]["matchConstraints"]["resourceRules"]
    }


def test_without_a_root_host_no_ingress_is_judged() -> None:
    """There is nothing to hold it against."""
    assert INGRESSES not in {one["metadata"]["name"] for one in policies()}
    assert INGRESSES in {one["metadata"]["name"] for one in policies(ROOT_HOST)}


def test_a_namespace_without_labels_has_no_domain() -> None:
    """`has` is asked before the label is."""
    policy = BY_NAME[GATEWAYS]
    bare = {"namespaceObject": {"metadata": {"name": "tenant-x"}}}

    assert "" == value(dict(policy.variables)["host"], bare)
    assert HOST_LABEL in dict(policy.variables)["host"]
