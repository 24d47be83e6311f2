"""What one view stores, and the changes that listing and watching bring to it.

A deletion that no event told of is made up from the next list, with the last known object. An
object that is not stored still gives a change, so that mappers hear of it.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from roadstead.errors import Unread
from roadstead.kube.objects import Object
from roadstead.kube.views import View

Name = tuple[str, str]


class State(StrEnum):
    """Whether a view can answer."""

    SYNCING = "syncing"
    LIVE = "live"
    STALE = "stale"
    """It answers with what it last knew; a list or a watch is being tried again."""
    ABSENT = "absent"
    FORBIDDEN = "forbidden"


class Change(NamedTuple):
    """One object before and after. gone: it was deleted, or left the selection."""

    old: Object | None
    new: Object | None
    gone: bool = False


class Store:
    """The stored objects of one view, by name and by index."""

    def __init__(self, view: View) -> None:
        """Start empty and unsynced."""
        self.view = view
        self.state = State.SYNCING
        self.complete = False
        self.failed = False
        """A list or a watch has failed since the start."""
        self.resource_version = ""
        self._objects: dict[Name, Object] = {}
        self._indexes: dict[str, dict[str, set[Name]]] = {i.name: {} for i in view.indexes}
        self._listed: set[Name] | None = None
        self._sent: set[Name] = set()
        """Stored as we sent it; what admission and defaults made of it the watch will tell."""
        self._spared: set[Name] = set()
        """Of those, what a list that was older did not bring; the next one decides."""

    def __len__(self) -> int:
        """How many objects are stored."""
        return len(self._objects)

    def begin_list(self) -> None:
        """Forget what an unfinished list brought; the answer so far stays."""
        self._listed = set()

    def add_page(self, objects: Iterable[Object]) -> Iterator[Change]:
        """Take one page of a list; changes come as they are read."""
        for seen in objects:
            name = (seen.meta.namespace, seen.meta.name)
            kept = self.view.keep(seen)
            old = self._objects.get(name)
            if kept is None:
                if old is not None:
                    self._remove(name, old)
                    yield Change(old, seen)
                continue
            if self._listed is not None:
                self._listed.add(name)
            if old is not None and (
                old.meta.resource_version == kept.meta.resource_version
                or (name in self._sent and _newer(old, kept))
            ):
                self._complete(name, old, kept)
                continue
            # One that is older than what we know, and not for a write of ours: the server was
            # put back to an earlier state.
            self._put(name, old, kept)
            yield Change(old, kept)

    def end_list(self, resource_version: str) -> Iterator[Change]:
        """Finish a list: what it did not bring is gone."""
        listed = self._listed if self._listed is not None else set()
        self._listed = None
        for name, old in [at for at in self._objects.items() if at[0] not in listed]:
            ours = name in self._sent and name not in self._spared
            if ours and _after(old, resource_version):
                self._spared.add(name)  # the list was read before our write
            elif self._objects.get(name) is old:  # our own write may have come in between
                self._remove(name, old)
                yield Change(old, None, gone=True)
        self.resource_version = resource_version
        self.complete = True
        self.state = State.LIVE

    def apply(self, kind_of_event: str, seen: Object) -> Change | None:
        """Take one watch event; None when it brings nothing new.

        kind_of_event: ADDED, MODIFIED or DELETED.
        """
        name = (seen.meta.namespace, seen.meta.name)
        old = self._objects.get(name)
        self.resource_version = seen.meta.resource_version or self.resource_version
        if kind_of_event == "DELETED":
            # A DELETED that is older than our own write tells of the object before it.
            if old is not None and old.meta.uid != seen.meta.uid and _newer(old, seen):
                return None
            if old is not None:
                self._remove(name, old)
            return Change(old or seen, seen, gone=True)
        kept = self.view.keep(seen)
        if kept is None:
            if old is not None:
                self._remove(name, old)
            return Change(old, seen)
        if old is not None and not _newer(kept, old):
            self._complete(name, old, kept)
            return None
        self._put(name, old, kept)
        return Change(old, kept)

    def remember_own(self, seen: Object) -> Change | None:
        """Take in what our own write made, before the watch tells of it; None if it is not new.

        The watch's word of it will be no news then, so the change has to be acted on here. Where
        the watch is past that version it has told of it, and of a deletion since.
        """
        if not self.complete or not _after(seen, self.resource_version):
            return None
        name = (seen.meta.namespace, seen.meta.name)
        kept = self.view.keep(seen)
        old = self._objects.get(name)
        if kept is None or (old is not None and not _newer(kept, old)):
            return None
        self._put(name, old, kept)
        self._sent.add(name)
        if self._listed is not None:
            self._listed.add(name)
        return Change(old, kept)

    def lose(self, state: State) -> None:
        """Note that a list or watch failed; a kind that is not served or forbidden is unknown."""
        self.failed = True
        if state in {State.ABSENT, State.FORBIDDEN}:
            self._objects.clear()
            self._sent.clear()
            self._spared.clear()
            for index in self._indexes.values():
                index.clear()
            self._listed = None
            self.complete = False
            self.resource_version = ""
        elif state is State.STALE and not self.complete:
            # A kind that was not served stays so in what we know until a list says otherwise.
            known = self.state in {State.ABSENT, State.FORBIDDEN}
            state = self.state if known else State.SYNCING
        self.state = state

    def resume(self) -> None:
        """Note that a watch goes on without a gap."""
        if self.complete:
            self.state = State.LIVE

    def holds(self, namespace: str, name: str) -> bool:
        """Tell whether an object is stored, without asking whether the view can answer."""
        return (namespace, name) in self._objects

    def get(self, namespace: str, name: str) -> Object | None:
        """One stored object.

        Raises: Unread.
        """
        self._answerable()
        return self._objects.get((namespace, name))

    def list(self, index: str = "", value: str = "") -> tuple[Object, ...]:
        """Stored objects, all or by an index, sorted by namespace and name.

        Raises: Unread.
        """
        self._answerable()
        names = self._indexes[index].get(value, set()) if index else self._objects.keys()
        return tuple(self._objects[name] for name in sorted(names))

    def _answerable(self) -> None:
        if not self.complete:
            raise Unread(
                f"{self.view.kind.resource} cannot be read: {self.state}",
                reason=self.state.value,
                about=self.view.kind.resource,
                hint="see /readyz and docs/reference/views.md",
            )

    def _complete(self, name: Name, sent: Object, whole: Object) -> None:
        """Take the server's form of what we wrote: a PUT that starts from ours would undo it."""
        same = sent.meta.resource_version == whole.meta.resource_version
        if same and name in self._sent:
            self._put(name, sent, whole)

    def _confirmed(self, name: Name) -> None:
        self._sent.discard(name)
        self._spared.discard(name)

    def _put(self, name: Name, old: Object | None, new: Object) -> None:
        self._confirmed(name)
        self._objects[name] = new
        for index in self.view.indexes:
            held = self._indexes[index.name]
            before = index.values(old) if old is not None else ()
            after = index.values(new)
            if before == after:
                continue
            _take_out(held, before, name)
            for value in after:
                held.setdefault(value, set()).add(name)

    def _remove(self, name: Name, old: Object) -> None:
        self._confirmed(name)
        del self._objects[name]
        for index in self.view.indexes:
            _take_out(self._indexes[index.name], index.values(old), name)


def _take_out(held: dict[str, set[Name]], values: Iterable[str], name: Name) -> None:
    for value in values:
        names = held.get(value, set())
        names.discard(name)
        if not names:
            held.pop(value, None)


def _newer(new: Object, old: Object) -> bool:
    """Tell whether an object is later than another of its name."""
    return _after(new, old.meta.resource_version)


def _after(seen: Object, version: str) -> bool:
    """Tell whether an object is of a later version.

    Versions of one server compare as numbers (KEP-5504); anything else is only equal or not.
    """
    a, b = seen.meta.resource_version, version
    if a.isdecimal() and b.isdecimal():
        return int(a) > int(b)
    return a != b
