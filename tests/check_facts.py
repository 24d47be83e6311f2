"""A cluster on which all is well, as `roadstead check` sees it; tests change one fact of it."""

import base64
from datetime import timedelta

from roadstead.capabilities import CONTROLLERS
from roadstead.capabilities.attachments.api.names import ADDRESS, CLAIM, CLASS
from roadstead.capabilities.gateways import api
from roadstead.capabilities.lineage.api import DEFINITION
from roadstead.deploy.admission import REGISTRATION, registration, service
from roadstead.deploy.rbac import ACCOUNTS, HOME
from roadstead.explain.checks.facts import (
    Certificate,
    Facts,
    Granted,
    Held,
    Installed,
    Pod,
    Probed,
    Stated,
    Stored,
    Webhook,
)
from roadstead.explain.checks.neighbours import BUNDLE
from roadstead.kube.objects import Object
from roadstead.kube.refs import CRD, HELM_RELEASE, SECRET, SERVICE, Kind, Ref
from roadstead.sim.flags import START
from webhook_certificates import authority

KINDS = (
    *(HELM_RELEASE, DEFINITION, CLAIM, ADDRESS, CLASS),
    *(api.GATEWAY, api.HTTP_ROUTE, api.GATEWAY_CLASS, api.REFERENCE_GRANT, *api.TLS_ROUTES),
    *(api.CERTIFICATE, api.ISSUER),
)
DEFINITIONS = (
    "endpointattachments.local.sdn.cozystack.io",
    "tenantgateways.gateway.cozystack.io",
)
HOST = f"lineage-controller-webhook.{HOME}.svc"


def serving(*kinds: Kind) -> dict[tuple[str, str], Kind]:
    """What a server serves that has these kinds."""
    return {(kind.api_version, kind.kind): kind for kind in kinds}


def registered(bundle: bytes | None = None) -> Object:
    """The registration as it ships. bundle: in place of the tests' authority, as it stands."""
    body = registration()
    text = base64.b64encode(authority().pem) if bundle is None else bundle
    body["webhooks"][0]["clientConfig"]["caBundle"] = text.decode()
    return Object.of(REGISTRATION, body)


def gateway(name: str) -> Ref:
    """A Gateway of a tenant."""
    return api.GATEWAY.ref(name, "cozystack")


LEASES = (
    "roadstead-anchors-wildcards",
    "roadstead-attachments-gateways",
    "roadstead-refresher",
)
BUNDLED = Object.of(
    CRD,
    {"metadata": {"name": api.HTTP_ROUTE.resource, "annotations": {BUNDLE: "v1.5.1"}}},
)
WEBHOOK = Webhook(
    host=HOST,
    shipped=registration()["webhooks"][0],
    registration=registered(),
    service=Object.of(SERVICE, service()),
    endpoints=2,
    secret=SECRET.ref(HOME, "lineage-controller-webhook-tls"),
    certificate=Certificate((HOST,), START - timedelta(days=10), START + timedelta(days=80)),
    probed=Probed("tenant-root"),
)
INSTALLED = Installed(
    accounts=tuple(one.name for one in ACCOUNTS),
    expected=tuple(one.name for one in ACCOUNTS),
    shipped=dict.fromkeys(DEFINITIONS, 2),
    served=dict.fromkeys(DEFINITIONS, 2),
    changed={},
    rights=(Granted("roadstead-anchors", "list secrets", allowed=True),),
    policies={
        f"{kind} roadstead-anchors-secrets": ""
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    },
    leases={
        name: Held("pod-1", START - timedelta(seconds=1), timedelta(seconds=15)) for name in LEASES
    },
    pods=(Pod("roadstead-anchors-1", ready=True), Pod("roadstead-lineage-1", ready=True)),
    webhook=WEBHOOK,
    stored=Stored(objects=120, kinds=14),
    listeners={gateway("tenant-root"): 12},
)
BEFORE = Facts(
    now=START,
    home=HOME,
    version="v1.36.3",
    served=serving(*KINDS),
    definitions={api.HTTP_ROUTE.resource: BUNDLED},
    needed=frozenset(
        view.kind for one in CONTROLLERS.values() for view in set(one.views) - one.optional
    ),
    may={"create customresourcedefinitions.apiextensions.k8s.io": True},
    systems={"cozy-system": True},
    owner_refs={"cozy-cert-manager/cert-manager": False},
    classes=frozenset({"cilium", "edge-tunnel"}),
    address_classes=frozenset({"public"}),
    stated=Stated(
        {"gateway": {"tenantSelectableClasses": ["edge-tunnel"]}},
        "platform.yaml",
        frozenset({"public"}),
    ),
)
"""Before an installation; `replace(BEFORE, installed=INSTALLED)` is after it."""
