"""`roadstead who HOSTNAME|ADDRESS|SECRET`: who holds it, who waits for it, and by which rule."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import typer

from roadstead.cli import inputs
from roadstead.cli.offline import offline
from roadstead.cli.options import (
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
from roadstead.cli.out import Screen, machine
from roadstead.decision import Decision
from roadstead.errors import ClusterError
from roadstead.explain.anchors import ANCHOR_SUBJECT
from roadstead.explain.attachments import ATTACHMENT_SUBJECT
from roadstead.explain.gateways import GATEWAY_SUBJECT
from roadstead.explain.rows import is_forbidden
from roadstead.explain.who import (
    ADDRESS,
    HOSTNAME,
    SECRET,
    Asked,
    Holding,
    Waiting,
    Who,
    by_status,
)
from roadstead.explain.who import who as holders_of
from roadstead.kube.refs import SECRET as SECRET_KIND
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_age, format_time
from roadstead.sim.settle import drive

EXAMPLES = (
    "roadstead who shop.blue.example.org",
    "roadstead who 203.0.113.7 -f world/",
    "roadstead who secret/postgres-shop-ca -n tenant-blue",
)
app = application()

HEADERS = ("HOLDER", "TENANT", "SINCE", "GATEWAY", "LISTENER", "ADDRESS", "TLS")
_ASKED = {
    HOSTNAME: (GATEWAY_SUBJECT,),
    ADDRESS: (GATEWAY_SUBJECT, ATTACHMENT_SUBJECT),
    SECRET: (GATEWAY_SUBJECT, ANCHOR_SUBJECT),
}
"""Who may know."""
HIDDEN = "held, but by an object you may not read"
UNREAD = "not all of it may be read by you; an object you may not read may hold it"


@app.command()
def who(
    name: Annotated[
        str,
        typer.Argument(
            metavar="HOSTNAME|ADDRESS|SECRET",
            help="A hostname, an address, or secret/NAME.",
        ),
    ],
    *,
    namespace: Namespace = "",
    files: Files = None,
    settings: SettingsFile = "",
    ca_sources_file: SourcesFile = "",
    output: Output = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print who holds a hostname, an address or a Secret, and who waits for it.

    From files with -f, else from the cluster, with your rights. Exit code 1 says that nobody
    holds it. Formats: table, json, yaml.
    """
    form = chosen(output, ("table", "json", "yaml"))
    page = screen(color, no_color)
    asked = Asked.read(name)
    files, settings, start = inputs.as_case(files, settings)
    told = inputs.given(settings, ca_sources_file, (), start=start)
    if files:
        answer, now = _offline(asked, namespace, files, told), told.now
    else:
        from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

        space = session.space(kubeconfig, context, namespace)
        answer = _live(asked, inputs.Place(kubeconfig, context, space, told.settings))
        now = inputs.wall()
    if form in {"json", "yaml"}:
        page.write(machine(form, "Who", facts(answer)))
    else:
        show(page, answer, now)
    page.flush()
    return 0 if answer.held else 1


def _offline(asked: Asked, namespace: str, files: Sequence[str], told: inputs.Given) -> Who:
    played = offline(files, told)
    spaces = {namespace}
    if asked.of == SECRET and not namespace:  # no view holds them all
        secrets = [seen.ref for seen in played.world.store.all(SECRET_KIND)]
        spaces |= {ref.namespace for ref in secrets if ref.name == asked.name}
    found = Who(asked)
    for space in sorted(spaces):
        found = found.beside(drive(holders_of(asked, space, played.reader(), played.judge))[0])
    return found


def _live(asked: Asked, place: inputs.Place) -> Who:
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    return session.ask(
        place.kubeconfig, place.context, lambda client: _answer(client, asked, place)
    )


async def _answer(client: Any, asked: Asked, place: inputs.Place) -> Who:
    """Look everywhere, and where that is not allowed, at the caller's own namespace as well."""
    narrow = place.namespace if asked.of == SECRET else ""
    found, whole = await _looked(client, asked, place, narrow)
    if whole:
        return found
    if not narrow:
        nearby, _ = await _looked(client, asked, place, place.namespace)
        found = found.beside(nearby)
    return replace(found, notes=(*found.notes, UNREAD))


async def _looked(
    client: Any, asked: Asked, place: inputs.Place, namespace: str
) -> tuple[Who, bool]:
    """Ask in one namespace, or in all; and whether all of it could be read.

    The routes of one namespace are not judged: those of others may come before them.
    Raises: ClusterError for anything but missing rights.
    """
    from roadstead.cli import session  # noqa: PLC0415 - the HTTP client takes half a second

    subjects = _ASKED[asked.of]
    look = session.look(client, namespace, place.settings, subjects)
    try:
        await look.fill()
    except ClusterError as error:
        if not is_forbidden(error):
            raise
    if asked.of == HOSTNAME and namespace:
        return by_status(look.reader(), asked), False

    async def judge(key: Ref) -> Decision | None:
        if not any(one.judges(key) for one in subjects):
            return None
        passed = await look.judge(key)
        return None if passed.gone else passed.decision

    space = place.namespace if asked.of == SECRET else ""
    return await holders_of(asked, space, look.reader(), judge)


def show(page: Screen, answer: Who, now: datetime) -> None:
    """Print an answer for people."""
    if answer.holdings:
        page.table(HEADERS, [(one.holder.path, *one.cells(now)) for one in answer.holdings])
    elif answer.hidden:
        page.line(HIDDEN)
    else:
        page.line(f"nobody holds {answer.asked.name}")
    for one in answer.waiting:
        age = f", {format_age(now - one.since)}" if one.since is not None else ""
        page.line(f"waiting: {one.about.path} ({one.reason}{age})")
    if answer.rule:
        page.line(f"rule: {answer.rule}")
    for note in answer.notes:
        page.sentence(f"note: {note}")


def facts(answer: Who) -> dict[str, Any]:
    """An answer as machine formats tell it."""
    return {
        "asked": answer.asked.name,
        "of": answer.asked.of,
        "held": answer.held,
        "hidden": answer.hidden,
        "holders": [_holder(one) for one in answer.holdings],
        "waiting": [_waiting(one) for one in answer.waiting],
        "rule": answer.rule or None,
        "notes": list(answer.notes),
    }


def _holder(one: Holding) -> dict[str, Any]:
    return {
        "object": one.holder.path,
        "tenant": one.tenant,
        "since": format_time(one.since) if one.since is not None else None,
        "gateway": one.gateway.path if one.gateway is not None else None,
        "listener": one.listener or None,
        "addresses": list(one.addresses),
        "tls": one.tls or None,
    }


def _waiting(one: Waiting) -> dict[str, Any]:
    return {
        "object": one.about.path,
        "reason": one.reason,
        "since": format_time(one.since) if one.since is not None else None,
    }
