"""What each of our accounts may write and what its policies refuse, one row a write.

Every row is sent as a dry run with the account's own token. `old` is what stands there before, made
by somebody else; owners are real, as garbage collection takes along what has none.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from certificates import CERT1, CERT2, KEY
from roadstead.capabilities.anchors import api as anchors
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.capabilities.gateways import api as gateways
from roadstead.capabilities.lineage import api as lineage
from roadstead.capabilities.wildcards import api as wildcards
from roadstead.deploy.rbac import ANCHORS, ATTACHMENTS, REFRESHER, Account
from roadstead.kube.refs import HELM_RELEASE, NAMESPACE, SECRET, SERVICE, Kind, Ref

Json = dict[str, Any]
NS, ROUTES = "tenant-foo", (gateways.HTTP_ROUTE, gateways.TLS_ROUTES[0])
RELEASE, SOURCE = "postgres-mydb", "wildcard-tls"
ANCHOR_NAME = f"{RELEASE}{anchors.SUFFIX}"
OWNERS = {HELM_RELEASE: RELEASE, ATTACHMENT: "a", gateways.TENANT_GATEWAY: "cozystack"}
"""What stands in the tenant's namespace, for others to be owned by."""
GONE: Any = object()
"""In a change: the key is not there."""


@dataclass(frozen=True)
class Row:
    """One write. how: create, update, patch, status or delete. sends: the body, or a merge patch.

    says: what the policy answers, empty where the write is let through. masters: sent as one whom
    RBAC allows everything, where it would refuse before the policy is asked.
    """

    id: str
    account: Account
    how: str
    ref: Ref
    sends: Json = field(default_factory=dict)
    old: Json | None = None
    says: str = ""
    masters: bool = False


def merged(body: Mapping[str, Any], change: Mapping[str, Any]) -> Json:
    """A body with parts of it replaced; maps are merged."""
    made = dict(body)
    for key, value in change.items():
        if value is GONE:
            made.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(made.get(key), Mapping):
            made[key] = merged(made[key], value)
        else:
            made[key] = value
    return made


def packed(**values: bytes) -> dict[str, str]:
    """Values of a Secret; `_` in a key stands for a dot."""
    return {key.replace("_", "."): b64encode(value).decode() for key, value in values.items()}


