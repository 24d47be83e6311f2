"""Object counts a ResourceQuota allows."""

from collections.abc import Mapping
from typing import Any

from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Kind, Ref
from roadstead.sim import services
from roadstead.sim.store import Store
from roadstead.sim.validity import refusal

QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas")
_BARE = frozenset(
    {"configmaps", "persistentvolumeclaims", "resourcequotas", "secrets", "services", "pods"}
)


def charges(kind: Kind, body: Mapping[str, Any]) -> dict[str, int]:
    """What one object counts, by the names that quotas have for it."""
    counted = {f"count/{kind.resource}": 1}
    if not kind.group and kind.plural in _BARE:
        counted[kind.plural] = 1
    if kind == SERVICE:
        counted |= services.charges(body.get("spec") or {})
    return counted


def check_quota(store: Store, ref: Ref, body: Mapping[str, Any], old: Object | None = None) -> None:
    """Refuse a write that a quota of its namespace has no room for.

    old: what is there now; only what the write adds to it is asked for.
    Raises: ClusterError (403), in the words of the API server.
    """
    quotas = store.all(QUOTA, ref.namespace) if ref.namespace else ()
    if not quotas:
        return
    before = charges(ref.kind, old.body) if old else {}
    added = {
        name: count - before.get(name, 0)
        for name, count in charges(ref.kind, body).items()
        if count > before.get(name, 0)
    }
    there = [charges(ref.kind, seen.body) for seen in store.all(ref.kind, ref.namespace)]
    used = {name: sum(one[name] for one in there) for name in added}
    for quota in quotas:
        hard = (quota.body.get("spec") or {}).get("hard") or {}
        limits = {name: str(hard[name]) for name in sorted(added.keys() & hard.keys())}
        over = [
            name
            for name, limit in limits.items()
            if limit.isdecimal() and used[name] + added[name] > int(limit)
        ]
        if over:
            requested, taken, limited = (
                ",".join(f"{name}={counts[name]}" for name in over)
                for counts in (added, used, limits)
            )
            details = (
                f"exceeded quota: {quota.meta.name}, requested: {requested}, used: {taken},"
                f" limited: {limited}"
            )
            sentence = f'{ref.kind.resource} "{ref.name}" is forbidden: {details}'
            raise refusal(403, "Forbidden", ref, sentence, details=details)
