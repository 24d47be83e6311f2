"""What a world holds: objects, versions, and the log of every change that a watch would tell."""

import copy
import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object, canonical
from roadstead.kube.refs import Kind, Ref
from roadstead.sim.requests import By

Slot = tuple[str, str, str, str]


class Change(NamedTuple):
    """One change.

    old: what was there, None for a creation; for a deletion its version is the deletion's own.
    new: None for a deletion.
    """

    old: Object | None
    new: Object | None

    @property
    def kind(self) -> Kind:
        """The kind of the object that changed."""
        return (self.new or self.old or _NOTHING).kind


_NOTHING = Object.of(Kind("Nothing", "", "v1", "nothings"), {})


def slot(ref: Ref) -> Slot:
    """Where an object is kept, whatever version it is asked for at."""
    return (ref.kind.group, ref.kind.kind, ref.namespace, ref.name)


class Store:
    """Objects by name, one version counter for all, and the changes in order."""

    def __init__(self) -> None:
        """Begin empty."""
        self.log: list[Change] = []
        self._objects: dict[Slot, Object] = {}
        self._of_kind: dict[tuple[str, str], dict[Slot, Object]] = {}
        self._left: dict[Slot, bytes] = {}
        self._version = 0
        self._serial = 0

    @property
    def version(self) -> str:
        """The resourceVersion of the last change."""
        return str(self._version)

    def get(self, ref: Ref) -> Object | None:
        """One object, at the version of the kind it is asked for as."""
        found = self._objects.get(slot(ref))
        return None if found is None else as_kind(found, ref.kind)

    def all(self, kind: Kind | None = None, namespace: str = "") -> tuple[Object, ...]:
        """The objects of a kind, or of every kind, in one namespace or in all, sorted by ref.

        Cost: of a kind, by how many there are of it, since every write asks for quotas.
        """
        among = self._of_kind.get((kind.group, kind.kind), {}) if kind else self._objects
        found = (
            as_kind(held, kind) if kind else held
            for key, held in among.items()
            if not namespace or key[2] == namespace
        )
        return tuple(sorted(found, key=lambda held: held.ref))

    def at(self, position: int, kind: Kind) -> Iterator[Object]:
        """The objects of a kind as they were after so many changes."""
        held: dict[Slot, Object] = {}
        for old, new in self.log[:position]:
            if old is not None:
                held.pop(slot(old.ref), None)
            if new is not None:
                held[slot(new.ref)] = new
        for key in sorted(held):
            if key[:2] == (kind.group, kind.kind):
                yield as_kind(held[key], kind)

    def put(self, kind: Kind, body: dict[str, Any], by: By) -> Object:
        """Store a body under the next version and tell of it.

        Raises: ClusterError (400) when its metadata is malformed.
        """
        body = copy.deepcopy(body)
        self._version += 1
        body["metadata"]["resourceVersion"] = self.version
        try:
            new = Object.of(kind, body)
        except ValueError as error:
            raise ClusterError(str(error), status=400, reason="BadRequest") from None
        place = slot(new.ref)
        self.log.append(Change(self._objects.get(place), new))
        self._objects[place] = self._of_kind.setdefault(place[:2], {})[place] = new
        if by is By.OTHER:
            self._left[place] = canonical(body)
        return new

    def remove(self, ref: Ref, by: By) -> Object | None:
        """Forget an object and tell of it; gives what was there."""
        place = slot(ref)
        old = self._objects.pop(place, None)
        if old is not None:
            del self._of_kind[place[:2]][place]
            self._version += 1
            meta = msgspec.structs.replace(old.meta, resource_version=self.version)
            body = {**old.body, "metadata": {**old.body["metadata"]}}
            body["metadata"]["resourceVersion"] = self.version
            self.log.append(Change(Object(old.kind, meta, body), None))
        if by is By.OTHER:
            self._left.pop(place, None)
        return old

    def is_as_left(self, ref: Ref) -> bool:
        """Tell whether an object is byte for byte what another writer made of it last."""
        found = self._objects.get(slot(ref))
        return (None if found is None else canonical(found.body)) == self._left.get(slot(ref))

    def next_uid(self, ref: Ref) -> str:
        """A uid nobody has had; the same for the same history."""
        self._serial += 1
        text = hashlib.sha256(f"{self._serial} {ref.path}".encode()).hexdigest()
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"


def as_kind(seen: Object, kind: Kind) -> Object:
    """An object at the version of a kind; its body is the reader's own copy."""
    body = copy.deepcopy(seen.body)
    if kind != seen.kind:
        body["apiVersion"] = kind.api_version
    return Object(kind, seen.meta, body)
