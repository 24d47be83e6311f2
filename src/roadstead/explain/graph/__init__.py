"""What is exposed, by which way, and where a way is broken; and how that is drawn."""

from roadstead.explain.graph.build import drawn, reported
from roadstead.explain.graph.model import COLUMNS, Edge, Graph, Path, Spot
from roadstead.explain.graph.select import Choice, chosen, fits

__all__ = [
    "COLUMNS",
    "Choice",
    "Edge",
    "Graph",
    "Path",
    "Spot",
    "chosen",
    "drawn",
    "fits",
    "reported",
]
