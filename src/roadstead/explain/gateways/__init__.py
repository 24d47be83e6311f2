"""Tenant gateways and their routes, as `why`, `status` and `plan` speak of them."""

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.capabilities.gateways.snapshot.views import GATEWAYS_ASKED
from roadstead.explain.gateways.find import WORDS
from roadstead.explain.gateways.reported import reported
from roadstead.explain.gateways.routes import parts
from roadstead.explain.gateways.rows import (
    certificate_note,
    gateway_note,
    route_note,
    row,
    tenant_gateway_note,
)
from roadstead.explain.gateways.tell import rules, tell
from roadstead.explain.subject import Subject

__all__ = ["GATEWAY_SUBJECT"]

GATEWAY_SUBJECT = Subject(
    controller=GATEWAYS_CONTROLLER,
    kind=api.TENANT_GATEWAY.kind,
    column="ADDRESS/HOST",
    noun="tenant gateway",
    resource=f"{api.TENANT_GATEWAY.kind.lower()}.{api.TENANT_GATEWAY.group}",
    view=GATEWAYS_ASKED,
    listed=(GATEWAYS_ASKED,),
    keys=frozenset({api.TENANT_GATEWAY}),
    words=WORDS,
    rules=rules,
    tell=tell,
    row=row,
    parts=parts,
    wide=True,
    reported=reported,
    notes={
        api.TENANT_GATEWAY: tenant_gateway_note,
        api.GATEWAY: gateway_note,
        api.CERTIFICATE: certificate_note,
        api.HTTP_ROUTE: route_note,
        **dict.fromkeys(api.TLS_ROUTES, route_note),
    },
)
