"""`roadstead why KIND/NAME`: every rule that was asked, what stopped, and the next step."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roadstead.cli import inputs
from roadstead.cli.offline import offline
from roadstead.cli.options import (
    Allowed,
    Color,
    Context,
    Files,
    Kubeconfig,
    Namespace,
    NoColor,
    Output,
    SettingsFile,
    SourcesFile,
    application,
    chosen,
    screen,
)
from roadstead.cli.out import Cell, Screen, machine
from roadstead.decision import Decision
from roadstead.errors import ClusterError, InputError
from roadstead.explain.ask import Answer, Target, ask, trail_of_part
from roadstead.explain.rows import is_forbidden, latest
from roadstead.explain.subject import Listener, Subject
from roadstead.explain.trail import NO, NOT_ASKED, NOTE, OK, WAIT, Trail
from roadstead.kube.refs import SECRET, Ref
from roadstead.settings import Settings
from roadstead.sim.settle import drive

if TYPE_CHECKING:
    from roadstead.explain.cluster import Look

EXAMPLES = (
    "roadstead why endpointattachment/shop-db -n tenant-blue",
    "roadstead why httproute/web -n tenant-green",
    "roadstead why helmrelease/postgres-mydb -n tenant-blue",
    "roadstead why secret/postgres-mydb-ca -n tenant-blue",
    "roadstead why service/postgres-mydb-rw -f tenant-blue/",
)
app = application()

_STYLES = {OK: "green", WAIT: "yellow", NO: "red", NOT_ASKED: "dim", NOTE: "cyan"}
_WIDEST_MARK = 4
UNREAD = "ReadFailed"
"""The reason of a decision that could not read what it needs."""
LISTENERS = ("LISTENER", "PORT", "HOSTNAME", "NAMESPACE ALLOWED", "HOSTNAME MATCHES")
PERIOD = 2.0
"""Seconds between two looks of `--watch`."""

HELP = (
    "endpointattachment (epa), helmrelease, httproute, ipaddressclaim, secret, service, "
    "tenantgateway (tgw), tlsroute, trustanchor or wildcards."
)
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Print again on every change.")]


@dataclass(frozen=True, slots=True)
class Asked:
    """Which cluster is asked."""

    kubeconfig: str
    context: str


@app.command()
def why(
    target: Annotated[str, typer.Argument(metavar="KIND/NAME", help=HELP)],
    *,
    namespace: Namespace = "",
    files: Files = None,
    settings: SettingsFile = "",
    ca_sources_file: SourcesFile = "",
    allow_withdrawals: Allowed = None,
    watch: Watch = False,
    output: Output = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print the trail of one decision: every rule, what it looked at, and the next step.

    From files with -f, else from the cluster, judged now and with your rights. Exit code 1 says
    that something is not as it should be. Formats: table, json, yaml.
    """
    form = chosen(output, ("table", "json", "yaml"))
    page = screen(color, no_color)
    wanted = Target.read(target)
    files, settings, start = inputs.as_case(files, settings)
    told = inputs.given(settings, ca_sources_file, allow_withdrawals or (), start=start)
    if files:
        if watch:
            raise InputError("files do not change by themselves", hint="leave out --watch")
        return _answered(page, form, _offline(wanted, namespace, files, told))
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    asked = Asked(kubeconfig, context)
    space = session.space(kubeconfig, context, namespace)
    answer = _live(wanted, space, told.settings, asked)
    code = _answered(page, form, answer)
    while watch and not page.closed:
        time.sleep(PERIOD)
        newer = _live(wanted, space, told.settings, asked)
        if newer != answer:
            code = _answered(page, form, newer)
        answer = newer
    return code


def _answered(page: Screen, form: str, answer: Answer) -> int:
    """Print one answer; gives its exit code."""
    if form in {"json", "yaml"}:
        page.write(machine(form, "Trail", facts(answer)))
    else:
        show(page, answer)
    page.flush()
    return 0 if answer.settled else 1


def _offline(target: Target, namespace: str, files: Sequence[str], told: inputs.Given) -> Answer:
    played = offline(files, told)
    if not namespace and target.kind == SECRET:  # no view holds them all
        there = [seen.ref for seen in played.world.store.all(SECRET)]
        namespace = _only_namespace(target, there)
    return drive(ask(target, namespace, played.reader(), played.judge))


def _only_namespace(target: Target, secrets: Sequence[Ref]) -> str:
    found = [ref.namespace for ref in secrets if ref.name == target.name]
    if len(found) > 1:
        spaces = ", ".join(found)
        raise InputError(
            f"`{target.name}` stands in several namespaces: {spaces}", hint="choose with -n"
        )
    if not found:
        near = get_close_matches(target.name, sorted({ref.name for ref in secrets}), n=1)
        hint = f"did you mean `{near[0]}`?" if near else "check the name and -f"
        raise InputError(f"these files hold no Secret `{target.name}`", hint=hint)
    return found[0]


