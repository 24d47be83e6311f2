"""The floor of admission: the same server library and TLS, and always the same answer.

python -m bench.constant PORT FOLDER BYTES: BYTES is the size of the answer.
"""

import asyncio
import json
import ssl
import sys
from pathlib import Path

from aiohttp import web

from bench.reviews import PATH, UID


def answer(size: int) -> bytes:
    """A review that allows, so many bytes long."""
    response = {"uid": UID, "allowed": True, "warnings": [""]}
    whole = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
    response["warnings"] = ["x" * max(0, size - len(json.dumps(whole)))]
    return json.dumps(whole).encode()


async def main(port: int, folder: Path, size: int) -> None:
    """Read each body to its end, and answer; until killed."""
    fixed = answer(size)

    async def page(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=fixed, content_type="application/json")

    app = web.Application(client_max_size=16 << 20)
    app.router.add_post(PATH, page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
