"""A drawing in text: a tree for people, mermaid and dot for programs that draw."""

from collections.abc import Iterator
from dataclasses import dataclass

from roadstead.explain.graph.model import Graph, Path, Spot

_MERMAID = {"host": ('(["', '"])'), "address": ('(["', '"])')}
_NAMES = {'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\n": " "}


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of a tree. lead: what stands before it. refused: the word for why it ends there."""

    lead: str
    text: str
    refused: str


@dataclass(frozen=True, slots=True)
class Twigs:
    """What a tree is drawn with: a child, the last one, both refused, and what goes on below."""

    child: str
    last: str
    child_refused: str
    last_refused: str
    below: str


UNICODE = Twigs("├── ", "└── ", "├╌╌ ", "└╌╌ ", "│   ")
ASCII = Twigs("|-- ", "`-- ", "|.. ", "`.. ", "|   ")
_Tree = dict[tuple[str, str], "_Node"]


class _Node:
    """One box below others of a path, with the word for the break before it."""

    def __init__(self, spot: Spot, refused: str) -> None:
        self.spot, self.refused = spot, refused
        self.below: _Tree = {}


def tree(graph: Graph, twigs: Twigs) -> Iterator[Branch]:
    """The drawing as a tree from hosts to pods."""
    roots: _Tree = {}
    for path in graph.paths:
        _grow(roots, path)
    for node in roots.values():
        yield Branch("", labelled(node.spot), "")
        yield from _branches(node, "", twigs)


def _grow(roots: _Tree, path: Path) -> None:
    breaks, level, refused = dict(path.breaks), roots, ""
    for at, spot in path.steps:
        node = level.setdefault((spot.key, refused), _Node(spot, refused))
        level, refused = node.below, breaks.get(at, "")


def _branches(node: _Node, lead: str, twigs: Twigs) -> Iterator[Branch]:
    below = list(node.below.values())
    for number, one in enumerate(below, start=1):
        last = number == len(below)
        if one.refused:
            twig = twigs.last_refused if last else twigs.child_refused
        else:
            twig = twigs.last if last else twigs.child
        yield Branch(lead + twig, labelled(one.spot), one.refused)
        yield from _branches(one, lead + (" " * len(twigs.below) if last else twigs.below), twigs)


def labelled(spot: Spot) -> str:
    """A box in one line, its place included."""
    if spot.kind == "listener" and spot.place:
        return f"{spot.text}  Gateway {spot.place}"
    if spot.unread and spot.kind == "listener":
        return f"{spot.text}, which you may not read"
    kind, blank, rest = spot.text.partition(" ")
    return f"{kind} {spot.place}/{rest}" if spot.place and blank else spot.text


def mermaid(graph: Graph, namespace: str = "") -> Iterator[str]:
    """The drawing as a mermaid flowchart. namespace: not named in boxes."""
    names, seen = graph.names, set()

    def box(spot: Spot) -> str:
        name = names[spot.key]
        if name in seen:
            return name
        seen.add(name)
        before, after = _MERMAID.get(spot.kind, ('["', '"]'))
        return f"{name}{before}{_quoted(two_lines(spot, namespace))}{after}"

    yield "flowchart LR"
    for path in graph.paths:  # a way on its own would have no line to stand in
        steps = [spot for _, spot in path.steps]
        if len(steps) == 1:
            yield f"  {box(steps[0])}"
    for edge in graph.edges:
        if edge.refused:
            # A route asks for its listener in vain: the arrow is its own, as a person says it.
            first, second = edge.start, edge.end
            if second.kind == "route":
                first, second = second, first
            start, end = box(first), box(second)
            yield f'  {start} -. "{_quoted(edge.refused)}" .-> {end}'
        else:
            start, end = box(edge.start), box(edge.end)
            yield f"  {start} --> {end}"


def two_lines(spot: Spot, namespace: str = "") -> str:
    """What a box holds: its text, and its place where that is not known."""
    if spot.unread and spot.kind == "listener":
        return f"{spot.text}\nwhich you may not read"
    return f"{spot.text}\n{spot.place}" if spot.place not in {"", namespace} else spot.text


def _quoted(text: str) -> str:
    first, _, second = text.partition("\n")
    lines = ["".join(_NAMES.get(letter, letter) for letter in line) for line in (first, second)]
    return "<br/>".join(line for line in lines if line)


def dot(graph: Graph) -> Iterator[str]:
    """The drawing for Graphviz: a rank for each column."""
    names = graph.names
    yield "digraph exposure {"
    yield "  rankdir=LR;"
    yield "  node [shape=box];"
    for column in graph.columns:
        if column:
            yield "  { rank=same; " + " ".join(f"{names[one.key]};" for one in column) + " }"
        for spot in column:
            shape = ", shape=oval" if spot.kind in _MERMAID else ""
            yield f'  {names[spot.key]} [label="{_dotted(two_lines(spot))}"{shape}];'
    for edge in graph.edges:
        way = f"{names[edge.start.key]} -> {names[edge.end.key]}"
        style = f' [style=dashed, label="{_dotted(edge.refused)}"]' if edge.refused else ""
        yield f"  {way}{style};"
    yield "}"


def _dotted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
