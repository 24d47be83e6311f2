"""Versions and the constraints on them that Flux's ImagePolicy understands.

Source: semver.org 2.0.0; github.com/Masterminds/semver v3, which Flux reads `semver.range` with.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

_NUMBER = r"0|[1-9][0-9]*"
_PRERELEASE = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(
    rf"v?(?P<major>{_NUMBER})(?:\.(?P<minor>{_NUMBER}))?(?:\.(?P<patch>{_NUMBER}))?"
    rf"(?:-(?P<pre>{_PRERELEASE}))?(?:\+{_PRERELEASE})?"
)
_PART = r"[0-9]+|[xX*]"
_BOUND = (
    rf"v?(?P<major>{_PART})(?:\.(?P<minor>{_PART}))?(?:\.(?P<patch>{_PART}))?"
    rf"(?:-(?P<pre>{_PRERELEASE}))?(?:\+{_PRERELEASE})?"
)
_COMPARATOR = re.compile(rf"\s*(?P<op>=<|=>|!=|>=|<=|~>|[=><~^])?\s*{_BOUND}\s*(?:,\s*)?")
_HYPHEN = re.compile(r"\s*(v?[0-9][^\s,]*)\s+-\s+(v?[0-9][^\s,]*)\s*")
_WILD = frozenset({"x", "X", "*"})
_LONGEST = 512


@dataclass(frozen=True, slots=True)
class Version:
    """One version; build metadata is left out, as it orders nothing.

    pre: the prerelease's identifiers; empty for a release.
    """

    major: int
    minor: int = 0
    patch: int = 0
    pre: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, *, whole: bool = False) -> Self:
        """Read `1.2.3`, `v1.2.3-rc.1`, and unless the whole is asked for also `1` and `1.2`.

        Raises: ValueError when it is none.
        """
        found = _VERSION.fullmatch(text) if len(text) <= _LONGEST else None
        if found is None or (whole and not found["patch"]):
            raise ValueError(f"`{text}` is no version such as 1.2.3")
        pre = tuple(found["pre"].split(".")) if found["pre"] else ()
        major, minor, patch = (int(found[name] or 0) for name in ("major", "minor", "patch"))
        return cls(major, minor, patch, pre)

    @property
    def order(self) -> tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]:
        """What versions are compared by: a prerelease comes before its release."""
        parts = tuple(
            (False, int(one), "") if one.isdecimal() else (True, 0, one) for one in self.pre
        )
        return (self.major, self.minor, self.patch, not self.pre, parts)


@dataclass(frozen=True, slots=True)
class Comparator:
    """One bound. given: how many of the three numbers are stated and no wildcard."""

    op: str
    version: Version
    given: int

    def admits(self, one: Version) -> bool:
        """Tell whether a version is within; a prerelease only where the bound has one."""
        if one.pre and not self.version.pre:
            return False
        return _OPERATIONS[self.op](self, one)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What versions may be chosen: any of several groups, all of whose bounds hold."""

    groups: tuple[tuple[Comparator, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a constraint such as `~1.2`, `>=1.2 <2`, `1.x || 3.0 - 3.4`.

        Raises: ValueError when it is none.
        """
        if not text.strip() or len(text) > _LONGEST:
            raise ValueError(f"`{text[:_LONGEST]}` is no version constraint such as ~1.2 or ^1.2.3")
        return cls(tuple(_group(part, text) for part in text.split("||")))

    def admits(self, version: Version) -> bool:
        """Tell whether a version may be chosen."""
        return any(all(one.admits(version) for one in group) for group in self.groups)

    @property
    def prereleases(self) -> bool:
        """Whether a bound names a prerelease, which lets others be chosen."""
        return any(one.version.pre for group in self.groups for one in group)


def _group(text: str, whole: str) -> tuple[Comparator, ...]:
    text = _HYPHEN.sub(lambda found: f" >={found[1]} <={found[2]} ", text)
    found: list[Comparator] = []
    at = 0
    while at < len(text):
        bound = _COMPARATOR.match(text, at)
        if bound is None or (found and not text[at - 1 : at].strip(" ,\t") == ""):
            raise ValueError(f"`{whole}` is no version constraint such as ~1.2 or ^1.2.3")
        found.append(_comparator(bound))
        at = bound.end()
    if not found or text.rstrip().endswith(","):
        raise ValueError(f"`{whole}` is no version constraint such as ~1.2 or ^1.2.3")
    return tuple(found)


def _comparator(bound: re.Match[str]) -> Comparator:
    numbers: list[int] = []
    for name in ("major", "minor", "patch"):
        part = bound[name]
        if part is None or part in _WILD:
            break
        numbers.append(int(part))
    given = len(numbers)
    pre = tuple(bound["pre"].split(".")) if bound["pre"] else ()
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    version = Version(major, minor, patch, pre)
    op = {"=>": ">=", "=<": "<=", "~>": "~"}.get(bound["op"] or "=", bound["op"] or "=")
    return Comparator(op, version, given)


def _same(bound: Comparator, one: Version) -> bool:
    """Equal; where numbers are left open, equal in those that are stated."""
    whole = 3
    if bound.given == whole:
        return one.order == bound.version.order
    return _head(one, bound.given) == _head(bound.version, bound.given)


def _head(one: Version, given: int) -> tuple[int, ...]:
    return (one.major, one.minor, one.patch)[:given]


def _above(bound: Comparator, one: Version) -> bool:
    """Greater; `>1.2` is greater than all of 1.2."""
    whole = 3
    if bound.given == whole:
        return one.order > bound.version.order
    return _head(one, bound.given) > _head(bound.version, bound.given)


def _at_most(bound: Comparator, one: Version) -> bool:
    """Not greater; `<=1.2` admits all of 1.2."""
    return not _above(bound, one)


def _near(bound: Comparator, one: Version) -> bool:
    """`~`: the same minor from there on; the same major where no minor is stated."""
    if one.order < bound.version.order:
        return False
    return _head(one, min(bound.given, 2)) == _head(bound.version, min(bound.given, 2))


def _compatible(bound: Comparator, one: Version) -> bool:
    """`^`: nothing left of the first number that is not zero changes."""
    if one.order < bound.version.order:
        return False
    low = bound.version
    if low.major or bound.given <= 1:
        return bound.given == 0 or one.major == low.major
    if low.minor or bound.given == 2:  # noqa: PLR2004 - ^0.0 and ^0.2
        return (one.major, one.minor) == (low.major, low.minor)
    return (one.major, one.minor, one.patch) == (low.major, low.minor, low.patch)


_OPERATIONS: dict[str, Callable[[Comparator, Version], bool]] = {
    "=": _same,
    "!=": lambda bound, one: not _same(bound, one),
    ">": _above,
    ">=": lambda bound, one: one.order >= bound.version.order,
    "<": lambda bound, one: one.order < bound.version.order,
    "<=": _at_most,
    "~": _near,
    "^": _compatible,
}
