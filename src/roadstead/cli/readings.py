"""What the API server of an example shows at one moment: its anchors and its attachments."""

from collections.abc import Sequence
from dataclasses import dataclass

from roadstead.capabilities.anchors import api
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.explain.anchors import ANCHOR_SUBJECT, anchor_of
from roadstead.explain.cluster import Look
from roadstead.explain.exposures import Exposure
from roadstead.explain.results import Seen
from roadstead.explain.rows import latest
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, SERVICE, Ref
from roadstead.kube.shapes import part, text
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.settings import Settings

ATTACHMENTS = View("attachments", ATTACHMENT)


@dataclass(frozen=True, slots=True)
class Reading:
    """What was there. anchors: by release. exposures: by attachment."""

    anchors: dict[Ref, Seen]
    exposures: dict[Ref, Exposure]


async def read(client: Client, spaces: Sequence[str]) -> Reading:
    """Read what the server holds in some namespaces."""
    anchors: dict[Ref, Seen] = {}
    exposures: dict[Ref, Exposure] = {}
    for space in spaces:
        look = Look(client, space, Settings(), LiveClock(), (ANCHOR_SUBJECT,))
        await look.fill()
        events = await look.events()
        for release in look.releases():
            anchors[release.ref] = await _seen(look, release.ref, events)
        for attachment in await client.list_view(ATTACHMENTS, space):
            exposures[attachment.ref] = await _exposure(client, attachment)
    return Reading(anchors, exposures)


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
