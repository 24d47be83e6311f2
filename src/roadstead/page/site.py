"""Which path is which page, and what is said where there is none."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from roadstead.errors import ClusterError
from roadstead.explain.markup import Part
from roadstead.page import shell
from roadstead.page.assets import SCRIPT, SIGN, STYLE
from roadstead.page.drawing import drawing, holders
from roadstead.page.overview import overview
from roadstead.page.thing import NotHereError, thing
from roadstead.page.watched import Watched
from roadstead.runtime.page import Answer, Source

LONGEST = 253
"""Characters of a query that are read: no name is longer."""
_ASSETS = {
    shell.STYLE: (STYLE, "text/css; charset=utf-8"),
    shell.SCRIPT: (SCRIPT, "text/javascript; charset=utf-8"),
    shell.SIGN: (SIGN, "image/svg+xml; charset=utf-8"),
}
_OBJECT = 5
"""Parts of `/o/KIND/NAMESPACE/NAME`, the empty one before it counted."""


class Site:
    """The pages over one process, or over several that are looked at together."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Show these."""
        self._watched = Watched(sources)

    async def answer(self, path: str, query: Mapping[str, str]) -> Answer:
        """The page of a path."""
        if path in _ASSETS:
            body, kind = _ASSETS[path]
            return Answer(HTTPStatus.OK, body, kind)
        asked = {name: value[:LONGEST] for name, value in query.items()}
        try:
            return await self._page(path, asked)
        except NotHereError as error:
            return self.refusal(HTTPStatus.NOT_FOUND, error.message, error.hint)
        except ClusterError as error:
            return self.refusal(HTTPStatus.BAD_GATEWAY, f"cannot be read: {error.message}")

    async def _page(self, path: str, query: Mapping[str, str]) -> Answer:
        watched, now = self._watched, self._watched.sources[0].clock.wall()
        if path == "/":
            return self._shown("Status", *await overview(watched, query), here=path)
        if path == "/graph":
            return self._shown("Graph", *await drawing(watched, query), here=path)
        if path == "/who":
            return self._shown("Who", *await holders(watched, query, now), here=path)
        parts = path.split("/")
        if len(parts) == _OBJECT and parts[1] == "o" and all(parts[2:]):
            title, content = await thing(watched, parts[2], parts[3], parts[4], now)
            return self._shown(title, *content)
        return self.refusal(HTTPStatus.NOT_FOUND, "there is no such page", "open /")

    def _shown(self, title: str, *content: Part, here: str = "") -> Answer:
        source = self._watched.sources[0]
        said = [f"capabilities: {' '.join(self._watched.capabilities)}"]
        said += [_LEADS[leads]] if (leads := source.leads()) is not None else []
        said += ["read-only"] if source.dry else []
        body = shell.page(title, *content, here=here, said=said, now=source.clock.wall())
        return Answer(HTTPStatus.OK, body)

    def refusal(self, status: int, words: str, hint: str = "") -> Answer:
        """A page that says no."""
        return Answer(status, shell.refused(words, hint))


_LEADS = {True: "holds the lease", False: "stands by"}
