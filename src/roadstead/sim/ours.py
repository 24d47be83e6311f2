"""The requests of our own process, answered by a world: the Api that an engine is given.

No call suspends. Every request is logged, and a fault of the case may answer it instead. A list
of a kind that lags behind shows what was there before; a single GET, and every write, the truth.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from roadstead.decision import Event, Telling
from roadstead.errors import ClusterError, InputError
from roadstead.kube.objects import Object, Owner, canonical, without_bulk
from roadstead.kube.refs import EVENT, Kind, Ref
from roadstead.kube.selectors import LabelSelector
from roadstead.kube.times import format_time
from roadstead.kube.views import Form, View
from roadstead.sim.requests import By, Request, Told
from roadstead.sim.store import as_kind
from roadstead.sim.validity import refusal
from roadstead.sim.world import World

Answer = TypeVar("Answer")


class Ours:
    """`engine.api.Api` over one world."""

    def __init__(
        self, world: World, visible: Callable[[Kind], int] | None = None, by: By = By.US
    ) -> None:
        """Ask this world.

        visible: how many changes of the world's log a list of a kind knows of; None for all.
        by: whose requests these are; the faults of a case strike ours alone.
        """
        self._world = world
        self._visible = visible
        self._by = by
        self._known: set[Ref] = set()

    def forget(self) -> None:
        """Forget which events were told, as a process does that ends."""
        self._known.clear()

    async def get(self, ref: Ref) -> Object | None:
        """One object, whole; None when it is not there."""
        try:
            return self._ask("get", ref, lambda: self._world.read(ref))
        except ClusterError as error:
            if error.not_found and self._world.serves(ref.kind):
                return None
            raise

    async def owner(self, owner: Owner, namespace: str) -> Object | None:
        """The metadata of what an owner reference names; None when it is not there or not served.

        A cluster-scoped owner is one that stands without a namespace.
        """
        kind = self._world.kinds.of(owner.api_version, owner.kind, namespace)
        if kind.namespaced and not namespace:
            return None

        def read() -> Object | None:
            return self._world.read(kind.ref(namespace, owner.name))

        try:
            found = self._ask("get", kind.ref(namespace, owner.name), read)
        except ClusterError as error:
            if error.not_found:
                return None
            raise
        return None if found is None else metadata(found)

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of all objects a selector matches, sorted by name."""

        def listed() -> tuple[Object, ...]:
            self._world.check_served(kind)
            try:
                selector = LabelSelector.parse(labels)
            except InputError as error:
                raise refusal(400, "BadRequest", kind.ref(namespace, ""), str(error)) from error
            found = self._there(kind, namespace)
            return tuple(metadata(seen) for seen in found if selector.matches(seen.labels))

        return self._ask("list", kind.ref(namespace, ""), listed)

    async def list_view(self, view: View, namespace: str) -> tuple[Object, ...]:
        """All objects of a view's selection in a namespace, in its form, sorted by name."""

        def listed() -> tuple[Object, ...]:
            self._world.check_served(view.kind)
            found = self._there(view.kind, namespace)
            return tuple(viewed(view, seen) for seen in found if view.selects(seen))

        return self._ask("list", view.kind.ref(namespace, ""), listed)

    def _there(self, kind: Kind, namespace: str) -> Iterable[Object]:
        """The objects of a kind that a list knows of."""
        store = self._world.store
        position = len(store.log) if self._visible is None else self._visible(kind)
        if position == len(store.log):
            return store.all(kind, namespace)
        found = store.at(position, kind)
        return (seen for seen in found if namespace in {"", seen.meta.namespace})

    async def create(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """POST; gives the metadata of what was made."""
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta.get("name", ""))
        return metadata(self._ask("create", ref, lambda: self._world.create(kind, body, self._by)))

    async def replace(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """PUT, with the resourceVersion in the body; gives the metadata of what is now there."""
        return _meta(
            self._ask(
                "update",
                _named(kind, body),
                lambda: self._world.replace(kind, body, self._by),
                _preconditions(body["metadata"]),
            )
        )

    async def apply(self, kind: Kind, body: Mapping[str, Any], manager: str) -> Object:
        """Server-side apply, forced; gives the metadata of what is now there."""
        return _meta(
            self._ask(
                "apply",
                _named(kind, body),
                lambda: self._world.apply(kind, body, manager, self._by),
                _preconditions(body["metadata"]),
            )
        )

    async def replace_status(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """PUT to `/status`, with the resourceVersion in the body."""
        return _meta(
            self._ask(
                "update-status",
                _named(kind, body),
                lambda: self._world.replace(kind, body, self._by, status=True),
                _preconditions(body["metadata"]),
            )
        )

    async def patch(self, ref: Ref, merge: Mapping[str, Any]) -> Object:
        """Merge patch; a resourceVersion in its metadata is a precondition."""
        return _meta(
            self._ask(
                "patch",
                ref,
                lambda: self._world.merge(ref, merge, self._by),
                _preconditions(merge.get("metadata") or {}),
            )
        )

    async def delete(self, ref: Ref, uid: str, resource_version: str) -> None:
        """DELETE with preconditions, background propagation; an absent object is success."""
        stated = {"uid": uid, "resourceVersion": resource_version}

        def gone() -> None:
            self._world.delete(ref, self._by, uid=uid, resource_version=resource_version)

        try:
            self._ask("delete", ref, gone, _preconditions(stated))
        except ClusterError as error:
            if not error.not_found or not self._world.serves(ref.kind):
                raise

    async def publish(self, component: str, event: Event, times: int) -> None:
        """Tell of an event; a repeat counts up the Event that the first telling made."""
        about = event.about
        text = canonical([event.uid, event.reason, event.message])
        name = f"{about.name[:200]}.{hashlib.sha256(text).hexdigest()[:16]}"
        ref = EVENT.ref(about.namespace or "default", name)
        if event.telling is Telling.ONCE and ref not in self._known:
            self._known.add(ref)
            if self._world.store.get(ref) is not None:
                return  # a process before this one has told it
        verb = "patch" if times else "create"
        self._ask(verb, ref, lambda: self._tell(ref, component, event, times))
        told = Told(about, event.type, event.reason, event.message, times)
        self._world.told.append(told)

    def _tell(self, ref: Ref, component: str, event: Event, times: int) -> Object:
        now = format_time(self._world.now)
        made = self._world.store.get(ref)
        if made is not None:
            count = made.body.get("count", 1) + 1
            return self._world.merge(ref, {"count": count, "lastTimestamp": now}, By.US)
        about = event.about
        body = {
            "metadata": {"name": ref.name, "namespace": ref.namespace},
            "involvedObject": {
                "apiVersion": about.kind.api_version,
                "kind": about.kind.kind,
                "name": about.name,
                "uid": event.uid,
                **({"namespace": about.namespace} if about.namespace else {}),
            },
            "type": event.type,
            "reason": event.reason,
            "message": event.message,
            "source": {"component": component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": times + 1,
        }
        return self._world.create(EVENT, body, By.US)

    def _ask(
        self,
        verb: str,
        ref: Ref,
        act: Callable[[], Answer],
        preconditions: tuple[str, ...] = (),
    ) -> Answer:
        """Send one request past the faults, and log it."""
        strike, ours = self._world.faults.strike, self._by is By.US
        fault = strike(verb, ref.kind.kind, ref.namespace, ref.name) if ours else None
        about = str(ref) if ref.name else ref.kind.resource
        if fault is not None and not fault.lost:
            self._log(verb, ref, preconditions, accepted=False)
            raise fault.error(verb, about)
        try:
            answer = act()
        except ClusterError:
            self._log(verb, ref, preconditions, accepted=False)
            raise
        named = answer.ref if isinstance(answer, Object) else ref
        self._log(verb, named, preconditions, accepted=True)
        if fault is not None:
            raise fault.error(verb, about)
        return answer

    def _log(self, verb: str, ref: Ref, preconditions: tuple[str, ...], *, accepted: bool) -> None:
        log = self._world.requests
        log.add(
            Request(
                verb,
                ref.kind,
                ref.namespace,
                ref.name,
                accepted,
                preconditions,
                self._by,
                log.turn,
            )
        )


def metadata(seen: Object) -> Object:
    """An object as a metadata request gives it: no body, and no annotations on receipt."""
    return Object(seen.kind, without_bulk(seen.meta))


def viewed(view: View, seen: Object) -> Object:
    """An object in the form a view receives it; the body is the reader's own copy."""
    whole = as_kind(seen, view.kind)
    return metadata(whole) if view.form is Form.METADATA else whole


def _meta(seen: Object) -> Object:
    return Object(seen.kind, seen.meta)


def _named(kind: Kind, body: Mapping[str, Any]) -> Ref:
    meta = body["metadata"]
    return kind.ref(meta.get("namespace", ""), meta["name"])


def _preconditions(stated: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in ("uid", "resourceVersion") if stated.get(name))
