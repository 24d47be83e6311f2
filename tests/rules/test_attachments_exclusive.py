"""Who keeps a backend, and who keeps an address: endpoint-attachments 5.3 and 5.4."""

from dataclasses import replace
from typing import Any

import pytest

from attachment_objects import (
    AFTER,
    BARE,
    BEFORE,
    DYING,
    NS,
    OTHER_NS,
    SEEN,
    asking,
    delegated,
    delegation,
    pinned,
    stated,
    with_service,
    words,
    written,
)
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.decide import decide
from roadstead.capabilities.attachments.snapshot import Association, Delegation, selector_of

GONE = "drop Service shop-db-abcde"
WHOLE = asking(BARE, claimName="held", method="WholeIP")
WHOLE_SEEN = with_service(WHOLE)
MINE = Association("Service", NS, "shop-db-abcde", exists=True)


@pytest.mark.parametrize(
    ("others", "loses"),
    [
        pytest.param((), False, id="alone"),
        pytest.param((delegation("a", "pod-1", born=BEFORE, vm="x"),), True, id="older"),
        pytest.param((delegation("z", "pod-1", born=AFTER, vm="x"),), False, id="younger"),
        pytest.param((delegation("shop-db-aaaaa", "pod-1", vm="x"),), True, id="tie-by-name"),
        pytest.param((delegation("shop-db-zzzzz", "pod-1", vm="x"),), False, id="tie-lost"),
        pytest.param((delegation("a", "pod-2", born=BEFORE, vm="x"),), False, id="other-pods"),
        pytest.param((delegation("a", born=BEFORE, app="shop"),), True, id="equal-selector"),
        pytest.param(
            (delegation("a", born=BEFORE, app="shop", x="y"),), False, id="wider-selector"
        ),
        pytest.param(
            (Delegation(delegated("a", BEFORE, {}), frozenset(), ()),), False, id="no-selector"
        ),
        pytest.param(
            (delegation("z", "pod-1", born=AFTER, vm="x"), delegation("a", "pod-2", vm="y")),
            False,
            id="none-counts",
        ),
    ],
)
def test_the_oldest_delegation_of_a_pod_keeps_it(
    others: tuple[Delegation, ...], loses: bool
) -> None:
    """5.3: the proxy lets the last writer win; without an order, two would take turns."""
    decision = decide(replace(WHOLE_SEEN, delegations=others))
    assert loses == ("BackendAlreadyDelegated" in words(decision))
    assert ([GONE] if loses else []) == written(decision)


def test_without_a_service_any_delegation_wins() -> None:
    """5.3, item 5: whoever comes later is the later one, whatever its name."""
    seen = replace(WHOLE, delegations=(delegation("z", "pod-1", born=AFTER, vm="x"),))
    assert "BackendAlreadyDelegated" in words(decide(seen))


def test_a_plain_attachment_shares_a_delegated_pod() -> None:
    """5.3 is about methods: a plain load balancer installs no mapping."""
    seen = replace(SEEN, delegations=(delegation("a", "pod-1", born=BEFORE, vm="x"),))
    assert "Resolved Provisioned Attached" == words(decide(seen))


def test_the_pair_that_holds_a_service_dark_is_no_part_of_its_selector() -> None:
    """5.3, item 3: a dark Service must go on holding its slot."""
    dark = delegated("a", BEFORE, {"app": "shop", api.DARK_LABEL: "true"})
    seen = replace(WHOLE_SEEN, delegations=(Delegation(dark, frozenset(), selector_of(dark)),))
    assert "BackendAlreadyDelegated" in words(decide(seen))


FOREIGN = Association("Service", OTHER_NS, "web-red", exists=True)


@pytest.mark.parametrize(
    ("change", "holder"),
    [
        pytest.param({}, "", id="free"),
        pytest.param({"associations": (MINE,)}, "", id="ours"),
        pytest.param(
            {"associations": (Association("Service", NS, "web", exists=True),)},
            "Service tenant-blue/web",
            id="another",
        ),
        pytest.param(
            {"associations": (Association("Service", NS, "web", exists=False),)}, "", id="stale"
        ),
        pytest.param(
            {"associations": (Association("Machine", NS, "vm", exists=False),)},
            "Machine tenant-blue/vm",
            id="no-service",
        ),
        pytest.param({"associations": (FOREIGN,)}, "an object in another namespace", id="foreign"),
        pytest.param({"associations": (FOREIGN, MINE)}, "", id="one-of-two-addresses-is-ours"),
        pytest.param({"rivals": (pinned("a", BEFORE),)}, "Service tenant-blue/a", id="older"),
        pytest.param({"rivals": (pinned("z", AFTER),)}, "", id="younger"),
        pytest.param({"rivals": (pinned("a"),)}, "Service tenant-blue/a", id="tie-by-name"),
        pytest.param({"rivals": (pinned("z"),)}, "", id="tie-lost"),
        pytest.param(
            {"rivals": (pinned("a", BEFORE),), "associations": (MINE,)}, "", id="driver-has-chosen"
        ),
    ],
)
def test_one_claim_serves_one_service(change: dict[str, Any], holder: str) -> None:
    """5.4: an address in two Services sends traffic to either."""
    decision = decide(replace(SEEN, **change))
    message = stated(decision, "Provisioned")["message"]
    assert f"{'ClaimInUse' if holder else 'Provisioned'}" == words(decision).split()[1]
    assert not holder or f"held by {holder};" in message
    assert ([GONE] if holder else []) == written(decision)
    assert OTHER_NS not in message
    assert "web-red" not in message


def test_without_a_service_any_pinned_one_holds_the_claim() -> None:
    """5.4, item 3: even a younger-looking one was there first."""
    decision = decide(replace(BARE, rivals=(pinned("z", AFTER),)))
    assert ("ClaimInUse", []) == (words(decision).split()[1], written(decision))


def test_an_own_service_on_its_way_out_is_no_stranger() -> None:
    """P9 is about others: a Service that we wait for is P12, whatever its address still says."""
    seen = replace(with_service(BARE, **DYING), associations=(MINE,))
    assert "Resolved ServicePending Pending" == words(decide(seen))
