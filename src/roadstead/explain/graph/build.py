"""The whole drawing from a reader and a judge, so that files and a cluster give the same one.

Which route is served by what is what its gateway's decision came to; nothing judges again here.
"""

from collections.abc import AsyncIterator, Callable

from roadstead.capabilities.attachments.snapshot import ATTACHMENTS
from roadstead.capabilities.gateways.snapshot.views import GATEWAYS_ASKED
from roadstead.decision import Reader
from roadstead.errors import ClusterError
from roadstead.explain.gateways.known import know
from roadstead.explain.graph.attached import of_attachment
from roadstead.explain.graph.backends import Backends
from roadstead.explain.graph.model import Graph, Path
from roadstead.explain.graph.routes import by_status, of_gateway
from roadstead.explain.rows import is_forbidden
from roadstead.explain.subject import Judge

ABSENT = "absent"
MOST = 100_000
"""Paths of a drawing that nobody reads any more."""
Keep = Callable[[Path], bool]


def everything(_path: Path) -> bool:
    """Keep every path."""
    return True


async def drawn(
    reader: Reader, judge: Judge, keep: Keep = everything, most: int = MOST
) -> tuple[Graph, bool]:
    """Everything that is exposed, and whether all of it could be read.

    keep: which paths are kept as they are found. most: how many; what is past them is told of.
    Raises: ClusterError for anything but missing rights and kinds that are not served.
    """
    paths: list[Path] = []
    notes: list[str] = []
    whole = True
    for source, noun in ((_gateways, "tenant gateways"), (_attachments, "attachments")):
        try:
            async for path in source(reader, judge):
                if keep(path):
                    paths.append(path)
                if len(paths) >= most:
                    break
        except ClusterError as error:
            whole = whole and not is_forbidden(error)
            if not is_forbidden(error) and error.reason != ABSENT:
                raise
            notes.append(f"{noun} are not drawn: {_why(error)}")
    if len(paths) >= most:
        notes.append(f"only the first {most} paths are looked at")
    return Graph.of(tuple(paths), tuple(notes)), whole


def _why(error: ClusterError) -> str:
    about = error.about or "what they are judged by"
    return f"{about} may not be read" if is_forbidden(error) else f"{about} are not served"


async def _gateways(reader: Reader, judge: Judge) -> AsyncIterator[Path]:
    behind = Backends(reader)
    for seen in reader.list(GATEWAYS_ASKED):
        known = await know(reader, seen.ref)
        decision = await judge(seen.ref)
        if known is None:
            raise ClusterError(
                f"what {seen.ref} is judged by cannot be read",
                reason="forbidden",
                about=f"what {seen.ref} is judged by",
            )
        for path in of_gateway(known, decision, behind):
            yield path


async def _attachments(reader: Reader, judge: Judge) -> AsyncIterator[Path]:
    behind = Backends(reader)
    for seen in reader.list(ATTACHMENTS):
        for path in of_attachment(seen, await judge(seen.ref), reader, behind):
            yield path


async def reported(reader: Reader, judge: Judge) -> Graph:
    """What one namespace may see: routes as their status has it, attachments as judged."""
    paths = list(by_status(reader))
    notes: tuple[str, ...] = ("routes are drawn by their own status: what judges them is unread",)
    try:
        paths += [path async for path in _attachments(reader, judge)]
    except ClusterError as error:
        if not is_forbidden(error) and error.reason != ABSENT:
            raise
        notes = (*notes, f"attachments are not drawn: {_why(error)}")
    return Graph.of(tuple(paths), notes)
