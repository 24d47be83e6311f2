"""The two controllers of the cluster that delete: garbage collection and namespace termination.

An object whose owners are all gone goes. An owner of a kind that is not served, or that nobody
declared, may still be there, so its dependents stay.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from roadstead.kube.objects import Object, Owner
from roadstead.kube.refs import NAMESPACE
from roadstead.sim.requests import By

if TYPE_CHECKING:
    from roadstead.sim.world import World


def terminating(namespace: Object) -> bool:
    """Tell whether a namespace is on its way out."""
    status = namespace.body.get("status")
    phase = status.get("phase") if isinstance(status, Mapping) else None
    return namespace.deleting or phase == "Terminating"


def dependents(world: "World", owners: set[str]) -> None:
    """Collect what has lost its last owner with these uids."""
    world.drop_collected(
        seen
        for seen in world.store.all()
        if any(owner.uid in owners for owner in seen.owners) and orphaned(world, seen)
    )


def orphaned(world: "World", seen: Object) -> bool:
    """Tell whether an object had owners and all of them are gone."""
    return bool(seen.owners) and all(_gone(world, seen, owner) for owner in seen.owners)


def _gone(world: "World", seen: Object, owner: Owner) -> bool:
    kind = world.kinds.find(owner.api_version, owner.kind)
    if kind is None or not world.serves_any(kind) or owner.uid in world.uncollected:
        return False
    if kind.namespaced and not seen.meta.namespace:
        return False
    found = world.store.get(kind.ref(seen.meta.namespace, owner.name))
    return found is None or found.meta.uid != owner.uid


def sweep(world: "World") -> None:
    """Collect every orphan, forget owners that are gone beside one that is not, end namespaces."""
    world.drop_collected(seen for seen in world.store.all() if orphaned(world, seen))
    for seen in world.store.all():
        gone = {owner.uid for owner in seen.owners if _gone(world, seen, owner)}
        if gone and not seen.deleting and world.serves_any(seen.kind):
            _forget_owners(world, seen, gone)
    for namespace in world.store.all(NAMESPACE):
        if namespace.deleting and namespace.meta.uid not in world.uncollected:
            empty_namespace(world, namespace.meta.name)


def _forget_owners(world: "World", seen: Object, gone: set[str]) -> None:
    stated: list[dict[str, Any]] = seen.body["metadata"]["ownerReferences"]
    kept = [owner for owner in stated if owner["uid"] not in gone]
    world.merge(seen.ref, {"metadata": {"ownerReferences": kept}}, By.OTHER)


def empty_namespace(world: "World", name: str) -> None:
    """Delete what a terminating namespace holds, and the namespace once it is empty."""
    world.drop_collected(seen for seen in world.store.all(namespace=name) if not seen.deleting)
    namespace = world.store.get(NAMESPACE.ref("", name))
    empty = not any(world.store.all(namespace=name))
    if namespace is not None and empty and not namespace.meta.finalizers:
        world.store.remove(namespace.ref, By.OTHER)
        dependents(world, {namespace.meta.uid})
