"""Every row of the admission matrix: what is sent, and what is said of it.

Both the API server and the offline world are held to it. Source: endpoint-attachments 1.6, 1.7.
"""

from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.attachments.api.names import ATTACHMENT, GROUP

Problem = tuple[str, str]
"""A field as the server names it, and a part of what it says of it."""

S1 = ("spec", "exactly one attachment mechanism must be set")
S2 = ("spec", "the attachment mechanism cannot be changed")
S3 = ("spec", "applicationRef is immutable")
L1 = ("spec.loadBalancer", "className and claimName are mutually exclusive")
L2 = ("spec.loadBalancer", "method PortList needs at least one port")
L3 = ("spec.loadBalancer", "allowICMP only applies to method PortList")
L4 = ("spec.loadBalancer", "className is immutable")
L5 = ("spec.loadBalancer", "claimName is immutable")
L6 = ("spec.loadBalancer", "family is immutable")

REF = {"kind": "Postgres", "name": "db"}
ENDPOINT = {"serviceName": "postgres-db-rw"}
LEFT_OUT = object()
"""In place of a field's value: the field is not there."""


@dataclass(frozen=True)
class Row:
    """One row. old: what stands there, None for a create. problems: none where it is admitted."""

    id: str
    new: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    old: dict[str, Any] | None = None