def _live(target: Target, space: str, settings: Settings, asked: "Asked") -> Answer:
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    async def question(client: Any) -> Answer:
        subject = target.subject(space)
        look = session.look(client, "" if subject.wide else space, settings, (subject,))
        try:
            await look.fill(subject.listed if subject.single else ())
            answer = await _judged(target, space, subject, look)
        except ClusterError as error:
            told = await _reported(target, space, subject, look) if is_forbidden(error) else None
            if told is None:
                raise
            return told
        if any(trail.reason == UNREAD for trail in answer.trails):
            answer = await _reported(target, space, subject, look) or answer
        return replace(answer, notes=(*answer.notes, *look.unread(subject)))

    return session.ask(asked.kubeconfig, asked.context, question)


async def _judged(target: Target, space: str, subject: Subject, look: "Look") -> Answer:
    """Judge now, and lay over it what only the running controller can know."""
    events = await look.events()

    async def judge(key: Ref) -> Decision | None:
        passed = await look.judge(key)
        if passed.gone:
            return None
        told = latest(events, subject.about(key, passed.decision))
        return subject.learn(key, passed.decision, told)

    return await ask(target, space, look.reader(), judge)


async def _reported(target: Target, space: str, subject: Subject, look: "Look") -> Answer | None:
    """What the object's own status says; None where it has no such word."""
    ref = target.kind.ref(space, target.name)
    if subject.reported is None:
        return None
    parts = await subject.reported(look.reader(), ref)
    return Answer(ref, (), tuple(trail_of_part(one) for one in parts)) if parts else None


def show(page: Screen, answer: Answer) -> None:
    """Print an answer for people."""
    if answer.notes:
        page.line(page.paint(str(answer.about), "bold"))
        page.columns([_note(note) for note in answer.notes], indent="  ", least=(_WIDEST_MARK,))
    for number, trail in enumerate(answer.trails):
        if number or answer.notes:
            page.line()
        show_trail(page, trail)
    if not answer.trails and not answer.notes:
        page.line(f"{answer.about}: nothing to judge")


def _note(text: str) -> tuple[Cell, str]:
    return Cell(NOTE, _STYLES[NOTE]), text


def show_trail(page: Screen, trail: Trail) -> None:
    """Print one trail."""
    style = "green" if trail.settled else "red" if trail.refused else "yellow"
    about = f"{trail.key} -> {trail.parent}" if trail.parent is not None else str(trail.key)
    page.line(f"{page.paint(about, 'bold')}    {page.paint(trail.headline, style)}")
    page.line()
    if trail.listeners:
        page.table(LISTENERS, [_listener(one) for one in trail.listeners], indent="  ")
        page.line()
    rows: list[tuple[Cell, str, str]] = [
        (Cell(line.mark, _STYLES[line.mark]), line.rule, line.text) for line in trail.lines
    ]
    page.columns(rows, indent="  ", least=(_WIDEST_MARK,))
    page.columns([_note(note) for note in trail.notes], indent="  ", least=(_WIDEST_MARK,))
    if rows or trail.notes:
        page.line()
    page.sentence(trail.because)
    if trail.wakes:
        page.sentence(f"wakes: {trail.wakes}")
    for number, step in enumerate(trail.next):
        for at, command in enumerate(step.commands):
            head = "" if at else ("  or" if number else "next:")
            effect = f"     ({step.effect})" if at == len(step.commands) - 1 else ""
            page.line(f"{head:<7}{command}{effect}")


def _listener(one: Listener) -> tuple[str, ...]:
    allowed = f"{'yes' if one.allowed else 'no'}  {one.admits}"
    return (one.name, str(one.port), one.hostname or "*", allowed, one.matches)


def facts(answer: Answer) -> dict[str, Any]:
    """An answer as machine formats tell it."""
    return {
        "object": answer.about.path,
        "settled": answer.settled,
        "notes": list(answer.notes),
        "trails": [_trail(trail) for trail in answer.trails],
    }


def _trail(trail: Trail) -> dict[str, Any]:
    return {
        "key": trail.key.path,
        "state": trail.state,
        "reason": trail.reason,
        "settled": trail.settled,
        "rules": [
            {
                "rule": line.rule,
                "verdict": line.verdict or "not asked",
                "reason": line.reason,
                "refs": [ref.path for ref in line.refs],
            }
            for line in trail.lines
        ],
        "because": trail.because,
        "next": [{"commands": list(n.commands), "effect": n.effect} for n in trail.next],
        "wakes": trail.wakes,
        "notes": list(trail.notes),
        **_of_route(trail),
    }


def _of_route(trail: Trail) -> dict[str, Any]:
    """What a route attaches to; nothing for any other object."""
    if trail.parent is None:
        return {}
    listeners = [
        {
            "name": one.name,
            "port": one.port,
            "hostname": one.hostname or None,
            "namespaceAllowed": one.allowed,
            "namespaces": one.admits,
            "hostnameMatches": one.matches,
        }
        for one in trail.listeners
    ]
    return {"gateway": trail.parent.path, "listeners": listeners}
