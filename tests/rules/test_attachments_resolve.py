"""Which endpoint an attachment may have: the rows of endpoint-attachments 3.2 and 3.5."""

from dataclasses import replace
from typing import Any

import pytest

from attachment_objects import (
    BARE,
    DYING,
    MINTED,
    OLD_UID,
    RELEASE_UID,
    SEEN,
    TRIPLE,
    UID,
    a_claim,
    a_release,
    an_attachment,
    an_endpoint,
    owned_by,
    stated,
    words,
    written,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide
from roadstead.capabilities.attachments.snapshot import Snapshot
from roadstead.capabilities.attachments.snapshot.views import truncated
from roadstead.decision import Verdict
from roadstead.kube.objects import Object

GONE = "drop Service shop-db-abcde"


def stamped(*owners: dict[str, Any], **meta: Any) -> Snapshot:
    """Attached, with other owners on the attachment."""
    attachment = an_attachment(
        {"claimName": "held"},
        dict(SEEN.attachment.body["status"]),
        ownerReferences=list(owners),
        **meta,
    )
    return replace(SEEN, attachment=attachment)


TWO = (a_release("a", "uid-a"), a_release("b", "uid-b"))


@pytest.mark.parametrize(
    ("seen", "reason", "named"),
    [
        pytest.param(SEEN, "Resolved", "shop-rw", id="R9"),
        pytest.param(replace(SEEN, releases=()), "ApplicationNotFound", "Postgres shop", id="R1"),
        pytest.param(replace(SEEN, releases=TWO), "ApplicationAmbiguous", "a, b", id="R2"),
        pytest.param(
            replace(SEEN, releases=(a_release(), *TWO)), "Resolved", "shop-rw", id="R2-one-is-ours"
        ),
        pytest.param(
            replace(stamped(), releases=(a_release(**DYING),)),
            "ApplicationNotFound",
            "is being deleted",
            id="R3",
        ),
        pytest.param(
            replace(SEEN, releases=(a_release(**DYING),)), "Resolved", "shop-rw", id="R3-ours"
        ),
        pytest.param(stamped(owned_by(OLD_UID)), "ApplicationIncarnationChanged", OLD_UID, id="R4"),
        pytest.param(
            stamped(owned_by(OLD_UID)), "ApplicationIncarnationChanged", RELEASE_UID, id="R4-new"
        ),
        pytest.param(
            stamped(annotations={api.UID_ANNOTATION: OLD_UID}),
            "ApplicationIncarnationChanged",
            "recreate the attachment",
            id="R4-orphaned",
        ),
        pytest.param(
            stamped(owned_by(OLD_UID), owned_by(RELEASE_UID)), "Resolved", "shop-rw", id="R4-both"
        ),
        pytest.param(
            stamped(owned_by("uid-x", api.CLASS, "x"), owned_by(RELEASE_UID)),
            "Resolved",
            "shop-rw",
            id="R4-another-kind",
        ),
        pytest.param(replace(SEEN, endpoint=None), "EndpointNotFound", "shop-rw", id="R5"),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint(**DYING)),
            "EndpointNotFound",
            "is being deleted",
            id="R5-dying",
        ),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint(labels={api.NAME_LABEL: "other"})),
            "EndpointLineageMismatch",
            "`other` where `shop`",
            id="R6-name",
        ),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint(labels={api.KIND_LABEL: "postgres"})),
            "EndpointLineageMismatch",
            api.KIND_LABEL,
            id="R6-kind",
        ),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint(labels={api.GROUP_LABEL: None})),
            "EndpointLineageMismatch",
            "nothing",
            id="R6-group-missing",
        ),
        pytest.param(
            replace(SEEN, endpoint_holder="web"), "EndpointNotTenantFacing", "web", id="R7"
        ),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint(labels={api.TENANT_RESOURCE: None})),
            "EndpointNotTenantFacing",
            "is missing",
            id="R8-missing",
        ),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint(labels={api.TENANT_RESOURCE: "false"})),
            "EndpointNotTenantFacing",
            "`false`",
            id="R8-false",
        ),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint(labels={api.TENANT_RESOURCE: "True"})),
            "EndpointNotTenantFacing",
            "`True`",
            id="R8-spelling",
        ),
    ],
)
def test_each_row_of_resolve_has_its_reason_and_withdraws(
    seen: Snapshot, reason: str, named: str
) -> None:
    """Whatever does not resolve loses its Service and keeps its claim; nothing else is touched."""
    decision = decide(seen)
    resolved = reason == "Resolved"
    assert f"{reason} {'Provisioned Attached' if resolved else 'Detached Detached'}" == words(
        decision
    )
    assert named in stated(decision, "Resolved")["message"]
    assert ([] if resolved else [GONE]) == [one for one in written(decision) if "drop" in one]
    assert not [want for want in decision.want if want.kind != api.ATTACHMENT]


