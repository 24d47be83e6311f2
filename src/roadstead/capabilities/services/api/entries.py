"""The nested parts of a ServiceDefinition, as data. Source: contract 1.2 and 1.3."""

from roadstead.capabilities.services.api.setting import (
    choice,
    flag,
    list_of,
    mapping,
    text,
)
from roadstead.capabilities.services.api.words import (
    BUILTIN_SLIS,
    CADENCE_WORDS,
    DNS_NAME,
    DNS_NAME_WORDS,
    DURATION,
    DURATION_WORDS,
    GROUP,
    GROUP_WORDS,
    QUANTITY_WORDS,
    is_cadence,
    is_duration,
    is_host,
    is_skip_path,
    name_of,
    port_of,
    protocol_of,
)
from roadstead.kube.expressions import is_expression
from roadstead.kube.images import is_image
from roadstead.kube.quantities import is_positive_quantity

_IMAGE_WORDS = (
    "an image reference `[registry[:port]/]path[:tag][@sha256:<64 hex>]` with a lower-case path"
)

SOURCE = mapping(
    "Where the workload comes from: exactly one key.",
    {
        "image": text("Container image.", words=_IMAGE_WORDS, holds=is_image),
        "vmTemplate": text("A key of the platform's `vmTemplates`: image and sizing.", shortest=1),
    },
)
DEPENDENCY = mapping(
    "One service that is called.",
    {
        "to": text("A service of the catalog, or one of the platform's.", shortest=1),
        "port": port_of("The container port that is called."),
        "protocol": protocol_of(),
    },
    required=("to", "port"),
)
CLIENT = mapping(
    "One namespace of platform controllers.",
    {
        "namespace": name_of(
            "Every pod of it is admitted, so name a controller's namespace, never a shared one."
        ),
        "port": port_of("The only port that is admitted."),
        "protocol": protocol_of(),
        "name": name_of(
            "Names the policy `<service>-allow-<name>-ingress`, so that one that exists already "
            "can be adopted.",
            derived="the value of `namespace`",
        ),
    },
    required=("namespace", "port"),
)
VOLUME = mapping(
    "One volume.",
    {
        "name": name_of("Name of the volume; at most 20 characters on a vm.", longest=40),
        "size": text(
            "Size of the claim; on `bulk` only the advertised capacity.",
            words=QUANTITY_WORDS,
            holds=is_positive_quantity,
        ),
        "class": choice(
            "Replicated block storage, or the external NFS server.",
            "longhorn",
            "bulk",
            default="longhorn",
        ),
        "mountPath": text("Where it is mounted, verbatim.", derived="`/data/<name>`"),
        "export": text("Absolute path on the bulk server; of class `bulk` alone, and required."),
        "subPath": text("Mounts a subtree of the volume."),
        "readOnly": flag("Mounts it read-only; on `bulk` the volume, too.", default=False),
    },
    required=("name", "size"),
)
ROUTE = mapping(
    "One route from outside the cluster.",
    {
        "host": text(
            "One label under the platform's domain.",
            pattern=DNS_NAME,
            words=DNS_NAME_WORDS,
            holds=is_host,
            longest=253,
        ),
        "port": port_of("The container port it leads to."),
        "tls": choice(
            "Whether the Gateway's wildcard certificate serves it, or one of its own.",
            "wildcard",
            "dedicated",
            default="wildcard",
            extension=True,
        ),
    },
    required=("host", "port"),
)
AUTH = mapping(
    "Who may enter.",
    {
        "mode": choice(
            "Its own OIDC login, a proxy in front, its own login, or none.",
            "oidc",
            "forward-auth",
            "native",
            "none",
            derived="`forward-auth` with routes, else `none`",
        ),
        "groups": list_of(
            "Groups whose members may enter.",
            text("One group.", pattern=GROUP, words=GROUP_WORDS),
            unique=(),
            is_set=True,
            derived="the platform's `identity.defaultGroups` where `mode` is left out",
        ),
        "redirectPaths": list_of(
            "OIDC redirect paths.",
            text("One path.", pattern=r"^/[^\s]*$", words="an absolute path"),
            unique=(),
            is_set=True,
            default=["/*"],
            extension=True,
        ),
        "skipPaths": list_of(
            "Path expressions that pass the proxy without a login.",
            text(
                "One regular expression.",
                words="a regular expression that starts with `^/` and is more than that",
                holds=is_skip_path,
            ),
            unique=(),
            is_set=True,
            extension=True,
        ),
    },
)
UPDATE = mapping(
    "How the running version moves.",
    {
        "channel": choice("Only stable releases.", "stable", default="stable"),
        "range": text(
            "Versions that automation may choose.",
            derived="`^X.Y.Z` of the image's tag",
        ),
        "cadence": text(
            "How often a new version is looked for; of a vm, how often the guest updates.",
            words=CADENCE_WORDS,
            holds=is_cadence,
            derived="the platform's `update.cadence`",
        ),
        "autoRollbackOnFailedHealth": flag(
            "Goes back to the version before when a new one does not become healthy.",
            default=True,
        ),
        "pin": flag(
            "Freezes the service: true, a tag, or a digest.",
            either=(
                text(
                    "A tag or a digest.",
                    pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|sha256:[0-9a-f]{64})$",
                    words="a tag, or `sha256:` and 64 hexadecimal digits",
                ),
            ),
        ),
        "filter": mapping(
            "Which tags count, for tags that are no plain versions.",
            {
                "pattern": text(
                    "Regular expression a tag must match.",
                    shortest=1,
                    words="a regular expression as Go reads it, without look-around",
                    holds=is_expression,
                ),
                "extract": text("The part that is compared, as `$version`."),
            },
            required=("pattern",),
            extension=True,
        ),
        "order": choice(
            "How tags are compared.",
            "semver",
            "numerical",
            "alphabetical",
            default="semver",
            extension=True,
        ),
    },
)
_SLI = mapping(
    "One indicator of your own.",
    {
        "name": name_of("Its name; none of the builtin ones."),
        "expr": text("PromQL that is true while something is wrong."),
        "for": text(
            "How long it must be true.",
            pattern=DURATION,
            words=DURATION_WORDS,
            holds=is_duration,
            default="5m",
        ),
        "severity": choice("How bad it is.", "critical", "warning", "info", default="warning"),
        "summary": text("One sentence for the alert.", default=""),
    },
    required=("name",),
)
OBSERVABILITY = mapping(
    "What is watched.",
    {
        "metrics": flag("Whether Prometheus scrapes it.", default=True),
        "slis": list_of(
            "Indicators; each gives at least one alert.",
            text(f"Builtin: {', '.join(BUILTIN_SLIS)}.", shortest=1, either=(_SLI,)),
            unique=("name",),
            is_set=True,
        ),
        "port": port_of(
            "The metrics port.",
            derived="the primary route's, else the lowest TCP port",
            extension=True,
        ),
        "path": text(
            "The metrics path.",
            pattern=r"^/[^\s]*$",
            words="an absolute path",
            default="/metrics",
            extension=True,
        ),
    },
)
BACKUP = mapping(
    "Off-cluster backup.",
    {
        "policy": text(
            "A key of the platform's `backup.schedules`, or `reacquirable`.",
            shortest=1,
            derived="the platform's `backup.defaultSchedule` for a vm or a longhorn volume",
        )
    },
)
PORT = {
    "port": port_of("The container port."),
    "protocol": protocol_of(),
}
