"""Issues certificates into Secrets, and says until when they are valid.

Nothing of a key is kept: the Secret is read live, and what is made of it is its certificate alone.
"""

from base64 import b64encode
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.decision import Cached, Decision, Reader, Status, Want
from roadstead.errors import Unread
from roadstead.kube.conditions import FALSE, TRUE, Condition, fold
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref
from roadstead.kube.shapes import items, part, text, texts
from roadstead.kube.times import format_time, parse_duration
from roadstead.sim.actors.certificates.views import (
    CERTIFICATES,
    CLUSTER_ISSUERS,
    ISSUERS,
    ISSUING,
    READY,
    SECRETS,
    SELF_SIGNED,
    issuer_of,
    played,
    secret_of,
    spec_of,
)
from roadstead.sim.pki import certificate as self_signed
from roadstead.sim.pki import hostnames_of, leaf, span_of
from roadstead.wiring import Controller, Watch

NAME = f"{api.CERTIFICATE.group}/certificate-name"
NAMES = f"{api.CERTIFICATE.group}/alt-names"
ISSUER_NAME, ISSUER_KIND, ISSUER_GROUP = (
    f"{api.CERTIFICATE.group}/issuer-{part}" for part in ("name", "kind", "group")
)
MARK = "controller.cert-manager.io/fao"
TLS_TYPE = "kubernetes.io/tls"
USUAL = timedelta(days=90)
Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Seen:
    """One Certificate.

    issuer: what stands at the name of its issuer. secret: what stands at that of its Secret.
    """

    now: datetime
    certificate: Object
    issuer_ref: Ref
    issuer: Object | None
    secret: Object | None

    @property
    def hostnames(self) -> tuple[str, ...]:
        """The names that are asked for, each once: the common name is one of them."""
        spec = spec_of(self.certificate)
        common = text(spec, "commonName")
        return tuple(dict.fromkeys([*([common] if common else []), *texts(spec, "dnsNames")]))

    @property
    def revision(self) -> int:
        """How often it was issued."""
        stated = part(self.certificate.body, "status").get("revision")
        return stated if type(stated) is int else 0

    @property
    def issuing(self) -> bool:
        """Whether it said of itself that a certificate is on its way."""
        found = items(part(self.certificate.body, "status"), "conditions")
        return any((one.get("type"), one.get("status")) == (ISSUING, TRUE) for one in found)

    @property
    def marks(self) -> dict[str, str]:
        """What is written on its Secret."""
        return {
            NAME: self.certificate.meta.name,
            NAMES: ",".join(self.hostnames),
            ISSUER_NAME: self.issuer_ref.name,
            ISSUER_KIND: self.issuer_ref.kind.kind,
            ISSUER_GROUP: self.issuer_ref.kind.group,
        }

    @property
    def foreign(self) -> bool:
        """Whether its Secret is there and was not issued for it."""
        found = self.secret
        return found is not None and found.annotations.get(NAME) != self.certificate.meta.name

    @property
    def span(self) -> Span | None:
        """From when until when what it has is valid; None where it has not what it asks for."""
        secret = self.secret
        if secret is None or self.foreign or not secret.decoded("tls.key"):
            return None
        if any(secret.annotations.get(key) != value for key, value in self.marks.items()):
            return None
        chain = secret.decoded("tls.crt") or b""
        try:
            span, names = span_of(chain), hostnames_of(chain)
        except ValueError:
            return None
        return span if names == self.hostnames and self.now < span[1] else None


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """Collect what one Certificate is issued by; None for one of an issuer that is not played."""
    certificate = await reader.see(CERTIFICATES, key.namespace, key.name)
    if certificate is None or certificate.deleting:
        return None
    ref = issuer_of(certificate)
    if ref is None:
        return None
    issuer = _issuer(reader, ref)
    if issuer is not None and not played(issuer):
        return None
    secret = await reader.live_get(secret_of(certificate))
    return Seen(reader.now, certificate, ref, issuer, secret)


def _issuer(reader: Reader, ref: Ref) -> Object | None:
    view = ISSUERS if ref.kind == api.ISSUER else CLUSTER_ISSUERS
    try:
        return reader.get(view, ref.namespace, ref.name)
    except Unread as error:
        if error.reason != "absent":
            raise
        return None


