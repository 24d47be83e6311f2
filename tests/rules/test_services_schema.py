"""Loading and schema of definitions: the cases SD-01 to SD-15 of the contract, and their like."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from roadstead.capabilities.services.api.findings import Finding, in_order
from roadstead.capabilities.services.decide import decide
from roadstead.capabilities.services.reading.catalog import CatalogRead, read_catalog
from roadstead.capabilities.services.reading.definitions import read_definitions
from roadstead.capabilities.services.reading.texts import MOST_BYTES, Text
from roadstead.capabilities.services.render.effective import render
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.documents import parse
from services_base import DEFINITIONS, PLATFORM

MINIMAL = "name: app\nsource:\n  image: docker.io/library/app:1.2.3\n"
Expected = Sequence[tuple[str, int]]


def read(*texts: str | bytes, core: bool = False) -> tuple[Finding, ...]:
    """The schema findings of files a.yaml, b.yaml, and so on."""
    named = [
        Text(f"{chr(97 + number)}.yaml", text.encode() if isinstance(text, str) else text)
        for number, text in enumerate(texts)
    ]
    return in_order(read_definitions(named, core=core).findings)


def told(findings: Sequence[Finding]) -> list[tuple[str, int]]:
    """Each finding as its id and line."""
    return [(one.id, one.place.line) for one in findings]


def whole(*texts: str) -> CatalogRead:
    """A catalog of files on the example platform."""
    named = [Text(f"{number}.yaml", text.encode()) for number, text in enumerate(texts)]
    return read_catalog(named, Text("platform.yaml", PLATFORM.read_bytes()))


def all_of(*texts: str) -> list[tuple[str, int]]:
    """Every finding of a catalog on the example platform that is an error."""
    found = whole(*texts)
    assert found.catalog is not None
    seen = [Snapshot(one, found.catalog) for one in found.catalog.everyone]
    findings = [*found.findings, *(one for each in seen for one in decide(each))]
    return told(in_order([one for one in findings if one.severity == "error"]))


def test_a_minimal_definition_gets_every_default() -> None:
    """SD-01."""
    found = whole(MINIMAL)

    assert found.catalog is not None
    (service,) = found.catalog.services
    assert () == found.findings
    assert ("container", "internal", "internet") == (service.kind, service.exposure, service.egress)
    assert ("none", ()) == (service.auth.mode, service.auth.groups)
    assert ("^1.2.3", "12h", "stable") == (
        service.update.range,
        service.update.cadence,
        service.update.channel,
    )
    assert "" == service.backup
    assert {"cpu": "50m", "memory": "128Mi"} == service.resources.requests
    assert (1, "Deployment", True) == (
        service.replicas,
        service.workload,
        service.observability.metrics,
    )


@pytest.mark.parametrize(
    ("text", "expected", "says"),
    [
        pytest.param(
            MINIMAL + "ingresRoutes: []\n", [("S-01", 4)], "`ingressRoutes`", id="SD-02 misspelt"
        ),
        pytest.param(
            MINIMAL + "storage:\n- name: a\n  size: 1Gi\n  sise: 2Gi\n",
            [("S-01", 7)],
            "`size`",
            id="SD-03 inside an entry",
        ),
        pytest.param(
            MINIMAL + "zzz: 1\n", [("S-01", 4)], "unknown field `zzz`", id="SD-02 nothing near"
        ),
        pytest.param("name: app\nsource: {}\n", [("S-03", 2)], "source.image", id="SD-04 empty"),
        pytest.param(
            "source: {image: a}\n", [("S-03", 1)], "`name` is required", id="SD-04 no name"
        ),
        pytest.param(
            MINIMAL + "exposure: Public\n",
            [("S-05", 4)],
            "internal, public",
            id="SD-05 letter case",
        ),
        pytest.param(
            MINIMAL + "ports:\n- port: '8080'\n- port: 0\n- port: 65536\n- port: 80.5\n",
            [("S-02", 5), ("S-06", 6), ("S-06", 7), ("S-02", 8)],
            "",
            id="SD-06 ports",
        ),
        pytest.param(
            MINIMAL + "ports:\n- port: 0x50\n", [("S-02", 5)], "got string", id="SD-06 hexadecimal"
        ),
        pytest.param(
            MINIMAL + "ports:\n- port: true\n", [("S-02", 5)], "got boolean", id="SD-06 boolean"
        ),
        pytest.param(
            MINIMAL + "auth:\n  mode: none\nauth:\n  mode: none\n",
            [("S-08", 6)],
            "first at line 4",
            id="SD-08 twice",
        ),
        pytest.param(
            MINIMAL + 'schemaVersion: "1.6.0"\n', [("S-10", 4)], "1.6.0", id="SD-09 newer minor"
        ),
        pytest.param(
            MINIMAL + 'schemaVersion: "2.0.0"\n', [("S-10", 4)], "2.0.0", id="SD-09 newer major"
        ),
        pytest.param(MINIMAL + 'schemaVersion: "1.5.9"\n', [], "", id="SD-09 newer patch"),
        pytest.param(
            MINIMAL + 'schemaVersion: "1.5"\n', [("S-04", 4)], "1.5.0", id="SD-09 two numbers"
        ),
        pytest.param(
            MINIMAL + "schemaVersion: 1.5\n", [("S-02", 4)], 'quote the value: "1.5"', id="no text"
        ),
        pytest.param(
            MINIMAL + 'schemaVersion: "1.4.0"\ninClusterClients: []\n',
            [("S-11", 5)],
            "needs schemaVersion >= 1.5.0",
            id="field newer than its file",
        ),
        pytest.param(
            MINIMAL + "update:\n  pin: 1.10\n",
            [("S-02", 5)],
            'quote the value: "1.10"',
            id="a tag that is a number",
        ),
        pytest.param(
            MINIMAL + "env: {API_TOKEN: 12345}\n", [("S-02", 4)], "quote the value", id="private"
        ),
        pytest.param(MINIMAL + "storage:\n", [("S-02", 4)], "got null", id="null is no list"),
        pytest.param(
            MINIMAL + "env: {a-b: c}\n", [("S-04", 4)], "a variable name", id="a variable's name"
        ),
        pytest.param(
            MINIMAL + "dependencies:\n- {to: a, port: 1}\n- {to: a, port: 1, protocol: TCP}\n",
            [("S-09", 6)],
            "line 5 in to, port, protocol",
            id="equal by default",
        ),
        pytest.param(
            MINIMAL + "auth:\n  groups: [a, b, a]\n", [("S-09", 5)], "", id="a group twice"
        ),
        pytest.param(
            MINIMAL + "auth:\n  skipPaths: [health]\n", [("S-04", 5)], "`^/`", id="skip path"
        ),
        pytest.param(
            MINIMAL + 'auth:\n  skipPaths: ["^/"]\n', [("S-04", 5)], "", id="everything skipped"
        ),
        pytest.param(
            MINIMAL + "update: {filter: {pattern: '('}}\n", [("S-04", 4)], "Go", id="filter"
        ),
        pytest.param(
            MINIMAL + f"update: {{cadence: {'9' * 60}h}}\n", [("S-04", 4)], "", id="for ever"
        ),
        pytest.param(
            MINIMAL + "probes: {readiness: {}}\n", [("S-04", 4)], "exactly one", id="no probe"
        ),
        pytest.param(
            MINIMAL + "probes: {readiness: true}\n", [("S-05", 4)], "", id="only false is short"
        ),
        pytest.param(
            MINIMAL + "lanEgress: [{cidr: 10.0.0.1/8, port: 1}]\n",
            [("S-04", 4)],
            "host bits",
            id="host bits",
        ),
        pytest.param(
            MINIMAL + "nodeSelector:\n  <<: {a: b}\n", [("S-12", 5)], "merge", id="merge in a map"
        ),
        pytest.param("- a\n", [("S-12", 1)], "a list", id="SD-11 a list"),
        pytest.param("", [("S-12", 1)], "empty", id="SD-11 empty"),
        pytest.param("# nothing\n", [("S-12", 1)], "empty", id="SD-11 only a comment"),
        pytest.param("name: app\nsource:\n\timage: a\n", [("S-12", 3)], "tab", id="SD-11 tab"),
        pytest.param(
            "x: &x {a: b}\n<<: *x\n" + MINIMAL,
            [("S-01", 1), ("S-12", 2)],
            "",
            id="SD-15 merge key",
        ),
        pytest.param(
            MINIMAL + "egress: !!python/object:os.system x\n", [("S-12", 4)], "tag", id="SD-15 tag"
        ),
        pytest.param(MINIMAL + "---\n" + MINIMAL, [("S-12", 5)], "services", id="two documents"),
        pytest.param(MINIMAL.encode("utf-16"), [("S-12", 1)], "UTF-16", id="UTF-16"),
        pytest.param(b"\xef\xbb\xbf" + MINIMAL.encode(), [], "", id="byte-order mark"),
        pytest.param(MINIMAL.replace("\n", "\r\n"), [], "", id="CRLF"),
        pytest.param(b"#" * (MOST_BYTES + 1), [("S-12", 1)], "bytes", id="over 1 MiB"),
        pytest.param("services: []\n", [("S-12", 1)], "empty", id="an empty list of services"),
        pytest.param(
            "services:\n- 1\n", [("S-12", 2)], "not a mapping", id="a number among services"
        ),
        pytest.param(
            "name: app\nservices: [{name: a, source: {image: a}}]\n",
            [("S-01", 1)],
            "beside `services`",
            id="more than services",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    text: str | bytes, expected: Expected, says: str
) -> None:
    """One file, every finding of it, each where it stands."""
    findings = read(text)

    assert list(expected) == told(findings)
    assert any(says in one.message or says in one.hint for one in findings) or not says


def test_an_alias_bomb_is_refused() -> None:
    """1.1: a file has at most 100,000 nodes with every alias counted in full."""
    lines = ["name: app", "source: {image: a}", "env: &a0 {A: a}"]
    lines += [f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]

    assert "S-12" in {one.id for one in read("\n".join(lines))}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(name, expected, id=f"SD-07 {name[:12]}")
        for name, expected in [
            ("Gitea", ["S-04"]),
            ("1app", ["S-04"]),
            ("a_b", ["S-04"]),
            ("-a", ["S-04"]),
            ("a-", ["S-04"]),
            ("a" * 40, []),
            ("a" * 41, ["S-04"]),
            ("'app '", ["S-04"]),
            ('"app\\n"', ["S-04"]),
        ]
    ],
)
def test_a_name_leaves_room_for_every_derived_name(name: str, expected: list[str]) -> None:
    """SD-07."""
    text = MINIMAL.replace("name: app", f"name: {name}")

    assert expected == [one.id for one in read(text)]


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        pytest.param("{vmTemplate: debian-12}", "container", ["I-1"], id="SD-04 container"),
        pytest.param("{image: 'app:1.0.0'}", "vm", ["I-1"], id="SD-04 vm"),
        pytest.param(
            "{image: 'app:1.0.0', vmTemplate: debian-12}", "container", ["I-1"], id="SD-04 both"
        ),
        pytest.param("{image: 'app:1.0.0'}", "container", [], id="SD-04 right"),
        pytest.param("{vmTemplate: debian-12}", "vm", [], id="SD-04 right vm"),
    ],
)
def test_kind_and_source_belong_together(source: str, kind: str, expected: list[str]) -> None:
    """SD-04."""
    found = all_of(f"name: app\nkind: {kind}\nsource: {source}\n")

    assert expected == [name for name, _ in found]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(size, expected, id=f"SD-14 {size}")
        for size, expected in [
            ("20GB", ["S-04"]),
            ("0", ["S-04"]),
            ("-1Gi", ["S-04"]),
            ("1e3", []),
            ("1.5Gi", []),
            ("100m", []),
            ("1E", []),
            ("Gi", ["S-04"]),
            ("1 Gi", ["S-04"]),
        ]
    ],
)
def test_a_size_is_a_quantity_above_zero(size: str, expected: list[str]) -> None:
    """SD-14."""
    assert expected == [
        one.id for one in read(f'{MINIMAL}storage: [{{name: a, size: "{size}"}}]\n')
    ]


@pytest.mark.parametrize(
    ("cadence", "expected"),
    [
        pytest.param(cadence, expected, id=f"SD-74 {cadence}")
        for cadence, expected in [
            ("daily", "24h"),
            ("weekly", "168h"),
            ("90m", "90m"),
            ("1h30m", "1h30m"),
            ("1d", None),
            ("4m", None),
            ("721h", None),
            ("monthly", "720h"),
        ]
    ],
)
def test_a_cadence_is_a_duration_or_a_word(cadence: str, expected: str | None) -> None:
    """SD-74."""
    text = f"{MINIMAL}update: {{cadence: {cadence}}}\n"
    found = whole(text)

    assert found.catalog is not None
    wanted = ([], [expected]) if expected else (["S-04"], [])
    assert wanted == (
        [one.id for one in found.findings],
        [one.update.cadence for one in found.catalog.services],
    )


@pytest.mark.parametrize(
    "reference",
    [
        "app",
        "app:1",
        "docker.io/a/b:v1.2.3-rc.1",
        "localhost:5000/a",
        "a.b.c/d__e/f--g",
        "ghcr.io/a@sha256:" + "0" * 64,
    ],
)
def test_an_image_reference_is_taken(reference: str) -> None:
    """Whatever a registry serves can be named."""
    assert () == read(f"name: app\nsource:\n  image: '{reference}'\n")


@pytest.mark.parametrize(
    "reference",
    ["", "App", "a/B", "a:", "a@sha256:00", "a b", "https://a/b", "a:" + "t" * 129, "a\n"],
)
def test_what_is_no_image_reference_is_refused(reference: str) -> None:
    """A typing error in an image is found before a node tries to pull it."""
    quoted = reference.replace("\n", "\\n")

    assert ["S-04"] == [one.id for one in read(f'name: app\nsource:\n  image: "{quoted}"\n')]


def test_core_refuses_extensions() -> None:
    """SD-10: with --core, and only then."""
    text = MINIMAL + "env: {A: b}\negress: none\nobservability: {port: 80}\n"

    assert [("S-13", 4), ("S-13", 5), ("S-13", 6)] == told(read(text, core=True))
    assert [] == told(read(text))


def test_every_problem_of_every_file_is_told_at_once() -> None:
    """SD-11, SD-12: a file that is none keeps no other from being looked at; all are sorted."""
    texts = (MINIMAL + "exposure: x\n", "- a\n", MINIMAL.replace(": app", ": b-"), MINIMAL)

    assert [("a.yaml", "S-05"), ("b.yaml", "S-12"), ("c.yaml", "S-04")] == [
        (one.place.file, one.id) for one in read(*texts)
    ]


def test_a_list_of_services_is_the_same_as_a_file_each() -> None:
    """SD-13."""
    texts = [path.read_text() for path in DEFINITIONS]
    indented = ["\n".join(f"  {line}" for line in text.splitlines()) for text in texts[1:]]
    listed = "services:\n" + "\n".join(f"- {text.lstrip()}" for text in map(_entry, indented))
    apart, together = whole(*texts), whole(texts[0], listed)

    assert () == together.findings
    assert _bodies(apart) == _bodies(together)


def _entry(text: str) -> str:
    """An indented definition without the comment that would stand before its first key."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def _bodies(read_ones: CatalogRead) -> list[object]:
    assert read_ones.catalog is not None
    catalog = read_ones.catalog
    return [
        one.body for each in catalog.services for one in render(Snapshot(each, catalog)).effective
    ]


def test_a_finding_points_at_the_value() -> None:
    """1.6: at the offending value, or at the parent key when the key is missing."""
    text = (
        "name: app\nsource:   {image: 'app:1.0.0'}\nauth:\n  groups:   [Ä]\nstorage:\n- size: 1\n"
    )

    assert [("S-04", 4, 14), ("S-03", 6, 3), ("S-02", 6, 9)] == [
        (one.id, one.place.line, one.place.column) for one in read(text)
    ]


def test_a_link_out_of_the_folder_is_no_definition() -> None:
    """1.1: what a link reaches outside its root is S-12, and is not read."""
    found = read_definitions([Text("a.yaml", b"", refused="a symbolic link leads out")])

    assert ["S-12"] == [one.id for one in found.findings]


@pytest.mark.parametrize("path", DEFINITIONS, ids=[path.stem for path in DEFINITIONS])
def test_the_examples_fit(path: Path) -> None:
    """Section 8: none of the five has a schema finding."""
    assert () == read(path.read_bytes())
    assert () == parse(path.read_bytes(), path.name).problems