def body(kind: Kind, name: str, **rest: Any) -> Json:
    """An object of the tenant."""
    meta = {"name": name} | ({"namespace": NS} if kind.namespaced else {})
    meta |= rest.pop("meta", {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **rest}


def owner(kind: Kind, *, controller: bool = True) -> Json:
    """A reference to one of the owners; its uid is put in where the row is sent."""
    name = OWNERS[kind]
    stated = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": kind.kind}
    return {**stated, "controller": True} if controller else stated


def anchor(**change: Any) -> Json:
    """A trust anchor as it is written."""
    made = body(
        SECRET,
        ANCHOR_NAME,
        type="Opaque",
        data=packed(ca_crt=CERT1),
        meta={
            "labels": {anchors.TENANT_CA: "true", anchors.COPY: "true"},
            "annotations": {anchors.SOURCE: f"{NS}/{RELEASE}-ca"},
            "ownerReferences": [{**owner(HELM_RELEASE), "blockOwnerDeletion": False}],
        },
    )
    return merged(made, change)


def replica(**change: Any) -> Json:
    """A wildcard replica as it is written."""
    made = body(
        SECRET,
        SOURCE,
        type=wildcards.TLS,
        data=packed(tls_crt=b"CRT", tls_key=b"KEY"),
        meta={
            "labels": {wildcards.COPY: "true"},
            "annotations": {wildcards.COPY_SOURCE: f"tenant-root/{SOURCE}"},
        },
    )
    return merged(made, change)


def meta(**change: Any) -> Json:
    """A change of metadata."""
    return {"metadata": change}


def foreign(name: str = ANCHOR_NAME, **rest: Any) -> Json:
    """A Secret of somebody else, with a key in it."""
    data = packed(ca_crt=CERT1, ca_key=KEY)
    return body(SECRET, name, **{"type": "Opaque", "data": data, **rest})


A, R, X = (SECRET.ref(NS, name) for name in (ANCHOR_NAME, SOURCE, "x"))
NEITHER, THEIRS = "is neither a trust anchor", "somebody else made it"
TOKEN = "kubernetes.io/service-account-token"


def made(id_: str, ref: Ref, sends: Json, says: str = "") -> Row:
    """The anchors' account creates a Secret."""
    return Row(id_, ANCHORS, "create", ref, sends, says=says)


def put(id_: str, old: Json, sends: Json, says: str = "") -> Row:
    """The anchors' account replaces a Secret."""
    ref = SECRET.ref(NS, old["metadata"]["name"])
    return Row(id_, ANCHORS, "update", ref, sends, old, says)


def dropped(id_: str, old: Json, says: str = "") -> Row:
    """The anchors' account deletes a Secret."""
    return Row(id_, ANCHORS, "delete", SECRET.ref(NS, old["metadata"]["name"]), old=old, says=says)


SECRETS = (
    made("anchor", A, anchor()),
    made("replica", R, replica()),
    made("replica-with-authority", R, replica(data=packed(ca_crt=CERT1))),
    made("any-secret", X, foreign("x"), NEITHER),
    made(
        "token-of-an-account",
        X,
        foreign(
            "x", type=TOKEN, meta={"annotations": {"kubernetes.io/service-account.name": "default"}}
        ),
        NEITHER,
    ),
    made("anchor-with-another-key", A, anchor(data=packed(tls_key=b"KEY")), NEITHER),
    *(
        made(f"anchor-with-a-key-behind-{pad}", A, anchor(data=packed(ca_crt=value)), NEITHER)
        for pad in range(3)
        for value in [CERT1 + b"#" * (pad + 1) + b"\n" + KEY]
    ),
    made("anchor-of-no-certificate", A, anchor(data=packed(ca_crt=b"text" + CERT1)), NEITHER),
    made("anchor-without-value", A, anchor(data=GONE), NEITHER),
    made("anchor-under-another-name", X, merged(anchor(), meta(name="x")), NEITHER),
    made("anchor-of-another-release", A, anchor(**meta(name="b.tenant-ca")), NEITHER),
    made("anchor-without-owner", A, anchor(**meta(ownerReferences=GONE)), NEITHER),
    made(
        "anchor-with-two-owners",
        A,
        anchor(**meta(ownerReferences=[owner(HELM_RELEASE), owner(ATTACHMENT, controller=False)])),
        NEITHER,
    ),
    made("anchor-without-mark", A, anchor(**meta(labels={anchors.COPY: GONE})), NEITHER),
    made("anchor-that-is-not-shown", A, anchor(**meta(labels={anchors.TENANT_CA: GONE})), NEITHER),
    made("anchor-that-nobody-can-delete", A, anchor(**meta(finalizers=["a.example/b"])), NEITHER),
    made("replica-without-mark", R, replica(**meta(labels={wildcards.COPY: "false"})), NEITHER),
    made(
        "replica-for-the-tenant",
        R,
        replica(**meta(labels={lineage.TENANT_RESOURCE: "true"})),
        NEITHER,
    ),
    made("replica-with-a-lineage", R, replica(**meta(labels={lineage.HELM_NAME: "r"})), NEITHER),
    made(
        "replica-with-an-old-key",
        R,
        replica(**meta(annotations={lineage.LAST_APPLIED: "{}"})),
        NEITHER,
    ),
    made(
        "replica-with-an-owner", R, replica(**meta(ownerReferences=[owner(HELM_RELEASE)])), NEITHER
    ),
    made("replica-with-more", R, replica(data=packed(other=b"x")), NEITHER),
    made("replica-of-another-name", X, merged(replica(), meta(name="x")), NEITHER),
    made(
        "replica-of-nothing", R, replica(**meta(annotations={wildcards.COPY_SOURCE: GONE})), NEITHER
    ),
    put("anchor-rotates", anchor(), anchor(data=packed(ca_crt=CERT2))),
    put(
        "anchor-is-mended",
        anchor(data=packed(other=b"x"), **meta(labels={anchors.COPY: GONE})),
        anchor(),
    ),
    put(
        "anchor-is-restored-from-a-backup",
        anchor(**meta(ownerReferences=GONE)),
        anchor(),
    ),
    put("replica-rotates", replica(), replica(data=packed(tls_key=b"two"))),
    put(
        "replica-is-hidden",
        replica(**meta(labels={lineage.TENANT_RESOURCE: "true"})),
        replica(),
    ),
    put("foreign-becomes-an-anchor", foreign(), anchor(), THEIRS),
    put("foreign-changes", foreign("x"), foreign("x", meta={"labels": {"a": "b"}}), THEIRS),
    put(
        "marked-with-a-key-becomes-an-anchor",
        foreign(meta={"labels": {anchors.COPY: "true"}}),
        anchor(),
        THEIRS,
    ),
    put("anchor-gets-a-key", anchor(), anchor(data=packed(tls_key=b"KEY")), NEITHER),
    put("anchor-loses-its-marks", anchor(), anchor(**meta(labels=GONE)), NEITHER),
    put("anchor-is-held", anchor(), anchor(**meta(finalizers=["a.example/b"])), NEITHER),
    put("replica-loses-its-mark", replica(), replica(**meta(labels=GONE)), NEITHER),
    put(
        "replica-becomes-an-anchor",
        foreign(meta={"labels": {wildcards.COPY: "true"}}),
        anchor(),
        NEITHER,
    ),
    dropped("anchor-goes", anchor()),
    dropped("replica-goes", replica()),
    dropped(
        "replica-of-another-type-goes", foreign("x", meta={"labels": {wildcards.COPY: "true"}})
    ),
    dropped("foreign-goes", foreign("x"), THEIRS),
    dropped("foreign-at-the-anchors-name-goes", foreign(), THEIRS),
    dropped("foreign-tls-goes", replica(**meta(labels=GONE)), THEIRS),
    dropped("marked-with-a-key-goes", foreign(meta={"labels": {anchors.COPY: "true"}}), THEIRS),
)

SPECS: dict[Kind, Json] = {
    SERVICE: {"selector": {"a": "b"}, "ports": [{"port": 1}]},
    CLAIM: {},
    gateways.GATEWAY: {
        "gatewayClassName": "cilium",
        "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
    },
    gateways.HTTP_ROUTE: {"parentRefs": [{"name": "cozystack"}]},
    gateways.CERTIFICATE: {"secretName": "s", "dnsNames": ["a.b"], "issuerRef": {"name": "i"}},
    gateways.ISSUER: {"selfSigned": {}},
}
OURS: dict[Kind, Kind] = {
    SERVICE: ATTACHMENT,
    CLAIM: ATTACHMENT,
    **dict.fromkeys(
        (gateways.GATEWAY, gateways.HTTP_ROUTE, gateways.CERTIFICATE, gateways.ISSUER),
        gateways.TENANT_GATEWAY,
    ),
}


def owned(kind: Kind) -> tuple[Row, ...]:
    """One kind whose objects have an object of ours as their controller."""
    ref, by = kind.ref(NS, "o"), OURS[kind]
    plain = body(kind, "o", spec=SPECS[kind])
    ours = merged(plain, meta(ownerReferences=[owner(by)]))
    loose = merged(plain, meta(ownerReferences=[owner(by, controller=False)]))
    other = HELM_RELEASE if by is ATTACHMENT else ATTACHMENT
    others = merged(plain, meta(ownerReferences=[owner(other)]))
    touched, says = (
        meta(labels={"a": "b"}),
        f"only what has an object of kind {by.kind} as its controller",
    )

    def row(what: str, how: str, sends: Json, old: Json | None, says: str = "") -> Row:
        return Row(f"{kind.plural}-{what}", ATTACHMENTS, how, ref, sends, old, says)

    rows = [
        row("made", "create", ours, None),
        row("made-for-nobody", "create", plain, None, says),
        row("made-without-controller", "create", loose, None, says),
        row("made-for-another", "create", others, None, says),
        row("goes", "delete", {}, ours),
        row("foreign-goes", "delete", {}, plain, says),
        row("anothers-goes", "delete", {}, others, says),
    ]
    if kind is not CLAIM:  # which RBAC lets it neither update nor patch
        rows += [
            row("changes", "update", merged(ours, touched), ours),
            row("foreign-changes", "update", merged(plain, touched), plain, says),
            row("foreign-is-adopted", "update", ours, plain, says),
            row("anothers-is-adopted", "update", ours, others, says),
            row("is-let-go", "update", plain, ours, says),
        ]
    return tuple(rows)


AT = ATTACHMENT.ref(NS, OWNERS[ATTACHMENT])
SETS = "sets the owner, the lineage labels and the status of an attachment"
TRIPLED = {lineage.KIND_LABEL: "Postgres"}


def attached(what: str, sends: Json, says: str = "") -> Row:
    """The attachments' account patches an attachment that a tenant has made."""
    return Row(f"attachment-{what}", ATTACHMENTS, "patch", AT, sends, says=says)


ATTACHED = (
    attached("is-stamped", meta(labels=TRIPLED, ownerReferences=[owner(HELM_RELEASE)])),
    attached("gets-another-label", meta(labels={"a": "b"}), SETS),
    attached("gets-an-annotation", meta(annotations={"a": "b"}), SETS),
    attached("is-held", meta(finalizers=["a.example/b"]), SETS),
    attached("points-elsewhere", {"spec": {"endpoint": {"serviceName": "other"}}}, SETS),
    Row("attachment-goes", ATTACHMENTS, "delete", AT, says=SETS),
    Row(
        "attachment-status-is-written",
        ATTACHMENTS,
        "status",
        AT,
        {"status": {"addresses": ["203.0.113.7"]}},
    ),
)

LABEL, BY = gateways.ATTACH_LABEL, gateways.ATTACHED_BY
MORE, HELD = "are its to change, no more", "where nobody else holds it"


def owns(sends: Json) -> bool:
    """Whether an owner is set, which RBAC refuses to who may not delete the object."""
    return "ownerReferences" in sends["metadata"]


def space(what: str, sends: Json, says: str = "", *, name: str = "", **old: Json) -> Row:
    """The attachments' account patches a Namespace. old: its labels and annotations."""
    ref = NAMESPACE.ref("", name or f"tenant-{what}")  # one that was deleted lives on for a while
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ref.name, **old}}
    return Row(f"namespace-{what}", ATTACHMENTS, "patch", ref, sends, there, says, owns(sends))


