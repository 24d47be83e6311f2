"""Kubernetes' API in memory: the ways to write, who may write what, and who depends on whom.

Every write answers as the API server does, or raises the ClusterError it would answer with. No
message holds a value of an object. What a world does is the same for the same history.
"""

import copy
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SECRET, SERVICE, Kind, Ref
from roadstead.kube.times import format_time
from roadstead.sim import collect, validity
from roadstead.sim.admission import check_schema, decoded, unknown_fields
from roadstead.sim.applying import Applications
from roadstead.sim.faults import Faults
from roadstead.sim.kinds import Kinds, has_generation, is_custom
from roadstead.sim.merge import merged
from roadstead.sim.neighbour_defaults import filled
from roadstead.sim.quota import check_quota
from roadstead.sim.requests import By, RequestLog, Told
from roadstead.sim.services import Services
from roadstead.sim.store import Store
from roadstead.sim.validity import conflict, not_found, refusal, with_string_data

EVERY_CLUSTER_HAS = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


@dataclass(frozen=True, slots=True)
class Serving:
    """Whether a kind is served, and at which versions (None: at any)."""

    now: bool = True
    versions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What admission made of a write: the body it lets through, and what it says."""

    body: dict[str, Any]
    warnings: tuple[str, ...] = ()


Admission = Callable[[Kind, dict[str, Any], Object | None], Reviewed]
"""Reviews a body that is to be written over an object; raises ClusterError to refuse it."""


class World:
    """One cluster in memory.

    now: its clock; whoever drives it moves it.
    faults: what goes wrong for us. requests: who asked what. store: what there is.
    minted: names our process left to `generateName`, in order. told: events it published.
    warnings: what admission said of the last write. admission: reviews every write, if any.
    """

    def __init__(
        self, now: datetime, kinds: Kinds | None = None, admission: Admission | None = None
    ) -> None:
        """Begin with an empty cluster in which every kind is served."""
        self.now = now
        self.kinds = kinds or Kinds()
        self.store = Store()
        self.faults = Faults()
        self.requests = RequestLog()
        self.minted: list[Ref] = []
        self.told: list[Told] = []
        self.warnings: tuple[str, ...] = ()
        self.uncollected: set[str] = set()
        self.admission = admission
        self._serving: dict[tuple[str, str], Serving] = {}
        self._services = Services()
        self._applications = Applications(self.store)

    def serve(self, kind: Kind, serving: Serving) -> None:
        """Begin or stop serving a kind; its objects stay stored."""
        self._serving[kind.group, kind.kind] = serving

    def serves(self, kind: Kind) -> bool:
        """Tell whether a kind is served at its version."""
        serving = self._serving.get((kind.group, kind.kind), Serving())
        return serving.now and (serving.versions is None or kind.version in serving.versions)

    def serves_any(self, kind: Kind) -> bool:
        """Tell whether a kind is served at some version."""
        serving = self._serving.get((kind.group, kind.kind), Serving())
        return serving.now and serving.versions != ()

    def check_served(self, kind: Kind, by: By = By.US) -> None:
        """Raise the 404 that a path nobody serves gets; another writer speaks any version."""
        if not (self.serves(kind) if by is By.US else self.serves_any(kind)):
            raise ClusterError(
                "the server could not find the requested resource",
                status=404,
                reason="NotFound",
                about=kind.resource,
            )

    def read(self, ref: Ref) -> Object | None:
        """One object; None when it is not there."""
        self.check_served(ref.kind)
        return self.store.get(ref)

    def seed(self, body: Mapping[str, Any], ref: Ref) -> Object:
        """Put an object of world.yaml there as it stands, past admission.

        What the server sets (uid, creationTimestamp, deletionTimestamp) is kept where stated.
        Raises: ClusterError when the API server would refuse it.
        """
        stated = copy.deepcopy(dict(body["metadata"]))
        if ref.namespace:
            self._name_namespace(ref.namespace)
        if (old := self.store.get(ref)) is not None and ref.kind != NAMESPACE:
            raise refusal(409, "AlreadyExists", old.ref, f"{ref} already exists")
        full = decoded(ref.kind, with_string_data(ref.kind, copy.deepcopy(dict(body))))
        validity.check_name(ref)
        validity.check_body(ref, full)
        check_schema(ref, full, None)
        uid = stated.get("uid") or (old.meta.uid if old else None)
        full["metadata"] = {**stated, **self._born(ref, uid)}
        if made := stated.get("creationTimestamp"):
            full["metadata"]["creationTimestamp"] = made
        return self.store.put(ref.kind, self._whole(ref, full, None, seeded=True), By.OTHER)

    def _name_namespace(self, name: str) -> None:
        ref = NAMESPACE.ref("", name)
        if self.store.get(ref) is None:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            body["metadata"] |= self._born(ref, None)  # type: ignore[operator]  # a map in a map
            self.store.put(NAMESPACE, _defaulted(ref, body), By.OTHER)

    def _born(self, ref: Ref, uid: str | None) -> dict[str, Any]:
        meta: dict[str, Any] = {"name": ref.name}
        if ref.namespace:
            meta["namespace"] = ref.namespace
        meta["uid"] = uid or self.store.next_uid(ref)
        meta["creationTimestamp"] = format_time(self.now)
        if has_generation(ref.kind):
            meta["generation"] = 1
        return meta

    def create(self, kind: Kind, body: Mapping[str, Any], by: By) -> Object:
        """POST. A namespace exists for another writer as soon as it is named."""
        self.check_served(kind, by)
        full = with_string_data(kind, copy.deepcopy(dict(body)))
        meta = full.setdefault("metadata", {})
        prefix = meta.get("generateName")
        if prefix and not meta.get("name"):
            meta["name"] = f"{prefix}{self._suffix(prefix)}"
        ref = kind.ref(meta.get("namespace", ""), meta.get("name", ""))
        validity.check_decodes(ref, full)
        if meta.get("resourceVersion"):
            sentence = "resourceVersion should not be set on objects to be created"
            raise refusal(400, "BadRequest", ref, sentence)
        self._check_namespace(ref, by)
        full = self._admitted(kind, full, None)
        full.pop("status", None)
        validity.check_name(ref)
        validity.check_body(ref, full)
        check_schema(ref, full, None)
        full = self._whole(ref, full, None)
        check_quota(self.store, ref, full)
        if (there := self.store.get(ref)) is not None:
            raise validity.already_exists(there, generated=bool(prefix))
        for set_by_server in ("deletionTimestamp", "deletionGracePeriodSeconds"):
            full["metadata"].pop(set_by_server, None)
        full["metadata"] |= self._born(ref, None)
        if prefix and by is By.US:
            self.minted.append(ref)
        return self.store.put(kind, full, by)

    def _suffix(self, prefix: str) -> str:
        text = f"{prefix} {self.store.version} {len(self.minted)}"
        digest = hashlib.sha256(text.encode()).digest()
        return "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in digest[:5])

    def _check_namespace(self, ref: Ref, by: By) -> None:
        if not ref.namespace or ref.namespace in EVERY_CLUSTER_HAS:
            return
        namespace = self.store.get(NAMESPACE.ref("", ref.namespace))
        if namespace is None and by is By.OTHER:
            self._name_namespace(ref.namespace)
        elif namespace is None:
            raise not_found(NAMESPACE.ref("", ref.namespace))
        elif collect.terminating(namespace):
            raise validity.ending(ref)

    def _admitted(self, kind: Kind, body: dict[str, Any], old: Object | None) -> dict[str, Any]:
        self.warnings = unknown_fields(kind, body)
        body = decoded(kind, body)
        if self.admission is None:
            return body
        reviewed = self.admission(kind, body, old)
        self.warnings += reviewed.warnings
        return reviewed.body

    def replace(
        self, kind: Kind, body: Mapping[str, Any], by: By, *, status: bool = False
    ) -> Object:
        """PUT, on the object or on its status; preconditions are in the body's metadata."""
        self.check_served(kind, by)
        full = with_string_data(kind, copy.deepcopy(dict(body)))
        meta = full["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        validity.check_decodes(ref, full)
        old = self.store.get(ref)
        if old is None:
            raise not_found(ref)
        if meta.get("uid") and meta["uid"] != old.meta.uid:
            raise conflict(ref, "Precondition failed: UID in precondition is another")
        if meta.get("resourceVersion") and meta["resourceVersion"] != old.meta.resource_version:
            raise conflict(ref)
        if not meta.get("resourceVersion") and is_custom(kind):
            problem = "Invalid value: must be specified for an update"
            raise validity.invalid(ref, "metadata.resourceVersion", problem)
        if status:
            return self._settle(old, old.body | {"status": full.get("status")}, by)
        full.pop("status", None)
        if "status" in old.body:
            full["status"] = old.body["status"]
        return self._settle(old, _kept(self._admitted(kind, full, old), old), by)

    def merge(self, ref: Ref, patch: Mapping[str, Any], by: By) -> Object:
        """Merge patch; a `status` in it goes through the subresource, after the rest."""
        self.check_served(ref.kind, by)
        old = self.store.get(ref)
        if old is None:
            raise not_found(ref)
        rest = {key: value for key, value in patch.items() if key != "status"}
        if rest:
            body = merged(old.body, rest)
            body = with_string_data(ref.kind, body)
            validity.check_patch(ref, body)
            stated = rest.get("metadata") or {}
            if stated.get("resourceVersion", old.meta.resource_version) != (
                old.meta.resource_version
            ):
                raise conflict(ref)
            old = self._settle(old, _kept(self._admitted(ref.kind, body, old), old), by)
        if "status" in patch and self.store.get(ref) is not None:
            status = merged({"status": old.body.get("status")}, {"status": patch["status"]})
            old = self._settle(old, old.body | {"status": status.get("status")}, by)
        return old

    def apply(self, kind: Kind, body: Mapping[str, Any], manager: str, by: By) -> Object:
        """Server-side apply, forced; what is not there is made, unless the body states a uid."""
        self.check_served(kind, by)
        meta = body["metadata"]
        ref = kind.ref(meta.get("namespace", ""), meta["name"])
        old = self.store.get(ref)
        made = self._applications.made(ref, body, old, manager)
        if old is None:
            new = self.create(kind, made, by)
        else:
            new = self._settle(old, _kept(self._admitted(kind, made, old), old), by)
        self._applications.note(new, body, manager)
        return new

    def _whole(
        self, ref: Ref, body: dict[str, Any], old: Object | None, *, seeded: bool = False
    ) -> dict[str, Any]:
        """A body as the server completes and stores it."""
        if ref.kind == SERVICE:
            body = self._services.completed(ref, body, old, seeded=seeded)
        return _defaulted(ref, body)

    def _settle(self, old: Object, body: dict[str, Any], by: By) -> Object:
        """Store a changed body, or nothing where nothing changed."""
        ref = old.ref
        if not body.get("status"):
            body.pop("status", None)
        body = self._whole(ref, decoded(ref.kind, body), old)
        validity.check_body(ref, body)
        check_schema(ref, body, old)
        validity.check_change(old, body)
        if _substance(body) == _substance(old.body) and body["metadata"] == old.body["metadata"]:
            return old
        check_quota(self.store, ref, body, old)
        if "generation" in body["metadata"] and _spec(body) != _spec(old.body):
            body["metadata"]["generation"] += 1
        new = self.store.put(ref.kind, body, by)
        if new.deleting and not new.meta.finalizers:
            self._remove(new, by, cascade=True)
        return new

    def delete(
        self,
        ref: Ref,
        by: By,
        *,
        uid: str = "",
        resource_version: str = "",
        cascade: bool = True,
    ) -> None:
        """DELETE with the preconditions that are not empty.

        cascade: whether what depends on it is collected at once; False leaves it uncollected
            for good, as if the garbage collector had not come round yet.
        """
        self.check_served(ref.kind, by)
        old = self.store.get(ref)
        if old is None:
            raise not_found(ref)
        if uid and uid != old.meta.uid:
            raise conflict(ref, "Precondition failed: UID in precondition is another")
        if resource_version and resource_version != old.meta.resource_version:
            raise conflict(ref, "Precondition failed: ResourceVersion in precondition is another")
        if not cascade:
            self.uncollected.add(old.meta.uid)
        held = bool(old.meta.finalizers) or (
            ref.kind == NAMESPACE and any(self.store.all(namespace=ref.name))
        )
        if not held:
            self._remove(old, by, cascade=cascade)
        elif not old.deleting:
            body = copy.deepcopy(old.body)
            body["metadata"]["deletionTimestamp"] = format_time(self.now)
            body["metadata"]["deletionGracePeriodSeconds"] = 0
            if "generation" in body["metadata"]:
                body["metadata"]["generation"] += 1
            if ref.kind == NAMESPACE:
                body["status"] = {"phase": "Terminating"}
            self.store.put(ref.kind, body, by)
            if ref.kind == NAMESPACE and cascade:
                collect.empty_namespace(self, ref.name)

    def _remove(self, old: Object, by: By, *, cascade: bool) -> None:
        self.store.remove(old.ref, by)
        if cascade:
            collect.dependents(self, {old.meta.uid})

    def collect(self) -> bool:
        """Let the garbage collector and the namespace controller go round once.

        Gives: whether they changed anything.
        """
        before = self.store.version
        collect.sweep(self)
        return self.store.version != before

    def drop_collected(self, gone: Iterable[Object]) -> None:
        """Delete as a controller of the cluster does, each only if it is still the same."""
        for seen in gone:
            now = self.store.get(seen.ref)
            same = now is not None and now.meta.uid == seen.meta.uid
            if same and self.serves_any(seen.kind):
                self.delete(seen.ref, By.OTHER, uid=seen.meta.uid)


def _kept(body: dict[str, Any], old: Object) -> dict[str, Any]:
    """A body with the metadata that only the server sets taken from the stored object."""
    meta = dict(body["metadata"])
    for name in (
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ):
        meta.pop(name, None)
        if name in old.body["metadata"]:
            meta[name] = old.body["metadata"][name]
    for part in ("labels", "annotations", "ownerReferences", "finalizers"):
        if not meta.get(part):
            meta.pop(part, None)
    kept = {key: value for key, value in body.items() if key not in {"apiVersion", "kind"}}
    first = {"apiVersion": old.body["apiVersion"], "kind": old.body["kind"]}
    return {**first, **kept, "metadata": meta}


def _defaulted(ref: Ref, body: dict[str, Any]) -> dict[str, Any]:
    named = {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind}
    body = {**named, **body, **named}  # whatever version a writer spoke, one is stored
    meta = {key: value for key, value in body["metadata"].items() if key != "managedFields"}
    if ref.kind == NAMESPACE:
        labels = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": ref.name}
        meta["labels"] = labels
        body.setdefault("status", {"phase": "Active"})
    if ref.kind == SECRET:
        body["type"] = body.get("type") or "Opaque"
    return filled(ref.kind, {**body, "metadata": meta})


def _substance(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "metadata" and value is not None}


def _spec(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in _substance(body).items() if key != "status"}
