"""The whole chain at once: values and tenants in, one row a tenant out.

Source: tenant-gateway 2.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.gateways.chain.classes import Cluster, mode_because
from roadstead.capabilities.gateways.chain.gateway import Release, Rendered, render
from roadstead.capabilities.gateways.chain.issuers import issuers
from roadstead.capabilities.gateways.chain.names import PUBLISHING, ROOT
from roadstead.capabilities.gateways.chain.remarks import remarks
from roadstead.capabilities.gateways.chain.tenants import Place, Tenant, place_all
from roadstead.capabilities.gateways.chain.values import Platform, cluster_of
from roadstead.capabilities.gateways.fields import EDGE
from roadstead.decision import Finding

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """Where one tenant landed. gateway_class, mode: empty where it has none.

    why: in one sentence; of a refused tenant, the refusal.
    rendered: what came of its own release; None where it inherits, or nobody above owns one.
    """

    place: Place
    gateway_class: str
    mode: str
    why: str
    rendered: Rendered | None = None

    @property
    def tls_ends(self) -> str:
        """Where TLS ends: before the Gateway, or at it; empty where there is none."""
        return ("edge" if self.mode == EDGE else "gateway") if self.mode else ""

    @property
    def refused(self) -> bool:
        """Whether nothing can be said of it until a person acts."""
        release = self.rendered is not None and self.rendered.gateway is None
        return release or bool(self.place.tenant.problems)


@dataclass(frozen=True, slots=True)
class Chain:
    """What it all comes to. issuers: what the cluster's issuers render to.

    rows: by namespace; none where the platform's values are refused.
    refusals: of tenants, releases and issuers; the platform's own are in `platform`.
    """

    platform: Platform
    rows: tuple[Row, ...] = ()
    issuers: tuple[Json, ...] = ()
    refusals: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()

    @property
    def refused(self) -> tuple[Finding, ...]:
        """Everything that does not render: the platform's values first."""
        return (*(one.finding for one in self.platform.refusals), *self.refusals)


def resolve(
    values: Mapping[str, Any],
    tenants: Iterable[Tenant],
    *,
    root_host: str = "",
    installed: Collection[str] | None = None,
) -> Chain:
    """Take the platform's values and its tenants to a row each.

    root_host: of the ConfigMap `cozy-system/cozystack`, which wins; empty without one.
    installed: the GatewayClasses there are; None where nobody looked.
    """
    platform = cluster_of(values, root_host)
    if platform.refusals:
        return Chain(platform)
    cluster = platform.cluster
    places, unplaced = place_all(tenants, cluster)
    rendered = {
        one.namespace: render(Release(one.namespace, cluster, one.host, one.tenant.chosen))
        for one in places
        if one.tenant.gateway and not one.tenant.problems
    }
    rows = tuple(_row(one, cluster, rendered, places) for one in places)
    made, stops = issuers(cluster)
    refused = [one.refusal for one in rendered.values() if one.refusal is not None]
    refused += [problem for one in places for problem in one.tenant.problems]
    owns = (cluster.get(PUBLISHING) or ROOT) in rendered
    return Chain(
        platform,
        rows,
        made,
        (*sorted((*unplaced, *refused), key=lambda one: (one.refs, one.message)), *stops),
        remarks(cluster, installed=installed, root_owns=owns),
    )


def _row(
    place: Place,
    cluster: Cluster,
    rendered: Mapping[str, Rendered],
    places: tuple[Place, ...],
) -> Row:
    if place.tenant.problems:
        return Row(place, "", "", place.tenant.problems[0].message)
    if place.namespace in rendered:
        return _owner(place, cluster, rendered[place.namespace])
    unheard = "; its gatewayClass has no effect" if place.tenant.chosen else ""
    if not place.owner:
        return Row(place, "", "", f"neither it nor a tenant above it owns a Gateway{unheard}")
    above = rendered.get(place.owner)
    if above is None:
        says = f"publishes through {place.owner}, whose tenant has no Gateway{unheard}"
        return Row(place, "", "", says)
    if above.gateway is None:
        says = f"inherits from {place.owner}, whose release is refused{unheard}"
        return Row(place, "", "", says)
    owner = next(one for one in places if one.namespace == place.owner)
    seen = Release(owner.namespace, cluster, owner.host, owner.tenant.chosen)
    return Row(place, seen.gateway_class, seen.mode, f"inherits from {place.owner}{unheard}")


def _owner(place: Place, cluster: Cluster, made: Rendered) -> Row:
    seen = Release(place.namespace, cluster, place.host, place.tenant.chosen)
    if made.refusal is not None:
        return Row(place, seen.gateway_class, "", made.refusal.message, made)
    chose = "its own choice" if place.tenant.chosen.strip() else "the platform's default"
    because = mode_because(cluster, seen.gateway_class)
    return Row(place, seen.gateway_class, seen.mode, f"{chose}; {because}", made)
