"""A stated object is compared field by field, and no difference shows a Secret's value."""

from base64 import b64encode
from typing import Any

import pytest

from roadstead.errors import InputError
from roadstead.sim.compare import compare_exactly, compare_object, lookup
from roadstead.sim.placeholders import Names
from worlds import CANARY, LIVE, NOW, live_secret


def names(**bound: str) -> Names:
    """Placeholders of a case in which one object of uid `u` and two minted names exist."""
    return Names(
        {"Secret/t/s": "u"}.get,
        lambda: ("shop-x1", "shop-x2"),
        lambda: NOW,
        mints=dict(bound),
    )


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        pytest.param({"metadata": {"labels": {"a": "b"}}}, [], id="a-map-may-hold-more"),
        pytest.param({"metadata": {"labels": {"a": "x"}}}, ["metadata.labels.a"], id="leaf"),
        pytest.param({"metadata": {"labels": {"z": None}}}, [], id="null-is-absence"),
        pytest.param({"metadata": {"labels": {"a": None}}}, ["metadata.labels.a"], id="null"),
        pytest.param({"metadata": {"annotations": {}}}, [], id="empty-map-is-absence"),
        pytest.param({"metadata": {"labels": {}}}, ["metadata.labels"], id="empty-map"),
        pytest.param({"metadata": {"annotations": []}}, [], id="empty-list-is-absence"),
        pytest.param({"status": {"empty": None}}, [], id="null-is-empty"),
        pytest.param({"spec": {"addresses": ["one", "two"]}}, [], id="list"),
        pytest.param({"spec": {"addresses": ["two", "one"]}}, ["0", "1"], id="order-matters"),
        pytest.param({"spec": {"addresses": ["one"]}}, ["1"], id="a-list-is-whole"),
        pytest.param(
            {"spec": {"listeners": [{"name": "https"}, {"name": "http", "port": 80}]}},
            [],
            id="keyed-lists-have-no-order",
        ),
        pytest.param(
            {"spec": {"listeners": [{"name": "http"}]}}, ["https"], id="a-keyed-list-is-whole"
        ),
        pytest.param(
            {"spec": {"listeners": [{"name": "http", "port": 81}, {"name": "https"}]}},
            ["spec.listeners[http].port"],
            id="the-entry-is-named",
        ),
        pytest.param(
            {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
            [],
            id="only-stated-conditions",
        ),
        pytest.param({"status": {"conditions": [{"type": "Gone"}]}}, ["Gone"], id="condition"),
        pytest.param({"spec": {"on": {"a": 1}}}, ["spec.on"], id="a-leaf-is-no-map"),
        pytest.param({"spec": {"on": [1]}}, ["spec.on"], id="a-leaf-is-no-list"),
        pytest.param({"spec": {"gone": {"a": None}}}, [], id="below-nothing"),
        pytest.param({"spec": {"on": 1}}, ["spec.on"], id="a-number-is-no-boolean"),
        pytest.param({"spec": {"count": True}}, ["spec.count"], id="a-boolean-is-no-number"),
        pytest.param({"spec": {"count": "1"}}, ["spec.count"], id="a-text-is-no-number"),
        pytest.param({"spec": {"count": "${any}"}}, [], id="any-value"),
        pytest.param({"spec": {"gone": "${any}"}}, ["spec.gone"], id="any-is-not-none"),
    ],
)
def test_every_stated_leaf_is_compared(wanted: dict[str, Any], paths: list[str]) -> None:
    """Each row is one difference, or one thing that is none."""
    found = [one.path for one in compare_object(wanted, LIVE, names())]

    assert len(paths) == len(found)
    assert all(path in one for path, one in zip(paths, found, strict=True))


