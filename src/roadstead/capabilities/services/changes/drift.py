"""How a live object differs from a rendered one, by what was rendered alone.

Defaults, status and what other writers add are no difference. Source: contract 5.4.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roadstead.capabilities.services.api.kinds import (
    CILIUM_POLICY,
    DATA_VOLUME,
    PERSISTENT_VOLUME,
)
from roadstead.capabilities.services.changes.fields import Change, list_key
from roadstead.capabilities.services.changes.objects import Held
from roadstead.capabilities.services.render.part import DISABLED, SUBSTITUTE
from roadstead.kube.quantities import is_quantity, parse_quantity
from roadstead.kube.shapes import items, part
from roadstead.kube.times import parse_duration

_ABSENT = object()
_AMOUNTS = frozenset({"requests", "limits", "capacity"})
_AMOUNT = frozenset({"storage", "guest"})
_SPANS = frozenset({"interval", "retryInterval", "timeout", "ttl", "for"})
_VARIABLE = re.compile(r"\$\{[^}]*\}")


def drift(held: Held, live: Mapping[str, Any]) -> tuple[Change, ...]:
    """Every rendered leaf that is otherwise on the server; `old` is the rendered one.

    A Cilium policy that the agent refuses differs even when its spec is equal: it does nothing.
    """
    found = list(_refused(live)) if held.key.kind == CILIUM_POLICY.kind else []
    if held.key.kind == DATA_VOLUME.kind:
        return tuple(found)  # written once; CDI refuses any later change
    if held.key.kind == PERSISTENT_VOLUME.kind:
        # The server drops an empty class of a volume; of a claim it keeps it, and must.
        live = {**live, "spec": {"storageClassName": "", **(live.get("spec") or {})}}
    body = held.body
    notes = (body.get("metadata") or {}).get("annotations") or {}
    replaced = notes.get(SUBSTITUTE) != DISABLED
    for key, value in body.items():
        if key == "metadata":
            parts = {name: value[name] for name in ("labels", "annotations") if name in value}
            found += _leaves(parts, live.get("metadata") or {}, key, "", replaced=replaced)
        else:
            found += _leaves(value, live.get(key, _ABSENT), key, "", replaced=replaced)
    return tuple(found)


def _refused(live: Mapping[str, Any]) -> Iterator[Change]:
    for one in items(part(live, "status"), "conditions"):
        if one.get("type") == "Valid" and one.get("status") == "False":
            yield Change("status.conditions[Valid]", "True", "False")


def _leaves(wanted: Any, live: Any, path: str, around: str, *, replaced: bool) -> Iterator[Change]:
    """around: the key of the mapping a value stands in, which says what its text means."""
    if isinstance(wanted, Mapping | list) and not wanted:
        if live is not _ABSENT and live not in (None, {}, []):
            yield Change(path, wanted, live)
    elif isinstance(wanted, Mapping):
        there = live if isinstance(live, Mapping) else {}
        last = path.rpartition(".")[2]
        for key, value in wanted.items():
            yield from _leaves(
                value, there.get(key, _ABSENT), f"{path}.{key}", last, replaced=replaced
            )
    elif isinstance(wanted, list):
        yield from _entries(wanted, live, path, replaced=replaced)
    elif not _same(wanted, live, path, around, replaced=replaced):
        yield Change(path, wanted, None if live is _ABSENT else live)


def _entries(wanted: list[Any], live: Any, path: str, *, replaced: bool) -> Iterator[Change]:
    if not isinstance(live, Sequence) or isinstance(live, str):
        yield Change(path, wanted, None if live is _ABSENT else live)
        return
    key = list_key(wanted, live)
    if key:
        there = {one[key]: one for one in live}
        for one in wanted:
            where = f"{path}[{one[key]}]"
            yield from _leaves(one, there.get(one[key], _ABSENT), where, "", replaced=replaced)
        if len(there) > len(wanted):
            more = [name for name in there if name not in {one[key] for one in wanted}]
            yield Change(path, None, more)
        return
    if len(wanted) != len(live):
        yield Change(path, wanted, list(live))
        return
    for number, (one, other) in enumerate(zip(wanted, live, strict=True)):
        yield from _leaves(one, other, f"{path}[{number}]", "", replaced=replaced)


def _same(wanted: Any, live: Any, path: str, around: str, *, replaced: bool) -> bool:
    if wanted == live and isinstance(wanted, bool) == isinstance(live, bool):
        return True
    if not isinstance(wanted, str) or not isinstance(live, str | int):
        return False
    last, text = path.rpartition(".")[2], str(live)
    if (around in _AMOUNTS or last in _AMOUNT) and is_quantity(wanted) and is_quantity(text):
        return parse_quantity(wanted) == parse_quantity(text)
    if last in _SPANS:
        return _span(wanted) is not None and _span(wanted) == _span(text)
    if replaced and _VARIABLE.search(wanted):
        parts = (re.escape(part) for part in _VARIABLE.split(wanted))
        return re.fullmatch(".*".join(parts), text) is not None
    return False


def _span(text: str) -> Any:
    try:
        return parse_duration(text)
    except ValueError:
        return None
