"""What the API server of an example shows at one moment, of each capability."""

from collections.abc import Sequence
from dataclasses import dataclass

from roadstead.capabilities.anchors import api
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.capabilities.gateways import api as api_gateways
from roadstead.capabilities.gateways.snapshot import Asked
from roadstead.capabilities.lineage.api import MANAGED_BY
from roadstead.capabilities.wildcards import api as wildcards
from roadstead.errors import ClusterError
from roadstead.explain.anchors import ANCHOR_SUBJECT, anchor_of
from roadstead.explain.cluster import Look
from roadstead.explain.exposures import Exposure
from roadstead.explain.results import Seen
from roadstead.explain.rows import latest
from roadstead.explain.servings import Claiming, Copied, Serving, Servings, replica
from roadstead.explain.sights import Sight, sights
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, SERVICE, Ref
from roadstead.kube.shapes import part, text
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.settings import Settings

ATTACHMENTS = View("attachments", ATTACHMENT)
GATEWAYS = View("tenantgateways", api_gateways.TENANT_GATEWAY)
ROUTES = View("httproutes", api_gateways.HTTP_ROUTE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What was there. anchors: by release. exposures: by attachment. sights: by Secret."""

    anchors: dict[Ref, Seen]
    exposures: dict[Ref, Exposure]
    servings: Servings
    sights: dict[Ref, Sight]


async def read(client: Client, spaces: Sequence[str]) -> Reading:
    """Read what the server holds in some namespaces."""
    anchors: dict[Ref, Seen] = {}
    exposures: dict[Ref, Exposure] = {}
    gateways: dict[Ref, Serving] = {}
    routes: dict[Ref, Claiming] = {}
    copies: dict[Ref, Copied] = {}
    seen_by_tenants: dict[Ref, Sight] = {}
    for space in spaces:
        look = Look(client, space, Settings(), LiveClock(), (ANCHOR_SUBJECT,))
        await look.fill()
        events = await look.events()
        for release in look.releases():
            anchors[release.ref] = await _seen(look, release.ref, events)
        for attachment in await _listed(client, ATTACHMENTS, space):
            exposures[attachment.ref] = await _exposure(client, attachment)
        for asked_for in await _listed(client, GATEWAYS, space):
            gateways[asked_for.ref] = await _serving(client, asked_for)
        for route in await _listed(client, ROUTES, space):
            if Claiming(route).said[0]:
                routes[route.ref] = Claiming(route)
        for seen in await client.list_metadata(SECRET, space, f"{wildcards.COPY}=true"):
            ref, copied = replica(await client.get(seen.ref) or seen)
            copies[ref] = copied
        judged = await client.list_metadata(SECRET, space, MANAGED_BY)
        seen_by_tenants |= sights(judged)
    return Reading(anchors, exposures, Servings(gateways, routes, copies), seen_by_tenants)


async def _listed(client: Client, view: View, space: str) -> Sequence[Object]:
    """The objects of a view; none where the server does not serve the kind."""
    try:
        return await client.list_view(view, space)
    except ClusterError as error:
        if not error.unserved:
            raise
        return ()


async def _serving(client: Client, asked_for: Object) -> Serving:
    gateway = await client.get(api_gateways.GATEWAY.ref(*asked_for.ref.key.split("/")))
    name = Asked.of(asked_for).class_name
    there = await client.get(api_gateways.GATEWAY_CLASS.ref("", name))
    return Serving(asked_for, gateway, has_class=there is not None)


async def _exposure(client: Client, attachment: Object) -> Exposure:
    name = text(part(attachment.body, "status"), "serviceName")
    ref = SERVICE.ref(attachment.meta.namespace, name)
    return Exposure(attachment, await client.get(ref) if name else None)


async def _seen(look: Look, key: Ref, events: tuple[Object, ...]) -> Seen:
    passed = await look.judge(key)
    anchor = await look.api.get(anchor_of(key))
    # What a decision would be woken by is what events of this release can be about.
    refs = {key, anchor_of(key), *passed.decision.wakes}
    source = await _source(look, key, anchor, passed.decision.wakes)
    owed = passed.decision.state not in ANCHOR_SUBJECT.quiet
    return Seen(key, anchor, source, *latest(events, refs), owed=owed)


async def _source(
    look: Look, key: Ref, anchor: Object | None, wakes: tuple[Ref, ...]
) -> Object | None:
    """The Secret that the anchor names, or one that speaks of the release."""
    named = anchor.annotations.get(api.SOURCE, "") if anchor is not None else ""
    space, _, name = named.partition("/")
    if space == key.namespace and name:
        return await look.api.get(SECRET.ref(space, name))
    for ref in wakes:
        return await look.api.get(ref)
    for seen in await look.api.list_metadata(SECRET, key.namespace, api.PUBLISH):
        if seen.labels.get(api.PUBLISH_RELEASE) == key.name:
            return seen
    return None
