"""YAML in and out: what a person writes, what we make of it, and what we write back."""

import math
import time
from typing import Any

import pytest
import yaml
import yaml12
from hypothesis import given
from hypothesis import strategies as st

from roadstead.errors import BugError
from roadstead.kube.documents import Noted, dump, parse


def values(text: str | bytes) -> list[Any]:
    """Give the values of a text without problems."""
    parsed = parse(text, "f.yaml")
    assert [str(one) for one in parsed.problems] == []
    return [one.value for one in parsed.documents]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (None, "~"),
        ("none", "none"),
        (True, "true"),
        (True, "True"),
        (False, "FALSE"),
        ("tRUE", "tRUE"),
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        (12, "12"),
        (-12, "-12"),
        (12, "+12"),
        (10, "010"),
        (8, "0o10"),
        (31, "0x1F"),
        ("-0x1F", "-0x1F"),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        (1.1, "1.10"),
        (0.5, ".5"),
        (1.0, "1."),
        (1e5, "1e5"),
        (-1.5e-3, "-1.5E-3"),
        (math.inf, ".inf"),
        (-math.inf, "-.INF"),
        (math.inf, "+.Inf"),
        (".iNF", ".iNF"),
        ("1.2.3", "1.2.3"),
        ("-", '"-"'),
        ("true", '"true"'),
        ("12", "'12'"),
        ("12\n", "|\n  12\n"),
        ("=", "="),
        ({"<<": 1}, "<<: 1"),
        ({"80": "a", "true": "b", "null": "c"}, "80: a\ntrue: b\nnull: c"),
        ({"a": None}, "a:"),
        ({"a": [1, {"b": 2}]}, "a:\n- 1\n- b: 2\n"),
        ({"a": [1], "b": [1]}, "a: &x [1]\nb: *x"),
        ({"a": "x", "x": "a"}, "a: &k x\n*k : a"),
        ({"a": "b"}, '{"a":\t"b"}'),
        ({"a": "\U0001f600"}, r'{"a": "\ud83d\ude00"}'),
        ({"a": r"\ud83d\ude00"}, r'{"a": "\\ud83d\\ude00"}'),
        ({"a": {"b": 1}}, '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n'),
        ({"a": "/"}, r'{"a": "\/"}'),
        ({"a": "b"}, "\ufeffa: b"),
        ({"a": "b", "c": "d"}, "a: b\r\nc: d\r\n"),
        ({"a": "b", "c": "d"}, "a: b\rc: d"),
        ({"a": "b"}, "%YAML 1.2\n---\na: b\n...\n"),
    ],
)
def test_a_scalar_means_what_yaml_1_2_says(value: Any, text: str) -> None:
    """`pin: 1.10` and `mode: on` have ruined more manifests than any bug."""
    assert [value] == values(text)
    assert [value] == values(text.encode())
    assert [type(value)] == [type(one) for one in values(text)]


def test_not_a_number_is_read() -> None:
    """The one value that does not equal itself."""
    assert math.isnan(values(".NaN")[0])


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ([], ""),
        ([], "# nothing\n"),
        ([], "---\n---\n# still nothing\n---\n"),
        ([{"a": 1}, {"b": 2}], "---\na: 1\n---\n---\nb: 2\n---\n"),
        ([1, None, "x"], "1\n---\nnull\n--- x\n"),
        ([""], '""'),
    ],
)
def test_documents_come_in_order_and_empty_ones_do_not_count(found: list[Any], text: str) -> None:
    """Files that tools concatenate are full of `---`."""
    assert found == values(text)


