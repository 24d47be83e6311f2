"""Whether the server's own controllers still have something to do about the objects of a case."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from live_admin import Admin
from roadstead.kube.refs import NAMESPACE, SECRET, Kind
from roadstead.sim.kinds import Kinds
from roadstead.sim.quota import QUOTA, charges


def unsettled(admin: Admin, kinds: Kinds, known: Iterable[Kind], unserved: Collection[Kind]) -> str:
    """Say what garbage collection, namespace deletion or quotas have still to do; else nothing.

    known: the kinds a case has. unserved: those nobody can look up.
    """
    looked = sorted({*known, SECRET, NAMESPACE} - set(unserved))
    found = {kind: admin.metadata(kind) for kind in looked}
    uids = {meta["uid"] for listed in found.values() for meta in listed}
    for kind, listed in found.items():
        for meta in listed:
            if _collectable(meta, uids, found, kinds):
                return f"{kind.kind} {meta['name']} is to be collected"
    return _namespaces(found) or (_quotas(admin, looked) if QUOTA in found else "")


def _collectable(
    meta: Mapping[str, Any],
    uids: Collection[str],
    found: Mapping[Kind, object],
    kinds: Kinds,
) -> bool:
    """Tell whether an owner is gone, of a kind that can be looked up."""
    if meta.get("deletionTimestamp"):
        return False
    owners = meta.get("ownerReferences") or ()
    return any(
        kinds.find(owner["apiVersion"], owner["kind"]) in found and owner["uid"] not in uids
        for owner in owners
    )


def _namespaces(found: Mapping[Kind, list[dict[str, Any]]]) -> str:
    """A namespace on its way out holds nothing but what finalizers hold."""
    ending = {meta["name"] for meta in found[NAMESPACE] if meta.get("deletionTimestamp")}
    kept: Counter[str] = Counter()
    for listed in found.values():
        for meta in listed:
            if meta.get("namespace") in ending:
                kept[meta["namespace"]] += 1
                if not meta.get("deletionTimestamp"):
                    return f"{meta['name']} goes with its namespace"
    gone = sorted(ending - set(kept))
    return f"namespace {gone[0]} is ending" if gone else ""


def _quotas(admin: Admin, known: Iterable[Kind]) -> str:
    """A quota counts what is there. known: the kinds that are looked at."""
    for quota in admin.objects(QUOTA):
        meta, hard = quota["metadata"], quota["spec"].get("hard") or {}
        status = quota.get("status") or {}
        if status.get("hard") != hard:
            return f"quota {meta['name']} is not counted yet"
        there: Counter[str] = Counter()
        for kind in (one for one in known if one.namespaced):
            for body in admin.objects(kind, meta["namespace"]):
                there.update(charges(kind, body))
        counted = {name for kind in known for name in charges(kind, {})}
        for name in counted & set(hard):
            if int((status.get("used") or {}).get(name, -1)) != there[name]:
                return f"quota {meta['name']} miscounts {name}"
    return ""
