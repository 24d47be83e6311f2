"""The parts of the platform file that concern the cluster itself. Source: contract, section 2."""

from roadstead.capabilities.services.api.setting import (
    any_keys,
    choice,
    flag,
    list_of,
    mapping,
    text,
)
from roadstead.capabilities.services.api.words import (
    LABEL,
    LABEL_WORDS,
    duration_of,
    is_network,
    labels_of,
    name_of,
    port_of,
)
from roadstead.capabilities.services.api.words_platform import (
    URL,
    URL_WORDS,
    is_address,
    is_annotation_key,
    is_relative_path,
    label_of,
    named_of,
    namespaces_of,
    object_of,
    services_of,
)

EXCEPT_CIDRS = (
    "10.0.0.0/8",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
    "fe80::/10",
)
REQUIRED_FOR_VPN = ("sonarr", "radarr", "jackett", "qbittorrent")
MOUNT_OPTIONS = ("nfsvers=4.1", "hard", "noatime", "timeo=600", "retrans=2")


FLUX = mapping(
    "How Flux finds and applies the output tree.",
    {
        "namespace": name_of("Home of every Flux object.", default="flux-system"),
        "sourceRef": named_of(
            "The source that holds the tree.", derived="GitRepository flux-system"
        ),
        "branch": text("Where image automation commits.", default="main", shortest=1),
        "outputPath": text(
            "Path of the output tree in the repository.",
            default="./rendered",
            words="a normalised relative path such as ./rendered",
            holds=is_relative_path,
        ),
        "kustomizationPrefix": text(
            "Flux Kustomization = prefix + service.",
            default="svc-",
            pattern=r"^([a-z0-9][-a-z0-9]{0,19})?$",
            words="up to 20 lower-case letters, digits and dashes, no dash first",
        ),
        "dependsOn": list_of(
            "Platform Kustomizations every service waits for.", object_of("One."), unique=()
        ),
        "interval": duration_of("How often it is applied again.", "10m"),
        "retryInterval": duration_of("How soon after a failure.", "2m"),
        "timeout": duration_of("Longer than `update.healthTimeout`.", "15m"),
        "varsConfigMap": object_of("The ConfigMap of cluster variables.", default="cluster-vars"),
        "decryptionSecret": object_of("The Secret SOPS decrypts with.", default="sops-age"),
    },
)
GATEWAY = mapping(
    "The shared Gateway.",
    {
        "name": object_of("Its name."),
        "namespace": name_of("Its namespace."),
        "httpsListener": text(
            "The listener every route attaches to; empty for none in particular.",
            default="https",
            pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$",
            words=LABEL_WORDS,
            longest=253,
        ),
        "publicListener": text(
            "A second listener for public routes alone.",
            pattern=LABEL,
            words=LABEL_WORDS,
            longest=253,
        ),
        "dataplane": choice(
            "How the proxy is known to policies: an identity, or its pods.",
            "cilium",
            "pods",
            default="cilium",
        ),
        "podLabels": labels_of("Labels of the proxy pods; `pods` alone.", default={}),
        "namespaceLabel": label_of(
            "The label that admits a namespace's routes.", '`<labelPrefix>/routable: "true"`'
        ),
        "directAnnotations": any_keys(
            "Annotations of the Services of `directPorts`.",
            text("Value of the annotation."),
            key_holds=is_annotation_key,
            key_words="an annotation's key",
            default={},
        ),
    },
    required=("name", "namespace"),
)
NETWORK = mapping(
    "What holds for every namespace.",
    {
        "baseline": choice(
            "The kind of the default deny.",
            "NetworkPolicy",
            "CiliumNetworkPolicy",
            default="NetworkPolicy",
        ),
        "clientNamespaces": namespaces_of(
            "Namespaces `inClusterClients` may name.", default=["flux-system", "monitoring"]
        ),
        "resolver": mapping(
            "The DNS server of the cluster.",
            {
                "namespace": name_of("Where its pods are.", default="kube-system"),
                "podLabels": labels_of("Its pods.", default={"k8s-app": "kube-dns"}),
                "port": port_of("The port of the pods, not of the Service.", default=53),
                "l7": flag("Sends every lookup through the agent's proxy.", default=False),
                "nodeLocal": flag("Whether nodes have a cache of their own.", default=False),
            },
        ),
    },
)
EGRESS = mapping(
    "Traffic that leaves the cluster.",
    {
        "internet": mapping(
            "What counts as the internet.",
            {
                "exceptCIDRs": list_of(
                    "Ranges that do not.",
                    text("One range.", words="an IP range", holds=is_network),
                    unique=(),
                    is_set=True,
                    default=list(EXCEPT_CIDRS),
                )
            },
        ),
        "vpn": mapping(
            "The VPN class.",
            {
                "mode": choice(
                    "How pods are steered.", "egress-gateway", "proxy", default="egress-gateway"
                ),
                "requiredFor": services_of(
                    "Services that must use it.", default=list(REQUIRED_FOR_VPN)
                ),
                "nodeSelector": labels_of("The gateway node."),
                "interface": text(
                    "The tunnel device; or `egressIP`.",
                    pattern=r"^[A-Za-z0-9._-]{1,15}$",
                    words="a device name of at most 15 characters",
                ),
                "egressIP": text(
                    "The tunnel's address; or `interface`.", words="an IP address", holds=is_address
                ),
                "ipPool": name_of("Pod addresses that are not masqueraded."),
                "ipv6": flag("Whether IPv6 may use it.", default=False),
                "proxy": mapping(
                    "The HTTP proxy of mode `proxy`.",
                    {
                        "namespace": name_of("Where its pods are."),
                        "podLabels": labels_of("Its pods."),
                        "port": port_of("The port of the pods."),
                        "url": text("What programs are told.", pattern=URL, words=URL_WORDS),
                    },
                    required=("namespace", "podLabels", "port", "url"),
                ),
            },
        ),
    },
)
STORAGE = mapping(
    "Where volumes are.",
    {
        "longhorn": mapping(
            "Replicated block storage.",
            {
                "className": object_of("Its StorageClass.", default="longhorn"),
                "namespace": name_of("Its namespace.", default="longhorn-system"),
            },
        ),
        "bulk": mapping(
            "The external NFS server.",
            {
                "server": text(
                    "Its address, or a variable of `flux.varsConfigMap`.",
                    default="${BULK_NFS_SERVER}",
                    pattern=r"^(\$\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z0-9._:-]{1,253})$",
                    words="a host name, an address, or a variable such as ${BULK_NFS_SERVER}",
                ),
                "mountOptions": list_of(
                    "How it is mounted, in this order.",
                    text("One option.", pattern=r"^[A-Za-z0-9_.=:/-]+$", words="a mount option"),
                    unique=(),
                    default=list(MOUNT_OPTIONS),
                ),
            },
        ),
    },
)