@pytest.mark.parametrize(
    ("problems", "text"),
    [
        (["f.yaml:2:1: the key 'a' comes twice"], "a: 1\na: 2\n"),
        (["f.yaml:1:10: the key 'a' comes twice"], '{"a": 1, "a": 2}'),
        (["f.yaml:2:1: the key '1' comes twice"], "1: a\n'1': b\n"),
        (["f.yaml:1:1: a key must be a string"], "[a]: 1"),
        (["f.yaml:1:3: a key must be a string"], "? {a: b}\n: 1"),
        (["f.yaml:1:4: tags are not supported"], "a: !!python/object:os.system x"),
        (["f.yaml:1:4: tags are not supported"], "a: !!str 5"),
        (["f.yaml:1:4: tags are not supported"], "a: !x [1]"),
        (["f.yaml:1:4: the alias names nothing"], "a: *x"),
        (["f.yaml:1:8: the alias stands inside what it names"], "a: &x [*x]"),
        (["f.yaml:2:1: a tab indents this line"], "a:\n\tb: SECRET\n"),
        (["f.yaml:2:3: a tab indents this line"], "a:\n  \tb: SECRET\n"),
        (["f.yaml:1:4: the character U+0007 is not allowed"], "a: \x07"),
        (["f.yaml:2:2: the character U+0000 is not allowed"], "a\nb\0"),
        (["f.yaml:1:2: the character U+FEFF is not allowed"], "\ufeffa\ufeff"),
        (["f.yaml:1:1: the character U+D800 is not allowed"], "\ud800"),
        (["f.yaml:1:4: the number is too long"], "a: " + "9" * 5000),
        (["f.yaml:1:4: the number is too long"], "a: 0x" + "9" * 5000),
        (
            ["f.yaml:1:8: the key 'a' comes twice", "f.yaml:3:4: the alias names nothing"],
            "{a: 1, a: 2}\n---\nb: *c\n",
        ),
    ],
)
def test_each_problem_is_told_with_its_place(problems: list[str], text: str) -> None:
    """All problems of a file in one run, and a click away."""
    parsed = parse(text, "f.yaml")
    assert problems == [str(one) for one in parsed.problems]
    assert parsed.documents == ()


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        ("f.yaml:1:1: UTF-16 or UTF-32, not UTF-8", "a: b".encode("utf-16")),
        ("f.yaml:1:1: UTF-16 or UTF-32, not UTF-8", b"\0\0\xfe\xff"),
        ("f.yaml:2:3: not UTF-8", b"\xc3\xa9: 1\na:\xff"),
        ("f.yaml:1:2: the character U+0000 is not allowed", "a: b".encode("utf-16-le")),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused(problem: str, text: bytes) -> None:
    """A value decoded wrongly would be compared, and written, wrongly."""
    assert [problem] == [str(one) for one in parse(text, "f.yaml").problems]


@pytest.mark.parametrize(
    ("lines", "kept", "text"),
    [
        ([2], [], "a: b\n c: SECRET\n"),
        ([1], [], "a: 'SECRET"),
        ([2], [], "{a: SECRET"),
        ([3], ["a"], "&x a\n---\na: *x"),
        ([1], [], '"SECRET\\q"'),
        ([1], [], "a: SECRET: SECRET"),
        ([1], [], "@SECRET"),
        ([2], [{"c": 1}], "a: b\n SECRET: c\n---\nc: 1\n"),
        ([2, 6], [1, {"c": 1}, 2], "--- 1\n--- }\n---\nc: 1\n--- [SECRET\n--- 2\n"),
        ([3], [{"b": 1}], "a: {SECRET\n\n---\nb: 1\n"),
    ],
)
def test_reading_goes_on_after_a_broken_document(
    lines: list[int], kept: list[Any], text: str
) -> None:
    """One slip must not hide the next, and no message may quote what stands in a Secret."""
    parsed = parse(text, "f.yaml")
    assert kept == [one.value for one in parsed.documents]
    assert len(lines) == len(parsed.problems)
    for line, problem in zip(lines, parsed.problems, strict=True):
        assert f"f.yaml:{line}:" in str(problem)
        assert "SECRET" not in f"{problem} {problem.hint}"


def test_a_value_is_never_shared_between_aliases() -> None:
    """A default filled in at one place must not appear at another."""
    first = values("a: &x {b: [1]}\nc: *x\n")[0]
    first["a"]["b"].append(2)
    assert first["c"] == {"b": [1]}


def test_parts_of_a_document_know_their_place() -> None:
    """A finding about one port of one Service must point at its line."""
    text = "# c\nspec:\n  ports:\n  - port: 80\n  - {port: 81}\nmeta: &m {a: 1}\nother: *m\n"
    document = parse(text, "x/f.yaml").documents[0]
    assert [
        str(document.place),
        str(document.place_of("spec")),
        str(document.place_of("spec", "ports")),
        str(document.place_of("spec", "ports", 1)),
        str(document.place_of("spec", "ports", 1, "port")),
        str(document.place_of("spec", "ports", 1, "name")),
        str(document.place_of("status", "x")),
        str(document.place_of("other")),
        str(document.place_of("other", "a")),
    ] == [
        "x/f.yaml:2:1",
        "x/f.yaml:2:1",
        "x/f.yaml:3:3",
        "x/f.yaml:5:5",
        "x/f.yaml:5:6",
        "x/f.yaml:5:5",
        "x/f.yaml:2:1",
        "x/f.yaml:7:1",
        "x/f.yaml:6:11",
    ]


BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{after}: &{after} [{','.join([f'*{before}'] * 10)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "a: &a0 []\n" + "".join(f"a{at}: &a{at} [*a{at - 1}]\n" for at in range(1, 200))


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        ("more than 1000000 nodes", BOMB),
        ("nested more than 100 levels deep", CHAIN),
        ("exceeded maximum nesting depth", "[" * 100_000),
        ("nested more than 100 levels deep", "{a: " * 100_000),
        ("nested more than 100 levels deep", "- " * 100_000),
        ("not YAML", "---\n}\n" * 100_000),
        ("not YAML", "--- }\n" * 100_000),
        ("not YAML", "a: '" + "\n" * 500_000),
    ],
    ids=["bomb", "chain", "lists", "maps", "dashes", "broken", "broken-lines", "open"],
)
def test_a_hostile_file_is_refused_at_once(problem: str, text: str) -> None:
    """A catalog is other people's text."""
    before = time.monotonic()
    parsed = parse(text, "f.yaml")
    assert problem in str(parsed.problems[0])
    assert time.monotonic() - before < 5


def test_the_nodes_of_a_file_can_be_limited_further() -> None:
    """A service definition may hold 100,000 nodes; service-definitions 1.1."""
    assert "more than 5 nodes" in str(parse("[1, 2, 3, 4, 5]", "f", most_nodes=5).problems[0])
    assert parse("[1, 2, 3, 4]", "f", most_nodes=5).problems == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null\n", None),
        ("a: true\n", {"a": True}),
        ("a: 1\n", {"a": 1}),
        ("a: 1.0\n", {"a": 1.0}),
        ("a: 1.0e+16\n", {"a": 1e16}),
        ("a: 1.5e-07\n", {"a": 1.5e-7}),
        ("- .inf\n- -.inf\n- .nan\n", [math.inf, -math.inf, math.nan]),
        ("a: {}\nb: []\n", {"a": {}, "b": ()}),
        ("a:\n- 1\n- b: 2\n  c:\n  - 3\n- - 4\n  - 5\n", {"a": [1, {"b": 2, "c": [3]}, [4, 5]]}),
        ("a:\n  b:\n    c: d\n", {"a": {"b": {"c": "d"}}}),
        ("a: |\n  x\n\n   y\n", {"a": "x\n\n y\n"}),
        ("a: |-\n  x\n  y\n", {"a": "x\ny"}),
        ("a: |+\n  x\n\n\nb: 1\n", {"a": "x\n\n\n", "b": 1}),
        ("a: |2\n    x\n  y\n", {"a": "  x\ny\n"}),
        ("a: |2\n\n  y\n", {"a": "\ny\n"}),
        ("- |\n  x\n  y\n- b: |\n    x\n    y\n", ["x\ny\n", {"b": "x\ny\n"}]),
        ('a: "x \\ny\\n"\n', {"a": "x \ny\n"}),
        ('a: "\\n\\n"\n', {"a": "\n\n"}),
        ('"x\\ny\\n"\n', "x\ny\n"),
        ('? "' + "k" * 1001 + '\\n"\n: 1\n', {"k" * 1001 + "\n": 1}),
        ("? " + "k" * 1001 + "\n:\n- 1\n", {"k" * 1001: [1]}),
    ],
)
def test_values_are_written_in_one_plain_style(text: str, value: Any) -> None:
    """Rendered files are reviewed by people, and compared byte for byte."""
    assert text == dump([value])


MISTAKEN = r"""
true Yes no on OFF y N null ~ 8096 1.10 1e3 0x1F 0o14 014 0b1 12:30 1:2:3.4 1_000 -1 +.5 .inf .NaN
2026-01-01 2026-01-01T00:00:00Z = << - --- ... a: #a &a *a !a %a @a `a 'a "a [a {a | > ? ,a ] }
"""
PLAIN = r"""
a web-1 docker.io/a/b:1.2 10.0.0.0/8 8080:80 1.2.3 -v --flag=1 a,b a:b a#b x[0] $(A) <b> ~1.24 é
nope 0beef 2026-01-01-x =a a'b a"b 50Gi
"""


@pytest.mark.parametrize(
    "text",
    [
        *MISTAKEN.split(),
        "",
        " a",
        "a ",
        "2026-1-1 1:2:3",
        "- a",
        "a: b",
        "a #b",
        "? a",
        ": a",
        "a\tb",
        *"\u2028\x85\ufeff\xa0",
    ],
)
def test_a_string_that_a_reader_might_mistake_is_quoted(text: str) -> None:
    """Kubernetes' own tools read YAML 1.1, where `on` is a boolean and `12:30` a number."""
    written = dump([{"a": text}])
    assert written[3] == '"'
    assert {"a": text} == yaml.safe_load(written) == values(written)[0]


