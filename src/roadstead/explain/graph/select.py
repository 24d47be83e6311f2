"""Which paths a person asked for."""

from dataclasses import dataclass

from roadstead.explain.graph.model import HOST, Graph, Path
from roadstead.kube.hostnames import covers


@dataclass(frozen=True, slots=True)
class Choice:
    """What is drawn. namespace, host: empty for any. problems: only broken paths."""

    namespace: str = ""
    host: str = ""
    problems: bool = False


def chosen(graph: Graph, choice: Choice) -> Graph:
    """The paths of a choice.

    A namespace's are those of its routes and attachments, and those that ask in vain for a
    hostname of theirs.
    """
    found = graph.paths
    if choice.namespace:
        mine = [path for path in found if path.namespace == choice.namespace]
        hosts = {spot.key for path in mine if (spot := path.spots[HOST]) is not None}
        found = tuple(path for path in found if _belongs(path, choice.namespace, hosts))
    return Graph(tuple(path for path in found if fits(path, choice)), graph.notes)


def fits(path: Path, choice: Choice) -> bool:
    """Tell whether a path begins where, and is as, it was asked for; of whatever namespace."""
    return (not choice.host or _leads_from(path, choice.host)) and (
        not choice.problems or bool(path.breaks)
    )


def _belongs(path: Path, namespace: str, hosts: set[str]) -> bool:
    if path.namespace == namespace:
        return True
    first = path.spots[HOST]
    return bool(path.breaks) and first is not None and first.key in hosts


def _leads_from(path: Path, host: str) -> bool:
    first = path.spots[HOST]
    if first is None:
        return False
    name = first.key.partition(":")[2]
    return name in {host, "*"} or (first.kind == "host" and covers(name, host))
