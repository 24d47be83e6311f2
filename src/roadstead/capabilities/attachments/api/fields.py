"""The schema of EndpointAttachment, as data: fields, limits, CEL rules and printer columns.

Every string and list that a rule touches has a limit, or the API server refuses the definition
for what its rules could cost. Source: endpoint-attachments 1.2 to 1.5.
"""

from roadstead.capabilities.attachments.api.names import APPLICATION_GROUP, ATTACHMENT
from roadstead.kube.schema import (
    INT_OR_STRING,
    UNIQUE,
    Column,
    Definition,
    Field,
    Rule,
    conditions,
    whole,
)

FAMILIES = ("IPv4", "IPv6", "Dual")
METHODS = ("WholeIP", "PortList")
PHASES = ("Pending", "Attached", "Detached")
MOST_PORTS = 100
"""As many as an EndpointSlice may hold."""

_LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_LABEL_VALUE = "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_PORT = (
    "^(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})"
    "/(TCP|UDP|SCTP)$"
)


def _subdomain(meaning: str, default: str | None = None) -> Field:
    return Field(meaning, shortest=1, longest=253, pattern=_SUBDOMAIN, default=default)


def _label_value(meaning: str) -> Field:
    return Field(meaning, shortest=1, longest=63, pattern=_LABEL_VALUE)


def _frozen(name: str) -> Rule:
    """Keep an optional field as it was: set, unset or with the same value.

    A rule at the field itself would be passed over where the old value is absent.
    """
    kept = f"has(self.{name}) == has(oldSelf.{name})"
    same = f"!has(self.{name}) || self.{name} == oldSelf.{name}"
    return Rule(f"{kept} && ({same})", f"{name} is immutable")


_APPLICATION = Field(
    "The application that the exposure belongs to. It cannot be changed: recreate the attachment "
    "to move it to another application.",
    "object",
    fields={
        "group": _subdomain("API group of the application's kind.", APPLICATION_GROUP),
        "kind": _label_value("Kind of the application, for example Postgres."),
        "name": _label_value("Name of the application in this namespace."),
    },
    required=("kind", "name"),
)

_ENDPOINT = Field(
    "What of the application is exposed. It may be changed at any time.",
    "object",
    fields={
        "serviceName": Field(
            "Service of the application in this namespace that is mirrored. It must carry the "
            "application's lineage labels and be one that tenants may reach.",
            shortest=1,
            longest=63,
            pattern=_LABEL,
        )
    },
    required=("serviceName",),
)

_PORTS = Field(
    "Which ports of the endpoint are exposed; absent or empty means all of them. Required with "
    "method PortList.",
    "array",
    items=Field(
        "A port number of the endpoint, or a number with its protocol, as in 53/UDP.",
        INT_OR_STRING,
        least=1,
        most=65535,
        longest=10,
        pattern=_PORT,
    ),
    longest_list=MOST_PORTS,
    list_type=UNIQUE,
)

_LOAD_BALANCER = Field(
    "Expose the endpoint through a load balancer with an address of its own. An empty object "
    "takes an address of the default class and mirrors every port.",
    "object",
    fields={
        "className": _subdomain(
            "IPAddressClass that a new address is taken from; absent means the default class. "
            "Not together with claimName. It cannot be changed."
        ),
        "claimName": _subdomain(
            "IPAddressClaim of this namespace whose address is used; absent means that one is "
            "made and kept for this attachment. Not together with className. It cannot be changed."
        ),
        "family": Field(
            "Family of the address; absent means whatever the claim has. It cannot be changed.",
            choices=FAMILIES,
        ),
        "ports": _PORTS,
        "method": Field(
            "Hand the address to the backends themselves: WholeIP all of it to a single backend, "
            "PortList the stated ports. Absent means a plain load balancer.",
            choices=METHODS,
        ),
        "allowICMP": Field(
            "Whether the address answers ICMP; true when absent. Only with method PortList.",
            "boolean",
        ),
    },
    rules=(
        Rule(
            "!(has(self.className) && has(self.claimName))",
            "className and claimName are mutually exclusive",
        ),
        Rule(
            "!has(self.method) || self.method != 'PortList' || "
            "(has(self.ports) && self.ports.size() > 0)",
            "method PortList needs at least one port",
        ),
        Rule(
            "!has(self.allowICMP) || (has(self.method) && self.method == 'PortList')",
            "allowICMP only applies to method PortList",
        ),
        _frozen("className"),
        _frozen("claimName"),
        _frozen("family"),
    ),
)

_SPEC = Field(
    "What is asked for: one endpoint of one application, exposed by one mechanism.",
    "object",
    fields={"applicationRef": _APPLICATION, "endpoint": _ENDPOINT, "loadBalancer": _LOAD_BALANCER},
    required=("applicationRef", "endpoint"),
    rules=(
        # A list, so that a second mechanism is one more entry.
        Rule(
            "[has(self.loadBalancer)].filter(m, m).size() == 1",
            "exactly one attachment mechanism must be set",
        ),
        Rule(
            "has(self.loadBalancer) == has(oldSelf.loadBalancer)",
            "the attachment mechanism cannot be changed",
        ),
        Rule("self.applicationRef == oldSelf.applicationRef", "applicationRef is immutable"),
    ),
)

_REPORTED = {
    "phase": Field("The conditions in one word.", choices=PHASES),
    "serviceName": Field("Name of the Service made for this attachment; empty for none."),
    "claimName": Field("Name of the claim in use, found or not; empty before there is one."),
    "addresses": Field(
        "Addresses of the claim, in its order.",
        "array",
        items=Field("An IPv4 or IPv6 address."),
    ),
    "conditions": conditions("The state, aspect by aspect."),
}

_TOP = whole(
    "Exposes one Service of a managed application to the outside, under an address of its own.",
    _SPEC,
    _REPORTED,
)

_WIDE = 1

ENDPOINT_ATTACHMENT = Definition(
    ATTACHMENT,
    _TOP,
    columns=(
        Column("Kind", ".spec.applicationRef.kind"),
        Column("Application", ".spec.applicationRef.name"),
        Column("Endpoint", ".spec.endpoint.serviceName"),
        Column("Addresses", ".status.addresses[*]"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", "date"),
        Column("Reason", '.status.conditions[?(@.type=="Ready")].reason', priority=_WIDE),
        Column("Claim", ".status.claimName", priority=_WIDE),
        Column("Service", ".status.serviceName", priority=_WIDE),
        Column("Class", ".spec.loadBalancer.className", priority=_WIDE),
    ),
    status=True,
    short_names=("epa",),
    categories=("roadstead", "exposure"),
)
"""The kind as it is installed, and as the offline world reviews it."""
