"""Who holds an address: the Gateway, the attachment or the claim that has it."""

from datetime import datetime

from roadstead.capabilities.attachments.snapshot import ATTACHMENTS, CLAIMS, addresses_of
from roadstead.capabilities.attachments.snapshot import Asked as Attachment
from roadstead.capabilities.gateways.snapshot.views import GATEWAYS, GATEWAYS_ASKED
from roadstead.decision import Reader
from roadstead.explain.who.found import Asked, Holding, Who
from roadstead.kube.objects import Object
from roadstead.kube.shapes import items, part
from roadstead.kube.shapes import text as text_of
from roadstead.kube.times import parse_time


def of_gateways(reader: Reader, asked: Asked) -> Who:
    """The Gateways of TenantGateways that have an address.

    Raises: Unread.
    """
    ours = {seen.ref.key for seen in reader.list(GATEWAYS_ASKED)}
    found = []
    for gateway in reader.list(GATEWAYS):
        status = part(gateway.body, "status")
        addresses = tuple(text_of(one, "value") for one in items(status, "addresses"))
        if gateway.ref.key in ours and asked.name in addresses:
            names = ", ".join(
                text_of(one, "name") for one in items(part(gateway.body, "spec"), "listeners")
            )
            since = _made(gateway)
            found.append(Holding(gateway.ref, since, gateway.ref, names, addresses))
    return Who(asked, tuple(found))


def of_attachments(reader: Reader, asked: Asked) -> Who:
    """The attachments that report an address.

    Raises: Unread.
    """
    found = []
    for seen in reader.list(ATTACHMENTS):
        stated = tuple(str(one) for one in part(seen.body, "status").get("addresses") or ())
        if asked.name in stated:
            found.append(Holding(seen.ref, _made(seen), addresses=stated))
    return Who(asked, tuple(found))


def of_claims(reader: Reader, asked: Asked) -> Who:
    """The claims that are bound to an address, with what names them.

    Raises: Unread.
    """
    found, notes = [], []
    for claim in reader.list(CLAIMS):
        addresses = addresses_of(claim)
        if asked.name not in addresses:
            continue
        found.append(Holding(claim.ref, _made(claim), addresses=tuple(addresses)))
        named = [
            seen.ref
            for seen in reader.list(ATTACHMENTS)
            if seen.meta.namespace == claim.meta.namespace
            and Attachment.of(seen).claim_name == claim.meta.name
        ]
        if named:
            notes.append(f"{claim.ref} is named by {', '.join(str(ref) for ref in named)}")
    return Who(asked, tuple(found), notes=tuple(notes))


def _made(seen: Object) -> datetime | None:
    made = seen.meta.creation_timestamp
    return parse_time(made) if made else None
