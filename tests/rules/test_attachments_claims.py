"""Whether an attachment has an address, and alone: endpoint-attachments 3.3, 5.3 and 5.4."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from attachment_objects import (
    BARE,
    BEFORE,
    DYING,
    MINTED,
    MINTING,
    NS,
    SEEN,
    a_claim,
    an_attachment,
    an_endpoint,
    asking,
    delegation,
    stated,
    with_service,
    words,
    written,
)
from roadstead.capabilities.attachments.decide import decide
from roadstead.capabilities.attachments.snapshot import (
    Association,
    Snapshot,
)
from roadstead.capabilities.attachments.snapshot.facts import best_claim, is_bound
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE

GONE = "drop Service shop-db-abcde"
WHOLE = asking(BARE, claimName="held", method="WholeIP")
WHOLE_SEEN = with_service(WHOLE)
PENDING = a_claim(status={"phase": "Pending", "addresses": []})


def said_of(message: str, type_: str = "Bound", status: str = "False") -> Object:
    """A pending claim of which the substrate says something."""
    condition = {"type": type_, "status": status, "reason": "Why", "message": message}
    return a_claim(status={"phase": "Pending", "addresses": [], "conditions": [condition]})


@pytest.mark.parametrize(
    ("seen", "reason", "named", "writes"),
    [
        pytest.param(
            replace(WHOLE_SEEN, contract=False),
            "DatapathContractUnavailable",
            "WholeIP",
            [GONE],
            id="P1",
        ),
        pytest.param(
            replace(asking(MINTING, method="WholeIP"), contract=False),
            "DatapathContractUnavailable",
            "cozy-proxy",
            [],
            id="P1-mints-nothing",
        ),
        pytest.param(
            replace(WHOLE_SEEN, delegations=(delegation("chart", "pod-1", born=BEFORE, vm="x"),)),
            "BackendAlreadyDelegated",
            "Service tenant-blue/chart",
            [GONE],
            id="P2",
        ),
        pytest.param(
            replace(
                asking(MINTING, method="WholeIP"), delegations=(delegation("c", "pod-1", vm="x"),)
            ),
            "BackendAlreadyDelegated",
            "Service tenant-blue/c",
            [],
            id="P2-mints-nothing",
        ),
        pytest.param(
            replace(SEEN, claim=None, claim_kind=False), "ClaimPending", "not served", [], id="P3"
        ),
        pytest.param(
            replace(MINTING, claim_kind=False), "ClaimPending", "IPAddressClaim", [], id="P3-bare"
        ),
        pytest.param(replace(SEEN, claim=None), "ClaimPending", "held", [GONE], id="P4"),
        pytest.param(
            replace(SEEN, claim=a_claim(meta=DYING)),
            "ClaimPending",
            "is being deleted",
            [GONE],
            id="P4-dying",
        ),
        pytest.param(MINTING, "ClaimPending", "IPAddressClaim", ["mint IPAddressClaim"], id="P5"),
        pytest.param(
            replace(MINTED, claim=None, minted=()),
            "ClaimPending",
            "",
            [GONE],
            id="P5-service-first",
        ),
        pytest.param(
            replace(MINTING, owned=with_service(BARE, **DYING).owned),
            "ClaimPending",
            "",
            [],
            id="P5-waits-until-it-is-gone",
        ),
        pytest.param(
            replace(
                MINTED,
                claim=a_claim("mine", minted=True, meta=DYING),
                minted=(a_claim("mine", minted=True, meta=DYING),),
            ),
            "ClaimPending",
            "mine is being deleted",
            [GONE],
            id="P5a",
        ),
        pytest.param(
            replace(
                MINTED,
                minted=(a_claim("mine", minted=True), a_claim("spare", minted=True)),
            ),
            "Provisioned",
            "",
            ["drop IPAddressClaim spare"],
            id="P5b",
        ),
        pytest.param(
            asking(SEEN, claimName="held", family="Dual"), "FamilyConflict", "Dual", [], id="P6"
        ),
        pytest.param(
            asking(BARE, claimName="held", family="IPv6"),
            "FamilyConflict",
            "IPv4",
            [],
            id="P6-makes-nothing",
        ),
        pytest.param(replace(SEEN, claim=PENDING), "ClaimPending", "Pending", [], id="P7-attached"),
        pytest.param(replace(BARE, claim=PENDING), "ClaimPending", "held", [], id="P7-bare"),
        pytest.param(
            replace(SEEN, claim=a_claim(status={"phase": "Lost", "addresses": []})),
            "ClaimPending",
            "Lost",
            [],
            id="P7-lost",
        ),
        pytest.param(
            replace(BARE, claim=a_claim(status={"addresses": []})),
            "ClaimPending",
            "Bound",
            [],
            id="P7-bound-to-nothing",
        ),
        pytest.param(
            replace(BARE, claim=said_of("no address is free")),
            "ClaimPending",
            "no address is free",
            [],
            id="P7-quotes-the-substrate",
        ),
        pytest.param(
            replace(BARE, claim=said_of("no class of that name", "ClassResolved")),
            "ClaimPending",
            "no class of that name",
            [],
            id="P7-class",
        ),
        pytest.param(replace(BARE, ip_class=None), "ClaimPending", "public", [], id="P8-absent"),
        pytest.param(
            replace(BARE, ip_class=None, class_name=""), "ClaimPending", "held", [], id="P8-unknown"
        ),
        pytest.param(
            replace(BARE, ip_class=None, class_kind=False),
            "ClaimPending",
            "not served",
            [],
            id="P8-kind-not-served",
        ),
        pytest.param(replace(SEEN, ip_class=None), "Provisioned", "", [], id="P8-attached"),
        pytest.param(
            replace(SEEN, associations=(Association("Service", NS, "web", exists=True),)),
            "ClaimInUse",
            "Service tenant-blue/web",
            [GONE],
            id="P9-association",
        ),
    ],
)
def test_each_row_of_claim_has_its_reason_and_its_writes(
    seen: Snapshot, reason: str, named: str, writes: list[str]
) -> None:
    """Each row is one step from a world that works; what it writes is the row's, and no more."""
    decision = decide(seen)
    phase = "Attached" if reason == "Provisioned" else "Pending"
    assert f"Resolved {reason} {phase}" == words(decision)
    assert named in stated(decision, "Provisioned")["message"]
    assert writes == written(decision)


