"""The control plane a bench runs on, a bare client for the floor, and the process under test."""

import asyncio
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from yarl import URL

from roadstead.runtime.access import Config
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.kubeconfig import load
from roadstead.testbed.server import ControlPlane

IN_FLIGHT = 32
IDLE = 0.15
"""CPU seconds a second that a server without requests may use."""
ROADSTEAD = str(Path(sys.executable).with_name("roadstead"))


class Bare:
    """What any client could do: prebuilt bodies over pooled TLS, 32 in flight, nothing decoded."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        """Send through one session."""
        self.session = session
        self.server = server
        self._slots = asyncio.Semaphore(IN_FLIGHT)

    async def send(self, method: str, path: str, body: bytes, content: str = "") -> bytes:
        """One request; anything but success ends the bench."""
        headers = {"Content-Type": content or "application/json"}
        async with (
            self._slots,
            self.session.request(method, self.server + path, data=body, headers=headers) as answer,
        ):
            content_of = await answer.read()
            if answer.status >= 400:
                raise RuntimeError(f"{method} {path}: {answer.status} {content_of[:300]!r}")
            return content_of

    async def post_all(self, bodies: Iterable[tuple[str, bytes]]) -> float:
        """Send every body to its path; gives the seconds it took."""
        prepared = list(bodies)
        started = time.perf_counter()
        await asyncio.gather(*(self.send("POST", path, body) for path, body in prepared))
        return time.perf_counter() - started

    async def count(self, path: str) -> int:
        """How many objects a collection has, metadata alone."""
        accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        url = URL(self.server + path, encoded=True)
        async with self.session.get(url, headers={"Accept": accept}) as answer:
            listed = await answer.json()
        if "items" not in listed:
            raise RuntimeError(f"GET {path}: {listed}")
        return len(listed["items"])


async def tls(config: Config) -> ssl.SSLContext | bool:
    """A context with the admin's certificate."""
    return (await Credentials(config).refresh()).tls or False


@asynccontextmanager
async def bare(plane: ControlPlane) -> AsyncIterator[Bare]:
    """A bare client of a control plane."""
    config = load(str(plane.kubeconfig), "", {})
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=await tls(config))
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Bare(session, config.server)


class Running(NamedTuple):
    """A `roadstead run` under test."""

    process: subprocess.Popen[bytes]
    metrics_port: int

    def memory_mib(self, field: str = "VmRSS") -> float:
        """Resident memory, or another field of the process's status."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
        return int(found[1]) / 1024 if found else 0.0

    async def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric over its series with these labels; 0 while it is not served."""
        url = f"http://127.0.0.1:{self.metrics_port}/metrics"
        try:
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                text = await answer.text()
        except aiohttp.ClientError:
            return 0.0
        return sum(
            float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if re.match(rf"{name}(?:\{{|\s)", line)
            and all(f'{key}="{value}"' in line for key, value in labels.items())
        )


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(kubeconfig: Path, *flags: str, only: str = "anchors") -> Iterator[Running]:
    """Run one capability of the program against a server, and end it."""
    port = free_port()
    command: Sequence[str] = (
        ROADSTEAD, "run", "--kubeconfig", str(kubeconfig), "--only", only,
        "--no-leader-elect", "--metrics-bind-address", f"127.0.0.1:{port}",
        "--health-probe-bind-address", "0", "--log-level", "warning", *flags,
    )  # fmt: skip
    environ = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
    try:
        yield Running(process, port)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def calm(plane: ControlPlane, limit: float = 60.0) -> None:
    """Wait until the server has digested what it was filled with: each clock starts alike."""
    end = time.perf_counter() + limit
    while time.perf_counter() < end:
        before = cpu_seconds(plane.pid)
        await asyncio.sleep(1)
        if cpu_seconds(plane.pid) - before < IDLE:
            return


async def until(true: Callable[[], Any], pause: float = 0.05, limit: float = 300.0) -> None:
    """Wait for something to become true."""
    end = time.perf_counter() + limit
    while not await true():
        if time.perf_counter() > end:
            raise TimeoutError("the bench waited in vain")
        await asyncio.sleep(pause)


def encoded(value: bytes) -> str:
    """A value as Secrets hold it."""
    return b64encode(value).decode()
