"""Server-side apply, always forced: who owns which field, and what an application makes of it.

Maps are merged and owner references matched by uid; no other list is applied here. A field that
a manager applied before and leaves out now goes, unless somebody else has a part in it. Who wrote
a field in another way has one, and takes it from those who had applied another value.
Source: Kubernetes 1.36, structured-merge-diff; compared with the real server.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from roadstead.errors import BugError, ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.sim.store import Store
from roadstead.sim.validity import conflict, invalid, refusal

Leaf = tuple[str, ...]
"""A path of keys; that of an owner reference ends with its uid."""
_OWNERS = ("metadata", "ownerReferences")
_GIVEN = frozenset({"name", "namespace", "uid", "resourceVersion", "generateName"})
_SERVER = frozenset({"creationTimestamp", "generation", "managedFields", "selfLink", *_GIVEN})


@dataclass
class _Fields:
    """Who has a part in which leaves of one object. others: of those written in another way."""

    applied: dict[str, set[Leaf]] = field(default_factory=dict)
    others: set[Leaf] = field(default_factory=set)


class Applications:
    """The applied fields of every object of a store, by uid.

    Whatever else was written is read from the store's log before each application.
    """

    def __init__(self, store: Store) -> None:
        """Know of none."""
        self._store = store
        self._fields: dict[str, _Fields] = {}
        self._read = 0

    def made(
        self, ref: Ref, body: Mapping[str, Any], old: Object | None, manager: str
    ) -> dict[str, Any]:
        """The whole object that a manager's application makes of what is there.

        Raises: ClusterError (409, 422) when a stated uid or resourceVersion is another;
            BugError for a list that is no list of owners.
        """
        _check_stated(ref, body["metadata"], old)
        leaves = dict(_leaves(body, at=()))
        if old is None:
            meta = {k: v for k, v in body["metadata"].items() if k != "resourceVersion"}
            return copy.deepcopy({**body, "metadata": meta})
        self._catch_up()
        made = copy.deepcopy(old.body)
        known = self._fields.setdefault(old.meta.uid, _Fields(others=set(_owned(old.body))))
        for leaf in known.applied.get(manager, set()) - leaves.keys():
            parts = [known.others, *(v for k, v in known.applied.items() if k != manager)]
            if not any(leaf in part for part in parts):
                _remove(made, leaf)
        for leaf, value in leaves.items():
            if leaf[:2] != _OWNERS:
                _set(made, leaf, value)
        if owners := body["metadata"].get("ownerReferences"):
            there = made["metadata"].get("ownerReferences") or []
            made["metadata"]["ownerReferences"] = in_order(there, owners)
        return made

    def note(self, new: Object, body: Mapping[str, Any], manager: str) -> None:
        """Note that a manager's application has been stored."""
        leaves = {leaf for leaf, _ in _leaves(body, at=())}
        known = self._fields.setdefault(new.meta.uid, _Fields())
        parts = {name: set(theirs) for name, theirs in known.applied.items()}
        others = set(known.others)
        changed: set[Leaf] = set()
        for old, made in self._store.log[self._read :]:
            if old is not None and made is not None and made.meta.uid == new.meta.uid:
                changed |= _changed(old, made)
        self._catch_up()
        known.others = others - changed
        known.applied = {name: theirs - changed for name, theirs in parts.items()}
        known.applied[manager] = leaves

    def _catch_up(self) -> None:
        """Take in what was written since in other ways."""
        for old, new in self._store.log[self._read :]:
            known = self._fields.get(new.meta.uid) if new is not None else None
            if known is not None and old is not None and new is not None:
                changed = _changed(old, new)
                for theirs in known.applied.values():
                    theirs.difference_update(changed)
                known.others = (known.others - changed) | (changed & set(_owned(new.body)))
            elif new is None and old is not None:
                self._fields.pop(old.meta.uid, None)
        self._read = len(self._store.log)


