"""The views that lineage is judged from. Source: lineage 10."""

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.snapshot.registry import application_kind, kept_definition
from roadstead.kube.refs import HELM_RELEASE, NAMESPACE
from roadstead.kube.views import Form, Index, View

DEFINITIONS = View(
    "lineage-definitions",
    api.DEFINITION,
    Form.FULL,
    keep=kept_definition,
    indexes=(Index("kind", application_kind),),
)
RELEASES = View("lineage-releases", HELM_RELEASE, Form.METADATA)
NAMESPACES = View("lineage-namespaces", NAMESPACE, Form.METADATA)
