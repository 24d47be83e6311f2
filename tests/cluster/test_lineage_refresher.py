"""The refresher as it ships: the real process beside the webhook's, each with its own rights.

Source: lineage 9 and 10. Who wrote what is read from the audit log.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from certificates import CERT1, KEY
from lineage_cases import offering
from lineage_objects import HELM, NS, Json, data, definition, given, release, secret, triple
from live_admin import wait_for
from live_cluster import Cluster
from live_run import Run, grant, running, user_of
from live_webhook import Place, reviewed, whole
from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.capabilities.lineage import api
from roadstead.deploy.rbac import HOME, REFRESHER
from roadstead.kube.refs import SECRET

pytestmark = pytest.mark.cluster

HARBOR = api.DEFINITION.ref("", "harbor")
FLAGS = ("--only=refresher", "--leader-elect", f"--leader-election-namespace={HOME}")


@contextmanager
def at_work(server: Cluster) -> Iterator[tuple[Place, Run]]:
    """The webhook, Harbor's release and definition, and the refresher."""
    with reviewed(server) as at:
        at.stand(*offering({}), release())
        at.seen()
        with running(grant(server, REFRESHER.name, REFRESHER), *FLAGS) as run:
            yield at, run.wait_ready()


def parse_micro(text: str) -> float:
    """A time of the audit log, in seconds."""
    return datetime.fromisoformat(text).timestamp()


def labels(at: Place, name: str) -> Json:
    """The labels of a Secret."""
    found = at.server.admin.get(SECRET.ref(NS, name))
    assert found is not None
    stated: Json = found["metadata"].get("labels", {})
    return stated


def test_a_changed_definition_reaches_what_stands(server: Cluster) -> None:
    """From hidden to shown and back; and nobody but the webhook ever states a verdict."""
    with at_work(server) as (at, run):
        for number in range(12):
            whole(at.make(secret(f"s{number}")))
        mark = server.own.audit_mark()
        turns: tuple[tuple[list[Json], str], ...] = (([], "false"), ([{}], "true"))
        for include, verdict in turns:
            server.admin.patched(HARBOR, {"spec": {"secrets": {"include": include}}})
            wait_for(
                f"verdict {verdict}: {run.text()[-800:]}",
                lambda: all(
                    given(verdict).items() <= labels(at, f"s{number}").items()  # noqa: B023 - same
                    for number in range(12)
                ),
            )
        writes = [
            entry
            for entry in server.own.audit_entries(mark)
            if entry["user"]["username"] == user_of(REFRESHER.name)
            and entry["stage"] == "ResponseComplete"
            and entry["verb"] not in {"get", "list", "watch"}
            and entry["objectRef"]["resource"] != "leases"
        ]
        assert {("patch", "secrets", 200)} == {
            (one["verb"], one["objectRef"]["resource"], one["responseStatus"]["code"])
            for one in writes
        }
        assert 24 == len(writes)
        at_once = sorted(parse_micro(one["requestReceivedTimestamp"]) for one in writes)
        spans = zip(at_once, at_once[10:], strict=False)
        assert all(later - first >= 0.9 for first, later in spans), "ten a second at most"
        assert run.alive()


def test_what_passed_the_webhook_by_is_found(server: Cluster) -> None:
    """By its owners, whatever it claims; what nobody owns and what is guarded rests."""
    with reviewed(server) as at:
        at.stand(definition(secrets={"include": [{"matchLabels": {"for": "tenants"}}]}), release())
        at.seen()
        stamped = {api.MANAGED_BY: "true", api.TENANT_RESOURCE: "true"}
        whole(at.make(secret("skipped", labels={**HELM, **stamped})))
        whole(at.make(secret("forged", labels={**triple(), **stamped, "for": "tenants"})))
        anchor = {**HELM, TENANT_CA: "true", "for": "tenants"}
        whole(at.make(secret("guarded", labels=anchor, data=data(ca_crt=CERT1, k=KEY))))
        with running(grant(server, REFRESHER.name, REFRESHER), *FLAGS) as run:
            run.wait_ready()
            wait_for(
                "the skipped one found",
                lambda: given("false").items() <= labels(at, "skipped").items(),
            )
            version = wait_for("the guarded one asked about", lambda: _asked(server))
            server.admin.patched(HARBOR, {"metadata": {"labels": {"touched": "yes"}}})
            server.admin.patched(HARBOR, {"spec": {"dashboard": {"x": "y"}}})
            run.said("object updated", about=f"Secret/{NS}/guarded")
            assert version
            assert "false" == labels(at, "guarded")[api.TENANT_RESOURCE]
            assert {**triple(), **stamped, "for": "tenants"} == labels(at, "forged")


def _asked(server: Cluster) -> bool:
    """Whether the refresher has written the guarded Secret."""
    return any(
        entry["user"]["username"] == user_of(REFRESHER.name)
        and entry["verb"] == "patch"
        and entry["objectRef"].get("name") == "guarded"
        for entry in server.own.audit_entries()
    )
