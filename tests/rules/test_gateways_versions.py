"""A TLSRoute that v1 does not allow has its status written at the version that does.

Source: tenant-gateway 6, at its end.
"""

from pathlib import Path

import pytest

from gateway_objects import APEX, a_snapshot, tls
from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.decide import decide
from roadstead.capabilities.gateways.snapshot import Route
from roadstead.decision import How
from roadstead.sim.cases import play_case, read_case, stage_of

CASES = Path(__file__).parent.parent / "cases" / "gateways"
NEWEST, *_, OLDEST = api.TLS_ROUTES


@pytest.mark.parametrize("kind", [None, OLDEST], ids=["as-read", "oldest"])
def test_a_status_is_written_at_the_routes_version(kind: object) -> None:
    """The body says the version of the path that it is sent to."""
    seen = tls("tenant-foo/t", f"api.{APEX}").seen
    route = Route(seen, resolves=True, status_kind=OLDEST if kind else None)
    (want,) = [w for w in decide(a_snapshot(route)).want if w.how is How.STATUS]

    assert (OLDEST if kind else NEWEST) == want.kind
    assert want.kind.api_version == want.body["apiVersion"]


@pytest.mark.parametrize(
    ("case", "version"),
    [
        ("tls-route-beside-an-http-route", "v1"),
        ("tls-route-without-hostnames", "v1alpha2"),
        ("tls-route-of-several-rules", "v1alpha2"),
        ("tls-route-without-hostnames-once-v1alpha2-is-gone", "v1"),
        ("tls-routes-at-v1alpha2", "v1alpha2"),
        ("tls-routes-at-v1alpha3", "v1alpha3"),
    ],
)
def test_a_case_writes_at_one_version(case: str, version: str) -> None:
    """A version that is not served is never asked for."""
    read = read_case(CASES / case)
    stage = stage_of(read)
    play_case(read, stage)
    asked = stage.requests(since_step=False)

    assert {version} == {
        one.kind.version
        for one in asked
        if one.verb == "update-status" and one.kind.resource == NEWEST.resource
    }
