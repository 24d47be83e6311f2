"""What wakes the wildcard replicas, and the little that is stored of it.

Nothing of a Secret is stored but the two facts of the values channel.
Source: wildcard-secrets 9; docs/decisions/one-watch-of-secrets.md.
"""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.anchors.api import SECRETS
from roadstead.capabilities.gateways.api import ATTACH_LABEL, TENANT_GATEWAY
from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.snapshot.channel import read_channel
from roadstead.decision import Cached
from roadstead.kube.objects import Meta, Object
from roadstead.kube.refs import NAMESPACE, SECRET
from roadstead.kube.views import Form, Index, View

__all__ = ["CHANNEL", "GATEWAYS", "NAMESPACES", "SECRETS", "source_named"]


def kept_channel(seen: Object) -> Object | None:
    """Keep of the values what they say of the certificate, and nothing else."""
    found = read_channel(seen)
    kept = {
        "word": found.word.value,
        "name": found.name,
        "publishing": found.publishing,
        "said": found.said,
    }
    return Object(seen.kind, _lean(seen), kept)


def kept_gateway(seen: Object) -> Object | None:
    """Keep of a TenantGateway its mode."""
    spec = seen.body.get("spec")
    mode: Any = spec.get("certMode") if isinstance(spec, Mapping) else None
    return Object(seen.kind, _lean(seen), {"mode": mode if isinstance(mode, str) else ""})


def kept_namespace(seen: Object) -> Object | None:
    """Keep of a Namespace the labels that say who ends TLS for it."""
    labels = {
        key: value for key, value in seen.labels.items() if key in {api.INGRESS_LABEL, ATTACH_LABEL}
    }
    return Object(seen.kind, _lean(seen, labels))


def _lean(seen: Object, labels: dict[str, str] | None = None) -> Meta:
    meta = seen.meta
    return Meta(
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
        creation_timestamp=meta.creation_timestamp,
        deletion_timestamp=meta.deletion_timestamp,
        labels=labels,
    )


def _namespace(seen: Object) -> tuple[str, ...]:
    return (seen.meta.namespace,)


CHANNEL = View(
    "platform-values",
    SECRET,
    fields=f"metadata.namespace={api.VALUES.namespace},metadata.name={api.VALUES.name}",
    keep=kept_channel,
)
NAMESPACES = View("tenant-namespaces", NAMESPACE, Form.METADATA, keep=kept_namespace)
GATEWAYS = View(
    "tenantgateways",
    TENANT_GATEWAY,
    keep=kept_gateway,
    indexes=(Index("namespace", _namespace),),
)


def source_named(cached: Cached) -> str:
    """The name of the source as the channel had it last; empty where it names none."""
    seen = cached.get(CHANNEL, api.VALUES.namespace, api.VALUES.name)
    return str(seen.body["name"]) if seen is not None else ""