@pytest.mark.parametrize(
    "text",
    [*PLAIN.split(), "a b", "0 0 0 0 0", "a 'b' c", "\U0001f600"],
)
def test_a_string_that_no_reader_mistakes_is_plain(text: str) -> None:
    """Needless quotes make a diff of every value."""
    written = dump([{"a": text}])
    assert f"a: {text}\n" == written
    assert {"a": text} == yaml.safe_load(written) == values(written)[0]


def test_an_object_begins_with_what_it_is() -> None:
    """A reader looks for kind and name first, whatever order a program built them in."""
    thing = {
        "spec": {"b": 1, "a": 2},
        "metadata": {"labels": {}, "uid": "u", "namespace": "ns", "name": "x"},
        "kind": "K",
        "apiVersion": "v1",
    }
    head = (
        "apiVersion: v1\nkind: K\nmetadata:\n  name: x\n  namespace: ns\n  labels: {}\n  uid: u\n"
    )
    assert f"{head}spec:\n  b: 1\n  a: 2\n---\nx: 1\n" == dump([thing, {"x": 1}])
    assert f"{head}spec:\n  a: 2\n  b: 1\n" == dump([thing], sort=True)
    assert dump([[{"b": ["c"], "a": 1}]], sort=True) == "- a: 1\n  b:\n  - c\n"
    assert dump([{"name": "x", "kind": "container"}]) == "kind: container\nname: x\n"
    assert dump([]) == ""


@pytest.mark.parametrize("value", [{1: 2}, {"a": b"x"}, [object()], {"a": {1, 2}}])
def test_what_yaml_does_not_have_is_a_bug_of_the_caller(value: Any) -> None:
    """A silent `str()` would put a Python spelling into a manifest."""
    with pytest.raises(BugError):
        dump([value])


TEXTS = st.text(max_size=12) | st.text(
    "ab \n\t:#-'\"\\|>[]{}&*!%@`,?=<~.0123456789eExoT_+é", max_size=12
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=3), st.booleans())
def test_what_is_written_is_read_back(objects: list[Any], sort: bool) -> None:
    """`plan` prints what it would apply, and somebody applies the print."""
    written = dump(objects, sort=sort)
    assert objects == values(written)
    assert written == dump(values(written), sort=sort)
    assert not any(line != line.rstrip(" ") for line in written.split("\n"))


@given(VALUES)
def test_a_yaml_1_1_reader_reads_the_same(value: Any) -> None:
    """Kubectl and Helm are such readers."""
    assert value == yaml.safe_load(dump([value]))


def tagless(value: Any) -> Any:
    """What a reader of YAML 1.2 gives, its keys as they stand where it wraps them."""
    if isinstance(value, yaml12.Yaml):
        return tagless(value.value)
    if isinstance(value, dict):
        return {tagless(key): tagless(item) for key, item in value.items()}
    return [tagless(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_a_yaml_1_2_reader_that_is_not_ours_reads_the_same(value: Any) -> None:
    """Editors and newer tools are such readers; this one shares no code with libyaml."""
    assert value == tagless(yaml12.parse_yaml(dump([value])))


NOTES = st.text("abc:$ {}\"#'", max_size=12).map(lambda text: f"{text}.")


@given(st.lists(st.tuples(TEXTS, NOTES), min_size=1, max_size=3))
def test_a_note_stands_on_its_line_and_is_no_part_of_the_value(pairs: list[Any]) -> None:
    """Image automation looks for its mark on the very line that holds the image."""
    texts = [text for text, _ in pairs]
    written = dump([{"spec": [{"image": Noted(*pair)} for pair in pairs]}])
    read = {"spec": [{"image": text} for text in texts]}
    assert read == yaml.safe_load(written) == tagless(yaml12.parse_yaml(written))
    assert [note for _, note in pairs] == [
        line.rpartition(f" # {note}")[1].removeprefix(" # ")
        for line, (_, note) in zip(written.splitlines()[1:], pairs, strict=True)
    ]


@given(st.text(max_size=60) | st.text("ab: \n-&*[]{}\"'|>?!#,%---...\t", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """A slip in a file must end in a sentence, not in a traceback."""
    parsed = parse(text, "f.yaml")
    assert all(one.place.startswith("f.yaml:") for one in parsed.problems)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    """A file that is no text at all is a problem with a place as well."""
    assert all(one.place.startswith("f:") for one in parse(text, "f").problems)