@pytest.mark.parametrize(
    ("first", "then", "reason"),
    [
        pytest.param({"releases": ()}, {"endpoint": None}, "ApplicationNotFound", id="R1-R5"),
        pytest.param({"releases": TWO}, {"endpoint": None}, "ApplicationAmbiguous", id="R2-R5"),
        pytest.param(
            {"endpoint_holder": "web"},
            {"endpoint": an_endpoint(labels={api.NAME_LABEL: "x"})},
            "EndpointLineageMismatch",
            id="R6-R7",
        ),
        pytest.param(
            {"endpoint_holder": "web"},
            {"endpoint": an_endpoint(labels={api.TENANT_RESOURCE: "false"})},
            "EndpointNotTenantFacing",
            id="R7-R8",
        ),
    ],
)
def test_the_first_row_that_fits_decides(
    first: dict[str, Any], then: dict[str, Any], reason: str
) -> None:
    """Two things are wrong; the table says which one is told."""
    assert reason == stated(decide(replace(SEEN, **first, **then)), "Resolved")["reason"]


def test_a_rendered_service_is_refused_in_the_words_of_its_attachment() -> None:
    """R7 names who rendered it; R8 would only quote a label that the webhook may have written."""
    endpoint = an_endpoint(labels={api.TENANT_RESOURCE: "false"})
    seen = replace(SEEN, endpoint_holder="web", endpoint=endpoint)
    assert "EndpointAttachment web" in stated(decide(seen), "Resolved")["message"]


UNSTAMPED = an_attachment({"claimName": "held"}, labels={"mine": "kept"}, ownerReferences=[])


@pytest.mark.parametrize(
    ("attachment", "expected"),
    [
        pytest.param(SEEN.attachment, [], id="stamped"),
        pytest.param(UNSTAMPED, ["apply EndpointAttachment"], id="bare"),
        pytest.param(
            an_attachment({"claimName": "held"}, labels={}),
            ["apply EndpointAttachment"],
            id="labels-missing",
        ),
        pytest.param(
            an_attachment({"claimName": "held"}, labels={**TRIPLE, api.NAME_LABEL: "other"}),
            ["apply EndpointAttachment"],
            id="label-edited",
        ),
        pytest.param(
            an_attachment({"claimName": "held"}, ownerReferences=[]),
            ["apply EndpointAttachment"],
            id="owner-missing",
        ),
    ],
)
def test_the_stamp_is_written_once(attachment: Object, expected: list[str]) -> None:
    """O1: owner and labels come first, in one write, and not again while they are there."""
    assert expected == written(decide(replace(SEEN, attachment=attachment)))


def test_the_stamp_states_the_fields_we_own_and_no_other() -> None:
    """What an apply states is taken from others; uid and version keep it off a newcomer."""
    body = decide(replace(BARE, attachment=UNSTAMPED)).want[0].body
    assert {
        "apiVersion": api.ATTACHMENT.api_version,
        "kind": "EndpointAttachment",
        "metadata": {
            "name": "shop-db",
            "namespace": "tenant-blue",
            "uid": UID,
            "resourceVersion": "1",
            "labels": TRIPLE,
            "annotations": {api.UID_ANNOTATION: RELEASE_UID},
            "ownerReferences": [owned_by(RELEASE_UID)],
        },
    } == body