def in_order(there: list[dict[str, Any]], owners: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Owner references that are there with applied ones among them, in the server's order.

    Applied ones keep their order, others stay before what they stood before.
    """
    wanted = {owner["uid"]: owner for owner in owners}
    shared = [owner["uid"] for owner in owners if owner["uid"] in {one["uid"] for one in there}]
    made: list[dict[str, Any]] = []
    left, right = list(there), list(owners)
    while left or right:
        uid = left[0]["uid"] if left else ""
        if left and uid not in wanted:
            made.append(left.pop(0))
        elif left and (uid not in shared or (right and uid != shared[0])):
            left.pop(0)  # it stands elsewhere among the applied ones
        else:
            made.append(right.pop(0))
            if shared[:1] == [made[-1]["uid"]]:
                del shared[0]
            if made[-1]["uid"] == uid:
                left.pop(0)
    return [copy.deepcopy(owner) for owner in made]


def _check_stated(ref: Ref, meta: Mapping[str, Any], old: Object | None) -> None:
    uid, version = meta.get("uid"), meta.get("resourceVersion")
    if uid and old is None:
        text = f"uid mismatch: the provided object specified uid {uid}, and no existing object was"
        raise conflict(ref, f"{text} found")
    if uid and old is not None and uid != old.meta.uid:
        raise invalid(ref, "metadata.uid", f'Invalid value: "{uid}": field is immutable')
    if version and old is not None and version != old.meta.resource_version:
        raise conflict(ref)
    if meta.get("managedFields") is not None:
        raise refusal(400, "BadRequest", ref, "metadata.managedFields must be nil")
    uids = [owner.get("uid") for owner in meta.get("ownerReferences") or ()]
    if len(set(uids)) != len(uids):
        sentence = f"failed to create typed patch object ({ref.key}): duplicate entries for key"
        raise ClusterError(sentence, status=500, about=str(ref))


def _leaves(value: Any, at: Leaf) -> Iterator[tuple[Leaf, Any]]:
    """What an application states, leaf by leaf."""
    if at == _OWNERS:
        for owner in value or ():
            yield (*at, str(owner.get("uid", ""))), owner
    elif isinstance(value, Mapping):
        for key, part in value.items():
            ours = at or key not in {"apiVersion", "kind"}
            if ours and not (at == ("metadata",) and key in _SERVER):
                yield from _leaves(part, (*at, str(key)))
    elif isinstance(value, list):
        raise BugError(f"the list {'.'.join(at)} is applied, which the offline world cannot do")
    elif value is not None:
        yield at, value


def _owned(value: Any, at: Leaf = ()) -> Iterator[Leaf]:
    """The leaves of a stored object that somebody owns; a list but of owners is one."""
    if at == _OWNERS:
        yield from ((*at, str(owner.get("uid", ""))) for owner in value)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if not (at == ("metadata",) and key in _SERVER):
                yield from _owned(part, (*at, str(key)))
    else:
        yield at


def _changed(old: Object, new: Object) -> set[Leaf]:
    """The leaves that one write has set, changed or removed."""
    before, after = (dict(_values(one.body)) for one in (old, new))
    return {leaf for leaf in before.keys() | after.keys() if before.get(leaf) != after.get(leaf)}


def _values(body: Mapping[str, Any]) -> Iterator[tuple[Leaf, Any]]:
    owners = body["metadata"].get("ownerReferences") or ()
    by_uid = {str(owner.get("uid", "")): owner for owner in owners}
    for leaf in _owned(body):
        if leaf[:2] == _OWNERS:
            yield leaf, by_uid[leaf[2]]
        else:
            yield leaf, _at(body, leaf)


def _at(body: Any, leaf: Leaf) -> Any:
    for key in leaf:
        body = body[key]
    return body


def _set(body: dict[str, Any], leaf: Leaf, value: Any) -> None:
    for key in leaf[:-1]:
        if not isinstance(body.get(key), dict):
            body[key] = {}
        body = body[key]
    body[leaf[-1]] = copy.deepcopy(value)


def _remove(body: dict[str, Any], leaf: Leaf) -> None:
    """Take a leaf out, and the maps that hold nothing more."""
    if leaf[:2] == _OWNERS:
        meta = body["metadata"]
        kept = [one for one in meta.get("ownerReferences") or () if one.get("uid") != leaf[2]]
        meta["ownerReferences"] = kept
        return
    holder = body.get(leaf[0])
    if len(leaf) == 1:
        body.pop(leaf[0], None)
    elif isinstance(holder, dict):
        _remove(holder, leaf[1:])
        if not holder and len(leaf) > 1:
            del body[leaf[0]]
