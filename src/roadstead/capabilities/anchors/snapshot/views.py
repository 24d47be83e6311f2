"""The views a trust anchor is judged from, and what they store. Source: trust-anchors 9."""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.anchors import api
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SECRET
from roadstead.kube.views import Form, Index, View


def stored_secret(seen: Object) -> Object | None:
    """Keep labelled sources and what stands at an anchor's name; nothing else is stored."""
    if api.PUBLISH in seen.labels or seen.meta.name.endswith(api.SUFFIX):
        return seen
    return None


def release_opted_into(seen: Object) -> tuple[str, ...]:
    """The release a labelled source names, as `namespace/name`; projections are no source."""
    release = seen.labels.get(api.PUBLISH_RELEASE, "")
    if seen.labels.get(api.PUBLISH) != "true" or not release:
        return ()
    if seen.labels.get(api.COPY) == "true" or seen.deleting:
        return ()
    return (f"{seen.meta.namespace}/{release}",)


def kept_definition(seen: Object) -> Object | None:
    """Keep of a definition what a decision may rest on; of a malformed one, nothing."""
    spec = _map(seen.body.get("spec"))
    kept = {
        "spec": {
            "application": {"kind": _map(spec.get("application")).get("kind")},
            "secrets": spec.get("secrets"),
            "caCert": spec.get("caCert"),
        }
    }
    return Object(seen.kind, seen.meta, kept)


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def application_kind(definition: Object) -> tuple[str, ...]:
    """The application kind a definition registers."""
    kind = definition.body["spec"]["application"]["kind"]
    return (kind,) if isinstance(kind, str) and kind else ()


def kind_of_release(release: Object) -> tuple[str, ...]:
    """The application kind a release is of."""
    return (release.labels.get(api.KIND_LABEL, ""),)


RELEASES = View(
    "helmreleases",
    HELM_RELEASE,
    Form.METADATA,
    labels=api.KIND_LABEL,
    indexes=(Index("kind", kind_of_release),),
)
SECRETS = View(
    "secrets",
    SECRET,
    Form.METADATA,
    fields="type!=helm.sh/release.v1",
    keep=stored_secret,
    indexes=(Index("release", release_opted_into),),
)
DEFINITIONS = View(
    "applicationdefinitions",
    api.DEFINITION,
    Form.FULL,
    keep=kept_definition,
    indexes=(Index("kind", application_kind),),
)
