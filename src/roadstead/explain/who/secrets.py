"""Who uses a Secret: listeners that end TLS with it, issuers, the release it is an anchor of."""

from collections.abc import Iterator
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.fields import DNS01
from roadstead.capabilities.gateways.snapshot.views import GATEWAYS, GATEWAYS_ASKED, ISSUERS
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


def of_issuers(reader: Reader, asked: Asked, namespace: str) -> Who:
    """The Issuers of ours that use a Secret: their account's key, or what DNS is written with.

    namespace: empty for any.
    Raises: Unread.
    """
    found = []
    for issuer in reader.list(ISSUERS):
        owned = any(one.controller and one.group == api.GROUP for one in issuer.owners)
        if not owned or namespace not in {"", issuer.meta.namespace}:
            continue
        acme = part(issuer.body, "spec", "acme")
        used = [f"account {text(part(acme, 'privateKeySecretRef'), 'name')}"]
        for solver in items(acme, "solvers"):
            for provider, block in part(solver, DNS01).items():
                used += [f"{DNS01}, {provider} {name}" for name in _referred(block)]
        made = issuer.meta.creation_timestamp
        since = parse_time(made) if made else None
        found += [
            Holding(issuer.ref, since, tls=how)
            for how, _, name in (one.rpartition(" ") for one in used)
            if name == asked.name
        ]
    return Who(asked, tuple(found))


def _referred(block: Any) -> Iterator[str]:
    """The Secrets that a provider's block names."""
    for key in part({"block": block}, "block"):
        if key.endswith("SecretRef"):
            yield text(part(block, key), "name")


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
