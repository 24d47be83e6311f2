"""The schema of TenantGateway, as data: fields, limits, CEL rules and printer columns.

A rule stands as deep as what it compares allows, so that an update which leaves a broken part
alone is not refused for it. Source: tenant-gateway 1.
"""

from roadstead.capabilities.gateways.api import TENANT_GATEWAY
from roadstead.kube.schema import KEYED, Column, Definition, Field, Rule, conditions, whole

HTTP01, DNS01, EXISTING_SECRET, EDGE = "http01", "dns01", "existingSecret", "edge"
MODES = (HTTP01, DNS01, EXISTING_SECRET, EDGE)
PRODUCTION, STAGING = "letsencrypt-prod", "letsencrypt-stage"
ISSUERS = (PRODUCTION, STAGING)
DEFAULT_CLASS = "cilium"
CLOUDFLARE, ROUTE53, DIGITALOCEAN, RFC2136 = "cloudflare", "route53", "digitalocean", "rfc2136"
PROVIDERS = (CLOUDFLARE, ROUTE53, DIGITALOCEAN, RFC2136)
DEFAULT_ALGORITHM = "HMACSHA256"
MOST_PASSTHROUGH = 62
"""Of 64 listeners of a Gateway two are its own."""
LONGEST_SERVICE = 249
"""With `tls-` before it a listener's name is at most 253 characters long."""

_LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_HOSTNAME = r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


def _key_of(meaning: str) -> Field:
    """One key of a Secret in the namespace of the TenantGateway."""
    return Field(
        meaning,
        "object",
        fields={
            "name": Field("Name of the Secret, in this namespace.", default=""),
            "key": Field("Key of the Secret whose value is used."),
            "optional": Field("Whether the Secret, or its key, may be absent.", "boolean"),
        },
        required=("key",),
    )


_DNS01 = Field(
    "How names are proven through DNS; read in mode dns01 alone. The block of the provider must "
    "be there.",
    "object",
    fields={
        "provider": Field(
            "Which of the blocks below is used.", choices=PROVIDERS, default=CLOUDFLARE
        ),
        CLOUDFLARE: Field(
            "Cloudflare.",
            "object",
            fields={"apiTokenSecretRef": _key_of("The API token.")},
            required=("apiTokenSecretRef",),
        ),
        ROUTE53: Field(
            "Amazon Route 53.",
            "object",
            fields={
                "region": Field("AWS region of the hosted zone."),
                "accessKeyID": Field("Access key; absent with ambient credentials."),
                "secretAccessKeySecretRef": _key_of(
                    "The secret access key; absent with ambient credentials."
                ),
            },
            required=("region",),
        ),
        DIGITALOCEAN: Field(
            "DigitalOcean.",
            "object",
            fields={"tokenSecretRef": _key_of("The API token.")},
            required=("tokenSecretRef",),
        ),
        RFC2136: Field(
            "A name server that takes dynamic updates (RFC 2136).",
            "object",
            fields={
                "nameserver": Field("Address of the name server, with a port or without."),
                "tsigKeyName": Field("Name of the TSIG key."),
                "tsigAlgorithm": Field("Algorithm of the TSIG key.", default=DEFAULT_ALGORITHM),
                "tsigSecretSecretRef": _key_of("The TSIG key."),
            },
            required=("nameserver", "tsigKeyName", "tsigSecretSecretRef"),
        ),
    },
)

_SERVICES = Field(
    "Platform services whose TLS ends at their backend: `api` gets the listener `tls-api` for "
    "`api.<apex>`. Routes attach to it by that section name.",
    "array",
    items=Field(
        "A name below the apex; dots are allowed.", longest=LONGEST_SERVICE, pattern=_SUBDOMAIN
    ),
    longest_list=MOST_PASSTHROUGH,
)

_LISTENER = Field(
    "One listener on a port of its own, for example of a database.",
    "object",
    fields={
        "name": Field(
            "Its name; the listener is called `tls-<name>`.", shortest=1, longest=63, pattern=_LABEL
        ),
        "port": Field(
            "The port that clients connect to.",
            "integer",
            format="int32",
            least=1,
            most=65535,
            rules=(
                Rule(
                    "self != 80 && self != 443",
                    "port must be neither 80 nor 443, which the Gateway itself listens on",
                ),
            ),
        ),
        "hostname": Field(
            "The name that clients ask for: the apex, a name below it, or `*.` before either.",
            shortest=1,
            longest=253,
            pattern=_HOSTNAME,
        ),
    },
    required=("name", "port", "hostname"),
)

