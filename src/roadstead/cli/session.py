"""One look at the cluster that a kubeconfig leads to, with the caller's own rights."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from roadstead.capabilities import CONTROLLERS
from roadstead.capabilities.anchors import api
from roadstead.errors import ClusterError, InputError
from roadstead.explain.cluster import Look
from roadstead.explain.counterparts import is_counterpart, is_minted
from roadstead.explain.subject import Subject
from roadstead.explain.subjects import SUBJECTS
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


def space(kubeconfig: str, context: str, namespace: str, *, everywhere: bool = False) -> str:
    """The namespace that is meant: the given one, else that of the context; empty for all."""
    return "" if everywhere else namespace or find(kubeconfig, context, os.environ).namespace


def look(
    client: Client, namespace: str, settings: Settings, subjects: Sequence[Subject] = SUBJECTS
) -> Look:
    """Look at a cluster, or at one namespace of it; nothing is read yet."""
    return Look(client, namespace, settings, LiveClock(), subjects)


def baseline(played: Played, kubeconfig: str, context: str) -> dict[Ref, Object]:
    """The live objects a settled world speaks of, and the anchors beside them.

    Raises: InputError for a kind nobody declares: its path would be a guess.
    """
    known = kinds_of(CONTROLLERS)
    # What a stand-in has made up is looked for nowhere: the caller may not be allowed to.
    imagined = played.imagined - {one.ref for one in played.placed}
    refs: list[Ref] = []
    for seen in played.world.store.all():
        if seen.kind in {EVENT, LEASE} or seen.ref in imagined:
            continue
        if known.find(seen.kind.api_version, seen.kind.kind) is None:
            raise InputError(
                f"{seen.ref} is of a kind that cannot be compared with a cluster",
                place=played.place(seen.ref),
                hint="leave it out, or compare with --against DIR",
            )
        refs.append(seen.ref)
    minted = [seen for seen in played.world.store.all() if seen.ref in refs and is_minted(seen)]
    return ask(kubeconfig, context, lambda client: _live(client, refs, minted))


async def _live(client: Client, refs: list[Ref], minted: Sequence[Object]) -> dict[Ref, Object]:
    found: dict[Ref, Object] = {}
    for namespace in sorted({ref.namespace for ref in refs if ref.namespace}):
        anchors = await client.list_metadata(SECRET, namespace, f"{api.COPY}=true")
        refs = [*refs, *(anchor.ref for anchor in anchors)]
    refs = [*refs, *await _minted(client, minted)]
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


async def _minted(client: Client, minted: Sequence[Object]) -> list[Ref]:
    """What the same owners have had made in the cluster, under names of its own."""
    found = []
    for kind, namespace in sorted({(seen.kind, seen.meta.namespace) for seen in minted}):
        try:
            there = await client.list_metadata(kind, namespace)
        except ClusterError as error:
            if error.not_found:
                continue
            raise
        wanted = [seen for seen in minted if (seen.kind, seen.meta.namespace) == (kind, namespace)]
        found += [one.ref for one in there if any(is_counterpart(one, seen) for seen in wanted)]
    return found
