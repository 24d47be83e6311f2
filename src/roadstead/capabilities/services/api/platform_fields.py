"""The schema of the platform file, as data. Source: contract, section 2."""

from collections.abc import Mapping

from roadstead.capabilities.services.api.platform_parts import (
    EGRESS,
    FLUX,
    GATEWAY,
    NETWORK,
    STORAGE,
)
from roadstead.capabilities.services.api.setting import (
    Setting,
    any_keys,
    choice,
    flag,
    list_of,
    mapping,
    number,
    text,
)
from roadstead.capabilities.services.api.words import (
    DNS_NAME,
    DNS_NAME_WORDS,
    GROUP,
    GROUP_WORDS,
    LABEL,
    LABEL_WORDS,
    LEVELS,
    VERSION,
    VERSION_WORDS,
    duration_of,
    is_host,
    labels_of,
    name_of,
    port_of,
    protocol_of,
)
from roadstead.capabilities.services.api.words_platform import (
    CRON_WORDS,
    URL,
    URL_WORDS,
    is_cron,
    is_go_duration,
    label_of,
    named_of,
    object_of,
    services_of,
)
from roadstead.kube.images import is_image
from roadstead.kube.names import is_label_key
from roadstead.kube.quantities import is_positive_quantity, is_quantity

PLATFORM_VERSION = "1.0.0"
_QUANTITY = "a quantity above zero such as 20Gi"


_IDENTITY = mapping(
    "Keycloak. What has no default is needed as soon as a service uses `oidc` or `forward-auth`.",
    {
        "provider": choice(
            "How clients are registered.",
            "edp",
            "keycloak-operator",
            "config-cli",
            default="edp",
        ),
        "realm": text("The realm.", pattern=r"^[A-Za-z0-9._-]{1,255}$", words="a realm's name"),
        "realmRef": named_of("The realm's object."),
        "issuerURL": text("The realm, for browsers.", pattern=URL, words=URL_WORDS),
        "backchannelURL": text("The realm, within the cluster.", pattern=URL, words=URL_WORDS),
        "namespace": name_of("Where Keycloak's pods are."),
        "podLabels": labels_of("Keycloak's pods."),
        "port": port_of("The port of the pods."),
        "defaultGroups": list_of(
            "Groups of a service that names neither mode nor groups.",
            text("One group.", pattern=GROUP, words=GROUP_WORDS),
            unique=(),
            is_set=True,
        ),
        "groupsFullPath": flag("Whether group names begin with a slash.", default=False),
        "nativeAllowed": services_of("Services that may keep their own login."),
        "forwardAuth": mapping(
            "The proxy in front of bare UIs.",
            {
                "mode": choice(
                    "In the data path, or asked by Envoy Gateway.",
                    "proxy",
                    "envoy-gateway",
                    default="proxy",
                ),
                "image": text(
                    "Its image.",
                    default="quay.io/oauth2-proxy/oauth2-proxy:v7.15.3",
                    words="an image reference",
                    holds=is_image,
                ),
            },
        ),
    },
)
_BACKUP = mapping(
    "Off-cluster backup.",
    {
        "velero": mapping(
            "Velero.",
            {
                "namespace": name_of("Its namespace.", default="velero"),
                "storageLocation": object_of("Where it stores.", default="default"),
            },
        ),
        "mechanism": choice(
            "What stores the data of volumes.",
            "longhorn",
            "velero-data-mover",
            default="longhorn",
        ),
        "defaultSchedule": text("The key a durable service gets; required with `schedules`."),
        "schedules": any_keys(
            "Schedules by key.",
            mapping(
                "One schedule.",
                {
                    "cron": text(
                        "When; `H` in the minute field is a minute of each service's own.",
                        words=CRON_WORDS,
                        holds=is_cron,
                    ),
                    "ttl": text(
                        "How long it is kept.",
                        words="a duration such as 720h0m0s",
                        holds=is_go_duration,
                    ),
                    "retain": number("How many Longhorn keeps.", 1, 250),
                },
                required=("cron", "ttl", "retain"),
            ),
            key_pattern=r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$",
            key_words="a DNS label of at most 40 characters",
            default={},
        ),
        "irreplaceable": services_of("Services that are DR-critical whatever their storage."),
    },
)
_QUANTITIES = any_keys(
    "Quantities by resource.",
    text("How much.", words="a quantity such as 250m or 512Mi", holds=is_quantity),
    key_holds=is_label_key,
    key_words="the name of a resource",
)
_PLATFORM_SERVICES = any_keys(
    "Dependency targets outside the catalog, by the name definitions use.",
    mapping(
        "One target.",
        {
            "namespace": name_of("Where its pods are."),
            "podLabels": labels_of("Its pods."),
            "ports": list_of(
                "Ports that may be called.",
                mapping(
                    "One port.",
                    {"port": port_of("The port of the pods."), "protocol": protocol_of()},
                    required=("port",),
                ),
                unique=("port", "protocol"),
                is_set=True,
            ),
        },
        required=("namespace", "podLabels", "ports"),
    ),
    key_pattern=LABEL,
    key_words=LABEL_WORDS,
    default={},
)
_VM_TEMPLATES = any_keys(
    "Images of virtual machines, by the name definitions use.",
    mapping(
        "One image and its sizing.",
        {
            "osFamily": choice("What it is updated with.", "debian", "rhel"),
            "source": mapping(
                "One source, as CDI names it.",
                {
                    "http": mapping(
                        "A file.",
                        {
                            "url": text("Its address.", pattern=URL, words=URL_WORDS),
                            "checksum": text("Its digest, as CDI writes it.", shortest=1),
                        },
                        required=("url",),
                    ),
                    "registry": mapping(
                        "An image.",
                        {
                            "url": text(
                                "Its address.",
                                pattern=r"^(docker|oci-archive)://\S+$",
                                words="an address such as docker://quay.io/containerdisks/debian:12",
                            )
                        },
                        required=("url",),
                    ),
                    "pvc": mapping(
                        "A claim.",
                        {"name": object_of("Its name."), "namespace": name_of("Its namespace.")},
                        required=("name", "namespace"),
                    ),
                },
                one_of=("http", "registry", "pvc"),
            ),
            "size": text("Root disk.", words=_QUANTITY, holds=is_positive_quantity),
            "cpu": number("Cores.", 1, 256),
            "memory": text("Memory.", words=_QUANTITY, holds=is_positive_quantity),
            "sshAuthorizedKeys": list_of(
                "Public keys that may log in.",
                text(
                    "One key.",
                    pattern=r"^(ssh|ecdsa|sk)-[!-~]+ [!-~]+( [ -~]*)?$",
                    words="a public key in OpenSSH's form",
                ),
                unique=(),
            ),
        },
        required=("osFamily", "source", "size", "cpu", "memory"),
    ),
    key_pattern=DNS_NAME,
    key_words=DNS_NAME_WORDS,
    default={},
)

