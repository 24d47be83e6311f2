"""A relay before the API server that counts what the program receives, without reading it."""

import asyncio
import tempfile
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from roadstead.kube.documents import dump, parse


class Relay:
    """Passes bytes on, between a free port and the server of a kubeconfig.

    kubeconfig: leads through the relay. received: bytes from the server so far.
    """

    def __init__(self, kubeconfig: Path) -> None:
        """Stand before the server a kubeconfig names."""
        document = parse(kubeconfig.read_bytes(), str(kubeconfig)).documents[0].value
        self._document = document
        self._server = urlsplit(document["clusters"][0]["cluster"]["server"])
        self._folder = tempfile.TemporaryDirectory()
        self._tasks: set[asyncio.Task[None]] = set()
        self.received = 0
        self.kubeconfig = Path(self._folder.name) / "kubeconfig"

    async def __aenter__(self) -> Self:
        """Listen."""
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._listener.sockets[0].getsockname()[1]
        cluster = self._document["clusters"][0]["cluster"]
        cluster["server"] = f"https://127.0.0.1:{port}"
        self.kubeconfig.write_text(dump([self._document]))
        self.kubeconfig.chmod(0o600)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening and remove the file."""
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._folder.cleanup()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._server.hostname, self._server.port)
        ways = (self._pass(reader, back, counted=False), self._pass(there, writer, counted=True))
        for way in ways:
            task = asyncio.create_task(way)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counted: bool
    ) -> None:
        try:
            while piece := await reader.read(1 << 16):
                self.received += len(piece) if counted else 0
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass  # either side may end a connection; the other is closed below
        finally:
            writer.close()
