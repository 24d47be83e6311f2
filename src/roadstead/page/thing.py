"""`/o/KIND/NAMESPACE/NAME`: the trail of one object, its conditions, what it wants, its passes."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from roadstead.decision import How, Want
from roadstead.errors import ClusterError, InputError
from roadstead.explain.ask import Answer, Target, ask
from roadstead.explain.changes import note_of, values_of
from roadstead.explain.markup import Markup, Part, element
from roadstead.explain.trail import NO, NOT_ASKED, NOTE, OK, WAIT, Line, Trail
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref
from roadstead.kube.shapes import items, part, text
from roadstead.page.masked import masked
from roadstead.page.shell import ago, notes, table
from roadstead.page.watched import Watched

WANTS = 50
"""Objects of one decision that are shown whole."""
_STYLES = {OK: "good", WAIT: "warn", NO: "bad", NOT_ASKED: "soft", NOTE: "soft"}
_HOW = {
    How.REPLACE: "as it stands here, stray keys gone",
    How.RENEW: "made anew",
    How.CREATE: "once, then left alone",
    How.APPLY: "these fields of it",
    How.STATUS: "its status",
    How.PATCH: "these keys of it",
    How.MINT: "one new object",
}


class NotHereError(InputError):
    """An object that is not there, or that no page shows."""


async def thing(
    watched: Watched, kind: str, namespace: str, name: str, now: datetime
) -> tuple[str, tuple[Part, ...]]:
    """Title and content of an object's page.

    Raises: NotHereError; ClusterError.
    """
    try:
        target = Target.read(f"{kind}/{name}")
    except InputError as error:
        raise NotHereError(error.message, hint=error.hint) from None
    if target.kind == SECRET and target.subject(namespace).single is None:
        raise NotHereError(
            "Secrets have no page; ask with your own rights",
            hint=f"roadstead why secret/{name} -n {namespace}",
        )
    subject = target.subject(namespace)
    if watched.home(subject) is None:
        raise NotHereError(f"{subject.controller.name} does not run here")
    try:
        answer = await ask(target, namespace, watched.reader(subject), watched.judge)
    except InputError as error:
        raise NotHereError(error.message, hint=error.hint) from None
    seen = watched.find(answer.about)
    keys = [trail.key for trail in answer.trails]
    own = answer.about in keys and watched.decided(answer.about) is not None
    content = (
        notes(answer.notes),
        element("p", "It is not judged yet.") if not answer.trails else None,
        (_trail(trail) for trail in answer.trails),
        _conditions(seen) if seen is not None else None,
        await _wants(watched, answer) if own else None,
        _passes(watched, answer.about, now) if own else _judged_with(answer),
    )
    return str(answer.about), content


def _trail(trail: Trail) -> tuple[Part, ...]:
    where = f" at {trail.parent}" if trail.parent is not None else ""
    return (
        element("h2", f"Trail{where}"),
        element("p", trail.headline, class_="good" if trail.settled else "bad"),
        _listeners(trail) if trail.listeners else None,
        table(
            ("", "Rule", "What it looked at"),
            (_line(one) for one in trail.lines),
            "Every rule that was asked, in order",
            keep=(0, 1),
        )
        if trail.lines
        else None,
        element("p", trail.because, class_="because"),
        _next(trail) if trail.next else None,
        element("p", f"wakes: {trail.wakes}", class_="note") if trail.wakes else None,
        notes(trail.notes),
    )


def _line(line: Line) -> tuple[Part, ...]:
    return (element("span", line.mark, class_=_STYLES[line.mark]), line.rule, line.text)


def _listeners(trail: Trail) -> Markup:
    rows = (
        (
            one.name,
            str(one.port),
            one.hostname or "*",
            f"{'yes' if one.allowed else 'no'}, {one.admits}",
            one.matches,
        )
        for one in trail.listeners
    )
    heads = ("Listener", "Port", "Hostname", "Namespace allowed", "Hostname matches")
    return table(heads, rows, "The listeners as this route meets them", keep=(0, 1, 2))


def _next(trail: Trail) -> Markup:
    steps = (
        element(
            "li",
            ((element("code", command), element("br")) for command in one.commands),
            one.effect,
        )
        for one in trail.next
    )
    return element("section", element("h3", "Next, one of"), element("ol", steps, class_="next"))


def _conditions(seen: Object) -> tuple[Part, ...]:
    found = list(_stated(seen))
    if not found:
        return ()
    rows = (_condition(where, one) for where, one in found)
    heads = ("Condition", "Status", "Reason", "Since", "Message")
    return (
        element("h2", "Conditions"),
        table(heads, rows, "As the object reports them", keep=(1, 3)),
    )


def _stated(seen: Object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    status = part(seen.body, "status")
    for one in items(status, "conditions"):
        yield "", one
    for entry in items(status, "parents"):
        for one in items(entry, "conditions"):
            yield text(entry, "controllerName"), one


def _condition(where: str, one: Mapping[str, Any]) -> tuple[Part, ...]:
    name = f"{text(one, 'type')} ({where})" if where else text(one, "type")
    return (
        name,
        text(one, "status"),
        text(one, "reason"),
        text(one, "lastTransitionTime"),
        text(one, "message"),
    )


async def _wants(watched: Watched, answer: Answer) -> tuple[Part, ...]:
    """What one more pass would want, looked at now and without a write."""
    try:
        passed = await watched.again(answer.about)
    except ClusterError as error:
        return (element("h2", "Wanted"), element("p", f"cannot be looked at: {error.message}"))
    if passed is None or passed.gone:
        return ()
    decision = passed.decision
    if passed.error is not None:
        return (element("h2", "Wanted"), element("p", f"cannot be read: {passed.error.message}"))
    shown = decision.want[:WANTS]
    more = len(decision.want) - len(shown)
    return (
        element("h2", "Wanted"),
        element("p", "nothing is to be written", class_="soft")
        if not decision.want and not decision.drop
        else None,
        (_want(one) for one in shown),
        notes([f"{more} more are not shown"] if more else []),
        (element("p", f"to go: {one.ref}") for one in decision.drop),
    )


def _want(want: Want) -> Markup:
    body = dict(want.body)
    made = Object.of(want.kind, body)
    values = note_of(values_of(made))
    already = want.live is not None and want.live.body == body
    state = "there already" if already else "to be made" if want.live is None else "to be looked at"
    head = f"{want.ref}: {_HOW[want.how]}; {state}"
    return element(
        "details",
        element("summary", head),
        element("p", values, class_="note") if values else None,
        element("pre", masked(want.kind, body), tabindex="0"),
    )


def _passes(watched: Watched, key: Ref, now: datetime) -> tuple[Part, ...]:
    found = watched.passes(key)
    rows = (
        (ago(one.at, now), one.result, one.reason, str(one.changes), f"{one.seconds * 1000:.0f} ms")
        for one in found
    )
    heads = ("When", "Result", "Reason", "Changed", "Took")
    return (
        element("h2", "Last passes"),
        table(heads, rows, "The latest first", keep=(0, 1))
        if found
        else element("p", "none is remembered", class_="soft"),
    )


def _judged_with(answer: Answer) -> tuple[Part, ...]:
    if not answer.trails:
        return ()
    parents = dict.fromkeys(str(one.parent) for one in answer.trails if one.parent is not None)
    by = f"with {', '.join(parents)}" if parents else "with what is named above"
    return (element("p", f"It is judged {by}, whose passes count.", class_="note"),)