def attach(to: str | None, by: str | None) -> Json:
    """The label and the annotation, None for away."""
    return meta(labels={LABEL: to}, annotations={BY: by})


SPACES = (
    space("is-attached", attach(NS, NS)),
    space(
        "is-taken-over", attach(NS, NS), labels={LABEL: "tenant-x"}, annotations={BY: "tenant-x"}
    ),
    space("is-adopted", attach(NS, NS), labels={LABEL: NS}),
    space("is-its-own", attach("tenant-own", "tenant-own"), name="tenant-own", labels={LABEL: NS}),
    space("is-let-go", attach(None, None), labels={LABEL: NS}, annotations={BY: NS}),
    space(
        "keeps-a-charts-label",
        attach("tenant-x", None),
        labels={LABEL: "tenant-x"},
        annotations={BY: NS},
    ),
    space("of-a-chart-is-attached", attach(NS, NS), HELD, labels={LABEL: "tenant-x"}),
    space("of-a-chart-is-let-go", attach(None, None), HELD, labels={LABEL: "tenant-x"}),
    space("has-the-label-alone", attach(NS, None), HELD),
    space("has-two-words", attach(NS, "tenant-x"), HELD),
    space("gets-another-label", meta(labels={"a": "b"}), MORE),
    space("gets-a-domain", meta(labels={gateways.HOST_LABEL: "a.example"}), MORE),
    space("loses-a-label", meta(labels={"a": None}), MORE, labels={"a": "b"}),
    space("gets-an-annotation", meta(annotations={"a": "b"}), MORE),
    space("is-held", meta(finalizers=["a.example/b"]), MORE),
    space("gets-an-owner", meta(ownerReferences=[owner(HELM_RELEASE)]), MORE),
    space("gets-more-beside-ours", merged(attach(NS, NS), meta(labels={"a": "b"})), MORE),
    Row(
        "namespace-is-made",
        ATTACHMENTS,
        "create",
        NAMESPACE.ref("", "new"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}},
        says=MORE,
        masters=True,
    ),
    Row("namespace-goes", ATTACHMENTS, "delete", NAMESPACE.ref("", NS), says=MORE, masters=True),
)


