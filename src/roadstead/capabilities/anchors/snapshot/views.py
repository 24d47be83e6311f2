"""The views a trust anchor is judged from, and what they store. Source: trust-anchors 9."""

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.api import SECRETS, release_opted_into
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE
from roadstead.kube.shapes import part
from roadstead.kube.views import Form, Index, View

__all__ = ["DEFINITIONS", "RELEASES", "SECRETS", "release_opted_into"]


def kept_definition(seen: Object) -> Object | None:
    """Keep of a definition what a decision may rest on; of a malformed one, nothing."""
    spec = part(seen.body, "spec")
    kept = {
        "spec": {
            "application": {"kind": part(spec, "application").get("kind")},
            "secrets": spec.get("secrets"),
            "caCert": spec.get("caCert"),
        }
    }
    return Object(seen.kind, seen.meta, kept)


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
DEFINITIONS = View(
    "applicationdefinitions",
    api.DEFINITION,
    Form.FULL,
    keep=kept_definition,
    indexes=(Index("kind", application_kind),),
)
