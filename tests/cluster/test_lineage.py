"""The contract's cases of lineage through the real API server, by the registration that ships.

Source: lineage 14; each case is found by its id. C-21 and C-24 stand in
test_lineage_faults.py.
"""

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lineage_cases import ROWS, Row, offering
from lineage_objects import (
    HELM,
    NS,
    Json,
    body,
    data,
    given,
    owner,
    pod,
    release,
    secret,
)
from live_admin import wait_for
from live_cluster import Cluster
from live_webhook import (
    Place,
    asked,
    free_port,
    registered,
    reviewed,
    whole,
)
from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.tenantsecrets import Selection, listed, watched
from roadstead.deploy.admission import REGISTRATION
from roadstead.deploy.rbac import HOME
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, SERVICE, Kind
from webhook_certificates import authority

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parent.parent.parent
ACCOUNT = Kind("ServiceAccount", "", "v1", "serviceaccounts")


@pytest.fixture(scope="module")
def place(shared: Cluster) -> Iterator[Place]:
    """One process for all of these tests; what each makes is removed after it."""
    with reviewed(shared) as found:
        yield found
    shared.reset()


@pytest.fixture
def at(place: Place) -> Iterator[Place]:
    """The cluster as every case finds it: with the tenant's namespace and nothing in it."""
    yield place
    place.clear()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_case_of_the_contract(at: Place, row: Row) -> None:
    """What is created gets the labels the contract says, and nothing else of it changes."""
    at.stand(*row.definitions, release(), *row.there)
    at.seen()

    reply = at.make(row.submit)

    made = Object.of(SECRET, whole(reply))
    assert dict(row.want) == {key: made.labels.get(key) for key in row.want}
    assert dict(row.annotations) == {key: made.annotations.get(key) for key in row.annotations}
    assert len(row.warnings) == len(reply.warnings)
    assert all(part in said for part, said in zip(row.warnings, reply.warnings, strict=True))
    if row.scheduler:
        assert row.scheduler == made.body["spec"]["schedulerName"]
    submitted = row.submit["metadata"].get("labels", {})
    assert set(made.labels) <= {*submitted, *row.want}


def test_nothing_but_the_service_and_the_bundle_differs_from_what_ships(at: Place) -> None:
    """What is tested here is what an installation registers. Source: issue 7, point 1."""
    text = (ROOT / "deploy/webhook/lineage.yaml").read_text(encoding="utf-8")
    shipped = {one["kind"]: one for one in yaml.safe_load_all(text)}
    ships, service = shipped["MutatingWebhookConfiguration"], shipped["Service"]
    (stated,) = ships["webhooks"]
    # Only who may bind no port below 1024 has the registration name another.
    stated["clientConfig"]["service"]["port"] = at.relay.asked
    stands_in, registers = registered(at.relay)

    client = registers["webhooks"][0]["clientConfig"]
    assert authority().pem == base64.b64decode(client.pop("caBundle"))
    assert ships == registers
    assert {"type": "ExternalName", "externalName": at.relay.address} == stands_in.pop("spec")
    assert {key: value for key, value in service.items() if key != "spec"} == stands_in

    stored = at.server.admin.get(REGISTRATION.ref("", "lineage"))
    assert stored is not None
    (webhook,) = stored["webhooks"]
    defaults = {"matchPolicy": "Equivalent", "reinvocationPolicy": "Never"}
    del webhook["clientConfig"]["caBundle"]
    assert {**stated, **defaults} == webhook
    there = at.server.admin.get(SERVICE.ref(HOME, api.SERVICE_NAME))
    assert there is not None
    assert there["metadata"]["name"] == service["metadata"]["name"]


def test_c22_an_owner_that_may_not_be_read_is_skipped(at: Place) -> None:
    """C-22: a kind that no role grants; allowed, unlabelled, and said in the log."""
    at.stand(*offering({}), release(), body(ACCOUNT, "robot", labels=HELM))
    at.seen()

    made = whole(at.make(secret(labels={}, owners=[owner(ACCOUNT, "robot")])))

    assert "labels" not in made["metadata"]
    at.run.said("owners may not be read", kind="serviceaccounts")


def test_c23_a_body_that_is_no_object_is_refused(at: Place) -> None:
    """C-23: code 400, and the process goes on."""
    for text in (b"[]", b'"text"', b"{", b""):
        code, answer = asked(f"{at.relay.address}:{at.relay.asked}", text)
        assert (400, 400) == (code, answer["response"]["status"]["code"])
    assert at.run.alive()


def test_c27_without_its_managed_label_an_object_is_judged_anew(at: Place) -> None:
    """C-27: the API server asks again, and the verdict is today's."""
    at.stand(*offering({}), release())
    at.seen()
    assert given("true").items() <= whole(at.make(secret()))["metadata"]["labels"].items()
    hidden: Json = {"spec": {"secrets": {"include": []}}}
    at.server.admin.patched(api.DEFINITION.ref("", "harbor"), hidden)
    at.seen()

    ref = SECRET.ref(NS, "s")
    touched = at.server.admin.patched(ref, {"metadata": {"labels": {"touched": "yes"}}})
    anew = at.server.admin.patched(ref, {"metadata": {"labels": {api.MANAGED_BY: None}}})

    assert "true" == touched["metadata"]["labels"][api.TENANT_RESOURCE]
    assert {**given("false"), "touched": "yes"}.items() <= anew["metadata"]["labels"].items()