@pytest.mark.parametrize(
    ("minted", "kept"),
    [
        pytest.param((), "", id="none"),
        pytest.param((a_claim("b"), a_claim("a")), "a", id="by-name"),
        pytest.param(
            (a_claim("a"), a_claim("b", meta={"creationTimestamp": BEFORE})), "b", id="oldest"
        ),
        pytest.param(
            (a_claim("b"), a_claim("a", {"phase": "Pending"}, meta={"creationTimestamp": BEFORE})),
            "b",
            id="bound",
        ),
        pytest.param((a_claim("a", meta=DYING), a_claim("b")), "b", id="alive"),
        pytest.param((a_claim("a", meta=DYING),), "a", id="dying-alone"),
    ],
)
def test_the_best_of_several_claims_is_kept(minted: tuple[Object, ...], kept: str) -> None:
    """P5b: the one with an address, or a running tenant would be renumbered."""
    best = best_claim(minted)
    assert kept == (best.meta.name if best else "")


def test_a_dying_spare_is_not_deleted_again() -> None:
    """Its finalizer is another's business; a DELETE in every pass would be a loop."""
    spare = a_claim("spare", minted=True, meta=DYING)
    seen = replace(MINTED, minted=(a_claim("mine", minted=True), spare))
    assert [] == written(decide(seen))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({}, "ClaimPending", id="any-class"),
        pytest.param({"classes": frozenset({"public"})}, "ClaimPending", id="default-unknown"),
        pytest.param(
            {"classes": frozenset({"public"}), "default_class": "public"},
            "ClaimPending",
            id="default-offered",
        ),
    ],
)
def test_a_class_that_is_offered_is_minted_from(change: dict[str, Any], reason: str) -> None:
    """8.3: the limit stops what is known not to be offered, and nothing else."""
    decision = decide(replace(MINTING, **change))
    assert (reason, ["mint IPAddressClaim"]) == (words(decision).split()[1], written(decision))


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(
            replace(asking(MINTING, className="gold"), classes=frozenset({"public"})), id="named"
        ),
        pytest.param(
            replace(MINTING, classes=frozenset({"public"}), default_class="gold"), id="default"
        ),
    ],
)
def test_a_class_that_is_not_offered_is_not_minted_from(seen: Snapshot) -> None:
    """8.3: and the words name nothing outside the namespace but what was asked for."""
    decision = decide(seen)
    message = stated(decision, "Provisioned")["message"]
    assert [] == written(decision)
    assert "class not offered: `gold`" in message
    assert "public" not in message


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(replace(MINTED, classes=frozenset({"gold"})), id="minted-before"),
        pytest.param(replace(SEEN, classes=frozenset({"gold"})), id="referenced"),
    ],
)
def test_a_claim_that_is_there_is_no_matter_of_classes(seen: Snapshot) -> None:
    """A list that shrinks cuts no traffic."""
    assert "Resolved Provisioned Attached" == words(decide(seen))


