"""Everything a definition stands for, and how it travels.

The effective set is what the cluster ends up with; the folder holds the same, but that a workload
that is rolled back travels inside a HelmRelease. Source: contract 0, 3.5, 5.1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from roadstead.capabilities.services.api.kinds import (
    DEPLOYMENT,
    PERSISTENT_VOLUME,
    STATEFUL_SET,
)
from roadstead.capabilities.services.api.variables import mentions_variable
from roadstead.capabilities.services.render import (
    backup,
    identity,
    machine,
    namespace,
    observe,
    openings,
    part,
    policies,
    proxy,
    routes,
    service,
    storage,
    update,
    workload,
)
from roadstead.capabilities.services.render.part import Rendered
from roadstead.capabilities.services.snapshot import Snapshot

RUNNING = (DEPLOYMENT, STATEFUL_SET)

BUILDERS: tuple[Callable[[Snapshot], Iterator[Rendered]], ...] = (
    namespace.namespace,
    policies.baseline,
    policies.resolver,
    policies.scraping,
    policies.gateway,
    policies.in_cluster_clients,
    policies.dependencies,
    policies.callers,
    policies.egress,
    openings.cluster_api,
    openings.direct_ports,
    openings.lan_egress,
    openings.importer,
    openings.identity,
    storage.storage,
    workload.workload,
    machine.machine,
    service.services,
    routes.routes,
    identity.registration,
    proxy.proxies,
    update.update,
    observe.observe,
    backup.backup,
)
"""One function a heading of the contract."""


@dataclass(frozen=True, slots=True)
class Output:
    """What one service is rendered to, each in the order of its files.

    effective: the objects it stands for. folder: what stands in its folder, in which a
    HelmRelease takes the place of what it carries.
    """

    effective: tuple[Rendered, ...]
    folder: tuple[Rendered, ...]


def render(seen: Snapshot) -> Output:
    """Build every object of one service.

    Raises: nothing on a snapshot without error findings.
    """
    objects = sorted((one for build in BUILDERS for one in build(seen)), key=lambda one: one.order)
    packaged = [one for one in objects if one.packaged]
    folder = [one for one in objects if not one.packaged]
    if packaged:
        # Configuration and account come before what needs them.
        packaged.sort(key=lambda one: (one.kind in RUNNING, one.order))
        folder.append(workload.release(seen, [one.body for one in packaged]))
        folder.sort(key=lambda one: one.order)
    if _may_substitute(seen):
        for one in (*objects, *folder):
            protect(one)
    return Output(tuple(objects), tuple(folder))


def protect(one: Rendered) -> None:
    """Keep Flux from replacing `${...}` in an object whose text it must not touch.

    A volume that names the bulk server's variable is the one that must be replaced in.
    Source: contract 3.13.
    """
    if one.kind == PERSISTENT_VOLUME or not mentions_variable(one.body):
        return
    notes = {**one.body["metadata"]["annotations"], part.SUBSTITUTE: part.DISABLED}
    one.body["metadata"]["annotations"] = part.in_order(notes)


def _may_substitute(seen: Snapshot) -> bool:
    """Tell whether any text that is not the bulk server's could look like a variable."""
    return seen.catalog.has_variables or mentions_variable(seen.service.origin.value)
