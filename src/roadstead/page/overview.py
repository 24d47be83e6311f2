"""`/`: one row for everything that is owed, and for every route a gateway has judged."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from roadstead.explain.markup import Markup, Part, element
from roadstead.explain.rows import Row
from roadstead.kube.times import format_age
from roadstead.page.shell import address_of, notes, search, state, table, tick
from roadstead.page.watched import BREATH, Watched

ROWS = 200
"""Rows of one page; the rest is on the next."""
HEADS = ("Ready", "Namespace", "Kind", "Name", "Reason", "Age", "About")


async def overview(watched: Watched, query: Mapping[str, str]) -> tuple[Part, ...]:
    """The form, and what it finds."""
    text, problems = query.get("q", "").strip(), bool(query.get("problems"))
    rows, told = await watched.rows()
    found = []
    for number, one in enumerate(rows):
        if number % BREATH == BREATH - 1:
            await watched.breathe()
        if not (problems and one.fine) and matches(one, text):
            found.append(one)
    bad = sum(not one.fine for one in rows)
    form = search(
        "/",
        "q",
        "Filter",
        text,
        tick("problems", "only problems", on=problems),
        live=True,
    )
    number = page_of(query.get("page", ""), len(found))
    shown = found[(number - 1) * ROWS : number * ROWS]
    summary = f"{len(found)} of {len(rows)} shown, {bad} not ready"
    if len(found) > len(shown):
        first = (number - 1) * ROWS
        summary = f"{first + 1} to {first + len(shown)} of {summary}"
    return (
        form,
        element(
            "section",
            table(HEADS, (_cells(one) for one in shown), summary, keep=(0, 1, 2, 3, 5))
            if shown
            else element("p", _nothing(rows, text, problems=problems)),
            _turn(query, number, len(found)),
            notes(told),
            id="found",
        ),
    )


def matches(row: Row, text: str) -> bool:
    """Tell whether every word of a text is somewhere in a row."""
    key = row.key
    names = (key.namespace, row.kind, key.name, key.path)
    said = (row.ready, row.reason, row.state, row.about, row.source)
    held = " ".join((*names, *said, *row.addresses)).lower()
    return all(word in held for word in text.lower().split())


def page_of(stated: str, count: int) -> int:
    """Which page is asked for, from 1; the last where there is no such one."""
    last = max(1, -(-count // ROWS))
    return min(max(1, int(stated)), last) if stated.isdecimal() else 1


def _nothing(rows: Sequence[Row], text: str, *, problems: bool) -> str:
    if not rows:
        return "Nothing is owed: there is no application release, attachment or tenant gateway."
    if problems and not text:
        return "There is no problem."
    return "Nothing matches."


def _cells(row: Row) -> tuple[Part, ...]:
    return (
        state(row.ready),
        row.key.namespace,
        row.kind,
        element("a", row.key.name, href=address_of(row.key, row.kind.lower())),
        row.reason,
        format_age(row.age),
        row.about,
    )


def _turn(query: Mapping[str, str], number: int, count: int) -> Markup | None:
    """The ways to the pages before and after; none where there is one."""
    last = max(1, -(-count // ROWS))
    if last == 1:
        return None

    def way(word: str, to: int, rel: str) -> Markup:
        stated = {key: query[key] for key in ("q", "problems") if query.get(key)}
        return element("a", word, href=f"/?{urlencode({**stated, 'page': to})}", rel=rel)

    return element(
        "nav",
        way("previous", number - 1, "prev") if number > 1 else None,
        f" page {number} of {last} ",
        way("next", number + 1, "next") if number < last else None,
        aria_label="Pages of the table",
    )