def attachment(balancer: object, meta: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """An attachment that works, with a loadBalancer, and other parts of the spec as stated."""
    parts = {"applicationRef": REF, "endpoint": ENDPOINT, "loadBalancer": balancer, **spec}
    return {
        "apiVersion": ATTACHMENT.api_version,
        "kind": ATTACHMENT.kind,
        "metadata": {"name": "a", "namespace": "tenant-blue", **(meta or {})},
        "spec": {name: part for name, part in parts.items() if part is not LEFT_OUT},
    }


def balanced(id_: str, *problems: Problem, **balancer: Any) -> Row:
    """A create with these fields inside `loadBalancer`."""
    return Row(id_, attachment(balancer), problems)


def shaped(id_: str, *problems: Problem, **spec: Any) -> Row:
    """A create with an empty loadBalancer and these parts of the spec."""
    return Row(id_, attachment(spec.pop("loadBalancer", {}), **spec), problems)


def changed(id_: str, old: Any, new: Any, *problems: Problem) -> Row:
    """An update from one loadBalancer to another."""
    return Row(id_, attachment(new), problems, attachment(old))


def at(path: str, says: str) -> Problem:
    """What is said of a field below `spec`."""
    return (f"spec.{path}", says)


def balancer_at(path: str, says: str) -> Problem:
    """What is said of a field of the loadBalancer."""
    return at(f"loadBalancer.{path}", says)


def empty(path: str) -> Problem:
    """What is said of an empty name; the server tells of the first limit that a text breaks."""
    return at(path, "should be at least 1 chars long")


def ref(**parts: Any) -> dict[str, Any]:
    """An applicationRef with parts changed, or left out."""
    return {k: v for k, v in {**REF, **parts}.items() if v is not LEFT_OUT}


NO_SPEC = {k: v for k, v in attachment({}).items() if k != "spec"}
EVERYTHING = {
    "className": "public",
    "family": "Dual",
    "ports": [22, "53/UDP"],
    "method": "PortList",
    "allowICMP": False,
}
REQUIRED = "Required value"
UNSUPPORTED = "Unsupported value"
LISTED = {"method": "PortList", "ports": [22]}
NO_PROTOCOL = balancer_at("ports[0]", "should match")
IN_BODY = "in body must be of type"

CREATES = (
    balanced("C01"),
    shaped("C02", S1, loadBalancer=LEFT_OUT),
    Row("C03", NO_SPEC, (("spec", REQUIRED),)),
    shaped("C04", S1, loadBalancer=None),
    shaped("C05", S1, loadBalancer=LEFT_OUT, gateway={}),
    shaped("C06", gateway={}),
    balanced("C07", className="public"),
    balanced("C08", claimName="held"),
    balanced("C09", L1, className="public", claimName="held"),
    balanced("C10", empty("loadBalancer.className"), className=""),
    balanced("C11", empty("loadBalancer.claimName"), claimName=""),
    balanced("C12", balancer_at("claimName", "should match"), claimName="ns/held"),
    balanced("C13", family="IPv4"),
    balanced("C14", family="IPv6", claimName="held"),
    balanced("C15", family="Dual", className="public"),
    balanced("C16", balancer_at("family", f'{UNSUPPORTED}: "ipv4"'), family="ipv4"),
    balanced("C17", ports=[5432]),
    balanced("C18", ports=[]),
    balanced("C19", balancer_at("ports[0]", "greater than or equal to 1"), ports=[0]),
    balanced("C20", balancer_at("ports[0]", "less than or equal to 65535"), ports=[65536]),
    balanced("C21", balancer_at("ports[0]", "greater than or equal to 1"), ports=[-1]),
    balanced("C22", balancer_at("ports[1]", "Duplicate value: 80"), ports=[80, 80]),
    balanced("C23", ports=["53/UDP"]),
    balanced("C24", ports=[53, "53/UDP"]),
    balanced("C25", NO_PROTOCOL, ports=["53"]),
    balanced("C26", NO_PROTOCOL, ports=["70000/TCP"]),
    balanced("C27", NO_PROTOCOL, ports=["53/udp"]),
    balanced("C28", balancer_at("ports[0]", IN_BODY), ports=[{"port": 80}]),
    balanced("C29", balancer_at("ports", f"{IN_BODY} array"), ports=80),
    balanced("C30", balancer_at("ports", "Too many: 101"), ports=list(range(1, 102))),
    balanced("C31", ports=list(range(1, 101))),
    balanced("C32", ports=[65535]),
    balanced("C33", method="WholeIP"),
    balanced("C34", method="WholeIP", ports=[22]),
    balanced("C35", **LISTED),
    balanced("C36", L2, method="PortList"),
    balanced("C37", L2, method="PortList", ports=[]),
    balanced("C38", balancer_at("method", f'{UNSUPPORTED}: "wholeip"'), method="wholeip"),
    balanced("C39", balancer_at("method", f'{UNSUPPORTED}: ""'), method=""),
    balanced("C40", **LISTED, allowICMP=True),
    balanced("C41", **LISTED, allowICMP=False),
    balanced("C42", L3, allowICMP=True),
    balanced("C43", L3, allowICMP=False),
    balanced("C44", L3, method="WholeIP", allowICMP=True),
    balanced("C45", balancer_at("allowICMP", f"{IN_BODY} boolean"), allowICMP="yes"),
    shaped("C46", at("applicationRef", REQUIRED), applicationRef=LEFT_OUT),
    shaped("C47", at("applicationRef.kind", REQUIRED), applicationRef=ref(kind=LEFT_OUT)),
    shaped("C48", at("applicationRef.name", REQUIRED), applicationRef=ref(name=LEFT_OUT)),
    shaped("C49", applicationRef=ref(group="apps.cozystack.io")),
    shaped("C50", empty("applicationRef.group"), applicationRef=ref(group="")),
    shaped("C51", applicationRef=ref(group="example.org")),
    shaped("C52", empty("applicationRef.kind"), applicationRef=ref(kind="")),
    shaped("C53", at("applicationRef.name", "Too long"), applicationRef=ref(name="n" * 64)),
    shaped("C54", at("endpoint", REQUIRED), endpoint=LEFT_OUT),
    shaped("C55", at("endpoint.serviceName", REQUIRED), endpoint={}),
    shaped("C56", empty("endpoint.serviceName"), endpoint={"serviceName": ""}),
    shaped(
        "C57", at("endpoint.serviceName", "should match"), endpoint={"serviceName": "other/ns-svc"}
    ),
    shaped("C58", at("endpoint.serviceName", "Too long"), endpoint={"serviceName": "s" * 64}),
    balanced("C59", **EVERYTHING),
)

OTHER = {"serviceName": "postgres-db-ro"}
NOTED = {"labels": {"team": "blue"}, "annotations": {"note": "reviewed"}}

UPDATES = (
    changed("U01", EVERYTHING, EVERYTHING),
    Row("U02", attachment({}, applicationRef=ref(name="other")), (S3,), attachment({})),
    Row("U03", attachment({}, applicationRef=ref(kind="MongoDB")), (S3,), attachment({})),
    Row("U04", attachment({}, applicationRef=ref(group="example.org")), (S3,), attachment({})),
    Row("U05", attachment({}), (), attachment({}, applicationRef=ref(group="apps.cozystack.io"))),
    Row("U06", attachment({}, endpoint=OTHER), (), attachment({})),
    changed("U07", {"className": "public"}, {"className": "private"}, L4),
    changed("U08", {}, {"className": "public"}, L4),
    changed("U09", {"className": "public"}, {}, L4),
    changed("U10", {"claimName": "held"}, {"claimName": "kept"}, L5),
    changed("U11", {}, {"claimName": "held"}, L5),
    changed("U12", {"claimName": "held"}, {}, L5),
    changed("U13", {"className": "public"}, {"claimName": "held"}, L4, L5),
    changed("U14", {"family": "IPv4"}, {"family": "Dual"}, L6),
    changed("U15", {}, {"family": "IPv4"}, L6),
    changed("U16", {"family": "IPv4"}, {}, L6),
    changed("U17", {}, {"ports": [80]}),
    changed("U18", {"ports": [80]}, {"ports": [80, 443]}),
    changed("U19", {"ports": [80]}, {}),
    changed("U20", LISTED, {"method": "PortList"}, L2),
    changed("U21", {}, {"method": "WholeIP"}),
    changed("U22", {"method": "WholeIP"}, LISTED),
    changed(
        "U23",
        {**LISTED, "allowICMP": True},
        {**LISTED, "method": "WholeIP", "allowICMP": True},
        L3,
    ),
    changed("U24", {**LISTED, "allowICMP": True}, {**LISTED, "method": "WholeIP"}),
    changed("U25", LISTED, {"ports": [22]}),
    changed("U26", {**LISTED, "allowICMP": True}, {**LISTED, "allowICMP": False}),
    changed("U27", {}, LEFT_OUT, S1, S2),
    Row(
        "U28",
        attachment({"ports": [443]}, endpoint=OTHER),
        (),
        attachment({"ports": [80]}),
    ),
    Row("U29", attachment({}, meta=NOTED), (), attachment({})),
)

ROWS = (*CREATES, *UPDATES)


def misread(message: str, problems: tuple[Problem, ...]) -> list[str]:
    """What a refusal's sentence lacks: its head, or one of the problems under its field."""
    head = f'{ATTACHMENT.kind}.{GROUP} "a" is invalid: '
    lacking = [] if message.startswith(head) else [head]
    for field, says in problems:
        # Each problem of the sentence begins with its field and ends where the next begins.
        parts = message.split(f"{field}: ")[1:]
        lacking += [] if any(says in part for part in parts) else [f"{field}: {says}"]
    return lacking
