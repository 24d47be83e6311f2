"""What a settled world changes, one row an object: created, changed or gone, by whom, and when.

No row holds a Secret's value: a certificate shows subject, expiry and fingerprint.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from roadstead.explain.counterparts import counterparts, renamed
from roadstead.explain.subjects import NOTES
from roadstead.explain.world import Played
from roadstead.kube.objects import Object
from roadstead.kube.pem import Certificate, holds_private_key, lift
from roadstead.kube.refs import EVENT, LEASE, NAMESPACE, SECRET, Ref
from roadstead.sim.requests import Request

CREATED, CHANGED, GONE = "+", "~", "-"
FILES = "files"
COLLECTOR = "collector"
_SERVERS_OWN = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"}
)

_PARTS = {
    "labels": "labels",
    "annotations": "annotations",
    "ownerReferences": "owner",
    "finalizers": "finalizers",
}
_NO_ROWS = frozenset({EVENT, LEASE})
"""What is told and held, not rendered."""


@dataclass(frozen=True, slots=True)
class Value:
    """What one key of a Secret holds, as far as it may be shown."""

    key: str
    private_key: bool
    certificates: tuple[Certificate, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One row. by: the controller, `files` or `collector`. passes: first and last, of its key.

    minted: what its name begins with, where the rest depends on a uid that is not there yet.
    """

    sign: str
    ref: Ref
    by: str
    passes: tuple[int, int] | None
    note: str
    values: tuple[Value, ...] = ()
    minted: str = ""

    @property
    def shown(self) -> str:
        """Its name as a table shows it."""
        if not self.minted:
            return self.ref.key
        return f"{self.ref.kind.ref(self.ref.namespace, self.minted).key}*"

    @property
    def when(self) -> str:
        """The passes as a table shows them."""
        if self.passes is None:
            return ""
        first, last = self.passes
        return str(first) if first == last else f"{first}-{last}"


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of one key, numbered within the key, and what it wrote."""

    number: int
    controller: str
    key: Ref
    writes: tuple[Request, ...]
    reason: str


def passes_of(played: Played) -> tuple[Pass, ...]:
    """Every pass, numbered within its key."""
    count: Counter[tuple[str, Ref]] = Counter()
    found = []
    for step in played.steps:
        count[step.controller, step.key] += 1
        findings = step.decision.findings
        word = (findings[-1].reason if findings else "") or step.decision.state
        number = count[step.controller, step.key]
        found.append(Pass(number, step.controller, step.key, step.writes, word))
    return tuple(found)


def changes(played: Played, baseline: Mapping[Ref, Object] | None = None) -> tuple[Change, ...]:
    """Compare the settled world with what was there, or with a baseline.

    baseline: objects by ref; what the server sets and what is not stated is not compared.
    """
    wrote = _wrote(passes_of(played))
    get = played.world.store.get
    after = {seen.ref: seen for seen in played.world.store.all()}
    if baseline is None:
        pairs = _pairs(played.before, after)
        rows = [row for pair in pairs if (row := _row(pair, wrote, get))]
    else:
        after = _stated(played, after, set(wrote))
        names = counterparts(after.values(), baseline)
        after = {names.get(ref, ref): renamed(seen, names) for ref, seen in after.items()}
        wrote = {names.get(ref, ref): by for ref, by in wrote.items()}
        rows = [
            row
            for pair in _pairs(baseline, after)
            if _differ(pair.old, pair.new) and (row := _row(pair, wrote, get, FILES))
        ]
    shown = (row for row in rows if row.ref.kind not in _NO_ROWS)
    return tuple(sorted(shown, key=lambda row: row.ref))


def _stated(played: Played, after: Mapping[Ref, Object], wrote: set[Ref]) -> dict[Ref, Object]:
    """What the files state and what decisions made of it, without what any server adds."""
    stated = {ref: after[ref] for ref in wrote if ref in after}
    for one in played.placed:
        if one.ref in after and one.ref not in stated:
            stated[one.ref] = Object.of(one.ref.kind, one.body)
    return stated


class _Pair(NamedTuple):
    """One object before and after."""

    ref: Ref
    old: Object | None
    new: Object | None


def _pairs(before: Mapping[Ref, Object], after: Mapping[Ref, Object]) -> Iterable[_Pair]:
    for ref in sorted({*before, *after}):
        yield _Pair(ref, before.get(ref), after.get(ref))


def _wrote(passes: Iterable[Pass]) -> dict[Ref, tuple[str, int, int]]:
    found: dict[Ref, tuple[str, int, int]] = {}
    for one in passes:
        for write in one.writes:
            first = found.get(write.ref, ("", one.number, 0))[1]
            found[write.ref] = (one.controller, first, one.number)
    return found


def _row(
    pair: _Pair,
    wrote: Mapping[Ref, tuple[str, int, int]],
    get: Callable[[Ref], Object | None],
    otherwise: str = COLLECTOR,
) -> Change | None:
    ref, old, new = pair
    if old is not None and new is not None:
        if _substance(old) == _substance(new):
            return None
        sign, note = CHANGED, _note_of(old, new, get) or _what_changed(old, new)
    elif new is not None:
        sign, note = CREATED, _note_of(None, new, get) or _holds(new)
    else:
        sign, note = GONE, ""
    by, first, last = wrote.get(ref, (otherwise, 0, 0))
    shown = new if new is not None else old
    values = values_of(shown) if shown is not None else ()
    passes = (first, last) if last else None
    minted = str(new.body["metadata"].get("generateName", "")) if new and sign == CREATED else ""
    return Change(sign, ref, by, passes, note, values, minted if last else "")


def _note_of(old: Object | None, new: Object, get: Callable[[Ref], Object | None]) -> str:
    """What the capability of a kind says of it; empty where it has nothing to say."""
    note = NOTES.get(new.kind)
    return note(old, new, get) if note is not None else ""


def values_of(seen: Object) -> tuple[Value, ...]:
    """What a Secret holds, key by key, as far as it may be shown."""
    if seen.kind != SECRET:
        return ()
    found = []
    for key in seen.data_keys():
        value = seen.decoded(key) or b""
        found.append(Value(key, holds_private_key(value), lift(value).certificates))
    return tuple(found)


def note_of(values: Iterable[Value]) -> str:
    """One line of what a Secret holds."""
    return "; ".join(_note(value) for value in values)


def _note(value: Value) -> str:
    if value.private_key:
        return f"{value.key}, private key"
    if not value.certificates:
        return value.key
    first = min(one.not_after for one in value.certificates)
    count = len(value.certificates)
    many = f"{count} certificates, first expires" if count > 1 else "expires"
    return f"{value.key}, {many} {first:%Y-%m-%d}"


def _holds(seen: Object) -> str:
    return note_of(values_of(seen)) if seen.kind == SECRET else ""


def _what_changed(old: Object, new: Object) -> str:
    parts = []
    if old.body.get("data") != new.body.get("data"):
        parts.append(_holds(new) if new.kind == SECRET else "data")
    parts += [
        word
        for part, word in _PARTS.items()
        if (old.body["metadata"].get(part) or None) != (new.body["metadata"].get(part) or None)
    ]
    rest = sorted(
        key
        for key in {*old.body, *new.body} - {"data", "metadata", "apiVersion", "kind"}
        if old.body.get(key) != new.body.get(key)
    )
    return ", ".join([*parts, *rest])


def _substance(seen: Object) -> dict[str, Any]:
    meta = {key: part for key, part in seen.body["metadata"].items() if key not in _SERVERS_OWN}
    meta = {key: part for key, part in meta.items() if part}
    rest = {key: part for key, part in seen.body.items() if key != "apiVersion"}
    return {**rest, "metadata": meta}


def _differ(old: Object | None, new: Object | None) -> bool:
    """Tell whether something stated is not there; a Namespace that is only named is nothing."""
    if old is None or new is None:
        seen = old or new
        return seen is not None and seen.kind != NAMESPACE
    stated, there = _substance(new), _substance(old)
    stated.pop("status", None)
    if new.kind == SECRET and (stated.get("data") or {}) != (there.get("data") or {}):
        return True
    return not _within(stated, there)


def _within(stated: Any, there: Any) -> bool:
    """Tell whether everything stated is there; a map may hold more, uids are another world's."""
    if isinstance(stated, Mapping):
        return isinstance(there, Mapping) and all(
            key == "uid" or _within(part, there.get(key)) for key, part in stated.items()
        )
    if isinstance(stated, list):
        return (
            isinstance(there, list)
            and len(stated) == len(there)
            and all(_within(one, other) for one, other in zip(stated, there, strict=True))
        )
    return bool(stated == there) or (not stated and there is None)
