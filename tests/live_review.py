"""The webhook in front of a live case: the server asks our own process, over loopback and TLS.

The registration is the one that ships, but for its address.
"""

import base64
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from live_admin import Admin, wait_for
from roadstead.deploy.admission import REGISTRATION, registration
from roadstead.engine.api import Api
from roadstead.engine.clock import Clock
from roadstead.engine.engine import Engine
from roadstead.kube.refs import SECRET
from roadstead.runtime.certificate import Serving
from roadstead.runtime.lineage_figures import AdmissionFigures
from roadstead.runtime.logs import Log
from roadstead.runtime.webhook import Webhook
from webhook_certificates import authority, pair, put

ADDRESS = "127.0.0.1"


class Reviewer:
    """The admission server of one process; make it and use it in the loop's thread."""

    def __init__(
        self, engine: Engine, api: Api, figures: AdmissionFigures, log: Log, clock: Clock
    ) -> None:
        """Listen nowhere yet."""
        self._folder = TemporaryDirectory(prefix="roadstead-tls-")
        tls = Path(self._folder.name, "tls")
        put(tls, pair(ADDRESS))
        # Its name is what a URL asks for; when it is valid is the machine's to say.
        serving = Serving(tls, ADDRESS, clock.wall)
        self.webhook = Webhook(engine, api, serving, figures, log)
        self._stack = AsyncExitStack()
        self.port = 0

    async def start(self) -> None:
        """Answer."""
        self.port = await self.webhook.serve(self._stack, 0, ADDRESS)

    async def stop(self) -> None:
        """Answer no more."""
        await self._stack.aclose()
        self._folder.cleanup()


def register(admin: Admin, asked: Callable[[], int], port: int, path: str) -> None:
    """Have the server ask, and wait until it does. asked: how often it has."""
    body: dict[str, Any] = registration()
    body["webhooks"][0]["clientConfig"] = {
        "url": f"https://{ADDRESS}:{port}{path}",
        "caBundle": base64.b64encode(authority().pem).decode(),
    }
    admin.made(REGISTRATION, body)
    probe = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "probe", "namespace": "kube-public"},
    }

    def asks() -> bool:
        admin.call("POST", SECRET.path("kube-public"), probe, query={"dryRun": "All"})
        return asked() > 0

    wait_for("the webhook asked", asks)
