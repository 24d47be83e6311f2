"""Who uses a Secret: the listeners that end TLS with it, the release it is an anchor of."""

from roadstead.capabilities.gateways.snapshot.views import GATEWAYS, GATEWAYS_ASKED
from roadstead.decision import Reader
from roadstead.errors import InputError
from roadstead.explain.anchors import ANCHOR_SUBJECT
from roadstead.explain.subject import Judge
from roadstead.explain.who.found import Asked, Holding, Who
from roadstead.kube.shapes import items, part, text
from roadstead.kube.times import parse_time


def of_listeners(reader: Reader, asked: Asked, namespace: str) -> Who:
    """The listeners that take their certificate from a Secret. namespace: empty for any.

    Raises: Unread.
    """
    ours = {seen.ref.key for seen in reader.list(GATEWAYS_ASKED)}
    found = []
    for gateway in reader.list(GATEWAYS):
        if gateway.ref.key not in ours or namespace not in {"", gateway.meta.namespace}:
            continue
        for one in items(part(gateway.body, "spec"), "listeners"):
            refs = items(part(one, "tls"), "certificateRefs")
            if any(text(ref, "name") == asked.name for ref in refs):
                made = gateway.meta.creation_timestamp
                since = parse_time(made) if made else None
                found.append(Holding(gateway.ref, since, gateway.ref, text(one, "name")))
    return Who(asked, tuple(found))


async def of_releases(reader: Reader, judge: Judge, asked: Asked, namespace: str) -> Who:
    """The releases whose anchor a Secret is, or is lifted from; none without its namespace.

    Raises: ClusterError.
    """
    if not namespace:
        return Who(asked)
    try:
        found = await ANCHOR_SUBJECT.words["secret"].find(asked.name, namespace, reader, judge)
    except InputError:
        return Who(asked)
    keys = tuple(key for key in found.keys if key != found.about)
    return Who(asked, tuple(Holding(key) for key in keys), notes=found.notes)
