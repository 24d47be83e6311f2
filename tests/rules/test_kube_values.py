"""Versions and constraints, quantities, image references, and what was probably meant."""

from decimal import Decimal

import pytest

from roadstead.kube.expressions import expression, is_expression
from roadstead.kube.images import Image, is_image, parse_image
from roadstead.kube.nearest import nearest
from roadstead.kube.quantities import is_positive_quantity, is_quantity, parse_quantity
from roadstead.kube.semver import Constraint, Version


@pytest.mark.parametrize(
    ("constraint", "inside", "outside"),
    [
        ("~10.10", ["10.10.0", "10.10.7"], ["10.11.0", "10.9.9", "11.0.0"]),
        ("~1", ["1.0.0", "1.9.9"], ["2.0.0"]),
        ("~1.2.3", ["1.2.3", "1.2.9"], ["1.2.2", "1.3.0"]),
        ("^5.1.0", ["5.1.0", "5.9.0"], ["5.0.9", "6.0.0"]),
        ("^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4"]),
        ("^0.0", ["0.0.9"], ["0.1.0"]),
        ("^0", ["0.9.0"], ["1.0.0"]),
        (">=1.2 <2", ["1.2.0", "1.99.0"], ["1.1.9", "2.0.0"]),
        (">=1.2, <2", ["1.2.0"], ["2.0.0"]),
        ("1.x", ["1.0.0", "1.9.0"], ["2.0.0"]),
        ("1.2.*", ["1.2.9"], ["1.3.0"]),
        ("*", ["0.0.1", "9.9.9"], ["1.0.0-rc.1"]),
        ("1.2 - 1.4.5", ["1.2.0", "1.4.5"], ["1.4.6"]),
        ("1.x || 3.x", ["1.1.1", "3.3.3"], ["2.2.2"]),
        ("!=1.2.3", ["1.2.4"], ["1.2.3"]),
        ("!=1.2", ["1.3.0"], ["1.2.9"]),
        (">1.2", ["1.3.0"], ["1.2.9"]),
        ("<=1.2", ["1.2.9"], ["1.3.0"]),
        ("=>1.0.0", ["1.0.0"], ["0.9.0"]),
        ("v1.2.3", ["1.2.3"], ["1.2.4"]),
        (">=1.0.0-0", ["1.0.0-rc.1", "1.0.0"], ["0.9.0"]),
        ("~1.2.3-beta.1", ["1.2.3-beta.2", "1.2.4"], ["1.2.3-alpha.9"]),
    ],
)
def test_a_constraint_admits_what_flux_would(
    constraint: str, inside: list[str], outside: list[str]
) -> None:
    """As Masterminds/semver reads it, which Flux's ImagePolicy uses."""
    read = Constraint.parse(constraint)

    assert [] == [one for one in inside if not read.admits(Version.parse(one))]
    assert [] == [one for one in outside if read.admits(Version.parse(one))]


@pytest.mark.parametrize(
    "text", ["", " ", "newest", "1.2.3.4", ">", "~~1", "1.2,", "1.2 ,, 3", "||", "1||", "1" * 600]
)
def test_what_is_no_constraint_is_refused(text: str) -> None:
    """A typing error in a range is found before Flux finds it."""
    with pytest.raises(ValueError, match="is no version constraint"):
        Constraint.parse(text)


def test_versions_stand_in_the_order_of_semver() -> None:
    """Semver 2.0.0, section 11: numbers before words, a prerelease before its release."""
    written = ["1.0.0-1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2"]
    written += ["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "2.0.0", "10.0.0"]

    versions = [Version.parse(one) for one in written]
    shuffled = [*versions[1::2], *versions[::2]]

    assert versions == sorted(shuffled, key=lambda one: one.order)


@pytest.mark.parametrize("text", ["1.2", "v1", "1.2.3.4", "01.2.3", "latest", "", "1.2.3-"])
def test_what_is_no_whole_version_is_refused(text: str) -> None:
    """Only X.Y.Z derives a range."""
    with pytest.raises(ValueError, match="is no version"):
        Version.parse(text, whole=True)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("20Gi", Decimal(20 * 2**30)),
        ("1.5Gi", Decimal(3 * 2**29)),
        ("500m", Decimal("0.5")),
        ("1e3", Decimal(1000)),
        ("1E3", Decimal(1000)),
        ("1E", Decimal(10) ** 18),
        ("1M", Decimal(10) ** 6),
        (".5", Decimal("0.5")),
        ("5.", Decimal(5)),
        ("0", Decimal(0)),
        ("-1", Decimal(-1)),
    ],
)
def test_a_quantity_is_an_amount(text: str, amount: Decimal) -> None:
    """Two spellings of one amount are equal."""
    assert amount == parse_quantity(text)
    assert (amount >= 0, amount > 0) == (is_quantity(text), is_positive_quantity(text))


