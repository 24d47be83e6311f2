"""What is said of an attachment, and which attachments a Service or a claim concerns."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from attachment_objects import NOW, an_attachment
from cli_command import run
from roadstead.capabilities.attachments import api
from roadstead.decision import Decision, Finding, Status, Verdict, Want
from roadstead.explain.ask import kinds
from roadstead.explain.attachments.rows import row
from roadstead.explain.attachments.tell import with_status
from roadstead.explain.rows import Row
from roadstead.explain.subject import Judged
from roadstead.kube.objects import Object
from roadstead.kube.refs import SERVICE, Ref
from roadstead.sim.settle import drive

WORLD = Path(__file__).parent.parent / "cli" / "worlds" / "attachments.yaml"
FLAGS = ("-f", str(WORLD))


def test_every_kind_that_may_be_named_is_in_the_help() -> None:
    """Whoever reads the help knows what can be asked."""
    shown = run("why", "--help").out
    assert [] == [kind for kind in kinds() if kind not in shown]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("service/postgres-shop-rw", "is mirrored by EndpointAttachment tenant-blue/shop-db"),
        ("svc/vm-instance-web", "is mirrored by EndpointAttachment tenant-blue/web-ip"),
        ("services/vm-instance-web-ext", "is delegated to cozy-proxy"),
        ("ipaddressclaims/reserved", "is named by EndpointAttachment tenant-green/wiki-db"),
        ("ipaddressclaims.local.sdn.cozystack.io/reserved", "does not exist"),
    ],
)
def test_what_an_attachment_touches_names_it(name: str, said: str) -> None:
    """A person starts from the object they see."""
    ran = run("why", name, *FLAGS)
    assert ran.code in {0, 1}, ran.err
    assert f"note  {said}" in ran.out


def test_a_minted_service_and_its_claim_lead_back() -> None:
    """What was rendered is somebody's, and its claim says which address it has."""
    told = run("why", "epa/shop-db", *FLAGS).out
    service = told.partition("Service shop-db-")[2].partition(" ")[0]
    claim = told.partition("IPAddressClaim/tenant-blue/shop-db-")[2].partition("\n")[0]
    ran = run("why", f"service/shop-db-{service}", *FLAGS)
    assert "was rendered for EndpointAttachment tenant-blue/shop-db" in ran.out
    assert f"is pinned to IPAddressClaim tenant-blue/shop-db-{claim}" in ran.out
    ran = run("why", f"ipaddressclaim/shop-db-{claim}", *FLAGS)
    assert "is Bound: 203.0.113.1" in ran.out
    assert "was made for EndpointAttachment tenant-blue/shop-db" in ran.out


def test_a_service_nobody_attaches_is_said_to_be_nobodys(tmp_path: Path) -> None:
    """No trail is made up for it."""
    other = tmp_path / "other.yaml"
    other.write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: tenant-blue}\n"
        "spec: {selector: {app: other}, ports: [{port: 80}]}\n"
    )
    ran = run("why", "service/other", *FLAGS, "-f", str(other))
    assert "no attachment has rendered it or mirrors it" in ran.out
    assert ran.code == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("epa/none", "there is no EndpointAttachment `none`"),
        ("endpointattachment.example.org/web-ip", "is no kind that is judged"),
        ("endpointatachment/web-ip", "did you mean `endpointattachment`?"),
        ("service/postgres-shop-rx", "did you mean `postgres-shop-rw`?"),
    ],
)
def test_what_is_misspelt_is_named(name: str, said: str) -> None:
    """With what was probably meant."""
    ran = run("why", name, *FLAGS)
    assert ran.code == 2
    assert said in ran.err


async def nothing(_key: Ref) -> Judged | None:
    """Judge nothing: a row is the object's own status."""
    return None


def laid_out(attachment: Object, now: datetime = NOW) -> Row:
    """The row of an attachment."""
    found = drive(row(attachment, nothing, now))
    assert found is not None
    return found


def reported(status: str, reason: str, generation: int = 1) -> Object:
    """An attachment whose Ready says so."""
    ready = {"type": "Ready", "status": status, "reason": reason, "message": "as reported"}
    value = {"observedGeneration": generation, "addresses": ["203.0.113.5"], "conditions": [ready]}
    return an_attachment(status=value)


@pytest.mark.parametrize(
    ("attachment", "ready", "reason", "about"),
    [
        (reported("True", "Attached"), "True", "Attached", "203.0.113.5"),
        (reported("False", "ClaimPending"), "False", "ClaimPending", "as reported"),
        (reported("True", "Attached", 0), "Unknown", "Attached", "reported before the last"),
        (an_attachment(), "Unknown", "Pending", "the controller has not reported yet"),
    ],
)
def test_a_row_is_what_was_reported(
    attachment: Object, ready: str, reason: str, about: str
) -> None:
    """A report of an earlier spec, or none, is no answer about this one."""
    found = laid_out(attachment, NOW + timedelta(hours=1))
    assert (found.ready, found.reason) == (ready, reason)
    assert found.about.startswith(about)
    assert found.addresses == (() if reason == "Pending" else ("203.0.113.5",))


def refused(reason: str, message: str) -> Decision:
    """What a look decides where the controller has reported a refused write."""
    told = {"type": "Provisioned", "status": "False", "reason": reason, "message": message}
    live = an_attachment(status={"conditions": [told]})
    waits = Finding("service-stands", Verdict.WAIT, "ServicePending", "it is made", (live.ref,))
    want = Want.create(SERVICE, {"metadata": {"name": "x", "namespace": live.meta.namespace}})
    return Decision(
        want=(want,), findings=(waits,), status=Status(live, {}), state="ServicePending"
    )


def test_a_look_learns_from_the_status_what_only_the_controller_knows() -> None:
    """A look writes nothing, so it meets no refused write; the object's status tells of it."""
    decision = refused("ServiceRejected", "the API server refused it: quota")
    key = api.ATTACHMENT.ref("tenant-blue", "shop-db")
    learnt = with_status(key, decision, ("", ""))
    assert ("written", "ServiceRejected") == (learnt.findings[-1].rule, learnt.findings[-1].reason)
    assert learnt.findings[-1].message == "the API server refused it: quota"
    done = replace(decision, want=())
    assert done == with_status(key, done, ("", ""))
    other = refused("ServicePending", "it is made")
    assert other == with_status(key, other, ("", ""))
