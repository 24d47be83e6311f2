"""The CustomResourceDefinitions that we ship.

EndpointAttachment and TenantGateway are ours. ApplicationDefinition is the platform's kind: what
we ship of it is for development clusters and tests, and is never installed over the platform's.

Each carries the revision of the set, so that an older one that is served can be told from what the
program needs: it would prune fields that are written. One without the annotation is of v0.1.0.
Source: trust-anchors 4.2, endpoint-attachments 1, tenant-gateway 1.
"""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.anchors import api
from roadstead.capabilities.attachments.api.fields import ENDPOINT_ATTACHMENT
from roadstead.capabilities.gateways.fields import TENANT_GATEWAY_DEFINITION
from roadstead.kube.schema import Column, Definition, Field, definition_of

CA_CERT = Field(
    "Where an application of this kind keeps its CA. It is authoritative: labelled Secrets are "
    "not looked at while it stands.",
    "object",
    fields={
        "sourceSecretName": Field(
            "The source Secret's name as a template of {{ .name }}, {{ .kind }}, "
            "{{ .namespace }} and {{ .release }}."
        ),
        "sourceKey": Field(f"The data key that is lifted; {api.KEY} when it is not stated."),
    },
    required=("sourceSecretName",),
)

_TOP = Field(
    "An application kind of the platform. The platform's own definition holds more; what is not "
    "stated here is kept.",
    "object",
    fields={
        "spec": Field(
            "What the platform knows of the kind.",
            "object",
            fields={
                "application": Field(
                    "The application's kind as tenants write it.",
                    "object",
                    fields={"kind": Field("CamelCase name of the kind.")},
                    open=True,
                ),
                "secrets": Field(
                    "Which Secrets of an application its tenant may read.", "object", open=True
                ),
                "caCert": CA_CERT,
            },
            open=True,
        )
    },
    open=True,
)

APPLICATION_DEFINITION = Definition(
    api.DEFINITION,
    _TOP,
    columns=(
        Column("Kind", ".spec.application.kind"),
        Column("CA", ".spec.caCert.sourceSecretName"),
    ),
)

REVISION_ANNOTATION = "roadstead.dev/crd-revision"
REVISION = 2
"""Raised by one with every change of a definition; tests/data/crd-revisions.yaml holds each one."""

SHIPPED = (APPLICATION_DEFINITION, ENDPOINT_ATTACHMENT, TENANT_GATEWAY_DEFINITION)


def crds() -> dict[str, dict[str, Any]]:
    """Every definition we ship with its revision, by the name of its file."""
    return {f"{one.kind.resource}.yaml": _stamped(definition_of(one)) for one in SHIPPED}


def revision_of(body: Mapping[str, Any]) -> int:
    """The revision of a definition as it is served or shipped; 1 where it states none of ours."""
    stated = str((body["metadata"].get("annotations") or {}).get(REVISION_ANNOTATION, ""))
    return int(stated) if stated.isdecimal() else 1


def _stamped(body: dict[str, Any]) -> dict[str, Any]:
    body["metadata"]["annotations"] = {REVISION_ANNOTATION: str(REVISION)}
    return body
