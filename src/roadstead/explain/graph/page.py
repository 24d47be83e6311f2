"""The drawing as one self-contained file with a search, for a browser without a server."""

import hashlib
from base64 import b64encode

from roadstead.explain.graph.model import Graph, Path
from roadstead.explain.graph.svg import STYLE, svg
from roadstead.explain.graph.texts import labelled
from roadstead.explain.markup import Markup, document, element, raw
from roadstead.explain.palette import PALETTE

_PAGE = """
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; margin: 1.5rem; color: var(--ink);
  background: var(--paper); }
.scroll { overflow: auto; } table { border-collapse: collapse; margin-top: 1rem; }
th, td { text-align: left; padding: .25rem .75rem; border-bottom: 1px solid var(--faint); }
[hidden] { display: none; } .bad { color: var(--bad); font-weight: bold; }
input { font: inherit; padding: .3rem .5rem; min-width: 20rem; color: var(--ink);
  background: var(--paper); border: 1px solid var(--line); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
"""
_SCRIPT = """
const search = document.getElementById("search"), said = document.getElementById("said");
const rows = [...document.querySelectorAll("tbody tr")];
document.getElementById("form").hidden = false;
search.addEventListener("input", () => {
  const words = search.value.toLowerCase();
  let count = 0;
  for (const row of rows) {
    row.hidden = !row.textContent.toLowerCase().includes(words);
    count += row.hidden ? 0 : 1;
  }
  said.textContent = count + " of " + rows.length + " paths";
});
"""


def page(graph: Graph, title: str = "Exposure") -> str:
    """A whole document: the drawing, and every path in words, to be searched."""
    style = PALETTE + _PAGE + STYLE
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; img-src data:; script-src '{_hash(_SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = (
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("link", rel="icon", href="data:,"),
        raw("style", style),
    )
    body = (
        element("h1", title),
        element("div", svg(graph), class_="scroll", tabindex="0"),
        element(
            "p",
            element("label", "Search ", for_="search"),
            element("input", id="search", type="search"),
            " ",
            element("output", "", id="said"),
            id="form",
            hidden=True,
        ),
        paths(graph),
        (element("p", f"note: {note}") for note in graph.notes),
        raw("script", _SCRIPT),
    )
    return document(title, head, body)


def paths(graph: Graph) -> Markup:
    """Every path in words: what a drawing shows, for who does not see it."""
    return element(
        "table",
        element("thead", element("tr", element("th", "path"), element("th", "state"))),
        element("tbody", (_row(path) for path in graph.paths)),
    )


def in_words(path: Path) -> tuple[str, Markup]:
    """A path from end to end, and its state."""
    way = " → ".join(labelled(spot) for _, spot in path.steps)
    broken = ", ".join(dict.fromkeys(word for _, word in path.breaks))
    return way, element("span", f"no: {broken}", class_="bad") if broken else element("span", "ok")


def _row(path: Path) -> Markup:
    return element("tr", (element("td", cell) for cell in in_words(path)))


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
