"""Saves the objects of a server as files that `plan` reads."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roadstead.capabilities.anchors.api import DEFINITION
from roadstead.capabilities.attachments.api.names import ADDRESS, ATTACHMENT, CLAIM, CLASS
from roadstead.capabilities.gateways import api as gateways
from roadstead.errors import InputError
from roadstead.kube.documents import dump
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, HELM_RELEASE, NAMESPACE, SECRET, SERVICE, Kind
from roadstead.runtime.client import Client

EVERYWHERE = (DEFINITION, CLASS, ADDRESS, gateways.GATEWAY_CLASS, gateways.CLUSTER_ISSUER)
IN_NAMESPACES = (
    HELM_RELEASE,
    SECRET,
    SERVICE,
    ENDPOINT_SLICE,
    CLAIM,
    ATTACHMENT,
    gateways.TENANT_GATEWAY,
    gateways.GATEWAY,
    gateways.HTTP_ROUTE,
    gateways.TLS_ROUTES[0],
    gateways.REFERENCE_GRANT,
    gateways.ISSUER,
    gateways.CERTIFICATE,
)
_DROPPED = ("managedFields", "resourceVersion", "generation", "selfLink")


async def save(client: Client, spaces: Sequence[str], folder: Path) -> None:
    """Write what decisions read: of the cluster, and of some namespaces, one file each.

    The files hold the Secrets' values, so only their owner may read them.
    Raises: InputError when a file cannot be written.
    """
    await _write(client, folder / "platform.yaml", [(kind, "") for kind in EVERYWHERE])
    for space in spaces:
        wanted = [(kind, space) for kind in IN_NAMESPACES]
        itself = await client.get(NAMESPACE.ref("", space))
        await _write(client, folder / f"{space}.yaml", wanted, itself)


async def _write(
    client: Client, file: Path, wanted: Sequence[tuple[Kind, str]], first: Object | None = None
) -> None:
    bodies: list[dict[str, Any]] = [] if first is None else [_stated(first)]
    for kind, space in wanted:
        for listed in await client.list_metadata(kind, space):
            whole = await client.get(listed.ref)
            if whole is not None:
                bodies.append(_stated(whole))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            out.write(dump(bodies))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", place=str(file)) from None


def _stated(seen: Object) -> dict[str, Any]:
    """An object without what only its server can mean; uids stay, since owners name them."""
    meta = {key: part for key, part in seen.body["metadata"].items() if key not in _DROPPED}
    first = {"apiVersion": seen.kind.api_version, "kind": seen.kind.kind}
    return {**first, **seen.body, "metadata": meta}
