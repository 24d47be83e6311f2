"""The schema of a ServiceDefinition, as data. Source: contract 1.2 and 1.3."""

from roadstead.capabilities.services.api.entries import (
    AUTH,
    BACKUP,
    CLIENT,
    DEPENDENCY,
    OBSERVABILITY,
    PORT,
    ROUTE,
    SOURCE,
    UPDATE,
    VOLUME,
)
from roadstead.capabilities.services.api.setting import (
    any_keys,
    choice,
    flag,
    list_of,
    mapping,
    number,
    text,
)
from roadstead.capabilities.services.api.words import (
    DATA_KEY,
    DATA_KEY_WORDS,
    ENV_NAME,
    ENV_NAME_WORDS,
    LEVELS,
    PORT_NAME,
    PORT_NAME_WORDS,
    QUANTITY_WORDS,
    SERVICE_NAME,
    SERVICE_NAME_WORDS,
    VERSION,
    VERSION_WORDS,
    is_network,
    is_port_name,
    labels_of,
    name_of,
)
from roadstead.capabilities.services.api.workload import WORKLOAD_FIELDS
from roadstead.kube.quantities import is_positive_quantity

SCHEMA_VERSION = "1.5.0"

DEFINITION = mapping(
    "One service: what it is, who may reach it, and what it may reach.",
    {
        "schemaVersion": text(
            "The version of this schema it is written against.",
            pattern=VERSION,
            words=VERSION_WORDS,
            default=SCHEMA_VERSION,
        ),
        "name": text(
            "Namespace, workload, Service and DNS label.",
            pattern=SERVICE_NAME,
            words=SERVICE_NAME_WORDS,
            longest=40,
            shortest=1,
        ),
        "kind": choice("A container or a virtual machine.", "container", "vm", default="container"),
        "source": SOURCE,
        "exposure": choice(
            "Who may resolve and reach the routes.", "internal", "public", default="internal"
        ),
        "egress": choice(
            "Where its traffic leaves the cluster.",
            "internet",
            "vpn",
            "none",
            default="internet",
            extension_choices=("none",),
        ),
        "dependencies": list_of(
            "Services this one may call.",
            DEPENDENCY,
            unique=("to", "port", "protocol"),
            is_set=True,
        ),
        "inClusterClients": list_of(
            "Platform controllers that dial the service directly.",
            CLIENT,
            is_set=True,
            since="1.5.0",
        ),
        "storage": list_of(
            "Volumes that survive a rebuild.", VOLUME, unique=("name",), is_set=True
        ),
        "ingressRoutes": list_of("Routes from outside the cluster.", ROUTE, is_set=True),
        "auth": AUTH,
        "update": UPDATE,
        "observability": OBSERVABILITY,
        "backup": BACKUP,
        "ports": list_of(
            "When not empty, the closed list of ports that others may depend on.",
            mapping(
                "One port.",
                {
                    "name": text(
                        "Name of the port.",
                        pattern=PORT_NAME,
                        words=PORT_NAME_WORDS,
                        longest=15,
                        holds=is_port_name,
                    ),
                    **PORT,
                },
                required=("port",),
            ),
            unique=("port", "protocol"),
            is_set=True,
            extension=True,
        ),
        "env": any_keys(
            "Environment variables.",
            text(
                "A value, or a key of a declared Secret.",
                private=True,
                either=(
                    mapping(
                        "A key of a declared Secret.",
                        {
                            "secret": text("The Secret's name among `secrets`."),
                            "key": text("One of its keys."),
                        },
                        required=("secret", "key"),
                    ),
                ),
            ),
            key_pattern=ENV_NAME,
            key_words=ENV_NAME_WORDS,
            default={},
            extension=True,
        ),
        "config": list_of(
            "Files mounted into the container.",
            mapping(
                "One file.",
                {
                    "path": text("Absolute path of the file."),
                    "content": text("What it holds.", private=True),
                },
                required=("path", "content"),
            ),
            unique=("path",),
            extension=True,
        ),
        "secrets": list_of(
            "Secrets that must exist encrypted.",
            mapping(
                "One Secret `<service>-<name>`.",
                {
                    "name": name_of("Its name; it becomes a path."),
                    "keys": list_of(
                        "Keys it must have.",
                        text("One key.", pattern=DATA_KEY, words=DATA_KEY_WORDS),
                        unique=(),
                        is_set=True,
                    ),
                },
                required=("name", "keys"),
            ),
            unique=("name",),
            is_set=True,
            extension=True,
        ),
        **WORKLOAD_FIELDS,
        "podSecurity": choice(
            "Pod Security level of the namespace.",
            *LEVELS,
            derived="the platform's `podSecurity.enforce`",
            extension=True,
        ),
        "nodeSelector": labels_of("Nodes it may run on.", extension=True),
        "clusterApi": flag(
            "Mounts a token and lets it call the API server.", default=False, extension=True
        ),
        "directPorts": list_of(
            "Ports other than HTTP that are published on an address of their own.",
            mapping("One port.", PORT, required=("port",)),
            unique=("port", "protocol"),
            is_set=True,
            extension=True,
        ),
        "lanEgress": list_of(
            "Hosts of the LAN it may call.",
            mapping(
                "One range and port.",
                {
                    "cidr": text(
                        "Within one of the platform's `egress.internet.exceptCIDRs`.",
                        words="an IP range such as 192.168.1.10/32, without host bits",
                        holds=is_network,
                    ),
                    **PORT,
                },
                required=("cidr", "port"),
            ),
            unique=("cidr", "port", "protocol"),
            is_set=True,
            extension=True,
        ),
        "vm": mapping(
            "Sizing of a virtual machine.",
            {
                "cpu": number("Cores.", 1, 256, derived="the template's"),
                "memory": text(
                    "Memory of the guest.",
                    words=QUANTITY_WORDS,
                    holds=is_positive_quantity,
                    derived="the template's",
                ),
                "runStrategy": choice(
                    "When it runs.",
                    "Always",
                    "RerunOnFailure",
                    "Manual",
                    "Halted",
                    "Once",
                    default="Always",
                ),
            },
            extension=True,
        ),
    },
    required=("name", "source"),
)
"""Every field of one definition."""