_LISTENERS = Field(
    "Listeners that pass TLS on to a backend on ports of their own; in mode http01 alone.",
    "array",
    items=_LISTENER,
    longest_list=MOST_PASSTHROUGH,
    list_type=KEYED,
    keys=("name",),
    rules=(
        Rule(
            "self.all(one, self.filter(other, other.port == one.port).size() == 1)",
            "port must be a different one in each of tlsPassthroughListeners",
        ),
    ),
)

_ANY = "!has(self.tlsPassthroughListeners)"

_SPEC = Field(
    "What is asked for: one Gateway for one domain. The platform writes it.",
    "object",
    fields={
        "apex": Field("The domain that the Gateway serves.", shortest=1, longest=253),
        "certMode": Field(
            "Where certificates come from: one for each published name (http01), one wildcard "
            "for the domain (dns01), a Secret that is there (existingSecret), or none, since TLS "
            "ends before the Gateway (edge).",
            choices=MODES,
            default=HTTP01,
        ),
        "issuerName": Field(
            "Which of Let's Encrypt's servers is asked; read in modes http01 and dns01.",
            choices=ISSUERS,
            default=PRODUCTION,
        ),
        "gatewayClassName": Field(
            "GatewayClass of the Gateway; empty means cilium.", default=DEFAULT_CLASS
        ),
        "dns01": _DNS01,
        "wildcardSecretRef": Field(
            "The Secret with the certificate, in this namespace; read in mode existingSecret "
            "alone.",
            "object",
            fields={"name": Field("Name of the Secret.")},
        ),
        "attachedNamespaces": Field(
            "Namespaces beside the tenants' own whose routes may attach.",
            "array",
            items=Field("Name of a Namespace; it may be made later."),
        ),
        "tlsPassthroughServices": _SERVICES,
        "tlsPassthroughListeners": _LISTENERS,
    },
    required=("apex",),
    rules=(
        Rule(
            f"{_ANY} || self.tlsPassthroughListeners.all(one, one.hostname == self.apex || "
            "one.hostname.endsWith('.' + self.apex))",
            "hostname in each of tlsPassthroughListeners must be apex or end with `.` and apex, "
            "in the same letters",
        ),
        Rule(
            f"{_ANY} || !has(self.tlsPassthroughServices) || "
            "self.tlsPassthroughListeners.all(one, !(one.name in self.tlsPassthroughServices))",
            "name in each of tlsPassthroughListeners must be none of tlsPassthroughServices: both "
            "would be the listener tls-<name>",
        ),
        Rule(
            f"{_ANY} || self.tlsPassthroughListeners.size() == 0 || !has(self.certMode) || "
            f"self.certMode == '{HTTP01}'",
            "tlsPassthroughListeners must be empty or absent unless certMode is http01",
        ),
    ),
)

_REPORTED = {
    "conditions": conditions("The state; Ready is the one that is written."),
    "listeners": Field(
        "One for each listener of the Gateway, in its order.",
        "array",
        items=Field(
            "How one listener stands.",
            "object",
            fields={
                "name": Field("Name of the listener, as routes state it in sectionName."),
                "hostname": Field("Its hostname; absent where it serves every name."),
                "ready": Field("Whether it was accepted and programmed.", "boolean"),
                "certificateName": Field(
                    "The Secret of its certificate; absent where it ends no TLS."
                ),
                "reason": Field(
                    "Why it is not ready: Pending, NotAccepted or NotProgrammed; else empty."
                ),
            },
            required=("name", "ready"),
        ),
        list_type=KEYED,
        keys=("name",),
    ),
}

_TOP = whole(
    "Gives one tenant a Gateway, with the certificates, listeners and labels around it.",
    _SPEC,
    _REPORTED,
)

TENANT_GATEWAY_DEFINITION = Definition(
    TENANT_GATEWAY,
    _TOP,
    columns=(
        Column("Apex", ".spec.apex"),
        Column("Mode", ".spec.certMode"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Age", ".metadata.creationTimestamp", "date"),
        Column("Reason", '.status.conditions[?(@.type=="Ready")].reason', priority=1),
        Column("Class", ".spec.gatewayClassName", priority=1),
    ),
    status=True,
    short_names=("tgw",),
    categories=("roadstead", "exposure"),
)
"""The kind as it is installed, and as the offline world reviews it."""
