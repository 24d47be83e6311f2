"""What of other programs' words a tenant may read: endpoint-attachments 3.7."""

import pytest

from roadstead.capabilities.attachments.decide.words import LONGEST, quoted

NS = "tenant-blue"
ELSEWHERE = "an object in another namespace"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("no address is free", "no address is free", id="plain"),
        pytest.param("two\n  lines", "two lines", id="one-line"),
        pytest.param("held by tenant-blue/web", "held by tenant-blue/web", id="here"),
        pytest.param("held by tenant-red/web", f"held by {ELSEWHERE}", id="elsewhere"),
        pytest.param("held by tenant-red/web.a", f"held by {ELSEWHERE}", id="subdomain"),
        pytest.param("Service tenant-red/web!", f"Service {ELSEWHERE}!", id="within-a-sentence"),
        pytest.param("(tenant-red/web)", f"({ELSEWHERE})", id="in-brackets"),
        pytest.param("`tenant-red/web`", f"`{ELSEWHERE}`", id="quoted"),
        pytest.param("tenant-red/5432", ELSEWHERE, id="a-name-of-digits"),
        pytest.param("v2-team/web", ELSEWHERE, id="a-namespace-like-a-version"),
        pytest.param(
            "Service/tenant-red/web is there", f"Service/{ELSEWHERE} is there", id="kind-first"
        ),
        pytest.param("in namespace tenant-blue", "in namespace tenant-blue", id="namespace-here"),
        pytest.param("in namespace tenant-red", "in another namespace", id="namespace-elsewhere"),
        pytest.param('in namespace "tenant-red"', "in another namespace", id="namespace-quoted"),
        pytest.param("namespace=tenant-red", "another namespace", id="namespace-field"),
        pytest.param(
            "exceeded quota: q, requested: count/ipaddressclaims.local.sdn.cozystack.io=1",
            "exceeded quota: q, requested: count/ipaddressclaims.local.sdn.cozystack.io=1",
            id="quota",
        ),
        pytest.param("requests/x limits/y", "requests/x limits/y", id="resources"),
        pytest.param("range 203.0.113.0/24", "range 203.0.113.0/24", id="range"),
        pytest.param("range 2001:db8::ab/64", "range 2001:db8::ab/64", id="range-6"),
        pytest.param("port 53/UDP", "port 53/UDP", id="port"),
        pytest.param("cozystack.io/v1alpha1", "cozystack.io/v1alpha1", id="group"),
        pytest.param("services/tenant-red/web", ELSEWHERE, id="a-path"),
        pytest.param("namespace tenant-red/web", "another namespace", id="namespace-and-object"),
    ],
)
def test_names_of_other_namespaces_are_taken_out(said: str, expected: str) -> None:
    """A tenant must not learn who its neighbours are from an error."""
    assert expected == quoted(said, NS)


def test_what_is_quoted_is_no_longer_than_a_condition_bears() -> None:
    """Somebody else's text must not fill our status."""
    assert LONGEST == len(quoted("x" * 10_000, NS))