@pytest.mark.parametrize(
    "text", ["", "20GB", "Gi", "1 Gi", "1e", "1ki", "\u0661", "1Gi\n", "--1", "."]
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    """The API server would refuse it, too."""
    assert not is_quantity(text)
    assert not is_positive_quantity(text)


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("app", Image("app", "", "")),
        ("docker.io/gitea/gitea:1.24.6", Image("docker.io/gitea/gitea", "1.24.6", "")),
        ("localhost:5000/a:b", Image("localhost:5000/a", "b", "")),
        (
            "a/b:c@sha256:" + "0" * 64,
            Image("a/b", "c", "sha256:" + "0" * 64),
        ),
    ],
)
def test_an_image_reference_is_taken_apart(reference: str, parts: Image) -> None:
    """A port of the registry is no tag."""
    assert parts == parse_image(reference)


@pytest.mark.parametrize("reference", ["", "A", "a:", "a@sha256:1", "/a", "a//b", "a/" + "b" * 300])
def test_what_is_no_image_is_refused(reference: str) -> None:
    """A registry has no such name."""
    assert not is_image(reference)


@pytest.mark.parametrize(
    ("word", "most", "expected"),
    [
        ("ingresRoutes", 2, "ingressRoutes"),
        ("egres", 2, "egress"),
        ("zzzzzzzz", 2, ""),
        ("uptime", None, "up"),
        ("", None, "up"),
    ],
)
def test_the_nearest_word_is_meant(word: str, most: int | None, expected: str) -> None:
    """The fewest letters away, and never further than is asked for."""
    words = ["ingressRoutes", "egress", "up"]

    assert expected == nearest(word, words, most)
    assert "" == nearest("a", [], None)


@pytest.mark.parametrize(
    "text",
    [
        r"^(?P<version>\d+\.\d+\.\d+)$",
        r"^(?<version>\d+)$",
        r"^\p{Lu}+\z",
        r"^[[:alpha:]]+[-_]",
        r"^\Qa.b\E",
        "a{1,3}?",
        "(?i)rc",
    ],
)
def test_an_expression_of_go_is_read(text: str) -> None:
    """Flux and oauth2-proxy would read it."""
    assert is_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "(",
        "[",
        "*",
        "a**",
        r"(a)\1",
        "(?=x)",
        "(?<!x)",
        "a" * 1001,
        r"\C",
        "(a{1001})",
        "x*+",
        "[[:no:]]",
    ],
)
def test_what_go_would_not_read_is_refused(text: str) -> None:
    """No look-around, no back-references, nothing that is not closed."""
    assert not is_expression(text)


def test_classes_of_go_mean_what_they_say() -> None:
    """A tag is judged as automation would."""
    assert expression("^[[:digit:]]+$").search("123")
    assert not expression("^[[:digit:]]+$").search("12a")
    assert expression(r"^v(?<n>\d)\z").search("v1")
    assert expression(r"^\\C$").search("\\C")
    assert not expression(r"^\pN$").search("a")


def test_no_expression_runs_long() -> None:
    """A search is linear in the text: nested and overlapping repetitions cost nothing more."""
    for text in ("^(a+)+$", "^(a|a)*$", "^(a*)*b$", "^((a?){30}){30}$"):
        assert expression(text).search("a" * 100_000 + "!") is None


def test_an_expression_gives_what_its_groups_took() -> None:
    """By number and by name, as Flux extracts a version."""
    found = expression(r"^v(?P<major>\d+)(-rc)?$").search("v12")

    assert found is not None
    assert ("12", None) == found.groups()
    assert {"major": "12"} == found.groupdict()
