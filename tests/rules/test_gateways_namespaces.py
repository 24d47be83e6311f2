"""Which namespaces carry the label, and who holds one of them. tenant-gateway 3.8 and 4.8."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway_objects import NS, a_namespace, a_snapshot, made, told
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.snapshot import Snapshot
from roadstead.decision import How
from roadstead.kube.objects import Object

ATT: dict[str, Any] = {"attachedNamespaces": ["cozy-x"]}
Change = Mapping[str, Mapping[str, str | None]]
LABEL, NOTE = api.ATTACH_LABEL, api.ATTACHED_BY
BOTH: Change = {"labels": {LABEL: NS}, "annotations": {NOTE: NS}}
NEITHER: Change = {"labels": {LABEL: None}, "annotations": {NOTE: None}}


def patched(seen: Snapshot) -> dict[str, Change]:
    """What is patched of each Namespace, with the preconditions left out."""
    found: dict[str, Change] = {}
    for want in decide(seen).want:
        if want.how is How.PATCH:
            meta = dict(want.body["metadata"])
            assert "7" == meta.pop("resourceVersion")
            assert {"metadata"} == set(want.body)
            found[meta.pop("name")] = meta
    return found


def sibling(*attached: str, deleting: bool = False) -> Object:
    """Another TenantGateway of the same namespace."""
    meta = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}
    spec = {"apex": "bar.example.com", "attachedNamespaces": list(attached)}
    return made(api.TENANT_GATEWAY, NS, "other", meta=meta, spec=spec)


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        pytest.param(a_namespace("cozy-x"), BOTH, id="TG-176-bare"),
        pytest.param(a_namespace("cozy-x", NS, holder=NS), None, id="as-it-should-be"),
        pytest.param(a_namespace("cozy-x", NS), {"annotations": {NOTE: NS}}, id="label-alone"),
        pytest.param(a_namespace("cozy-x", "", "", NS), {"labels": {LABEL: NS}},
                     id="annotation-alone"),
        pytest.param(a_namespace("cozy-x", "edited", "", NS), {"labels": {LABEL: NS}},
                     id="ours-and-edited"),
        pytest.param(a_namespace("cozy-x", "tenant-x"), None, id="held-by-a-chart"),
        pytest.param(a_namespace("cozy-x", "tenant-x", "", "tenant-x"), BOTH,
                     id="of-a-holder-that-lists-it-no-more"),
    ],
)  # fmt: skip
def test_a_listed_namespace_is_labelled(there: Object, expected: Change | None) -> None:
    """TG-176: label and annotation, and nothing else of what is another's object."""
    own = a_namespace(NS, NS, holder=NS)
    seen = a_snapshot(namespaces=[own, there], **ATT)

    assert ({"cozy-x": expected} if expected else {}) == patched(seen)


@pytest.mark.parametrize(
    ("there", "holders", "holder"),
    [
        pytest.param(a_namespace("cozy-x"), (), "", id="free"),
        pytest.param(a_namespace("cozy-x", NS), (), "", id="labelled-ours"),
        pytest.param(a_namespace("cozy-x", NS, holder=NS), ("tenant-x",), "", id="ours"),
        pytest.param(a_namespace("cozy-x", "tenant-x"), (), "tenant-x", id="chart-written"),
        pytest.param(a_namespace("cozy-x", "tenant-x", holder="tenant-x"), ("tenant-x",),
                     "tenant-x", id="first-holder"),
        pytest.param(a_namespace("cozy-x", "tenant-x", holder="tenant-x"), (), "",
                     id="holder-is-gone"),
        pytest.param(a_namespace("cozy-x", "tenant-x", holder="tenant-x"), ("tenant-y",), "",
                     id="another-lists-it"),
        pytest.param(a_namespace("cozy-x", "tenant-y", holder="tenant-x"), ("tenant-x",),
                     "tenant-x", id="the-annotation-counts"),
    ],
)  # fmt: skip
def test_who_holds_a_namespace(there: Object, holders: tuple[str, ...], holder: str) -> None:
    """4.8: first holder keeps it; one that is gone or lists it no more holds nothing."""
    seen = a_snapshot(namespaces=[there], **ATT)
    seen = replace(seen, holders={"cozy-x": frozenset(holders)})

    assert holder == seen.holder_of("cozy-x")
    assert (not holder) is ("cozy-x" in seen.attach_set)
    assert bool(holder) is ("NamespaceHeld" in told(decide(seen)))
    assert not holder or "cozy-x" not in patched(seen)


