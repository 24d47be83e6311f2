"""Every obstacle of an attachment names a next step that clears it, or says what ends the wait.

The worlds here are one step away from one that is attached.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

import kubectl_lines
from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.api import REASONS
from roadstead.capabilities.attachments.decide import RULES
from roadstead.capabilities.attachments.snapshot import Snapshot
from roadstead.decision import Verdict
from roadstead.explain.attachments.next import STEPS, WAKES
from roadstead.explain.trail import names_of
from roadstead.explain.world import Played
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, HELM_RELEASE, SERVICE, Kind
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.requests import By
from roadstead.sim.world import Serving
from stories import NOW, Body, Story, identity, settle, shown, told_of

SPACE = "tenant-foo"
KEY = api.ATTACHMENT.ref(SPACE, "web")
RELEASE = HELM_RELEASE.ref(SPACE, "postgres-mydb")
ENDPOINT = SERVICE.ref(SPACE, "db-rw")
CLAIM = api.CLAIM.ref(SPACE, "held")
PORT = {"name": "sql", "port": 5432, "protocol": "TCP", "targetPort": 5432}
PROXY = Settings(cozy_proxy_contract_implemented=True)
LIMITED = Settings(attachment_tenant_classes=frozenset({"internal"}))


def body(kind: Kind, name: str, meta: Body | None = None, **rest: Any) -> Body:
    """One object of the tenant's namespace."""
    named = {"name": name, **({"namespace": SPACE} if kind.namespaced else {}), **(meta or {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": named, **rest}


def triple(name: str = "mydb") -> dict[str, str]:
    """The lineage labels of an application."""
    values = (api.APPLICATION_GROUP, "Postgres", name)
    return dict(zip(api.TRIPLE, values, strict=True))


def application(name: str = "mydb", release: str = "") -> Body:
    """The HelmRelease of an application."""
    return body(HELM_RELEASE, release or f"postgres-{name}", {"labels": triple(name)})


def endpoint(name: str = "db-rw", app: str = "mydb", verdict: str = "true", **spec: Any) -> Body:
    """A Service of the application. spec: replaces parts of its own; None takes one away."""
    labels = {**triple(app), api.TENANT_RESOURCE: verdict}
    stated = {"type": "ClusterIP", "selector": {"app": name}, "ports": [PORT], **spec}
    kept = {key: value for key, value in stated.items() if value is not None}
    return body(SERVICE, name, {"labels": labels}, spec=kept)


def attachment(
    balancer: Body | None = None,
    service: str = "db-rw",
    app: str = "mydb",
    name: str = KEY.name,
    **meta: Any,
) -> Body:
    """An attachment; on the claim `held` unless it says otherwise."""
    spec = {
        "applicationRef": {"group": api.APPLICATION_GROUP, "kind": "Postgres", "name": app},
        "endpoint": {"serviceName": service},
        "loadBalancer": {"claimName": "held"} if balancer is None else balancer,
    }
    return body(api.ATTACHMENT, name, meta, spec=spec)


def claim(name: str = "held", number: int = 7, **spec: Any) -> tuple[Body, ...]:
    """A claim that is bound, with its address."""
    address = {"name": f"ip-{number}", "address": f"203.0.113.{number}"}
    status = {"phase": "Bound", "className": "public", "addresses": [address]}
    stated = {"className": "public", **spec}
    return (
        body(api.CLAIM, name, spec=stated, status=status),
        at(address["name"], address["address"], name),
    )


def at(name: str, address: str, claim_name: str, holder: Mapping[str, str] | None = None) -> Body:
    """An address that is bound. holder: what it is associated to."""
    ref = {"namespace": SPACE, "name": claim_name}
    spec = {"className": "public", "address": address, "claimRef": ref, "source": {}}
    status = {"phase": "Bound", **({"associatedTo": dict(holder)} if holder else {})}
    return body(api.ADDRESS, name, spec=spec, status=status)


def offered(name: str = "public") -> Body:
    """An address class."""
    spec = {"provisioner": "example.org"}
    meta = {"annotations": {api.DEFAULT_ANNOTATION: "true"}} if name == "public" else {}
    return body(api.CLASS, name, meta, spec=spec)


def slices(service: str, pods: int) -> Body:
    """The ready backends of a Service."""
    ready = [
        {
            "addresses": [f"10.0.0.{number}"],
            "conditions": {"ready": True},
            "targetRef": {
                "kind": "Pod",
                "namespace": SPACE,
                "name": f"pod-{number}",
                "uid": f"pod-{number}",
            },
        }
        for number in range(pods)
    ]
    meta = {"labels": {api.SLICE_OF: service}}
    name = f"{service}-{pods}"
    return body(ENDPOINT_SLICE, name, meta, addressType="IPv4", endpoints=ready, ports=[])


def delegated(name: str, selector: str = "db-rw", **meta: Any) -> Body:
    """A Service that cozy-proxy carries, of the same backend."""
    labels = {api.PROXY_LABEL: api.PROXY, **meta.pop("labels", {})}
    spec = {"type": "LoadBalancer", "selector": {"app": selector}, "ports": [PORT]}
    return body(SERVICE, name, {"labels": labels, **meta}, spec=spec)


def quota(**hard: str) -> Body:
    """A quota of the namespace."""
    named = {name.replace("__", "/").replace("_", "."): value for name, value in hard.items()}
    return body(Kind("ResourceQuota", "", "v1", "resourcequotas"), "small", spec={"hard": named})


def supplied(*bodies: Body, name: str = "attachment.yaml") -> dict[str, str]:
    """A file that the reader of a line supplies."""
    return {name: yaml.safe_dump_all(bodies)}


APP = (application(), offered())
HELD = (*APP, *claim())
WHOLE = (*HELD, endpoint())
GONE = {api.UID_ANNOTATION: "of-the-one-before"}
OTHER = (application("other"), endpoint("other-rw", "other"))
RIVAL = body(
    SERVICE, "rival", {"annotations": {api.CLAIM_ANNOTATION: "held"}},
    spec={"type": "LoadBalancer", "selector": {"app": "x"}, "ports": [PORT]},
)  # fmt: skip
METHOD = {"claimName": "held", "method": "PortList", "ports": [5432]}
WHOLE_IP = {"claimName": "held", "method": "WholeIP"}
SECOND = {"claimName": "second", "method": "PortList", "ports": [5432]}


def announce_another(played: Played) -> None:
    """Give the rendered Service an address that is not the claim's."""
    (service,) = rendered(played)
    ingress = {"loadBalancer": {"ingress": [{"ip": "198.51.100.9"}]}}
    played.world.merge(service.ref, {"status": ingress}, By.OTHER)
    played.settler.settle()


def delegate_again(played: Played) -> None:
    """Let somebody delegate the same backend, a minute later."""
    played.settler.tick(timedelta(minutes=1))
    played.world.create(SERVICE, delegated("late"), By.OTHER)
    played.settler.settle()


def rendered(played: Played) -> list[Object]:
    """What attachments had made."""
    services = played.world.store.all(SERVICE)
    return [seen for seen in services if seen.labels.get(api.ATTACHMENT_LABEL)]


STORIES = (
    Story("ApplicationNotFound", "application-found", KEY,
          (endpoint(), attachment()), KEY, files=supplied(application(), name="application.yaml")),
    Story("ApplicationNotFound", "application-found", KEY, name="recreate", number=1,
          world=(endpoint(), attachment(), offered(), *OTHER), key=KEY,
          files=supplied(attachment(service="other-rw", app="other"))),
    Story("ApplicationAmbiguous", "application-unambiguous", RELEASE,
          (*WHOLE, application(release="postgres-second"), attachment()), KEY),
    Story("ApplicationIncarnationChanged", "same-incarnation", RELEASE,
          (*WHOLE, attachment(annotations=GONE)), KEY, files=supplied(attachment())),
    Story("EndpointNotFound", "endpoint-exists", ENDPOINT, (*HELD, attachment()), KEY,
          files=supplied(endpoint(), name="service.yaml")),
    Story("EndpointNotFound", "endpoint-exists", ENDPOINT, name="another",
          world=(*HELD, endpoint("db-ro"), attachment()), key=KEY),
    Story("EndpointLineageMismatch", "lineage-matches", ENDPOINT, name="another",
          world=(*HELD, endpoint(app="other"), endpoint("db-ro"), attachment()), key=KEY),
    Story("EndpointLineageMismatch", "lineage-matches", ENDPOINT,
          (*HELD, application("other"), endpoint(app="other"), attachment()), KEY,
          files=supplied(attachment(app="other"))),
    Story("EndpointNotTenantFacing", "tenant-facing", ENDPOINT, name="another",
          world=(*HELD, endpoint(verdict="false"), endpoint("db-ro"), attachment()), key=KEY),
    Story("EndpointNotTenantFacing", "tenant-facing", ENDPOINT,
          (*HELD, endpoint(verdict="false"), attachment()), KEY),
    Story("EndpointNotMirrorable", "endpoint-mirrorable", ENDPOINT, name="another",
          world=(*HELD, endpoint(selector=None), endpoint("db-ro"), attachment()), key=KEY),
    Story("EndpointNotMirrorable", "endpoint-mirrorable", ENDPOINT,
          (*HELD, endpoint(selector=None), attachment()), KEY),
    Story("DatapathContractUnavailable", "datapath-declared", KEY,
          (*WHOLE, attachment(METHOD)), KEY),
    Story("DatapathContractUnavailable", "datapath-declared", KEY, name="icmp",
          world=(*WHOLE, attachment({**METHOD, "allowICMP": False})), key=KEY),
    Story("BackendAlreadyDelegated", "one-delegation-per-pod", SERVICE.ref(SPACE, "web-ext"),
          (*WHOLE, delegated("web-ext"), attachment(METHOD)), KEY, settings=PROXY),
    Story("BackendAlreadyDelegated", "one-delegation-per-pod", KEY, name="plain", number=1,
          world=(*WHOLE, delegated("web-ext"), attachment(METHOD)), key=KEY, settings=PROXY),
    Story("BackendAlreadyDelegated", "one-delegation-per-pod", ENDPOINT, name="endpoint",
          world=(*HELD, delegated("db-rw", labels={**triple(), api.TENANT_RESOURCE: "true"}),
                 attachment(METHOD)), key=KEY, settings=PROXY),
    Story("BackendAlreadyDelegated", "one-delegation-per-pod", KEY, name="attachment",
          world=(*WHOLE, *claim("second", 8), attachment(SECOND, name="first"),
                 attachment(METHOD)), key=KEY, settings=PROXY),
    Story("ClaimPending", "class-offered", KEY, (*WHOLE, offered("internal"),
          attachment({"className": "public"})), KEY, name="class", settings=LIMITED,
          files=supplied(attachment({"className": "internal"})), stand_ins=("addresses",)),
    Story("ClaimPending", "claim-exists", CLAIM, (*APP, endpoint(), attachment()), KEY,
          files=supplied(body(api.CLAIM, "held", spec={}), name="claim.yaml"), name="claim",
          stand_ins=("addresses",)),
    Story("ClaimPending", "claim-exists", CLAIM, (*APP, endpoint(), attachment()), KEY, number=1,
          files=supplied(attachment({})), name="mint", stand_ins=("addresses",)),
    Story("ClaimPending", "class-known", CLAIM, name="no-class",
          world=(application(), endpoint(), *claim(), attachment()), key=KEY,
          files=supplied(offered(), name="class.yaml")),
    Story("ClaimPending", "written", KEY, name="quota", key=KEY, stand_ins=("addresses",),
          world=(*APP, endpoint(), attachment({}),
                 quota(count__ipaddressclaims_local_sdn_cozystack_io="0"))),
    Story("ClaimInUse", "claim-free", CLAIM, (*WHOLE, RIVAL, attachment()), KEY),
    Story("ClaimInUse", "claim-free", CLAIM, (*WHOLE, *claim("free", 8), RIVAL, attachment()),
          KEY, name="another", number=1, files=supplied(attachment({"claimName": "free"}))),
    Story("ClaimInUse", "claim-free", CLAIM, (*WHOLE, attachment(name="first"), attachment()),
          KEY, name="attachment"),
    Story("ClaimInUse", "claim-free", CLAIM, name="foreign", key=KEY,
          world=(*APP, endpoint(), claim()[0], *claim("free", 8), attachment(),
                 at("ip-7", "203.0.113.7", "held",
                    {"kind": "Pod", "namespace": "tenant-bar", "name": "secretive"})),
          files=supplied(attachment({"claimName": "free"}))),
    Story("FamilyConflict", "family-agrees", CLAIM,
          (*WHOLE, attachment({"claimName": "held", "family": "IPv6"})), KEY,
          files=supplied(attachment())),
    Story("MultipleBackends", "one-backend", ENDPOINT, (*WHOLE, slices("db-rw", 2),
          attachment(WHOLE_IP)), KEY, settings=PROXY),
    Story("MultipleBackends", "one-backend", ENDPOINT, name="sentinel", settings=PROXY,
          world=(*HELD, endpoint(ports=[{"port": 65535, "protocol": "TCP"}]), slices("db-rw", 2),
                 attachment(WHOLE_IP)), key=KEY),
    Story("PortsNotFound", "every-port-found", ENDPOINT, name="some",
          world=(*WHOLE, attachment({"claimName": "held", "ports": [5432, 9999]})), key=KEY),
    Story("PortsNotFound", "ports-found", ENDPOINT,
          (*WHOLE, attachment({"claimName": "held", "ports": [9999]})), KEY),
    Story("PortsNotFound", "ports-found", ENDPOINT, name="list", settings=PROXY,
          world=(*WHOLE, attachment({**METHOD, "ports": [9999]})), key=KEY),
    Story("ServiceRejected", "written", KEY, (*WHOLE, attachment(),
          quota(services_loadbalancers="0")), KEY),
    Story("ServiceRejected", "written", KEY, (*WHOLE, attachment(),
          quota(count__services="1", services="1")), KEY, name="two-limits"),
    Story("AddressMismatch", "", KEY, (*WHOLE, attachment()), KEY, then=announce_another),
    Story("DatapathLimited", "", KEY,
          (*HELD, endpoint(ports=[{**PORT, "targetPort": 15432}]), attachment(METHOD)), KEY,
          settings=PROXY),
    Story("BackendContended", "", KEY, (*WHOLE, attachment(METHOD)), KEY, settings=PROXY,
          then=delegate_again),
)  # fmt: skip


@pytest.mark.parametrize("story", STORIES, ids=identity)
def test_the_next_step_clears_the_obstacle(story: Story, tmp_path: Path) -> None:
    """What `why` tells a person to type must work; it names the rule and the object first."""
    played = settle(story, tmp_path)
    trail = told_of(played, story.key)
    notes = {note.partition(":")[0] for note in trail.notes}
    assert story.reason in {trail.reason, *notes}
    stopped = [line.rule for line in trail.lines if line.mark in {"no", "wait"}]
    assert [story.rule] * bool(story.rule) == stopped[-1:]
    text = shown(trail)
    assert story.about.path in text or str(story.about) in text
    assert not trail.settled

    for command in trail.next[story.number].commands:
        assert command in text
        kubectl_lines.run(played.world, command, story.files)
    played.settler.tick(timedelta(minutes=6))

    after = played.trail(story.key)
    said = {after.reason, *(n.partition(":")[0] for n in after.notes)} if after else set()
    assert story.reason not in said


def test_every_reason_that_keeps_one_waiting_has_a_story() -> None:
    """A new reason without a next step, or without a test of it, is an omission."""
    follow = {"NotResolved", "Detached", "NoService"}
    fine = {"Resolved", "Provisioned", "AddressAssigned", "Attached"}
    others = {"ServicePending", "AddressNotAssigned", "ReadFailed"}
    assert set(STEPS) == {reason.name for reason in REASONS} - follow - fine - others
    assert set(STEPS) == {story.reason for story in STORIES}


def read_nothing(played: Played) -> None:
    """Let the server fail, and have the attachment looked at again."""
    (service,) = rendered(played)
    played.world.faults.set(Fault(verb="list", kind="Service", status=500))
    played.world.delete(service.ref, By.OTHER)
    played.settler.settle()


def hold_the_service(played: Played) -> None:
    """Delete the rendered Service while somebody's finalizer holds it."""
    (service,) = rendered(played)
    held = {"metadata": {"finalizers": ["example.org/x"]}}
    played.world.merge(service.ref, held, By.OTHER)
    played.world.delete(service.ref, By.OTHER)
    played.settler.settle()


def serve_no_claims(played: Played) -> None:
    """Take the address substrate away."""
    played.world.serve(api.CLAIM, Serving(now=False))
    played.settler.settle()


UNBOUND = body(api.CLAIM, "held", spec={"className": "public"}, status={"phase": "Pending"})
WAITS = (
    Story("ApplicationNotFound", "application-found", KEY, (endpoint(), attachment()), KEY),
    Story("EndpointNotFound", "endpoint-exists", ENDPOINT, (*HELD, attachment()), KEY),
    Story("ClaimPending", "claims-served", KEY, (*WHOLE, attachment()), KEY,
          then=serve_no_claims, name="no-substrate"),
    Story("ClaimPending", "claim-exists", CLAIM, (*APP, endpoint(), attachment()), KEY,
          name="no-claim"),
    Story("ClaimPending", "address-bound", CLAIM, (*APP, endpoint(), UNBOUND, attachment()), KEY,
          name="unbound"),
    Story("ClaimPending", "class-known", CLAIM, name="no-class",
          world=(application(), endpoint(), *claim(), attachment()), key=KEY),
    Story("ServicePending", "service-stands", KEY, (*WHOLE, attachment()), KEY,
          then=hold_the_service),
    Story("MultipleBackends", "one-backend", ENDPOINT, (*WHOLE, slices("db-rw", 2),
          attachment(WHOLE_IP)), KEY, settings=PROXY),
    Story("ReadFailed", "readable", KEY, (*WHOLE, attachment()), KEY, then=read_nothing),
)  # fmt: skip


@pytest.mark.parametrize("story", WAITS, ids=identity)
def test_a_wait_says_what_wakes_it(story: Story, tmp_path: Path) -> None:
    """Where others must act first, the trail names the rule, the object, and what will come."""
    trail = told_of(settle(story, tmp_path), story.key)
    assert story.reason == trail.reason
    assert [story.rule] == [line.rule for line in trail.lines if line.mark == "wait"]
    assert "wakes: " in shown(trail)
    assert story.about.path in shown(trail) or str(story.about) in shown(trail)


def test_every_rule_that_waits_says_what_wakes_it() -> None:
    """A wait without a word of what ends it leaves a person guessing."""
    nobody = Snapshot(Object(api.ATTACHMENT, settle_nothing()), NOW)
    assert set(WAKES) <= {"", "readable", *names_of(RULES, nobody)}
    assert {story.rule for story in WAITS} == set(WAKES) - {""}


def settle_nothing() -> Any:
    """The metadata of an attachment nobody made."""
    return Object.of(api.ATTACHMENT, {"metadata": {"name": "a", "namespace": SPACE}}).meta


@pytest.mark.parametrize("story", [*STORIES, *WAITS], ids=identity)
def test_nothing_that_is_told_names_another_namespace(story: Story, tmp_path: Path) -> None:
    """A tenant reads messages, trails and lines; other tenants are none of their business."""
    strangers = (
        {**application(), "metadata": {**application()["metadata"], "namespace": "tenant-bar"}},
        {**endpoint(), "metadata": {**endpoint()["metadata"], "namespace": "tenant-bar"}},
    )
    told = Story(
        story.reason, story.rule, story.about, (*story.world, *strangers), story.key, story.then,
        settings=story.settings, stand_ins=story.stand_ins,
    )  # fmt: skip
    text = shown(told_of(settle(told, tmp_path), KEY))
    assert "tenant-bar" not in text
    assert "secretive" not in text


def test_a_settled_attachment_says_where_it_is(tmp_path: Path) -> None:
    """All is well, and the sentence does not promise more than was seen."""
    story = Story("", "", KEY, (*WHOLE, attachment()), KEY)
    trail = told_of(settle(story, tmp_path), KEY)
    text = shown(trail)
    assert trail.settled
    assert "EndpointAttachment tenant-foo/web    Ready=True  Attached\n" in text
    assert "has the address 203.0.113.7; whether it is reached depends on" in text
    assert "AddressNotAssigned: the load balancer does not announce 203.0.113.7 yet" in text
    assert all(line.verdict == Verdict.PASS for line in trail.lines)
