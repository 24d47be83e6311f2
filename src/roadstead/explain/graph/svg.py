"""The drawing as SVG: five fixed columns, so that no layout program is needed.

A refused line is dashed and carries its reason; colour is never the only mark. It has no style of
its own: whoever shows it brings one, as `STYLE` here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from roadstead.explain.graph.model import COLUMNS, Edge, Graph, Spot
from roadstead.explain.graph.texts import two_lines
from roadstead.explain.markup import Markup, element, raw
from roadstead.kube.refs import Ref

CHARACTER, LINE = 7.3, 15
"""Width of a character and height of a line at 12 px of a monospace font."""
PAD, ROW, TOP, HEIGHT = 10, 56, 34, 40
NARROWEST, NARROWEST_GAP, DOOR = 90.0, 56.0, 16.0

STYLE = """
.graph { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; max-width: none;
  background: var(--paper, #fff); }
.graph text { fill: var(--ink, #1b1f24); }
.graph .head { font-weight: bold; fill: var(--soft, #57606a); }
.graph .place { fill: var(--soft, #57606a); }
.graph rect { fill: var(--box, #f6f8fa); stroke: var(--line, #6e7781); }
.graph .broken rect { stroke: var(--bad, #b42318); stroke-width: 2; }
.graph .unread rect { stroke-dasharray: 2 3; }
.graph path { fill: none; stroke: var(--line, #6e7781); stroke-width: 1.5; }
.graph .refused { stroke: var(--bad, #b42318); stroke-dasharray: 6 4; }
.graph .reason text { fill: var(--bad, #b42318); font-weight: bold; }
.graph .reason rect { fill: var(--paper, #fff); stroke: none; }
"""


@dataclass(frozen=True, slots=True)
class Column:
    """Where a column stands and how wide it is, and the room before it, in px."""

    x: float
    width: float
    gap: float


@dataclass(frozen=True, slots=True)
class Box:
    """Where a box stands: px from the top, and its column."""

    spot: Spot
    y: float
    column: Column

    @property
    def middle(self) -> float:
        """The height its lines meet it at."""
        return self.y + HEIGHT / 2


Link = Callable[[Ref], str]


def no_link(_ref: Ref) -> str:
    """Link nowhere."""
    return ""


def svg(graph: Graph, link: Link = no_link, style: str = "") -> Markup:
    """Draw it. link: the address that a box leads to, empty for none. style: put inside."""
    columns = placed(graph)
    boxes = laid_out(graph, columns)
    doors = entered(graph, boxes)
    width = columns[-1].x + columns[-1].width + PAD
    height = max((box.y + HEIGHT for box in boxes.values()), default=float(TOP)) + PAD
    ends = ((edge.start.key, edge.end.key) for edge in graph.edges if edge.refused)
    broken = {key for pair in ends for key in pair}
    return element(
        "svg",
        element("title", "Exposure: from hosts to pods"),
        raw("style", style) if style else None,
        (
            element("text", word, x=f"{column.x:.1f}", y="20", class_="head")
            for word, column in zip(COLUMNS, columns, strict=True)
        ),
        (_line(edge, boxes, doors[edge]) for edge in graph.edges),
        (_reason(edge, boxes, doors[edge]) for edge in graph.edges if edge.refused),
        (_box(box, link, broken=box.spot.key in broken) for box in boxes.values()),
        xmlns="http://www.w3.org/2000/svg",
        class_="graph",
        role="img",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
    )


def placed(graph: Graph) -> tuple[Column, ...]:
    """Where each column stands: as wide as its longest text, with room for reasons before it."""
    found: list[Column] = []
    for spots, word in zip(graph.columns, COLUMNS, strict=True):
        keys = {spot.key for spot in spots}
        reasons = [len(edge.refused) for edge in graph.edges if edge.end.key in keys]
        gap = max(NARROWEST_GAP, max(reasons, default=0) * CHARACTER + 40)
        texts = [line for spot in spots for line in two_lines(spot).split("\n")]
        width = max(NARROWEST, len(word) * CHARACTER, *(_width(line) for line in texts))
        x = found[-1].x + found[-1].width + gap if found else float(PAD)
        found.append(Column(x, width, gap))
    return tuple(found)


def laid_out(graph: Graph, columns: tuple[Column, ...]) -> dict[str, Box]:
    """Where each box stands: beside the mean of its paths, and never over another."""
    rows: dict[str, list[int]] = {}
    for number, path in enumerate(graph.paths):
        for _, spot in path.steps:
            rows.setdefault(spot.key, []).append(number)
    boxes: dict[str, Box] = {}
    for spots, column in zip(graph.columns, columns, strict=True):
        level = -1.0
        for spot in sorted(spots, key=lambda one: sum(rows[one.key]) / len(rows[one.key])):
            level = max(sum(rows[spot.key]) / len(rows[spot.key]), level + 1)
            boxes[spot.key] = Box(spot, TOP + level * ROW, column)
    return boxes


def _width(line: str) -> float:
    return len(line) * CHARACTER + 2 * PAD


def _box(box: Box, link: Link, *, broken: bool) -> Markup:
    lines = two_lines(box.spot).split("\n")
    first = box.middle + 4 - (len(lines) - 1) * LINE / 2
    names = ["box", box.spot.kind]
    names += ["broken"] if broken else []
    names += ["unread"] if box.spot.unread else []
    rounded = HEIGHT / 2 if box.spot.kind in {"host", "address"} else 3
    drawn = element(
        "g",
        element(
            "rect",
            x=f"{box.column.x:.1f}",
            y=f"{box.y:.1f}",
            width=f"{box.column.width:.1f}",
            height=HEIGHT,
            rx=f"{rounded:.0f}",
        ),
        (
            element(
                "text",
                line,
                x=f"{box.column.x + PAD:.1f}",
                y=f"{first + number * LINE:.1f}",
                class_="place" if number else None,
            )
            for number, line in enumerate(lines)
        ),
        class_=" ".join(names),
    )
    target = link(box.spot.about) if box.spot.about is not None else ""
    return element("a", drawn, href=target) if target else drawn


def entered(graph: Graph, boxes: dict[str, Box]) -> dict[Edge, float]:
    """How far from the middle of its end each line arrives, so that no two of a box meet."""
    arriving: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        arriving.setdefault(edge.end.key, []).append(edge)
    found: dict[Edge, float] = {}
    for edges in arriving.values():
        edges.sort(key=lambda edge: boxes[edge.start.key].y)
        room = min(DOOR, (HEIGHT - 8) / len(edges))
        for number, edge in enumerate(edges):
            found[edge] = (number - (len(edges) - 1) / 2) * room
    return found


def _line(edge: Edge, boxes: dict[str, Box], door: float) -> Markup:
    """A curve in the gap before its end; what skips a column goes straight until there."""
    start, end = boxes[edge.start.key], boxes[edge.end.key]
    left, right = start.column.x + start.column.width, end.column.x
    turn = max(left, right - end.column.gap)
    bend, high = turn + (right - turn) / 2, end.middle + door
    way = (
        f"M{left:.1f} {start.middle:.1f} H{turn:.1f} C{bend:.1f} {start.middle:.1f} "
        f"{bend:.1f} {high:.1f} {right:.1f} {high:.1f}"
    )
    return element("path", d=way, class_="edge refused" if edge.refused else "edge")


def _reason(edge: Edge, boxes: dict[str, Box], door: float) -> Markup:
    """The word on a refused line, beside the box that asks in vain and over every line."""
    end = boxes[edge.end.key]
    width, high = len(edge.refused) * CHARACTER, end.middle + door
    x = end.column.x - 12 - width
    return element(
        "g",
        element(
            "rect",
            x=f"{x - 3:.1f}",
            y=f"{high - LINE / 2:.1f}",
            width=f"{width + 6:.1f}",
            height=LINE,
        ),
        element("text", edge.refused, x=f"{x:.1f}", y=f"{high + 4:.1f}"),
        class_="reason",
    )