@pytest.mark.parametrize(
    ("wanted", "path", "same"),
    [
        pytest.param({"metadata": {"labels": {"a": "b"}}}, "metadata.labels", False, id="more"),
        pytest.param(
            {"metadata": {"labels": {"a": "b", "c": "d"}}}, "metadata.labels", True, id="same"
        ),
        pytest.param({}, "metadata.annotations", True, id="both-absent"),
        pytest.param(
            {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
            "status.conditions",
            False,
            id="conditions-too",
        ),
    ],
)
def test_exactly_allows_nothing_more(wanted: dict[str, Any], path: str, *, same: bool) -> None:
    """What `objects` lets pass, `exactly` tells of."""
    assert same is not bool(compare_exactly(wanted, LIVE, path, names()))


@pytest.mark.parametrize(
    ("wanted", "got", "matches"),
    [
        pytest.param("a.c", "abc", False, id="literal"),
        pytest.param("${uid:Secret/t/s}", "u", True, id="uid"),
        pytest.param("${uid:Secret/t/x}", "u", False, id="uid-of-nothing"),
        pytest.param("${now}", "2026-01-01T00:00:00Z", True, id="now"),
        pytest.param("a-${any}-z", "a-b-z", True, id="any"),
        pytest.param("a-${any}-z", "a-b-y", False, id="any-end"),
        pytest.param("${any:X}/${any:X}", "a/a", True, id="same"),
        pytest.param("${any:X}/${any:X}", "a/b", False, id="not-the-same"),
        pytest.param("${minted:A}", "shop-x1", True, id="minted"),
        pytest.param("${minted:A}", "shop", False, id="not-minted"),
        pytest.param("${minted:A} ${minted:B}", "shop-x1 shop-x1", False, id="two-names-are-two"),
        pytest.param("${has:b}${has:a}${lacks:d}", "a b c", True, id="has"),
        pytest.param("${has:b}${lacks:c}", "a b c", False, id="lacks"),
        pytest.param("a ${any}${has:x.z}", "a x.z", True, id="has-beside-a-text"),
    ],
)
def test_placeholders_stand_for_what_they_say(wanted: str, got: str, *, matches: bool) -> None:
    """Everything around them is literal."""
    assert matches is names().matches(wanted, got)


def test_a_bound_name_stands_inside_another_placeholder() -> None:
    """The uid of an object we minted can be asked for."""
    bound = names(A="s")

    assert bound.matches("${uid:Secret/t/${minted:A}}", "u")
    assert bound.resolved({"x": ["${uid:Secret/t/s}"]}) == {"x": ["u"]}


def test_an_unknown_placeholder_is_the_authors_mistake() -> None:
    """It must not pass for a text."""
    with pytest.raises(InputError, match="no placeholder"):
        names().matches("${nope}", "x")


@pytest.mark.parametrize(
    "wanted",
    [
        {"stringData": {"k": "other"}},
        {"data": {"k": "b3RoZXI="}},
        {"data": None},
        {"stringData": {"k": CANARY, "x": "more"}},
    ],
)
def test_no_difference_shows_a_secrets_value(wanted: dict[str, Any]) -> None:
    """Length and fingerprint are all that is told."""
    found = compare_object(wanted, live_secret(), names())
    spelt = " ".join(str(one) for one in found)

    assert found
    assert "sha256" in spelt
    assert CANARY not in spelt
    assert b64encode(CANARY.encode()).decode() not in spelt


def test_texts_may_stand_for_data() -> None:
    """A case is read by people; placeholders work in it too."""
    wanted = {"stringData": {"k": "canary-${any}-secret"}}

    assert not compare_object(wanted, live_secret(), names())
    assert not compare_exactly(wanted, live_secret(), "data", names())
    assert compare_exactly({"stringData": {}}, live_secret(), "data", names())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.labels.a", "b"),
        ("spec.listeners[1].name", "https"),
        ("spec.listeners.0.port", 80),
        ("spec.gone.further", None),
        ("spec.listeners[9].name", None),
        ("spec.on.further", None),
        ("", LIVE.body),
    ],
)
def test_a_path_finds_what_stands_there(path: str, value: object) -> None:
    """Dots part steps."""
    assert value == lookup(LIVE.body, path)


def test_a_key_with_dots_is_found_by_its_path() -> None:
    """Labels and data keys are full of them."""
    assert lookup({"data": {"ca.crt": 1}}, "data.ca.crt") == 1
