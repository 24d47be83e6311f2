"""Run a credential plugin: a program of the user's that prints a token or a certificate.

It runs in a thread of its own, never longer than its limit, and its whole process group is ended
when it does. What it prints to stderr is drained and thrown away, never shown: it may hold the
very token, and no mask is sure to know it.
"""

import asyncio
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

import msgspec

from roadstead.errors import InputError
from roadstead.kube.times import parse_time
from roadstead.runtime.access import Plugin

LIMIT_SECONDS = 30.0
TERMINAL_LIMIT_SECONDS = 300.0
OUTPUT_BYTES = 1 << 20
_PIECE_BYTES = 1 << 16
_LOOK_SECONDS = 0.05


class Granted(msgspec.Struct, frozen=True, rename="camel"):
    """What a plugin prints: a token, a certificate with its key, or both.

    expiration_timestamp: RFC 3339; None when it does not say.
    """

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None

    def __repr__(self) -> str:
        """Show nothing of it."""
        return f"<credentials until {self.expiration_timestamp}>"

    def expires_at(self) -> float | None:
        """Give the end of its life in seconds since 1970; None when it has none."""
        if self.expiration_timestamp is None:
            return None
        return parse_time(self.expiration_timestamp).timestamp()


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: Granted


class _StoppedError(Exception):
    """The plugin was ended; the text says why, as the end of a sentence."""


async def ask(
    plugin: Plugin,
    environ: Mapping[str, str],
    *,
    interactive: bool = False,
    limit_seconds: float | None = None,
) -> Granted:
    """Run a plugin and read what it prints.

    interactive: whether it may use our terminal, should we have one.
    limit_seconds: how long it may take; 30 s, or 5 min while a person answers it.
    Raises: InputError naming user and command, never an argument or a word of its output.
    """
    terminal = interactive and plugin.mode != "Never" and sys.stdin.isatty()
    if plugin.mode == "Always" and not terminal:
        raise _refuse(plugin, "asks for a terminal, and there is none")
    info: dict[str, object] = {"interactive": terminal}
    if plugin.cluster is not None:
        info["cluster"] = plugin.cluster
    asked = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": info}
    env = {**environ, **plugin.env, "KUBERNETES_EXEC_INFO": msgspec.json.encode(asked).decode()}
    limit = limit_seconds or (TERMINAL_LIMIT_SECONDS if terminal else LIMIT_SECONDS)
    stop = threading.Event()
    try:
        output, code = await asyncio.to_thread(_run, plugin, env, terminal, limit, stop)
    except FileNotFoundError:
        hint = plugin.hint or f"install `{plugin.command}`, or put it on the PATH"
        raise _refuse(plugin, "is not installed", hint) from None
    except OSError as error:
        raise _refuse(plugin, f"cannot be started: {error.strerror}") from None
    except _StoppedError as ended:
        raise _refuse(plugin, str(ended)) from None
    finally:
        stop.set()  # a cancelled caller leaves no plugin behind
    if code:
        raise _refuse(plugin, f"ended with code {code}")
    return _read(plugin, output)


def _refuse(plugin: Plugin, what: str, hint: str = "") -> InputError:
    return InputError(
        f"the credential plugin `{plugin.command}` of {plugin.user} {what}",
        hint=hint or plugin.hint or f"run `{plugin.command}` by hand to see what it says",
    )


def _read(plugin: Plugin, output: bytes) -> Granted:
    try:
        answer = msgspec.json.decode(output, type=_Answer)
        answer.status.expires_at()
    except (msgspec.DecodeError, ValueError):
        raise _refuse(plugin, "printed no ExecCredential") from None
    granted = answer.status
    if (answer.api_version, answer.kind) != (plugin.api_version, "ExecCredential"):
        raise _refuse(plugin, f"printed no ExecCredential of {plugin.api_version}")
    if bool(granted.client_certificate_data) is not bool(granted.client_key_data):
        raise _refuse(plugin, "printed half of a certificate and key")
    if not granted.token and not granted.client_key_data:
        raise _refuse(plugin, "printed neither a token nor a certificate")
    return granted


def _run(
    plugin: Plugin, env: Mapping[str, str], terminal: bool, limit: float, stop: threading.Event
) -> tuple[bytes, int]:
    """Run it to its end; give its stdout and its code."""
    process = subprocess.Popen(  # noqa: S603 - the user's own kubeconfig names it
        [plugin.command, *plugin.args],
        env=dict(env),
        stdin=None if terminal else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        # a person who is asked something must see the question
        stderr=None if terminal else subprocess.PIPE,
        # a plugin on the terminal stays in our group, or it could not read from it
        start_new_session=not terminal,
    )
    ended = False
    try:
        output = _drain(process, time.monotonic() + limit, limit, stop)
        ended = True
        return output, process.returncode
    finally:
        if not ended:
            with suppress(ProcessLookupError):
                process.kill() if terminal else os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _drain(
    process: subprocess.Popen[bytes], end: float, limit: float, stop: threading.Event
) -> bytes:
    """Read both pipes until stdout is closed and the program has ended; keep stdout."""
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        pipes: list[IO[bytes] | None] = [process.stdout, process.stderr]
        for pipe in pipes:
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ)
        talking = True
        while talking or process.poll() is None:
            if stop.is_set() or time.monotonic() >= end:
                raise _StoppedError(f"did not answer within {limit:g} s and was ended")
            for key, _ in selector.select(_LOOK_SECONDS):
                piece = os.read(key.fd, _PIECE_BYTES)
                if not piece:
                    selector.unregister(key.fileobj)
                    talking = talking and key.fileobj is not process.stdout
                elif key.fileobj is process.stdout:
                    output += piece
                    if len(output) > OUTPUT_BYTES:
                        raise _StoppedError("printed more than 1 MiB and was ended")
    return bytes(output)
