"""How a snapshot is collected: everything a copy may go for is read live.

Source: wildcard-secrets 3 to 8, P1 to P6.
"""

from collections.abc import Iterable
from dataclasses import replace

from roadstead.capabilities.gateways.api import ATTACH_LABEL
from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.snapshot.channel import Word, read_channel
from roadstead.capabilities.wildcards.snapshot.facts import Place, Snapshot, Tls, usable
from roadstead.capabilities.wildcards.snapshot.views import GATEWAYS
from roadstead.decision import Reader
from roadstead.errors import ClusterError, Unread
from roadstead.kube import names
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SECRET, Ref


async def observe(reader: Reader, key: Ref) -> Snapshot | None:
    """Collect what all replicas are judged on; None for a key that is not the one there is.

    What one namespace's copy is read for stays that namespace's own problem.
    Raises: ClusterError when channel, source or namespaces cannot be read; nothing is written then.
    Cost: a list of namespaces, one of the copies, and one GET for each that may have a copy.
    """
    if key != api.VALUES:
        return None
    values = await reader.live_get(api.VALUES)
    channel = read_channel(values)
    seen = Snapshot(channel, values.meta.uid if values is not None else "")
    if channel.word is Word.DISABLED:
        return await _with_copies(seen, reader)
    if channel.word is not Word.ACTIVE:
        return seen
    source = await _source(seen, reader)
    seen = replace(seen, source=source, wanted=usable(source))
    seen = replace(seen, places=_places(seen, await reader.live_list(NAMESPACE, "", ""), reader))
    if seen.wanted:
        holders = [await _held(seen, place, reader) for place in seen.places]
        seen = replace(seen, places=tuple(holders))
    return await _with_copies(seen, reader)


async def _source(seen: Snapshot, reader: Reader) -> Object | None:
    if not names.is_label(seen.channel.publishing):
        return None  # no namespace can have such a name
    source = await reader.live_get(seen.source_ref)
    return None if source is None or source.deleting else source


def _places(seen: Snapshot, namespaces: Iterable[Object], reader: Reader) -> tuple[Place, ...]:
    return tuple(
        Place(one.meta.name, ends_tls(one, reader), ending=one.deleting)
        for one in sorted(namespaces, key=lambda one: one.meta.name)
        if one.meta.name != seen.channel.publishing
    )


def ends_tls(namespace: Object, reader: Reader) -> Tls:
    """Tell whether anything in a namespace still ends TLS. Source: wildcard-secrets 5."""
    name, labels = namespace.meta.name, namespace.labels
    if labels.get(api.INGRESS_LABEL) == name:
        return Tls.TERMINATES
    if labels.get(ATTACH_LABEL) != name:
        return Tls.NOT
    try:
        gateways = reader.list(GATEWAYS, "namespace", name)
    except Unread:
        return Tls.UNKNOWN
    if gateways and all(one.body["mode"] == api.EDGE for one in gateways):
        return Tls.NOT
    return Tls.TERMINATES


async def _held(seen: Snapshot, place: Place, reader: Reader) -> Place:
    """What stands at the copy's name where one is wanted or kept up."""
    if place.tls is Tls.NOT or place.ending:
        return place
    try:
        return replace(place, holder=await reader.live_get(seen.copy_ref(place)))
    except ClusterError as error:
        return replace(place, problem=_said(error))


async def _with_copies(seen: Snapshot, reader: Reader) -> Snapshot:
    """All that may have to go. A list that fails keeps everything, and stops nothing else."""
    try:
        listed = await reader.live_list(SECRET, "", f"{api.COPY}=true")
    except ClusterError as error:
        return replace(seen, copies=None, unlisted=_said(error))
    return replace(seen, copies=tuple(sorted(listed, key=lambda one: one.ref)))


def _said(error: ClusterError) -> str:
    return f"{error.status} {error.reason}".strip()