def test_c28_numbers_and_values_are_left_alone(at: Place) -> None:
    """C-28: what is stored is what was sent, but for its labels."""
    at.stand(*offering({}), release())
    at.seen()
    large = {"terminationGracePeriodSeconds": 9007199254740993}
    packed = data(password="hunter2", other=bytes(range(256)))

    held = whole(at.make(pod(spec=large)))
    sealed = whole(at.make(secret(data=packed)))

    assert 9007199254740993 == held["spec"]["terminationGracePeriodSeconds"]
    assert packed == sealed["data"]
    assert {**HELM, **given("true")} == sealed["metadata"]["labels"]


def test_an_object_made_with_the_managed_label_is_never_seen(at: Place) -> None:
    """C-27-b: and neither is anything in a system namespace. Source: lineage 3."""
    at.stand(*offering({}), release())
    at.seen()
    labels = {**HELM, api.MANAGED_BY: "true", api.TENANT_RESOURCE: "true"}

    assert labels == whole(at.make(secret(labels=labels)))["metadata"]["labels"]
    apart = whole(at.make(secret("apart", namespace=HOME)))
    assert HELM == apart["metadata"]["labels"]


def test_writes_wait_for_the_webhook_and_system_namespaces_do_not(at: Place) -> None:
    """Away, it refuses tenants' writes and nobody else's; back, it goes on. Source: 11."""
    at.stand(*offering({}), release())
    at.seen()
    at.relay.closed, ports = True, at.relay.ports
    at.relay.ports = [free_port()]
    try:
        # Connections that are kept open still lead to the process; new ones do not.
        wait_for("a refusal", lambda: at.make(secret("x"), dryRun="All").refused or _cut(at))
        assert not at.make(secret("apart", namespace=HOME)).refused
    finally:
        at.relay.closed, at.relay.ports = False, ports
    wait_for("an answer", lambda: not at.make(secret("y"), dryRun="All").refused)


def _cut(at: Place) -> bool:
    """Cut the connections that the API server keeps."""
    at.relay.cut()
    return False


@pytest.mark.parametrize("size", [700_000, 1_000_000])
def test_a_secret_as_large_as_they_get_is_updated(at: Place, size: int) -> None:
    """An update carries it twice."""
    at.stand(*offering({}), release())
    at.seen()
    whole(at.make(secret(labels={}, data=data(k=b"a" * size))))
    ref = SECRET.ref(NS, "s")
    changed = at.server.admin.patched(
        ref, {"metadata": {"labels": HELM}, "data": data(k=b"b" * size)}
    )

    assert given("true").items() <= changed["metadata"]["labels"].items()


def stored(at: Place) -> tuple[Object, ...]:
    """The tenant's Secrets."""
    return tuple(Object.of(SECRET, one) for one in at.server.admin.objects(SECRET, NS))


def test_c29_only_labelled_secrets_are_listed(at: Place) -> None:
    """C-29: the view over what the API server holds."""
    at.stand(*offering({"matchLabels": {"app": "x", "for": "tenants"}}), release())
    at.seen()
    for name, more in (("a", {"for": "tenants"}), ("b", {}), ("c", {"for": "tenants"})):
        whole(at.make(secret(name, labels={**HELM, "app": "x", **more})))

    shown = listed(stored(at), Selection(NS, "app=x"))

    assert ["a", "c"] == [one["metadata"]["name"] for one in shown]
    assert 3 == len(at.server.admin.objects(SECRET, NS, labelSelector="app=x"))


def test_c30_a_secret_that_is_hidden_is_deleted_for_the_tenant(at: Place) -> None:
    """C-30: what a watch of the Secrets tells, as the tenant is told it."""
    at.stand(*offering({}), release())
    at.seen()
    made = whole(at.make(secret(data=data(k="one"))))
    before = stored(at)
    at.server.admin.patched(api.DEFINITION.ref("", "harbor"), {"spec": {"secrets": None}})
    at.seen()
    merge = {"metadata": {"labels": {api.MANAGED_BY: None}}, "data": data(k="two")}
    at.server.admin.patched(SECRET.ref(NS, "s"), merge)

    changes = at_once(at, made["metadata"]["resourceVersion"])
    events = list(watched(before, changes, Selection(NS)))

    assert ["DELETED"] == [one.type for one in events]
    assert data(k="one") == events[0].object["data"]


def at_once(at: Place, version: str) -> list[tuple[str, Object]]:
    """The watch events of the tenant's Secrets since a version."""
    query = f"watch=1&resourceVersion={version}&timeoutSeconds=1"
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{at.server.admin.server}{SECRET.path(NS)}?{query}"
    )
    with urllib.request.urlopen(request, context=at.server.admin.context, timeout=30) as answer:  # noqa: S310 - ours
        lines = [json.loads(line) for line in answer.read().splitlines()]
    return [(one["type"], Object.of(SECRET, one["object"])) for one in lines]
