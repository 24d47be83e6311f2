"""The views an attachment is judged from, what they store, and how they are looked up.

Source: endpoint-attachments 6.1.
"""

from roadstead.capabilities.attachments import api
from roadstead.kube.conditions import condition_of
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, HELM_RELEASE, SERVICE
from roadstead.kube.shapes import Json, items, part, text
from roadstead.kube.views import Form, Index, View


def condition(seen: Object, type_: str) -> Json:
    """One condition of an object's status; empty where it has none of the type."""
    return condition_of(part(seen.body, "status"), type_)


def owner_uid(seen: Object) -> tuple[str, ...]:
    """The uid of an object's controller where that is an attachment."""
    owner = seen.controller
    return (owner.uid,) if owner is not None and owner.is_a(api.ATTACHMENT) else ()


def truncated(group: str) -> str:
    """A group as the lineage webhook writes it into a label. Source: 3.1, lineage triple."""
    if len(group) < _LABEL_VALUE:
        return group
    cut = group[:_LABEL_VALUE]
    while cut and not cut[-1].isalnum():
        cut = cut[:-1]
    return cut


_LABEL_VALUE = 63


def _application(seen: Object) -> tuple[str, ...]:
    ref = part(seen.body, "spec", "applicationRef")
    group = text(ref, "group") or api.APPLICATION_GROUP
    place = seen.meta.namespace
    names = {group, truncated(group)}
    return tuple(sorted(f"{place}/{one}/{text(ref, 'kind')}/{text(ref, 'name')}" for one in names))


def triple_of_labels(seen: Object) -> tuple[str, ...]:
    """`namespace/group/kind/name` of the application an object belongs to."""
    return (f"{seen.meta.namespace}/" + "/".join(seen.labels.get(key, "") for key in api.TRIPLE),)


def _endpoint(seen: Object) -> tuple[str, ...]:
    return (f"{seen.meta.namespace}/{text(part(seen.body, 'spec', 'endpoint'), 'serviceName')}",)


def _claim(seen: Object) -> tuple[str, ...]:
    name = text(part(seen.body, "spec", "loadBalancer"), "claimName")
    name = name or text(part(seen.body, "status"), "claimName")
    return (f"{seen.meta.namespace}/{name}",) if name else ()


def _uid(seen: Object) -> tuple[str, ...]:
    return (seen.meta.uid,)


def has_method(seen: Object) -> bool:
    """Whether an attachment asks for a cozy-proxy datapath."""
    return bool(text(part(seen.body, "spec", "loadBalancer"), "method"))


def _method(seen: Object) -> tuple[str, ...]:
    return (seen.meta.namespace,) if has_method(seen) else ()


def _waiting(seen: Object) -> tuple[str, ...]:
    reason = text(condition(seen, "Provisioned"), "reason")
    return (reason,) if reason in {"ClaimPending", "ClaimInUse"} else ()


ATTACHMENTS = View(
    "endpointattachments",
    api.ATTACHMENT,
    indexes=(
        Index("application", _application),
        Index("endpoint", _endpoint),
        Index("claim", _claim),
        Index("uid", _uid),
        Index("method", _method),
        Index("waiting", _waiting),
    ),
)


def is_delegated(seen: Object) -> bool:
    """Whether cozy-proxy carries a Service. Source: 5.3."""
    balanced = text(part(seen.body, "spec"), "type") == "LoadBalancer"
    return balanced and seen.labels.get(api.PROXY_LABEL) == api.PROXY


def claim_annotation(seen: Object) -> str:
    """The claim a Service is pinned to."""
    return seen.annotations.get(api.CLAIM_ANNOTATION, "")


def _pinned(seen: Object) -> tuple[str, ...]:
    name = claim_annotation(seen)
    return (f"{seen.meta.namespace}/{name}",) if name else ()


def _delegated(seen: Object) -> tuple[str, ...]:
    return (seen.meta.namespace,) if is_delegated(seen) else ()


_KEPT_OF_SERVICE = ("type", "selector", "ports", "clusterIP", "externalName")


def kept_service(seen: Object) -> Object | None:
    """Keep a rendered Service whole, since a PUT starts from it; of others what is mirrored."""
    if owner_uid(seen):
        return seen
    spec = part(seen.body, "spec")
    kept = {key: spec[key] for key in _KEPT_OF_SERVICE if key in spec}
    return Object(seen.kind, seen.meta, {"spec": kept})


SERVICES = View(
    "services",
    SERVICE,
    keep=kept_service,
    indexes=(
        Index("owner", owner_uid),
        Index("claim", _pinned),
        Index("delegated", _delegated),
    ),
)


def kept_slice(seen: Object) -> Object | None:
    """Keep of a slice who its endpoints are and whether they are ready."""
    kept = [
        {
            "conditions": dict(part(one, "conditions")),
            "targetRef": dict(part(one, "targetRef")),
            "addresses": [str(address) for address in (one.get("addresses") or ())[:1]],
        }
        for one in items(seen.body, "endpoints")
    ]
    return Object(seen.kind, seen.meta, {"endpoints": kept})


def _of_service(seen: Object) -> tuple[str, ...]:
    name = seen.labels.get(api.SLICE_OF, "")
    return (f"{seen.meta.namespace}/{name}",) if name else ()


SLICES = View(
    "endpointslices", ENDPOINT_SLICE, keep=kept_slice, indexes=(Index("service", _of_service),)
)
RELEASES = View(
    "application-releases",
    HELM_RELEASE,
    Form.METADATA,
    labels=api.NAME_LABEL,
    indexes=(Index("application", triple_of_labels),),
)
CLAIMS = View("ipaddressclaims", api.CLAIM, indexes=(Index("owner", owner_uid),))


def claim_of_address(seen: Object) -> str:
    """`namespace/name` of the claim an address is bound to; empty when to none."""
    ref = part(seen.body, "spec", "claimRef")
    return f"{text(ref, 'namespace')}/{text(ref, 'name')}" if ref else ""


def _default(seen: Object) -> tuple[str, ...]:
    return ("true",) if seen.annotations.get(api.DEFAULT_ANNOTATION) == "true" else ()


ADDRESSES = View("ipaddresses", api.ADDRESS)
CLASSES = View("ipaddressclasses", api.CLASS, indexes=(Index("default", _default),))