def test_its_own_namespace_is_held_by_nobody() -> None:
    """3.8: the gateway's own namespace is its own, whatever was written there."""
    own = a_namespace(NS, "tenant-x", holder="tenant-x")
    seen = replace(a_snapshot(namespaces=[own]), holders={NS: frozenset({"tenant-x"})})

    assert {NS: BOTH} == patched(seen)


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        pytest.param(a_namespace("cozy-x", NS, holder=NS), NEITHER, id="TG-177-both-go"),
        pytest.param(a_namespace("cozy-x", NS), None, id="TG-178-chart-written"),
        pytest.param(a_namespace("cozy-x", "tenant-x", holder=NS), {"annotations": {NOTE: None}},
                     id="label-of-another-stays"),
        pytest.param(a_namespace("cozy-x", "", holder=NS), {"annotations": {NOTE: None}},
                     id="annotation-alone"),
        pytest.param(a_namespace("cozy-x", NS, holder="tenant-x"), None, id="of-another-holder"),
        pytest.param(a_namespace("cozy-x"), None, id="bare"),
    ],
)  # fmt: skip
def test_a_namespace_that_is_not_listed_loses_what_we_wrote(
    there: Object, expected: Change | None
) -> None:
    """3.8: only what carries our annotation is ours to take away."""
    seen = a_snapshot(namespaces=[a_namespace(NS, NS, holder=NS), there])

    assert ({"cozy-x": expected} if expected else {}) == patched(seen)


def test_an_absent_namespace_is_no_error() -> None:
    """TG-179: it is labelled when it comes."""
    seen = a_snapshot(namespaces=[a_namespace(NS, NS, holder=NS)], **ATT)

    assert {} == patched(seen)
    assert "cozy-x" in seen.attach_set
    assert "ReconcileError" not in told(decide(seen))


@pytest.mark.parametrize(
    ("there", "spec"),
    [
        pytest.param(a_namespace("cozy-x"), ATT, id="listed"),
        pytest.param(a_namespace("cozy-x", NS, holder=NS), {}, id="no-longer-listed"),
    ],
)
def test_a_namespace_that_is_being_deleted_is_left(there: Object, spec: dict[str, Any]) -> None:
    """A patch of what goes is refused by admission somewhere, and helps nobody."""
    meta = {**there.body["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    going = Object.of(there.kind, {**there.body, "metadata": meta})
    seen = a_snapshot(namespaces=[a_namespace(NS, NS, holder=NS), going], **spec)

    assert {} == patched(seen)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param((), {"cozy-x": NEITHER}, id="alone"),
        pytest.param((sibling("cozy-x"),), {}, id="a-sibling-lists-it"),
        pytest.param((sibling("cozy-y"),), {"cozy-x": NEITHER}, id="a-sibling-lists-another"),
    ],
)
def test_the_expected_set_is_of_all_siblings(
    others: tuple[Object, ...], expected: dict[str, Change]
) -> None:
    """4.8, W2: two gateways of one namespace must not strip each other's labels."""
    seen = a_snapshot(
        namespaces=[a_namespace(NS, NS, holder=NS), a_namespace("cozy-x", NS, "", NS)]
    )
    seen = replace(seen, siblings=others)

    assert expected == patched(seen)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param((), {NS: {"annotations": {NOTE: None}}, "cozy-x": NEITHER}, id="the-last-one"),
        pytest.param((sibling("cozy-x"),), {}, id="a-sibling-goes-on"),
        pytest.param((sibling(),), {"cozy-x": NEITHER}, id="a-sibling-without-it"),
    ],
)
def test_a_gateway_that_is_gone_is_swept(
    others: tuple[Object, ...], expected: dict[str, Change]
) -> None:
    """TG-183, 8.6: on its own namespace the annotation alone: the label is the chart's."""
    seen = a_snapshot(
        namespaces=[a_namespace(NS, NS, holder=NS), a_namespace("cozy-x", NS, "", NS)]
    )
    seen = replace(seen, asked_for=None, siblings=others)
    decision = decide(seen)

    assert expected == patched(seen)
    assert decision.status is None
    assert not decision.drop


def test_labels_are_written_before_the_gateway() -> None:
    """3.8: a Gateway whose selector matches nothing yet drops every route for a while."""
    decision = decide(a_snapshot(namespaces=[a_namespace("cozy-x")], **ATT))
    kinds = [want.kind.kind for want in decision.want]

    assert ["Namespace", "Namespace", "Gateway", "Issuer", "HTTPRoute"] == kinds
