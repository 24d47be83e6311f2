"""What cert-manager sees, and how a Certificate names its issuer and its Secret."""

from roadstead.capabilities.gateways import api
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref
from roadstead.kube.shapes import Json, part, text
from roadstead.kube.views import Form, Index, View

GROUP = api.CERTIFICATE.group
ACME, SELF_SIGNED = "acme", "selfSigned"
READY, ISSUING = "Ready", "Issuing"


def spec_of(seen: Object) -> Json:
    """What is asked of an object."""
    return part(seen.body, "spec")


def played(issuer: Object) -> str:
    """The type of an issuer where it is one of those that are played; else empty."""
    return next((one for one in (ACME, SELF_SIGNED) if one in spec_of(issuer)), "")


def issuer_of(certificate: Object) -> Ref | None:
    """The issuer a Certificate asks for; None for one of another project."""
    stated = part(spec_of(certificate), "issuerRef")
    group, kind = text(stated, "group") or GROUP, text(stated, "kind") or api.ISSUER.kind
    for one in (api.ISSUER, api.CLUSTER_ISSUER):
        if (group, kind) == (GROUP, one.kind):
            return one.ref(certificate.meta.namespace, text(stated, "name"))
    return None


def secret_of(certificate: Object) -> Ref:
    """The Secret a Certificate is issued into."""
    name = text(spec_of(certificate), "secretName")
    return SECRET.ref(certificate.meta.namespace, name)


def _issuer_path(certificate: Object) -> tuple[str, ...]:
    issuer = issuer_of(certificate)
    return (issuer.path,) if issuer is not None else ()


CERTIFICATES = View(
    "issued-certificates",
    api.CERTIFICATE,
    indexes=(
        Index("issuer", _issuer_path),
        Index("secret", lambda seen: (secret_of(seen).key,)),
    ),
)
ISSUERS = View("issuing-issuers", api.ISSUER)
CLUSTER_ISSUERS = View("issuing-cluster-issuers", api.CLUSTER_ISSUER)
SECRETS = View("issued-secrets", SECRET, Form.METADATA)
