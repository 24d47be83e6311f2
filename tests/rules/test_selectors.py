"""Label and field selectors against what the API server answers."""

from collections.abc import Mapping
from typing import Any

import pytest

from roadstead.errors import InputError
from roadstead.kube.selectors import FieldSelector, LabelSelector

LABELS = {"app": "web", "tier": "", "x.io/role": "db"}


@pytest.mark.parametrize(
    ("matched", "text"),
    [
        (True, ""),
        (True, "  "),
        (True, "app"),
        (False, "other"),
        (True, "!other"),
        (False, "!app"),
        (True, "! other"),
        (True, "app=web"),
        (True, "app==web"),
        (True, "app = web"),
        (False, "app=db"),
        (True, "app!=db"),
        (False, "app!=web"),
        (True, "other!=web"),
        (True, "tier="),
        (False, "app="),
        (False, "other="),
        (True, "app in (db, web)"),
        (True, "app in(web)"),
        (False, "app in (db)"),
        (True, "tier in (db,)"),
        (False, "other in (db)"),
        (True, "app notin (db)"),
        (False, "app notin (web,db)"),
        (True, "other notin (web)"),
        (True, "app=web,tier,!other,x.io/role in (db,web),app notin (z)"),
        (False, "app=web,other"),
        (False, "app=web,app=db"),
        (True, "x.io/role=db"),
        (False, "in"),
        (False, "notin=x"),
    ],
)
def test_the_wire_form_matches_as_the_api_server_does(matched: bool, text: str) -> None:
    """A selector that matches too much would list another's objects."""
    assert matched is LabelSelector.parse(text).matches(LABELS)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("app in (a", "app in (a"),
        ("app in a", "app in a"),
        ("in (a,b)", "x=y,in (a,b)"),
        (",b", ",b"),
        (",c", "b,,c"),
        ("last comma", "b,"),
        ("=b", "=b"),
        ("a=b=c", "a=b=c"),
        ("a>1", "x,a>1"),
        ("'a_'", "a_=x"),
        ("'-x'", "a=-x"),
        ("{{", "a={{.name}}"),
        ("'b.io/c/d'", "b.io/c/d"),
        ("'a'", "a in ()"),
        ("'!'", "!"),
        ("a b", "a b"),
    ],
)
def test_a_broken_wire_form_names_the_part(part: str, text: str) -> None:
    """A person must find the mistake in a selector of a dozen terms."""
    with pytest.raises(InputError) as caught:
        LabelSelector.parse(text)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("spelt", "text"),
    [
        ("", " "),
        ("a=b", "a==b,a = b"),
        ("!d,a,b!=x,c in (x,y)", "c in (y,x,y),b notin (x),a,!d"),
        ("c notin (,x)", "c notin (x,)"),
        ("a=", "a="),
        ("a=x", "a in (x)"),
    ],
)
def test_equal_selectors_are_spelt_alike_and_read_back(spelt: str, text: str) -> None:
    """A watch is keyed by the spelling; two spellings would open two watches."""
    selector = LabelSelector.parse(text)
    assert spelt == str(selector)
    assert selector == LabelSelector.parse(spelt)


@pytest.mark.parametrize(
    ("spelt", "selector"),
    [
        ("", {}),
        ("", {"matchLabels": None, "matchExpressions": None}),
        ("a=b,c=", {"matchLabels": {"c": "", "a": "b"}}),
        ("a=x", {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}),
        (
            "a notin (x,y)",
            {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["y", "x"]}]},
        ),
        ("a", {"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
        ("!a", {"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": []}]}),
    ],
)
def test_the_structured_form_says_the_same(spelt: str, selector: Mapping[str, Any]) -> None:
    """Both forms of one selector must select the same objects."""
    assert spelt == str(LabelSelector.of(selector))
    assert LabelSelector.parse(spelt) == LabelSelector.of(selector)


@pytest.mark.parametrize(
    ("part", "selector"),
    [
        ("'matchLabel'", {"matchLabel": {"a": "b"}}),
        ("matchLabels is not a mapping", {"matchLabels": ["a"]}),
        ("matchExpressions is not a list", {"matchExpressions": "a"}),
        ("a is not a string", {"matchLabels": {"a": True}}),
        ("a key of matchLabels", {"matchLabels": {1: "b"}}),
        ("'{{ .name }}'", {"matchLabels": {"a": "{{ .name }}"}}),
        ("matchExpressions[1]", {"matchExpressions": [{"key": "a", "operator": "Exists"}, "b"]}),
        ("'Is'", {"matchExpressions": [{"key": "a", "operator": "Is"}]}),
        ("None in matchExpressions[0]", {"matchExpressions": [{"key": "a"}]}),
        ("key of matchExpressions[0]", {"matchExpressions": [{"operator": "Exists"}]}),
        ("'value'", {"matchExpressions": [{"key": "a", "operator": "In", "value": ["b"]}]}),
        ("In for 'a' needs a value", {"matchExpressions": [{"key": "a", "operator": "In"}]}),
        (
            "Exists for 'a' takes no value",
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
        ),
        ("not a list", {"matchExpressions": [{"key": "a", "operator": "In", "values": "b"}]}),
        ("value of", {"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]}),
    ],
)
def test_a_broken_structured_form_names_the_part(part: str, selector: Mapping[str, Any]) -> None:
    """A misspelt field that is skipped would select everything."""
    with pytest.raises(InputError) as caught:
        LabelSelector.of(selector)
    assert part in str(caught.value)


SECRET = {"type": "Opaque", "metadata": {"name": "a,b"}, "immutable": True, "spec": {"n": 3}}


@pytest.mark.parametrize(
    ("matched", "text"),
    [
        (True, ""),
        (True, "type!=helm.sh/release.v1"),
        (False, "type!=Opaque"),
        (True, "type==Opaque"),
        (True, r"metadata.name=a\,b"),
        (False, "metadata.name=a"),
        (True, r"type=Opaque,metadata.name=a\,b"),
        (True, "immutable=true"),
        (True, "spec.n=3"),
        (True, "spec.nothing="),
        (True, "type.deeper="),
        (False, "spec="),
        (True, "spec!=x"),
    ],
)
def test_a_field_selector_matches_the_body(matched: bool, text: str) -> None:
    """The Helm releases of a namespace must not be read when they are asked away."""
    selector = FieldSelector.parse(text)
    assert matched is selector.matches(SECRET)
    assert selector == FieldSelector.parse(str(selector))


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("'metadata.name'", "type=x,metadata.name"),
        ("'=x'", "=x"),
        ("'a..b=x'", "a..b=x"),
        ("'a=b=c'", "a=b=c"),
        ("a=b", "a=b\\"),
        ("a=b", r"a=b\x"),
    ],
)
def test_a_broken_field_selector_names_the_part(part: str, text: str) -> None:
    """The API server's own message names the part as well."""
    with pytest.raises(InputError) as caught:
        FieldSelector.parse(text)
    assert part in str(caught.value)