def decide(seen: Seen) -> Decision:
    """Issue what is asked for and is not there, and say what is."""
    span = seen.span
    if span is not None:
        told = f"valid until {format_time(span[1])}"
        return _said(seen, Condition(READY, TRUE, READY, told), span=span)
    if seen.foreign:
        told = f"{secret_of(seen.certificate)} was not issued for this Certificate"
        return _said(seen, Condition(READY, FALSE, "IncorrectCertificate", told))
    if seen.issuer is None or not _is_ready(seen.issuer):
        told = f"{seen.issuer_ref} is not ready"
        return _said(seen, Condition(READY, FALSE, "IssuerNotReady", told), issuing=True)
    if not seen.hostnames or not all(_is_name(one) for one in seen.hostnames):
        return _said(seen, Condition(READY, FALSE, "InvalidNames", "it asks for no DNS names"))
    told = "a certificate is being issued"
    said = _said(seen, Condition(READY, FALSE, ISSUING, told), issuing=True)
    return Decision(want=(_secret(seen),), status=said.status)


def _is_name(name: str) -> bool:
    return bool(name) and name.isascii()


def _is_ready(issuer: Object) -> bool:
    found = items(part(issuer.body, "status"), "conditions")
    return any((one.get("type"), one.get("status")) == (READY, TRUE) for one in found)


def _said(
    seen: Seen, ready: Condition, *, span: Span | None = None, issuing: bool = False
) -> Decision:
    """What is reported. The revision moves when what was on its way has come."""
    before = part(seen.certificate.body, "status")
    said = [ready]
    if issuing:
        said.append(Condition(ISSUING, TRUE, "DoesNotExist", ready.message))
    generation = seen.certificate.meta.generation
    conditions = fold(items(before, "conditions"), said, seen.now, generation)
    value: dict[str, Any] = {**before, "conditions": conditions}
    if span is not None:
        third = (span[1] - span[0]) / 3
        value |= {
            "notBefore": format_time(span[0]),
            "notAfter": format_time(span[1]),
            "renewalTime": format_time(span[1] - third),
            "revision": seen.revision + (seen.issuing or not seen.revision),
        }
    return Decision(status=Status(seen.certificate, value))


def _secret(seen: Seen) -> Want:
    """The Secret with a new key and a new chain; what else it carries stays."""
    ref = secret_of(seen.certificate)
    body: dict[str, Any] = {
        "apiVersion": SECRET.api_version,
        "kind": SECRET.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "type": TLS_TYPE,
    }
    if seen.secret is not None:
        body = deepcopy(seen.secret.body)
    template = part(spec_of(seen.certificate), "secretTemplate")
    meta = body["metadata"]
    meta["annotations"] = {
        **(meta.get("annotations") or {}),
        **part(template, "annotations"),
        **seen.marks,
    }
    meta["labels"] = {**(meta.get("labels") or {}), **part(template, "labels"), MARK: "true"}
    body["data"] = {key: b64encode(value).decode() for key, value in _issued(seen).items()}
    return Want.replace(SECRET, body, seen.secret)


def _issued(seen: Seen) -> dict[str, bytes]:
    spec = spec_of(seen.certificate)
    start = seen.now.replace(microsecond=0)
    span = (start, start + _lasting(text(spec, "duration")))
    name = f"{seen.certificate.ref.key} revision {seen.revision + 1}"
    if seen.issuer is not None and played(seen.issuer) == SELF_SIGNED:
        own = leaf(name, seen.hostnames, span, ca=spec.get("isCA") is True)
        return {"tls.crt": own.pem, "tls.key": own.key, "ca.crt": own.pem}
    signer = f"{seen.issuer_ref.name} of a stand-in"
    made = leaf(name, seen.hostnames, span, signer=signer)
    return {"tls.crt": made.pem + self_signed(signer).pem, "tls.key": made.key}


def _lasting(stated: str) -> timedelta:
    try:
        return parse_duration(stated) if stated else USUAL
    except ValueError:
        return USUAL


def certificate_itself(certificate: Object, _cached: Cached) -> Iterator[Ref]:
    """A Certificate wakes itself."""
    yield certificate.ref


def certificates_of_issuer(issuer: Object, cached: Cached) -> Iterator[Ref]:
    """Those that ask for an issuer."""
    yield from (one.ref for one in cached.list(CERTIFICATES, "issuer", issuer.ref.path))


def certificates_of_secret(secret: Object, cached: Cached) -> Iterator[Ref]:
    """Those that are issued into a Secret."""
    yield from (one.ref for one in cached.list(CERTIFICATES, "secret", secret.ref.key))


ISSUING_CONTROLLER = Controller(
    name="stand-in-certificates",
    component="stand-in-certificates",
    watches=(
        Watch(CERTIFICATES, certificate_itself),
        Watch(ISSUERS, certificates_of_issuer, optional=True),
        Watch(CLUSTER_ISSUERS, certificates_of_issuer, optional=True),
        Watch(SECRETS, certificates_of_secret),
    ),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
    workers=1,
    checked=False,
)
