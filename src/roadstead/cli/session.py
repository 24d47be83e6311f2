"""One look at the cluster that a kubeconfig leads to, with the caller's own rights."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

from roadstead.capabilities import CONTROLLERS
from roadstead.capabilities.anchors import api
from roadstead.errors import ClusterError, InputError
from roadstead.explain.cluster import Look
from roadstead.explain.world import Played
from roadstead.kube.objects import Object
from roadstead.kube.refs import EVENT, LEASE, SECRET, Ref
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.credentials import Credentials
from roadstead.runtime.kubeconfig import find
from roadstead.settings import Settings
from roadstead.sim.flags import kinds_of

DEADLINE = 15.0
"""Seconds one request of a command may take."""
_T = TypeVar("_T")


def ask(kubeconfig: str, context: str, question: Callable[[Client], Awaitable[_T]]) -> _T:
    """Ask a cluster something, read-only.

    Raises: InputError for the kubeconfig; ClusterError when the cluster does not answer.
    """

    async def answer() -> _T:
        config = find(kubeconfig, context, os.environ)
        credentials = Credentials(config, interactive=True)
        async with Client(credentials, read_only=True, deadline=DEADLINE) as client:
            return await question(client)

    return asyncio.run(answer())


def namespace_of(kubeconfig: str, context: str) -> str:
    """The namespace of the context in use."""
    return find(kubeconfig, context, os.environ).namespace


async def look(client: Client, namespace: str, settings: Settings) -> Look:
    """List what decisions need. namespace: empty for all."""
    seen = Look(client, namespace, settings, LiveClock())
    await seen.fill()
    return seen


def baseline(played: Played, kubeconfig: str, context: str) -> dict[Ref, Object]:
    """The live objects a settled world speaks of, and the anchors beside them.

    Raises: InputError for a kind nobody declares: its path would be a guess.
    """
    known = kinds_of(CONTROLLERS)
    refs: list[Ref] = []
    for seen in played.world.store.all():
        if seen.kind in {EVENT, LEASE}:
            continue
        if known.find(seen.kind.api_version, seen.kind.kind) is None:
            raise InputError(
                f"{seen.ref} is of a kind that cannot be compared with a cluster",
                place=played.place(seen.ref),
                hint="leave it out, or compare with --against DIR",
            )
        refs.append(seen.ref)
    return ask(kubeconfig, context, lambda client: _live(client, refs))


async def _live(client: Client, refs: list[Ref]) -> dict[Ref, Object]:
    found: dict[Ref, Object] = {}
    for namespace in sorted({ref.namespace for ref in refs if ref.namespace}):
        anchors = await client.list_metadata(SECRET, namespace, f"{api.COPY}=true")
        refs = [*refs, *(anchor.ref for anchor in anchors)]
    for ref in dict.fromkeys(refs):
        try:
            live = await client.get(ref)
        except ClusterError as error:
            if error.not_found:
                continue
            raise
        if live is not None:
            found[ref] = live
    return found
