"""What a refused write means: endpoint-attachments 3, P5c, P14, and 7."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from attachment_objects import (
    BARE,
    MINTED,
    MINTING,
    NS,
    SEEN,
    a_claim,
    an_attachment,
    an_endpoint,
    stated,
    words,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide, report
from roadstead.capabilities.attachments.snapshot import Snapshot
from roadstead.decision import Decision, Did, How, Outcome
from roadstead.kube.refs import SERVICE

SVC, CLAIM = SERVICE.ref(NS, "shop-db-abcde"), api.CLAIM.ref(NS, "shop-db-abcde")
STAMP = api.ATTACHMENT.ref(NS, "shop-db")


def failed(ref: Any, how: How | None, status: int, **more: Any) -> Outcome:
    """A write that the API server refused."""
    return Outcome(ref, Did.FAILED, status, how=how, **more)


def judged(seen: Snapshot, *outcomes: Outcome) -> Decision:
    """The decision, after what became of its writes."""
    return report(seen, decide(seen), outcomes)


@pytest.mark.parametrize(
    ("seen", "outcome", "reason"),
    [
        pytest.param(BARE, failed(SVC, How.MINT, 403), "ServiceRejected", id="P14-403"),
        pytest.param(BARE, failed(SVC, How.MINT, 422), "ServiceRejected", id="P14-422"),
        pytest.param(
            BARE,
            failed(SVC, How.MINT, 409, reason="AlreadyExists"),
            "ServiceRejected",
            id="P14-eight-names-are-taken",
        ),
        pytest.param(SEEN, failed(SVC, How.REPLACE, 403), "ServiceRejected", id="P14-PUT-403"),
        pytest.param(SEEN, failed(SVC, How.REPLACE, 422), "ServiceRejected", id="P14-PUT-422"),
        pytest.param(MINTING, failed(CLAIM, How.MINT, 403), "ClaimPending", id="P5c-quota"),
        pytest.param(MINTING, failed(CLAIM, How.MINT, 422), "ClaimPending", id="P5c-invalid"),
        pytest.param(
            MINTING,
            failed(CLAIM, How.MINT, 409, reason="AlreadyExists"),
            "ClaimPending",
            id="P5c-eight-names-are-taken",
        ),
    ],
)
def test_a_refusal_is_told_in_the_servers_words(
    seen: Snapshot, outcome: Outcome, reason: str
) -> None:
    """Who reads the condition can see what to raise, and it is tried again."""
    decision = judged(seen, replace(outcome, said="Forbidden; exceeded quota: q"))
    condition = stated(decision, "Provisioned")
    assert f"Resolved {reason} Pending" == words(decision)
    assert "exceeded quota: q" in condition["message"]
    assert decision.backoff
    assert reason == decision.findings[-1].reason
    assert reason == stated(decision, "Ready")["reason"]


@pytest.mark.parametrize(
    ("seen", "outcome", "seconds"),
    [
        pytest.param(BARE, failed(SVC, How.MINT, 403), 5, id="service"),
        pytest.param(MINTING, failed(CLAIM, How.MINT, 403), 1, id="claim"),
    ],
)
def test_the_first_pause_is_the_rows(seen: Snapshot, outcome: Outcome, seconds: int) -> None:
    """P14 asks for five seconds; everything else starts at one."""
    assert timedelta(seconds=seconds) == judged(seen, outcome).first_pause


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        pytest.param(BARE, failed(SVC, How.MINT, 500), id="500"),
        pytest.param(BARE, failed(SVC, How.MINT, 0), id="cut"),
        pytest.param(BARE, failed(SVC, How.MINT, 429), id="429"),
        pytest.param(BARE, failed(SVC, How.MINT, 401), id="401"),
        pytest.param(BARE, failed(SVC, How.MINT, 404), id="404"),
        pytest.param(SEEN, failed(SVC, How.REPLACE, 409, reason="Conflict"), id="conflict"),
        pytest.param(SEEN, failed(SVC, None, 403), id="delete-403"),
        pytest.param(SEEN, failed(SVC, None, 409, reason="Conflict"), id="delete-409"),
        pytest.param(MINTING, failed(CLAIM, How.MINT, 503), id="claim-503"),
        pytest.param(MINTED, failed(CLAIM, None, 403), id="claim-delete-403"),
        pytest.param(BARE, failed(STAMP, How.APPLY, 403), id="stamp-403"),
        pytest.param(BARE, failed(STAMP, How.APPLY, 500), id="stamp-500"),
    ],
)
def test_what_may_pass_changes_no_condition(seen: Snapshot, outcome: Outcome) -> None:
    """3: a pass that was cut short has not seen what it wanted; the last word stands."""
    decision = judged(seen, outcome)
    assert (None, (), True) == (decision.status, decision.events, decision.backoff)


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(
            failed(SVC, How.MINT, 403, reason="Forbidden", cause="NamespaceTerminating"), id="ends"
        ),
        pytest.param(
            failed(CLAIM, How.MINT, 403, reason="Forbidden", cause="NamespaceTerminating"),
            id="claim",
        ),
    ],
)
def test_a_namespace_on_its_way_out_is_no_error(outcome: Outcome) -> None:
    """7: no retry storm; everything goes with it."""
    decision = judged(BARE, outcome)
    assert (None, False) == (decision.recheck, decision.backoff)
    assert "Resolved ServicePending Pending" == words(decision)


def test_an_own_object_on_its_way_out_is_waited_for() -> None:
    """5.2: P12, and the deletion wakes us."""
    decision = judged(BARE, failed(SVC, How.MINT, 0, reason="Terminating"))
    assert ("Resolved ServicePending Pending", False) == (words(decision), decision.backoff)


@pytest.mark.parametrize(
    "passing",
    [
        pytest.param(failed(SVC, How.MINT, 0, reason="Terminating"), id="terminating"),
        pytest.param(failed(SVC, How.MINT, 403, cause="NamespaceTerminating"), id="namespace"),
        pytest.param(failed(SVC, How.MINT, 422), id="refused"),
    ],
)
def test_a_second_failure_is_not_forgotten(passing: Outcome) -> None:
    """A spare claim whose deletion failed is deleted soon, not with the next resync."""
    assert judged(BARE, passing, failed(CLAIM, None, 500)).backoff


def test_nothing_failed_and_nothing_changes() -> None:
    """Skipped and unchanged are no failures."""
    outcomes = (Outcome(SVC, Did.UPDATED), Outcome(CLAIM, Did.UNCHANGED))
    assert repr(decide(SEEN)) == repr(judged(SEEN, *outcomes))


def test_what_is_skipped_is_told_by_what_it_needed() -> None:
    """The stamp failed; the Service that needs it was refused by nobody."""
    skipped = Outcome(SVC, Did.SKIPPED, how=How.MINT)
    assert None is judged(BARE, failed(STAMP, How.APPLY, 500), skipped).status


def test_a_refused_put_leaves_the_service_where_it_is() -> None:
    """P14: as it was; its name stays in the status."""
    seen = replace(SEEN, endpoint=an_endpoint({"selector": {"app": "new"}}))
    status = judged(seen, failed(SVC, How.REPLACE, 422)).status
    assert status is not None
    assert "shop-db-abcde" == status.value["serviceName"]


def test_names_of_other_namespaces_do_not_reach_a_condition() -> None:
    """A policy's text may name whoever it likes; the tenant reads what is its own."""
    said = 'Forbidden; denied by tenant-red/web in namespace "tenant-red"'
    for seen, ref in ((BARE, SVC), (MINTING, CLAIM)):
        decision = judged(seen, failed(ref, How.MINT, 403, said=said))
        assert "tenant-red" not in repr((decision.status, decision.events, decision.findings))


def test_the_whole_of_a_refusal_is_for_logs_alone() -> None:
    """`message` may hold anything."""
    outcome = failed(SVC, How.MINT, 403, reason="Forbidden", message="secret-of-the-admin")
    decision = judged(BARE, outcome)
    assert "Forbidden" in stated(decision, "Provisioned")["message"]
    assert "secret-of-the-admin" not in repr((decision.status, decision.events))


@pytest.mark.parametrize("attachment", [an_attachment(), an_attachment({"claimName": "held"})])
def test_a_refusal_of_a_claim_names_no_claim_that_is_not(attachment: Any) -> None:
    """The claim's name is reported once it is there, or as it was asked for."""
    seen = replace(MINTING, attachment=attachment)
    status = judged(seen, failed(CLAIM, How.MINT, 403)).status
    assert status is not None
    assert seen.asked.claim_name == status.value["claimName"]
    assert a_claim().meta.name == "held"
