"""A headless Chromium, driven over the DevTools protocol by what a few tests need of it."""

import asyncio
import contextlib
import json
import os
import re
import signal
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from chromium import Chromium

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-port=0"),
    *("--force-color-profile=srgb", "--disable-extensions", "--mute-audio"),
)
PATIENCE = 20.0


@dataclass
class Tab:
    """One page. said: what it wrote to its console, errors and refusals of its policy included."""

    socket: aiohttp.ClientWebSocketResponse
    session: str
    said: list[str] = field(default_factory=list)
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    events: dict[str, asyncio.Event] = field(default_factory=dict)
    number: int = 0

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask for something; give what came of it."""
        self.number += 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.waiting[self.number] = answer
        whole = {"id": self.number, "method": method, "params": params}
        await self.socket.send_json({**whole, "sessionId": self.session} if self.session else whole)
        async with asyncio.timeout(PATIENCE):
            return await answer

    async def listen(self) -> None:
        """Take in what the browser says, until it ends."""
        async for message in self.socket:
            said = json.loads(message.data)
            waiting = self.waiting.pop(said.get("id", 0), None)
            if waiting is not None and not waiting.done():
                if "error" in said:
                    waiting.set_exception(RuntimeError(said["error"]["message"]))
                else:
                    waiting.set_result(said["result"])
            elif "method" in said:
                self._happened(said["method"], said["params"])

    def _happened(self, method: str, params: dict[str, Any]) -> None:
        if method in self.events:
            self.events[method].set()
        if method == "Log.entryAdded":
            entry = params["entry"]
            self.said.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Runtime.consoleAPICalled":
            self.said.append(f"{params['type']}: {params['args']}")
        elif method == "Runtime.exceptionThrown":
            self.said.append(f"exception: {params['exceptionDetails']['text']}")

    async def open(self, url: str) -> None:
        """Go to an address and wait until all of it is there."""
        loaded = self.events["Page.loadEventFired"] = asyncio.Event()
        found = await self.send("Page.navigate", url=url)
        assert "errorText" not in found, found
        async with asyncio.timeout(PATIENCE):
            await loaded.wait()

    async def ask(self, expression: str) -> Any:
        """Evaluate an expression in the page; it works where the page's own scripts are off."""
        found = await self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until an expression holds on a page that is there as a whole."""
        whole = f"document.readyState === 'complete' && ({expression})"
        async with asyncio.timeout(PATIENCE):
            while not await self._holds(whole):  # noqa: ASYNC110 - the page sets no event
                await asyncio.sleep(0.02)

    async def _holds(self, expression: str) -> bool:
        """Ask; on the way from one page to the next there is nobody to answer."""
        try:
            return bool(await self.ask(expression))
        except RuntimeError as error:
            if "context" in str(error) or "navigated" in str(error):
                return False
            raise

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.send("Input.insertText", text=text)

    async def press(self, key: str, code: int) -> None:
        """Press a key. code: as in KeyboardEvent.keyCode."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            await self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **(text if kind == "keyDown" else {}),
            )

    async def picture(self, file: Path, *, whole: bool = True) -> None:
        """Take a screenshot."""
        found = await self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        await asyncio.to_thread(file.write_bytes, b64decode(found["data"]))

    async def shape(self, width: int, height: int, scheme: str = "light") -> None:
        """Be so wide and so high, light or dark."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self.send("Emulation.setEmulatedMedia", media="", features=features)

    async def scripts(self, *, on: bool) -> None:
        """Run the scripts of pages, or none."""
        await self.send("Emulation.setScriptExecutionDisabled", value=not on)


@asynccontextmanager
async def browser(of: Chromium, folder: Path) -> AsyncIterator[Tab]:
    """Start one with an empty profile and give its tab; it is gone afterwards."""
    environ = {**os.environ, **of.environ, "HOME": str(folder)}
    child = await asyncio.create_subprocess_exec(
        str(of.program),
        *FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        "about:blank",
        env=environ,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            address = await _address(child)
        drain = asyncio.create_task(_drained(child))
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(address, max_msg_size=0) as socket,
        ):
            tab = Tab(socket, "")
            listening = asyncio.create_task(tab.listen())
            try:
                await _attach(tab)
                yield tab
            finally:
                for task in (listening, drain):
                    task.cancel()
                await asyncio.gather(listening, drain, return_exceptions=True)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # its own group: zygotes and renderers go with it
        await child.wait()


async def _attach(tab: Tab) -> None:
    targets = (await tab.send("Target.getTargets"))["targetInfos"]
    page = next(one["targetId"] for one in targets if one["type"] == "page")
    found = await tab.send("Target.attachToTarget", targetId=page, flatten=True)
    tab.session = found["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        await tab.send(f"{domain}.enable")


async def _address(child: asyncio.subprocess.Process) -> str:
    """Where it listens, as it says on stderr."""
    assert child.stderr is not None
    lines = []
    async for line in child.stderr:
        lines.append(line.decode(errors="replace"))
        if found := re.search(r"DevTools listening on (ws://\S+)", lines[-1]):
            return found[1]
    raise RuntimeError(f"Chromium ended before it listened: {''.join(lines[-5:])}")


async def _drained(child: asyncio.subprocess.Process) -> None:
    """Read what it says, so that it never waits for a reader."""
    assert child.stderr is not None
    while await child.stderr.read(65536):
        pass