def entry(controller: str, name: str = "cozystack") -> Json:
    """What one controller says of a route."""
    said = {
        "type": "Accepted",
        "status": "True",
        "reason": "Accepted",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return {"parentRef": {"name": name}, "controllerName": controller, "conditions": [said]}


CILIUM = entry("io.cilium/gateway-controller")


def routed(kind: Kind) -> tuple[Row, ...]:
    """The status of one kind of route, which two controllers write."""
    rules = [{"backendRefs": [{"name": "b", "port": 443}]}]
    spec = {"parentRefs": [{"name": "cozystack"}], "hostnames": ["a.example"], "rules": rules}
    old = body(kind, "r", spec=spec) | {"status": {"parents": [CILIUM]}}
    says = f"only the entries of {gateways.COMPONENT}"

    def row(what: str, parents: list[Json], says: str = "") -> Row:
        sends = {"status": {"parents": parents}}
        ref = kind.ref(NS, "r")
        return Row(f"{kind.plural}-{what}", ATTACHMENTS, "status", ref, sends, old, says)

    return (
        row("entry-is-added", [CILIUM, entry(gateways.COMPONENT)]),
        row("anothers-entry-goes", [entry(gateways.COMPONENT)], says),
        row("anothers-entry-changes", [merged(CILIUM, {"parentRef": {"name": "b"}})], says),
        row("speaks-for-another", [CILIUM, entry("example.org/controller")], says),
    )


OFFERED: dict[Kind, Json] = {
    SECRET: {"data": packed(a=b"b"), "type": "Opaque"},
    SERVICE: {"spec": SPECS[SERVICE]},
    lineage.INGRESS: {
        "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    },
}
ELSEWHERE: dict[Kind, Json] = {
    SECRET: {"data": packed(a=b"c")},
    SERVICE: {"spec": {"selector": {"a": "c"}}},
    lineage.INGRESS: {"spec": {"ingressClassName": "other"}},
}
TAKES_OFF = "and changes nothing else"


def offered(kind: Kind) -> tuple[Row, ...]:
    """What the refresher may do with one kind."""
    stated = {lineage.MANAGED_BY: "true", lineage.TENANT_RESOURCE: "false", "a": "b"}
    old = body(kind, "o", meta={"labels": stated}, **OFFERED[kind])
    off = meta(labels={lineage.MANAGED_BY: None})
    unmanaged = merged(old, meta(labels={lineage.MANAGED_BY: GONE}))

    def row(what: str, sends: Json, says: str = TAKES_OFF, there: Json = old) -> Row:
        name, ref = f"refresher-{kind.plural}-{what}", kind.ref(NS, "o")
        return Row(name, REFRESHER, "patch", ref, sends, there, says, owns(sends))

    return (
        row("label-is-taken-off", off, ""),
        row("content-changes", merged(off, ELSEWHERE[kind])),
        row("loses-another-label", merged(off, meta(labels={"a": None}))),
        row("gets-a-label", meta(labels={"c": "d"})),
        row("gets-an-annotation", merged(off, meta(annotations={"c": "d"}))),
        row("gets-an-owner", meta(ownerReferences=[owner(HELM_RELEASE)])),
        row("is-held", meta(finalizers=["a.example/b"])),
        row(
            "without-the-label-changes",
            meta(labels={lineage.TENANT_RESOURCE: "true"}),
            there=unmanaged,
        ),
        # The webhook's answer within the same request looks just the same: see the pages.
        row("verdict-is-forged", meta(labels={lineage.TENANT_RESOURCE: "true"}), ""),
        Row(
            f"refresher-{kind.plural}-is-made",
            REFRESHER,
            "create",
            kind.ref(NS, "o"),
            old,
            None,
            TAKES_OFF,
            True,
        ),
        Row(
            f"refresher-{kind.plural}-goes",
            REFRESHER,
            "delete",
            kind.ref(NS, "o"),
            {},
            old,
            TAKES_OFF,
            True,
        ),
    )


ROWS = (
    *SECRETS,
    *(row for kind in OURS for row in owned(kind)),
    *ATTACHED,
    *SPACES,
    *(row for kind in ROUTES for row in routed(kind)),
    *(row for kind in OFFERED for row in offered(kind)),
)