def test_what_is_minted_states_what_was_asked() -> None:
    """The claim is ours by its controller, and of the class and family asked for."""
    seen = asking(MINTING, className="public", family="Dual")
    (want,) = decide(seen).want
    assert {"className": "public", "family": "Dual"} == want.body["spec"]
    assert {} == decide(MINTING).want[0].body["spec"]
    assert want.minted is not None
    assert (SEEN.attachment.meta.uid, "claim") == (want.minted.owner, want.minted.role)


@pytest.mark.parametrize(
    ("status", "bound"),
    [
        pytest.param({}, True, id="bound"),
        pytest.param({"phase": "Pending"}, False, id="pending"),
        pytest.param({"phase": ""}, False, id="empty"),
        pytest.param({"addresses": []}, False, id="no-address"),
    ],
)
def test_bound_means_a_phase_and_an_address(status: dict[str, Any], bound: bool) -> None:
    """2.2: a claim that says Bound and lists nothing has nothing to pin."""
    assert bound == is_bound(a_claim(status=status or None))


@pytest.mark.parametrize(
    ("seen", "sure"),
    [
        pytest.param(SEEN, False, id="steady"),
        pytest.param(
            replace(SEEN, endpoint=an_endpoint({"selector": {"a": "b"}})), False, id="PUT"
        ),
        pytest.param(BARE, True, id="before-a-create"),
        pytest.param(replace(BARE, owned=SEEN.owned), True, id="right-after-it"),
        pytest.param(MINTING, True, id="before-a-mint"),
        pytest.param(replace(SEEN, endpoint=None), True, id="before-a-withdrawal"),
        pytest.param(
            replace(SEEN, attachment=an_attachment({"claimName": "held"}, labels={})),
            True,
            id="before-a-stamp",
        ),
        pytest.param(replace(BARE, claim=PENDING), False, id="waiting"),
        pytest.param(
            replace(MINTED, minted=(a_claim("mine"), a_claim("spare"))), True, id="before-a-double"
        ),
    ],
)
def test_what_makes_or_deletes_rests_on_live_reads(seen: Snapshot, sure: bool) -> None:
    """O3, O5, O8: a cache that lags must neither double an address nor cut one."""
    assert sure == decide(seen).sure


@pytest.mark.parametrize(
    ("seen", "span"),
    [
        pytest.param(SEEN, timedelta(minutes=10), id="steady"),
        pytest.param(replace(BARE, claim=PENDING), timedelta(minutes=10), id="watched"),
        pytest.param(replace(MINTING, claim_kind=False), timedelta(seconds=30), id="no-claims"),
        pytest.param(
            replace(BARE, ip_class=None, class_kind=False), timedelta(seconds=30), id="no-classes"
        ),
        pytest.param(
            replace(SEEN, endpoint=None, claim_kind=False), timedelta(minutes=10), id="other-reason"
        ),
    ],
)
def test_what_cannot_be_watched_is_asked_for_sooner(seen: Snapshot, span: timedelta) -> None:
    """6.2: half a minute where nobody would tell, ten minutes where somebody does."""
    assert span == decide(seen).recheck


def test_every_drop_carries_the_uid_that_was_seen() -> None:
    """O8: a newcomer under the same name is never deleted."""
    (drop,) = decide(replace(SEEN, endpoint=None)).drop
    assert (SERVICE.ref(NS, "shop-db-abcde"), "uid-svc") == (drop.ref, drop.uid)
