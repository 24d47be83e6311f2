"""What an example's table says of Secrets: what `tenantsecrets` lists, reading by reading."""

from lineage_objects import given, secret
from roadstead.capabilities.lineage.api import TENANT_RESOURCE
from roadstead.explain.sights import outcomes, sights
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET


def judged(name: str, verdict: str) -> Object:
    """A Secret as the webhook leaves it."""
    return Object.of(SECRET, secret(name, labels=given(verdict)))


def test_a_line_for_each_secret_and_for_each_change() -> None:
    """Shown, hidden later, gone; what stays as it is adds no line."""
    first = sights([judged("a", "true"), judged("b", "false"), judged("c", "true")])
    last = sights([judged("a", "false"), judged("b", "false")])

    told = [(one.about.name, one.word) for one in outcomes([first, first, last])]

    assert [
        ("a", "visible"),
        ("a", "hidden"),
        ("b", "hidden"),
        ("c", "visible"),
        ("c", "gone"),
    ] == (told)
    assert "of Harbor demo: tenantsecrets lists it" == outcomes([first])[0].what


def test_what_the_webhook_has_not_judged_is_no_line() -> None:
    """A tenant's own Secret is visible by its own label, and nobody's verdict."""
    own = Object.of(SECRET, secret("own", labels={TENANT_RESOURCE: "true"}))

    assert {} == sights([own])