def test_what_is_made_needs_the_stamp() -> None:
    """O1: a Service whose attachment has no owner would outlive its application."""
    stamp, service = decide(replace(BARE, attachment=UNSTAMPED)).want
    assert (stamp.ref,) == service.needs


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"releases": ()}, id="R1"),
        pytest.param({"releases": TWO}, id="R2"),
        pytest.param({"releases": (a_release(**DYING),)}, id="R3"),
    ],
)
def test_an_application_in_doubt_is_never_acquired(change: dict[str, Any]) -> None:
    """A dying or ambiguous release would take the attachment along."""
    assert [] == written(decide(replace(BARE, attachment=UNSTAMPED, **change)))


def test_another_incarnation_is_never_acquired() -> None:
    """R4: the owner reference is not rewritten and no second one is added."""
    attachment = an_attachment(ownerReferences=[owned_by(OLD_UID)], labels={})
    assert [] == written(decide(replace(BARE, attachment=attachment)))


def test_the_stamp_does_not_wait_for_the_endpoint() -> None:
    """3.2: it is written even where the endpoint then fails."""
    seen = replace(BARE, attachment=UNSTAMPED, endpoint=None)
    assert ["apply EndpointAttachment"] == written(decide(seen))


def before(type_: str, status: str, reason: str) -> dict[str, Any]:
    """A status of one condition."""
    return {"conditions": [{"type": type_, "status": status, "reason": reason}]}


LOST = replace(BARE, endpoint=None, attachment=an_attachment({"claimName": "held"}))


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        pytest.param(LOST, "NotResolved", id="never"),
        pytest.param(
            replace(LOST, attachment=an_attachment({}, before("Resolved", "True", "Resolved"))),
            "Detached",
            id="was-resolved",
        ),
        pytest.param(
            replace(LOST, attachment=an_attachment({}, before("Resolved", "False", "X"))),
            "NotResolved",
            id="was-not-resolved",
        ),
        pytest.param(
            replace(LOST, attachment=an_attachment({}, before("Provisioned", "False", "Detached"))),
            "Detached",
            id="sticky",
        ),
        pytest.param(
            replace(
                LOST, attachment=an_attachment({}, before("Provisioned", "False", "NotResolved"))
            ),
            "NotResolved",
            id="not-sticky",
        ),
        pytest.param(replace(LOST, owned=SEEN.owned), "Detached", id="service-without-status"),
        pytest.param(
            replace(LOST, minted=(a_claim(minted=True),)), "Detached", id="claim-without-status"
        ),
    ],
)
def test_detached_is_said_of_what_was_attached(seen: Snapshot, reason: str) -> None:
    """3.5: a lost status must not make a held address look as if it had never been."""
    assert reason == stated(decide(seen), "Provisioned")["reason"]


def test_a_detached_attachment_goes_on_naming_its_claim() -> None:
    """3.5: the address is held; whoever looks must find it. The Service is gone with the drop."""
    status = decide(replace(MINTED, endpoint=None)).status
    assert status is not None
    assert ("mine", ["203.0.113.5"], "") == tuple(
        status.value[key] for key in ("claimName", "addresses", "serviceName")
    )


@pytest.mark.parametrize(
    ("group", "label"),
    [
        pytest.param("apps.cozystack.io", "apps.cozystack.io", id="short"),
        pytest.param("a" * 62, "a" * 62, id="62"),
        pytest.param("a" * 63, "a" * 63, id="63"),
        pytest.param("a" * 70, "a" * 63, id="cut"),
        pytest.param("a" * 62 + "." + "b" * 9, "a" * 62, id="cut-at-a-dot"),
        pytest.param("a" * 61 + "-." + "b" * 9, "a" * 61, id="cut-at-two"),
    ],
)
def test_a_long_group_is_compared_as_the_webhook_writes_it(group: str, label: str) -> None:
    """3.1: 63 characters, and no punctuation at the end, or the label would not be valid."""
    assert label == truncated(group)


def test_waiting_and_refusing_are_told_apart() -> None:
    """A person is called only where nobody else can act."""
    waits = decide(replace(SEEN, releases=())).findings[-1]
    refuses = decide(replace(SEEN, releases=TWO)).findings[-1]
    assert (Verdict.WAIT, Verdict.REFUSE) == (waits.verdict, refuses.verdict)
