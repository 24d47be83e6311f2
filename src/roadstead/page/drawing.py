"""`/graph` and `/who`: what is exposed, and who holds a name."""

from collections.abc import Mapping
from datetime import datetime

from roadstead.errors import InputError
from roadstead.explain.graph import Choice, Graph, Path, chosen, drawn, fits
from roadstead.explain.graph.page import in_words
from roadstead.explain.graph.svg import svg
from roadstead.explain.markup import Markup, Part, element
from roadstead.explain.who import Asked, Who, who
from roadstead.kube.refs import SECRET, SERVICE, Ref
from roadstead.kube.times import format_age
from roadstead.page.shell import address_of, notes, search, table, tick
from roadstead.page.watched import Watched

DRAWN, FOUND, HELD = 120, 2_000, 200
"""Paths of one drawing, since more is none; paths that are looked at; holders that are named."""


async def drawing(watched: Watched, query: Mapping[str, str]) -> tuple[Part, ...]:
    """The picture, and every path of it in words."""
    host = query.get("host", "").strip().lower().rstrip(".")
    problems = bool(query.get("problems"))
    choice = Choice(query.get("namespace", "").strip(), host, problems)

    def keep(path: Path) -> bool:
        return fits(path, choice)

    whole, _ = await drawn(watched.reader(), watched.judge, keep, FOUND)
    found = chosen(whole, choice)
    shown = Graph(found.paths[:DRAWN], found.notes)
    left = len(found.paths) - len(shown.paths)
    told = [*shown.notes]
    if left:
        told.append(f"{left} more paths are not drawn; name a host, or ask for problems only")
    form = search(
        "/graph",
        "host",
        "Hostname or address",
        host,
        tick("problems", "only problems", on=problems),
    )
    broken = sum(bool(path.breaks) for path in found.paths)
    summary = f"{len(found.paths)} paths, {broken} broken; a broken line is dashed and says why"
    return (
        form,
        element("p", summary) if shown.paths else element("p", "There is no path to draw."),
        element(
            "div", svg(shown, _link), class_="scroll", tabindex="0", role="region",
            aria_label="Drawing",
        )
        if shown.paths
        else None,
        notes(told),
        table(("Path", "State"), map(in_words, shown.paths), "The same in words")
        if shown.paths
        else None,
    )  # fmt: skip


def _link(ref: Ref) -> str:
    return "" if ref.kind in {SERVICE, SECRET} else address_of(ref)


async def holders(watched: Watched, query: Mapping[str, str], now: datetime) -> tuple[Part, ...]:
    """Who holds a hostname, an address or a Secret, and who waits for it."""
    text = query.get("q", "").strip()
    form = search("/who", "q", "Hostname, address or secret/NAME", text)
    if not text:
        return (form,)
    try:
        asked = Asked.read(text)
    except InputError as error:
        hint = element("p", f"hint: {error.hint}") if error.hint else None
        return (form, element("p", error.message), hint)
    answer, whole = await who(asked, "", watched.reader(), watched.judge, watched.breathe)
    more = max(0, len(answer.holdings) - HELD) + max(0, len(answer.waiting) - HELD)
    told = [*answer.notes, *([f"{more} more are not shown"] if more else ())]
    told += [] if whole else ["not all of it may be read here"]
    return (form, _answer(answer, now), notes(told))


def _answer(answer: Who, now: datetime) -> tuple[Part, ...]:
    heads = ("Holder", "Tenant", "Since", "Gateway", "Listener", "Address", "TLS")
    held = table(
        heads,
        ((_named(one.holder), *one.cells(now)) for one in answer.holdings[:HELD]),
        f"Who holds {answer.asked.name}",
        keep=(0, 1, 2, 3),
    )
    return (
        held
        if answer.holdings
        else element("p", f"Nobody holds {answer.asked.name}."),
        (
            element(
                "p",
                "waiting: ",
                _named(one.about),
                " (",
                element("span", one.reason, class_="bad"),
                f", {format_age(now - one.since)})" if one.since is not None else ")",
            )
            for one in answer.waiting[:HELD]
        ),
        element("p", f"rule: {answer.rule}", class_="note") if answer.rule else None,
    )  # fmt: skip


_PAGES = frozenset({"HTTPRoute", "TLSRoute", "EndpointAttachment", "TenantGateway", "HelmRelease"})
"""Kinds that have a page."""


def _named(ref: Ref) -> Markup | str:
    kind = ref.kind.kind
    return element("a", ref.path, href=address_of(ref)) if kind in _PAGES else ref.path
