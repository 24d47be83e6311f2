"""The fields of a definition that shape its container. Source: contract 1.3, all extensions."""

from collections.abc import Mapping
from typing import Any

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
from roadstead.capabilities.services.api.words import port_of
from roadstead.kube.names import is_label_key
from roadstead.kube.quantities import is_quantity

_MOST = 2**31 - 1
_MOST_ID = 2**63 - 1


def _probe(meaning: str, *, successes: int = _MOST) -> Setting:
    """One probe. successes: what Kubernetes admits as `successThreshold`."""
    return mapping(
        meaning,
        {
            "httpGet": mapping(
                "A request that must be answered with 2xx or 3xx.",
                {
                    "path": text("The path.", pattern=r"^/[^\s]*$", words="an absolute path"),
                    "port": port_of("The container port."),
                    "scheme": choice("How it is asked.", "HTTP", "HTTPS"),
                },
                required=("path", "port"),
            ),
            "tcpSocket": mapping(
                "A connection that must be accepted.",
                {"port": port_of("The container port.")},
                required=("port",),
            ),
            "exec": mapping(
                "A program that must end with 0.",
                {"command": list_of("The program and its arguments.", text("One word."))},
                required=("command",),
            ),
            "initialDelaySeconds": number("Seconds before the first.", 0, _MOST),
            "periodSeconds": number("Seconds between two.", 1, _MOST),
            "timeoutSeconds": number("Seconds until one has failed.", 1, _MOST),
            "failureThreshold": number("Failures until it counts.", 1, _MOST),
            "successThreshold": number("Successes until it counts.", 1, successes),
        },
        one_of=("httpGet", "tcpSocket", "exec"),
        either=(off(),),
    )


def off() -> Setting:
    """`false`, which switches something off."""
    return flag("Switches it off.", only_false=True)


def _identifiers() -> dict[str, Setting]:
    return {
        "runAsUser": number("User id.", 0, _MOST_ID),
        "runAsGroup": number("Group id.", 0, _MOST_ID),
    }


def _words(meaning: str, **more: Any) -> Setting:
    return list_of(meaning, text("One word."), extension=True, **{"default": None, **more})


def _quantities(meaning: str) -> Setting:
    return any_keys(
        meaning,
        text("How much.", words="a quantity such as 250m or 512Mi", holds=is_quantity),
        key_holds=is_label_key,
        key_words="the name of a resource",
    )


WORKLOAD_FIELDS: Mapping[str, Setting] = {
    "command": _words("Replaces the image's entry point; passed verbatim."),
    "args": _words("Arguments; passed verbatim."),
    "resources": mapping(
        "What the container is given.",
        {
            "requests": _quantities("What is reserved."),
            "limits": _quantities("What it may not exceed."),
        },
        derived="the platform's `defaults.resources`",
        extension=True,
    ),
    "probes": mapping(
        "How its health is asked.",
        {
            "startup": _probe("Whether it has started.", successes=1),
            "readiness": _probe("Whether it may be sent requests; `false` for no default one."),
            "liveness": _probe("Whether it must be restarted.", successes=1),
        },
        extension=True,
    ),
    "replicas": number("How many pods.", 0, 50, default=1, extension=True),
    "workload": choice(
        "The kind of the workload.",
        "Deployment",
        "StatefulSet",
        default="Deployment",
        extension=True,
    ),
    "podSecurityContext": mapping(
        "Who the pod runs as.",
        {
            **_identifiers(),
            "runAsNonRoot": flag("Refuses to start as root."),
            "fsGroup": number("Group that owns the volumes; nothing on `bulk`.", 0, _MOST_ID),
            "fsGroupChangePolicy": choice("When ownership is changed.", "OnRootMismatch", "Always"),
            "supplementalGroups": list_of(
                "Further groups.", number("Group id.", 0, _MOST_ID), default=None
            ),
        },
        default={},
        extension=True,
    ),
    "securityContext": mapping(
        "What the container may do.",
        {
            "capabilities": mapping(
                "Capabilities beside the runtime's.",
                {
                    "add": list_of("Given.", text("One capability.", shortest=1), default=None),
                    "drop": list_of("Taken.", text("One capability.", shortest=1), default=None),
                },
            ),
            "readOnlyRootFilesystem": flag("Keeps it from writing outside its volumes."),
            "privileged": flag("Gives it the node."),
            **_identifiers(),
        },
        default={},
        extension=True,
    ),
    "tolerations": list_of(
        "Taints it may run in spite of; passed verbatim.",
        mapping(
            "One toleration.",
            {
                "key": text("The taint's key."),
                "operator": choice("How it is compared.", "Exists", "Equal"),
                "value": text("The taint's value."),
                "effect": choice("Which effect.", "NoSchedule", "PreferNoSchedule", "NoExecute"),
                "tolerationSeconds": number("For how long.", 0, _MOST_ID),
            },
        ),
        extension=True,
    ),
    "terminationGracePeriodSeconds": number(
        "Seconds between the request to end and its enforcement.", 0, 3600, extension=True
    ),
}
