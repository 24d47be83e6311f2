"""Log lines: constant messages with keys, JSON or text, written by a thread of their own.

A line waits in a bounded queue; a reader that stops reading costs lines, which are counted, and
never holds up the loop or the lease. What an exception says is never written, only its type and
the place in the code: a message may quote a value.
"""

import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from traceback import walk_tb
from typing import Any, Protocol

import orjson
import structlog

from roadstead.kube.refs import Ref

Log = structlog.typing.FilteringBoundLogger

LINES = 10_000
LAST_WORDS = 2.0
"""Seconds that closing waits for a reader."""
KEYS = ("ts", "level", "msg", "controller", "namespace", "name", "reconcileID")
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_COLOURS = {"debug": "2", "info": "32", "warning": "33", "error": "31"}
_PASS: ContextVar[tuple[str, Ref, int] | None] = ContextVar("pass", default=None)
_QUIET = frozenset({"aiohttp.access"})


class Pipe:
    """Writes lines to a file descriptor from a thread.

    dropped: lines that found no room.
    """

    def __init__(self, descriptor: int, lines: int = LINES) -> None:
        """Start the thread. lines: how many may wait."""
        self.dropped = 0
        self._closed = False
        self._descriptor = descriptor
        self._lines: queue.Queue[bytes | None] = queue.Queue(lines)
        self._thread = threading.Thread(target=self._drain, name="logs", daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> None:
        """Queue one line, or count it as dropped."""
        with suppress(queue.Full):
            if not self._closed:
                self._lines.put_nowait(line)
                return
        self.dropped += 1

    def close(self, wait: float = LAST_WORDS) -> None:
        """Write what waits, as far as somebody reads it in time, and end the thread.

        Where nobody reads, the thread stays behind; it is a daemon and holds up no exit.
        """
        self._closed = True
        while True:
            try:
                self._lines.put_nowait(None)
                break
            except queue.Full:
                with suppress(queue.Empty):
                    self._lines.get_nowait()
                    self.dropped += 1
        self._thread.join(wait)

    def _drain(self) -> None:
        while (line := self._lines.get()) is not None:
            left = memoryview(line)
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                self.dropped += 1


class Writes(Protocol):
    """Where lines go."""

    def write(self, line: bytes) -> None:
        """Take one line."""


class _Sink:
    """Gives a pipe the methods structlog asks for."""

    def __init__(self, pipe: Writes) -> None:
        self.debug = self.info = self.warning = self.error = pipe.write


def open_log(pipe: Writes, *, level: str, form: str, wall: Callable[[], datetime]) -> Log:
    """Give a logger whose lines leave through a pipe.

    level: debug, info, warning or error. form: `json`, `text` or `colour`.
    """
    lines = {"json": _json, "text": _text, "colour": _coloured}[form]

    def add_time(_log: Any, _name: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        event["ts"] = f"{wall():%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
        return event

    wrapped: Log = structlog.wrap_logger(
        _Sink(pipe),
        processors=[_add_pass, _add_level, add_time, _order, lines],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        cache_logger_on_first_use=False,
    )
    return wrapped


def form_for(wanted: str, *, terminal: bool, environ: Mapping[str, str]) -> str:
    """Say which form lines take: what the flag says, else JSON away from a terminal."""
    form = wanted or ("text" if terminal else "json")
    if form == "text" and terminal and not environ.get("NO_COLOR"):
        return "text" if environ.get("TERM") == "dumb" else "colour"
    return form


def place_of(error: BaseException) -> str:
    """Say where in the code an exception was raised, as `file.py:12 function`."""
    place = ""
    for frame, line in walk_tb(error.__traceback__):
        code = frame.f_code
        place = f"{Path(code.co_filename).name}:{line} {code.co_qualname}"
    return place


def begin_pass(controller: str, key: Ref, number: int) -> None:
    """Have every further line of this task name a key and the pass over it."""
    _PASS.set((controller, key, number))


class Bridge(logging.Handler):
    """Takes what libraries log: the template of the message, the exception's type and place."""

    def __init__(self, log: Log) -> None:
        """Write to a log."""
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; its arguments are left out, since they may hold anything."""
        if record.name in _QUIET:
            return
        keys: dict[str, Any] = {"logger": record.name}
        if record.exc_info and record.exc_info[1]:
            error = record.exc_info[1]
            keys |= {"type": type(error).__name__, "place": place_of(error)}
        level = "error" if record.levelno >= logging.ERROR else "warning"
        if record.args:  # without them the message is no template, and may quote anything
            keys["template"] = str(record.msg)[:200]
        getattr(self._log, level)("message of a library", **keys)


def _add_pass(_log: Any, _name: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Name the pass this task works; cheaper than a binding, which most passes never use."""
    now = _PASS.get()
    if now is not None:
        controller, key, number = now
        event["controller"], event["reconcileID"] = controller, f"{number:08x}"
        event["namespace"], event["name"] = key.namespace, key.name
    return event


def _add_level(_log: Any, name: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    event["level"] = name
    return event


def _order(_log: Any, _name: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Put the common keys first and leave out what is empty."""
    event["msg"] = event.pop("event")
    first = {key: event.pop(key) for key in KEYS if key in event}
    return first | {key: value for key, value in event.items() if value not in ("", None)}


def _json(_log: Any, _name: str, event: MutableMapping[str, Any]) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_APPEND_NEWLINE)


def _text(_log: Any, _name: str, event: MutableMapping[str, Any]) -> bytes:
    return _line(event, "")


def _coloured(_log: Any, _name: str, event: MutableMapping[str, Any]) -> bytes:
    return _line(event, _COLOURS.get(event["level"], ""))


def _line(event: MutableMapping[str, Any], colour: str) -> bytes:
    level = f"{event['level']:<7}"
    if colour:
        level = f"\x1b[{colour}m{level}\x1b[0m"
    rest = (f"{k}={_value(v)}" for k, v in event.items() if k not in {"ts", "level", "msg"})
    line = "  ".join((event["ts"], level, event["msg"], *rest))
    return line.encode(errors="replace") + b"\n"


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value)) or "-"
    text = str(value)
    plain = text.isprintable() and '"' not in text and " " not in text and text
    return text if plain else orjson.dumps(text).decode()


@contextmanager
def bridged(log: Log) -> Iterator[None]:
    """Have what libraries log leave through our pipe."""
    root, bridge = logging.getLogger(), Bridge(log)
    root.addHandler(bridge)
    try:
        yield
    finally:
        root.removeHandler(bridge)
