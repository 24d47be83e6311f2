"""What the chain has to say of values that render and still do not do what was meant.

Nothing is stopped by a remark. Source: tenant-gateway 8.5 and 9.
"""

from collections.abc import Collection, Iterator

from roadstead.capabilities.gateways.chain.classes import (
    Cluster,
    allowed_classes,
    default_class,
    edge_classes,
    split,
)
from roadstead.capabilities.gateways.chain.findings import (
    CLASS_NOT_FOUND,
    CLASS_UNUSED,
    CLEAR_TEXT,
    ROOT_WITHOUT_GATEWAY,
    UNPUBLISHED,
    did_you_mean,
    remarked,
)
from roadstead.capabilities.gateways.chain.names import (
    ENABLED,
    EXPOSED,
    PASSTHROUGH,
    PUBLISHING,
    ROOT,
    TENANT_CLASSES,
    YES,
)
from roadstead.capabilities.gateways.fields import DEFAULT_CLASS
from roadstead.decision import Finding

_DEFAULT, _SELECTABLE, _EDGE = (
    "gateway.className",
    "gateway.tenantSelectableClasses",
    "gateway.edgeTerminatedClasses",
)


def remarks(
    cluster: Cluster, *, installed: Collection[str] | None = None, root_owns: bool = True
) -> tuple[Finding, ...]:
    """Everything there is to say, sorted.

    installed: the GatewayClasses there are; None where nobody looked.
    root_owns: whether the publishing tenant asks for a Gateway.
    """
    found = [*_unpublished(cluster), *_without_gateway(cluster, root_owns=root_owns)]
    found += _clear_text(cluster)
    found += _unused(cluster) if installed is None else _not_installed(cluster, installed)
    return tuple(sorted(found, key=lambda one: (one.reason, one.message)))


def _unpublished(cluster: Cluster) -> Iterator[Finding]:
    """8.5: the platform's own endpoints go where the default class is an edge class."""
    default = default_class(cluster)
    if cluster.get(ENABLED) != YES or default not in edge_classes(cluster):
        return
    exposed = split(cluster.get(EXPOSED, ""))
    if lost := [name for name in PASSTHROUGH if name in exposed]:
        yield remarked(
            "passthrough-is-published",
            UNPUBLISHED,
            f"{', '.join(lost)} of publishing.exposedServices are not published: {_DEFAULT} "
            f"`{default}` ends TLS before the Gateway, which then has no {_sections(lost)}; put "
            "child tenants alone on that class",
        )


def _sections(names: list[str]) -> str:
    return ", ".join(f"tls-{name}" for name in names)


def _without_gateway(cluster: Cluster, *, root_owns: bool) -> Iterator[Finding]:
    if cluster.get(ENABLED) == YES and not root_owns:
        namespace = cluster.get(PUBLISHING) or ROOT
        yield remarked(
            "publishing-tenant-owns-a-gateway",
            ROOT_WITHOUT_GATEWAY,
            f"gateway.enabled publishes the platform through the Gateway of {namespace}, whose "
            "tenant asks for none: set tenant.spec.gateway there",
        )


def _clear_text(cluster: Cluster) -> Iterator[Finding]:
    """9: nothing can verify the list; of the bundled class it is known."""
    if DEFAULT_CLASS in edge_classes(cluster):
        yield remarked(
            "edge-class-does-not-terminate",
            CLEAR_TEXT,
            f"{_EDGE} lists `{DEFAULT_CLASS}`, which ends TLS itself: its Gateways would serve "
            "every name in clear text, without certificate or redirect",
        )


def _unused(cluster: Cluster) -> Iterator[Finding]:
    """9: an entry that no tenant can be on is most likely misspelt."""
    reachable = allowed_classes(cluster)
    for name in dict.fromkeys(edge_classes(cluster)):
        if name not in reachable:
            yield remarked(
                "edge-class-can-be-used",
                CLASS_UNUSED,
                f"{_EDGE} lists `{name}`, which is neither {_DEFAULT} nor in {_SELECTABLE}: no "
                f"tenant can be on it{did_you_mean(name, reachable)}",
            )


def _not_installed(cluster: Cluster, installed: Collection[str]) -> Iterator[Finding]:
    stated = {
        _DEFAULT: (default_class(cluster),),
        _SELECTABLE: split(cluster.get(TENANT_CLASSES, "")),
        _EDGE: edge_classes(cluster),
    }
    for key, names in stated.items():
        for name in dict.fromkeys(names):
            if name not in installed:
                yield remarked(
                    "class-is-installed",
                    CLASS_NOT_FOUND,
                    f"{key} names `{name}`, and no GatewayClass is called so"
                    f"{did_you_mean(name, installed)}",
                )
