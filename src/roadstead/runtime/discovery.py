"""Which kinds the server serves, as far as a view of them may come and go.

Asked again every ten seconds, two small requests a group, and for nothing else: a change is known
within 30 s even when one answer is lost. A watch of CustomResourceDefinitions would wake us sooner
by seconds, and is left out: as metadata it tells neither `Established` nor the served versions, so
that discovery has to be asked all the same, and kinds of an aggregated API have no definition.

It must never take an error for "not served": the last known answer stands until there is another.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus

from roadstead.errors import ClusterError
from roadstead.kube.refs import Kind

DISCOVERY_PERIOD = 10.0
MISSES = 2
"""So many answers in a row must leave out a kind that was served: API servers that stand side by
side hear of a new definition at different times."""

Ask = Callable[[str], Awaitable[Mapping[str, frozenset[str]]]]
"""Gives the plurals each served version of a group has; nothing for a group that is not served."""


class Discovery:
    """The last known answers."""

    def __init__(self, ask: Ask) -> None:
        """Know nothing yet."""
        self._ask = ask
        self._listed: dict[Kind, bool] = {}
        self._missed: Counter[Kind] = Counter()

    def gone(self, kind: Kind) -> None:
        """Forget the answer: the collection itself has said since that the kind is not served."""
        self._listed.pop(kind, None)
        self._missed.pop(kind, None)

    async def look(self, kinds: Iterable[Kind]) -> dict[Kind, bool]:
        """Ask once about some kinds; give which are served at their version, where there was word.

        A kind that is missing here is as it was.
        """
        by_group: dict[str, set[Kind]] = {}
        for kind in kinds:
            by_group.setdefault(kind.group, set()).add(kind)
        told = await asyncio.gather(*(self._look(*item) for item in by_group.items()))
        # A collection may have said meanwhile that its kind is gone: there is no word of it then.
        known = self._listed
        return {kind: known[kind] for some in told for kind in some if kind in known}

    async def _look(self, group: str, kinds: set[Kind]) -> set[Kind]:
        try:
            served = await self._ask(group)
        except ClusterError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                return set()
            for kind in kinds:
                self._listed.setdefault(kind, True)  # the collection itself must tell
            return kinds
        for kind in kinds:
            self._take(kind, there=kind.plural in served.get(kind.version, ()))
        return kinds

    def _take(self, kind: Kind, *, there: bool) -> None:
        if there:
            self._missed.pop(kind, None)
        elif self._listed.get(kind):
            self._missed[kind] += 1
            if self._missed[kind] < MISSES:
                return
            self._missed.pop(kind)
        self._listed[kind] = there
