"""`/metrics`, `/healthz` and `/readyz`; readiness names what each capability lacks.

What a capability can do without is named too, but fails nothing.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import NamedTuple

from aiohttp import web

from roadstead.engine.engine import Engine
from roadstead.engine.store import State
from roadstead.errors import InputError
from roadstead.runtime.feed import Feeds


class Health(NamedTuple):
    """What a check found. wrong: why it fails. without: what is missed though it does not."""

    wrong: str = ""
    without: str = ""


Check = Callable[[], Health]
OFF = "0"
_AWAY = frozenset({State.ABSENT, State.FORBIDDEN})
EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


def readiness(engine: Engine, feeds: Feeds) -> dict[str, Check]:
    """One check a capability: its views can answer, and nothing waits for a person's word."""

    def check_of(name: str) -> Check:
        desk = engine.desks[name]
        views, optional = desk.controller.views, desk.controller.optional

        def check() -> Health:
            away = {view for view in optional if engine.stores[view].state in _AWAY}
            wrong = list(feeds.missing(view for view in views if view not in away))
            without = feeds.missing(view for view in views if view in away)
            held = desk.withdrawals.held()
            if held:
                said = ", ".join(f"{kind} {count}" for kind, count in held.items())
                wrong.append(f"withdrawals held: {said}")
            return Health("; ".join(wrong), "; ".join(without))

        return check

    def answers(name: str) -> Check:
        views = engine.admissions[name].views
        return lambda: Health("; ".join(feeds.missing(views)))

    checks = {name: check_of(name) for name in engine.desks}
    return checks | {name: answers(name) for name in engine.admissions}


def liveness(feeds: Feeds) -> dict[str, Check]:
    """Every watch has delivered, or was established again, within ten minutes."""
    return {
        "ping": Health,
        "watches": lambda: Health(", ".join(f"{w} is silent" for w in feeds.dead())),
    }


def judged(checks: Mapping[str, Check], what: str, *, verbose: bool) -> tuple[bool, str]:
    """Ask checks; give whether all passed and the page, in the form kube-apiserver has.

    It is one word when all is well, and when nothing is missed.
    """
    lines, good = [], True
    for name, check in checks.items():
        wrong, without = check()
        good = good and not wrong
        verbose = verbose or bool(without)
        said = f"[-]{name} failed: {wrong}" if wrong else f"[+]{name} ok"
        lines.append(f"{said}, without: {without}" if without else said)
    if good and not verbose:
        return True, "ok"
    return good, "\n".join([*lines, f"{what} check {'passed' if good else 'failed'}", ""])


def health_app(live: Mapping[str, Check], ready: Mapping[str, Check]) -> web.Application:
    """Serve `/healthz` and `/readyz`, each check also below them by its name."""
    app = web.Application()
    for what, checks in (("healthz", live), ("livez", live), ("readyz", ready)):
        app.router.add_get(f"/{what}", _page(checks, what))
        for name, check in checks.items():
            app.router.add_get(f"/{what}/{name}", _page({name: check}, what))
    return app


def metrics_app(exposition: Callable[[], bytes]) -> web.Application:
    """Serve `/metrics`."""

    async def page(_request: web.Request) -> web.Response:
        return web.Response(body=exposition(), headers={"Content-Type": EXPOSITION})

    app = web.Application()
    app.router.add_get("/metrics", page)
    return app


def address_of(text: str, flag: str) -> tuple[str | None, int] | None:
    """Read `:8080`, `127.0.0.1:0` or `[::1]:8080`; None for `0`, which serves nothing.

    Raises: InputError.
    """
    if text in {"", OFF}:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:  # noqa: PLR2004 - the last port
        raise InputError(
            f"{flag}: `{text}` is no address", hint="write :8080, 127.0.0.1:8080, or 0 for none"
        )
    return host.removeprefix("[").removesuffix("]") or None, int(port)


async def serve(stack: AsyncExitStack, app: web.Application, text: str, flag: str) -> int:
    """Serve an application until the stack closes; give its port, 0 when it is off.

    Raises: InputError when the address cannot be used.
    """
    address = address_of(text, flag)
    if address is None:
        return 0
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    host, port = address
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise InputError(
            f"{flag}: cannot listen on `{text}`: {error.strerror}",
            hint="give another address, or 0 for none",
        ) from None
    return int(runner.addresses[0][1])


def _page(
    checks: Mapping[str, Check], what: str
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def page(request: web.Request) -> web.Response:
        good, text = judged(checks, what, verbose="verbose" in request.query)
        status = HTTPStatus.OK if good else HTTPStatus.INTERNAL_SERVER_ERROR
        return web.Response(text=text, status=status)

    return page
