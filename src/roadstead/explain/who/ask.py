"""One question, asked of every capability that may know the answer.

What may not be read is told of, and never taken for nothing.
"""

from collections.abc import Awaitable, Callable, Iterator

from roadstead.decision import Reader
from roadstead.errors import ClusterError
from roadstead.explain.rows import is_forbidden
from roadstead.explain.subject import Judge
from roadstead.explain.who import addresses, hostnames, secrets
from roadstead.explain.who.found import ADDRESS, HOSTNAME, Asked, Who

ABSENT = "absent"
"""Why a view of a kind that is not served cannot answer."""
_Source = Callable[[], Awaitable[Who]]
Breathe = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """Let nobody else have a turn: a command has nothing else to do."""


async def who(
    asked: Asked, namespace: str, reader: Reader, judge: Judge, breathe: Breathe = at_once
) -> tuple[Who, bool]:
    """Tell who holds something, and whether all of it could be read.

    namespace: of a Secret; empty for any. breathe: gives others a turn, once a gateway.
    Raises: ClusterError for anything but missing rights and kinds that are not served.
    """
    found, whole = Who(asked), True
    for source in _sources(asked, namespace, reader, judge, breathe):
        try:
            found = found.beside(await source())
        except ClusterError as error:
            if is_forbidden(error):
                whole = False
            elif error.reason != ABSENT:
                raise
    return found, whole


def _sources(
    asked: Asked, namespace: str, reader: Reader, judge: Judge, breathe: Breathe
) -> Iterator[_Source]:
    async def at_gateways() -> Who:
        return addresses.of_gateways(reader, asked)

    async def at_attachments() -> Who:
        return addresses.of_attachments(reader, asked)

    async def at_claims() -> Who:
        return addresses.of_claims(reader, asked)

    async def at_listeners() -> Who:
        return secrets.of_listeners(reader, asked, namespace)

    async def at_issuers() -> Who:
        return secrets.of_issuers(reader, asked, namespace)

    if asked.of == HOSTNAME:
        yield lambda: hostnames.of_hostname(reader, asked, breathe)
    elif asked.of == ADDRESS:
        yield from (at_gateways, at_attachments, at_claims)
    else:
        yield from (at_listeners, at_issuers)
        yield lambda: secrets.of_releases(reader, judge, asked, namespace)
