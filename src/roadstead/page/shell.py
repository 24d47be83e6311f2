"""What all pages share: head, ways to the others, and small parts."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import quote

from roadstead import __version__
from roadstead.explain.markup import Markup, Part, document, element
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_age, format_time

PLACES = (("/", "Status"), ("/graph", "Graph"), ("/who", "Who"))
STYLE, SCRIPT, SIGN = "/page.css", "/page.js", "/sign.svg"
_SIGNS = {
    "True": ("✔", "good"),
    "False": ("✗", "bad"),
    "Unknown": ("?", "warn"),
    "-": ("·", "soft"),
}
_WORDS = {"-": "nothing owed"}


def page(
    title: str,
    *content: Part,
    here: str = "",
    said: Sequence[str] = (),
    now: datetime | None = None,
) -> str:
    """A whole page. here: the place it is. said: of the process, beside the time."""
    head = (
        element("link", rel="icon", href=SIGN, type="image/svg+xml"),
        element("link", rel="stylesheet", href=STYLE),
        element("script", src=SCRIPT, defer=True),
    )
    told = "  ".join([f"roadstead {__version__}", *said])
    body = (
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "header",
            element("strong", "Roadstead"),
            element(
                "nav", element("ul", (_place(*one, here) for one in PLACES)), aria_label="Pages"
            ),
            element("small", told, " ", moment(now) if now is not None else None),
        ),
        element("main", element("h1", title), content, id="content", tabindex="-1"),
    )
    return document(f"{title} - Roadstead", head, body)


def _place(path: str, word: str, here: str) -> Markup:
    current = "page" if path == here else None
    return element("li", element("a", word, href=path, aria_current=current))


def refused(words: str, hint: str) -> str:
    """A page that says no."""
    return page(
        "No",
        element("p", words),
        element("p", "hint: ", element("code", hint)) if hint else None,
    )


def moment(at: datetime) -> Markup:
    """A moment, to the second."""
    text = format_time(at)
    return element("time", text, datetime=text)


def ago(at: datetime, now: datetime) -> Markup:
    """How long ago something was; the moment itself beside it for who points at it."""
    text = format_time(at)
    return element("time", f"{format_age(max(now - at, now - now))} ago", datetime=text, title=text)


def address_of(ref: Ref, word: str = "") -> str:
    """The page of an object. word: what its kind is called; its own when empty."""
    parts = (word or ref.kind.kind.lower(), ref.namespace, ref.name)
    return "/o/" + "/".join(quote(part, safe="") for part in parts)


def state(ready: str) -> Markup:
    """A state by sign, word and colour."""
    sign, style = _SIGNS[ready]
    word = _WORDS.get(ready, ready)
    return element("span", element("span", f"{sign} ", aria_hidden="true"), word, class_=style)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Part]], caption: str, *, keep: Sequence[int] = ()
) -> Markup:
    """A table that turns into cards where there is no room. keep: columns that are not wrapped."""
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", (element("th", one, scope="col") for one in heads))),
            element("tbody", (_row(heads, row, keep) for row in rows)),
            class_="cards",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def _row(heads: Sequence[str], row: Sequence[Part], keep: Sequence[int]) -> Markup:
    last = len(heads) - 1
    cells = (
        element(
            "td",
            cell,
            data_head=heads[at] or None,
            class_="keep" if at in keep else "wide" if at == last else None,
        )
        for at, cell in enumerate(row)
    )
    return element("tr", cells)


def notes(found: Iterable[str]) -> list[Markup]:
    """Facts beside a page, and what could not be asked."""
    return [element("p", f"note: {note}", class_="note") for note in found]


def search(
    action: str, name: str, label: str, value: str, *more: Part, live: bool = False
) -> Markup:
    """A form with one field, that its button sends where there are no scripts."""
    return element(
        "form",
        element("label", label, for_=name),
        element("input", type="search", id=name, name=name, value=value, maxlength=253),
        more,
        element("button", "Show", type="submit"),
        element("span", "", id="live", class_="live soft", role="status") if live else None,
        action=action,
        method="get",
        role="search",
        data_live=live or None,
    )


def tick(name: str, label: str, *, on: bool) -> Markup:
    """A box to tick."""
    box = element("input", type="checkbox", id=name, name=name, value="1", checked=on)
    return element("span", box, " ", element("label", label, for_=name))
