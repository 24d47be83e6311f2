"""Object counts a ResourceQuota allows."""

from roadstead.kube.refs import Kind, Ref
from roadstead.sim.store import Store
from roadstead.sim.validity import refusal

QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas")
_BARE = frozenset(
    {"configmaps", "persistentvolumeclaims", "resourcequotas", "secrets", "services", "pods"}
)


def check_quota(store: Store, ref: Ref) -> None:
    """Refuse a creation that a quota of its namespace has no room for.

    Raises: ClusterError (403), in the words of the API server.
    """
    if not ref.namespace:
        return
    names = {f"count/{ref.kind.resource}"}
    if not ref.kind.group and ref.kind.plural in _BARE:
        names.add(ref.kind.plural)
    used = len(store.all(ref.kind, ref.namespace))
    for quota in store.all(QUOTA, ref.namespace):
        hard = (quota.body.get("spec") or {}).get("hard") or {}
        for name in sorted(names & set(hard)):
            limit = str(hard[name])
            if limit.isdecimal() and used + 1 > int(limit):
                raise refusal(
                    403,
                    "Forbidden",
                    ref,
                    f'{ref.kind.resource} "{ref.name}" is forbidden: exceeded quota:'
                    f" {quota.meta.name}, requested: {name}=1, used: {name}={used},"
                    f" limited: {name}={limit}",
                )
