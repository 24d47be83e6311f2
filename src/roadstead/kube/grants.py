"""Whether ReferenceGrants let an object refer to another one in a namespace that is not its own.

Source: Gateway API, ReferenceGrant.
"""

from collections.abc import Iterable

from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.kube.shapes import items, part, text


def allowed(grants: Iterable[Object], source: Ref, target: Ref) -> bool:
    """Tell whether one of the grants lets the source refer to the target.

    grants: of whatever namespaces; those of the target's alone count. An entry without a name
        grants every object of its kind.
    """
    return any(
        _names_source(grant, source) and _names_target(grant, target)
        for grant in grants
        if grant.meta.namespace == target.namespace
    )


def _names_source(grant: Object, source: Ref) -> bool:
    wanted = (source.kind.group, source.kind.kind, source.namespace)
    return any(
        (text(one, "group"), text(one, "kind"), text(one, "namespace")) == wanted
        for one in items(part(grant.body, "spec"), "from")
    )


def _names_target(grant: Object, target: Ref) -> bool:
    wanted = (target.kind.group, target.kind.kind)
    return any(
        (text(one, "group"), text(one, "kind")) == wanted and text(one, "name") in {"", target.name}
        for one in items(part(grant.body, "spec"), "to")
    )