_FIELDS: Mapping[str, Setting] = {
    "schemaVersion": text(
        "Version of this table.",
        pattern=VERSION,
        words=VERSION_WORDS,
        default=PLATFORM_VERSION,
    ),
    "name": text("The platform's name, for messages.", shortest=1, longest=63),
    "domain": object_of("Parent of every route's host.", holds=is_host),
    "labelPrefix": object_of(
        "Prefix of our labels and annotations.", default="roadstead.dev", holds=is_host
    ),
    "cluster": mapping(
        "The cluster's own names.",
        {
            "dnsDomain": object_of("Its DNS domain.", default="cluster.local", holds=is_host),
            "ipFamilies": list_of(
                "Families of pod addresses.",
                choice("One family.", "IPv4", "IPv6"),
                unique=(),
                default=["IPv4"],
            ),
        },
    ),
    "flux": FLUX,
    "gateway": GATEWAY,
    "network": NETWORK,
    "egress": EGRESS,
    "storage": STORAGE,
    "tls": mapping(
        "Certificates.",
        {
            "issuer": named_of(
                "Who issues dedicated ones.", derived="ClusterIssuer letsencrypt-dns01"
            ),
            "wildcardSecret": object_of("The Gateway's wildcard certificate, for readers."),
        },
    ),
    "dns": mapping(
        "ExternalDNS.",
        {
            "publicLabel": label_of(
                "What the public instance filters on.", "`<labelPrefix>/exposure: public`"
            ),
            "publicGuardPrefixes": list_of(
                "Annotation prefixes of the public instance.",
                text(
                    "One prefix, with its slash.",
                    pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/$",
                    words="a DNS name and a slash",
                ),
                unique=(),
                is_set=True,
            ),
        },
    ),
    "identity": _IDENTITY,
    "observability": mapping(
        "Prometheus and Grafana.",
        {
            "namespace": name_of("Where the scrapers are.", default="monitoring"),
            "prometheusLabels": labels_of("Labels of monitors and rules.", default={}),
            "dashboardLabel": labels_of("Label of dashboards.", default={"grafana_dashboard": "1"}),
            "scrapeInterval": duration_of("How often is scraped.", "60s"),
        },
    ),
    "update": mapping(
        "Defaults of updates.",
        {
            "rollback": choice("How a failed one is undone.", "helm", "none", default="helm"),
            "cadence": duration_of("How often new versions are looked for.", "12h"),
            "healthTimeout": duration_of("How long a new version may take.", "10m"),
            "alertProvider": object_of("The Provider alerts go to.", default="alertmanager"),
            "author": mapping(
                "Who commits for image automation.",
                {
                    "name": text("Name.", default="roadstead-automation", shortest=1),
                    "email": text(
                        "Address.",
                        pattern=r"^[^@\s]+@[^@\s]+$",
                        words="a mail address",
                        derived="`automation@<domain>`",
                    ),
                },
            ),
        },
    ),
    "backup": _BACKUP,
    "podSecurity": mapping(
        "Pod Security levels of every namespace.",
        {
            "enforce": choice("What is refused.", *LEVELS, default="baseline"),
            "audit": choice("What is noted.", *LEVELS, default="restricted"),
            "warn": choice("What is warned of.", *LEVELS, default="restricted"),
        },
    ),
    "defaults": mapping(
        "What a definition that says nothing gets.",
        {
            "resources": mapping(
                "Resources of a container.",
                {"requests": _QUANTITIES, "limits": _QUANTITIES},
                derived="requests of 50m CPU and 128Mi memory",
            )
        },
    ),
    "platformServices": _PLATFORM_SERVICES,
    "vmTemplates": _VM_TEMPLATES,
    "waivers": list_of(
        "Findings that are accepted.",
        mapping(
            "One of them.",
            {
                "check": text("The id of the check.", shortest=1),
                "service": text(
                    "The service; never all of them.",
                    pattern=LABEL,
                    words=f"a service's name, {LABEL_WORDS}",
                ),
                "reason": text("Why.", shortest=10, words="a reason of at least 10 characters"),
            },
            required=("check", "service", "reason"),
        ),
        unique=("check", "service"),
    ),
}

PLATFORM = mapping(
    "Everything that belongs to one platform and to no definition.",
    _FIELDS,
    required=("name", "domain", "gateway"),
)
"""Every field of the platform file."""
