"""The wildcard replicas as they ship: the real process, under the account it shares with anchors.

Source: wildcard-secrets 8 to 11.
"""

from base64 import b64encode
from typing import Any

import pytest

from live_admin import Admin, wait_for
from live_cluster import Cluster
from live_run import grant, running, with_, without
from roadstead.capabilities.gateways.api import ATTACH_LABEL, TENANT_GATEWAY
from roadstead.capabilities.wildcards import api
from roadstead.kube.refs import NAMESPACE, SECRET, Ref

pytestmark = pytest.mark.cluster

SOURCE = SECRET.ref("tenant-root", "wildcard-tls")
GATEWAY = TENANT_GATEWAY.ref("tenant-b", "gateway")
BOTH = ("--only", "anchors,wildcards")


def packed(text: str) -> str:
    """A value of a Secret."""
    return b64encode(text.encode()).decode()


def a_secret(ref: Ref, kind: str, **data: str) -> dict[str, Any]:
    """A Secret."""
    meta = {"name": ref.name, "namespace": ref.namespace}
    values = {key: packed(text) for key, text in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": kind, "data": values}


def platform(admin: Admin) -> None:
    """Values, source, an ingress tenant `tenant-a` and a gateway tenant `tenant-b`."""
    for name, label in (
        (api.VALUES.namespace, ""),
        (SOURCE.namespace, ""),
        ("tenant-a", api.INGRESS_LABEL),
        ("tenant-b", ATTACH_LABEL),
    ):
        admin.ensure_namespace(name)
        if label:
            admin.patched(NAMESPACE.ref("", name), {"metadata": {"labels": {label: name}}})
    text = f"{api.CLUSTER}: {{{api.SOURCE_NAME}: {SOURCE.name}}}"
    admin.made(SECRET, a_secret(api.VALUES, "Opaque", **{api.VALUES_KEY: text}))
    admin.made(SECRET, a_secret(SOURCE, api.TLS, **{"tls.crt": "CRT", "tls.key": "one"}))
    admin.made(
        TENANT_GATEWAY,
        {
            "apiVersion": TENANT_GATEWAY.api_version,
            "kind": TENANT_GATEWAY.kind,
            "metadata": {"name": GATEWAY.name, "namespace": GATEWAY.namespace},
            "spec": {"apex": "b.example.org", "certMode": "dns01"},
        },
    )


def holds(admin: Admin, space: str, key: str) -> bool:
    """Whether a namespace's replica has this key."""
    found = admin.get(SECRET.ref(space, SOURCE.name))
    return found is not None and found["data"]["tls.key"] == packed(key)


def is_gone(admin: Admin, space: str) -> bool:
    """Whether a namespace has no replica."""
    return admin.get(SECRET.ref(space, SOURCE.name)) is None


def test_replicas_follow_source_tenant_and_mode(server: Cluster) -> None:
    """From events alone, within seconds, with the rights that ship."""
    admin = server.admin
    platform(admin)
    with running(grant(server), *BOTH) as run:
        run.wait_ready()
        for space in ("tenant-a", "tenant-b"):
            wait_for(f"a replica in {space}", lambda: holds(admin, space, "one"))  # noqa: B023 - asked at once

        admin.patched(SOURCE, {"data": {"tls.key": packed("two")}})
        for space in ("tenant-a", "tenant-b"):
            wait_for(f"the new key in {space}", lambda: holds(admin, space, "two"))  # noqa: B023 - asked at once

        admin.patched(GATEWAY, {"spec": {"certMode": api.EDGE}})
        wait_for("no replica in tenant-b", lambda: is_gone(admin, "tenant-b"))
        assert holds(admin, "tenant-a", "two")

        text = f'{api.CLUSTER}: {{{api.SOURCE_NAME}: ""}}'
        admin.patched(api.VALUES, {"data": {api.VALUES_KEY: packed(text)}})
        wait_for("no replica in tenant-a", lambda: is_gone(admin, "tenant-a"))
        assert admin.get(SOURCE) is not None
        assert packed("two") not in run.text()
        assert run.stop() == 0


def test_gateways_that_may_not_be_read_hold_up_nobody(server: Cluster) -> None:
    """A tenant of ingress is served, one of a gateway waits; both once the right is there."""
    admin = server.admin
    platform(admin)
    kubeconfig = grant(server)
    without(server, TENANT_GATEWAY.plural, "watch")
    with running(kubeconfig, *BOTH) as run:
        wait_for("a replica in tenant-a", lambda: holds(admin, "tenant-a", "one"))
        run.said("view lost", kind=TENANT_GATEWAY.resource, state="forbidden")
        assert is_gone(admin, "tenant-b")
        assert run.alive()

        with_(server, TENANT_GATEWAY.plural, "watch")
        wait_for("a replica in tenant-b", lambda: holds(admin, "tenant-b", "one"))
