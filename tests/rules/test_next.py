"""Every refusal names a next step that, typed as it stands, clears it; every wait says what wakes.

The worlds here are one step away from one that publishes.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

import kubectl_lines
from certificates import CERT1, CERT2, EXPIRED, KEY
from roadstead.capabilities.anchors.api import REASONS
from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.decision import Decision
from roadstead.engine.engine import Engine
from roadstead.engine.reader import PassReader
from roadstead.explain.anchors.next import STEPS, WAKES
from roadstead.explain.anchors.tell import with_event
from roadstead.explain.ask import trail_of
from roadstead.explain.world import Played
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref
from roadstead.settings import CaSource, Settings
from roadstead.sim.faults import Fault
from roadstead.sim.ours import Ours
from roadstead.sim.requests import By
from roadstead.sim.settle import WorldClock, drive
from roadstead.sim.world import World
from stories import NOW, Body, Story, Then, identity, settle, shown, told_of

SPACE = "tenant-foo"
RELEASE = HELM_RELEASE.ref(SPACE, "postgres-mydb")
SOURCE = SECRET.ref(SPACE, "postgres-mydb-ca")
ANCHOR = SECRET.ref(SPACE, "postgres-mydb.tenant-ca")
LABELS = "internal.cozystack.io/publish-ca-cert"


def definition(ca: Body | None, name: str = "postgres") -> Body:
    """An ApplicationDefinition of kind Postgres; None declares nothing."""
    spec: dict[str, object] = {"application": {"kind": "Postgres"}, "secrets": {}}
    if ca is not None:
        spec["caCert"] = ca
    meta = {"name": name}
    return {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "ApplicationDefinition",
        "metadata": meta,
        "spec": spec,
    }


DECLARED = definition({"sourceSecretName": "{{ .release }}-ca"})
LABELLED = definition(None)


def release(name: str = "postgres-mydb", group: str = "apps.cozystack.io") -> Body:
    """The HelmRelease of an application."""
    prefix = "apps.cozystack.io/application"
    labels = {f"{prefix}.group": group, f"{prefix}.kind": "Postgres", f"{prefix}.name": "mydb"}
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": SPACE, "labels": labels},
        "spec": {"interval": "5m"},
    }


def secret(name: str, data: dict[str, bytes], **meta: object) -> Body:
    """A Secret of the tenant's namespace."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": SPACE, **meta},
        "stringData": {key: value.decode() for key, value in data.items()},
    }


def labelled(name: str, data: dict[str, bytes], release_name: str = "postgres-mydb") -> Body:
    """A Secret that opts in as the source of a release; an empty name leaves that label out."""
    labels = {LABELS: "true"}
    if release_name:
        labels[f"{LABELS}-release"] = release_name
    return secret(name, data, labels=labels)


def anchor(name: str = "postgres-mydb", mode: str = "labelled", source: str = "ca-src") -> Body:
    """A published anchor as the controller left it."""
    prefix = "internal.cozystack.io"
    return secret(
        f"{name}.tenant-ca",
        {"ca.crt": CERT1},
        labels={f"{prefix}/tenant-ca": "true", f"{prefix}/ca-cert-copy": "true"},
        annotations={
            f"{prefix}/ca-cert-mode": mode,
            f"{prefix}/ca-cert-source": f"{SPACE}/{source}",
        },
    )


GOOD = {"ca.crt": CERT1, "ca.key": KEY}
QUOTA: Body = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "small", "namespace": SPACE},
    "spec": {"hard": {"count/secrets": "1"}},
}
SEVEN = [f"postgres-{number}" for number in range(7)]


def lose_the_source(played: Played) -> None:
    """Delete the source, and let two hours pass."""
    played.world.delete(SECRET.ref(SPACE, "ca-src"), By.OTHER)
    played.settler.tick(timedelta(hours=2))


def aged(body: Body) -> Body:
    """The same object, 20 minutes old."""
    return {**body, "age": "20m"}


def table(template: str = "{{ .release }}-ca", key: str = "") -> Settings:
    """An engine table that declares for Postgres."""
    return Settings(ca_sources=(CaSource("Postgres", template, key),))


REFUSALS = (
    Story("CACertPrivateKeyRefused", "no-private-key", SOURCE,
          (DECLARED, release(), secret(SOURCE.name, {"ca.crt": CERT1 + KEY, "x": KEY}))),
    Story("CACertPrivateKeyRefused", "no-private-key", SOURCE, name="another-key",
          world=(DECLARED, release(), secret(SOURCE.name, {"ca.crt": KEY, "tls.crt": CERT1}))),
    Story("CACertPrivateKeyRefused", "no-private-key", SECRET.ref(SPACE, "ca-src"), name="label",
          world=(LABELLED, release(), labelled("ca-src", {"ca.crt": KEY, "tls.crt": CERT1}))),
    Story("CACertInvalid", "certificates-only", SOURCE,
          (DECLARED, release(), secret(SOURCE.name, {"ca.crt": b"junk", "ca.key": KEY}))),
    Story("CACertSecretCollision", "name-free", ANCHOR,
          (DECLARED, release(), secret(SOURCE.name, GOOD), secret(ANCHOR.name, GOOD))),
    Story("CACertSecretCollision", "declaration-usable", RELEASE, name="declared-copy",
          world=(definition({"sourceSecretName": "other.tenant-ca"}), release(),
                 secret(SOURCE.name, GOOD), anchor("other"))),
    Story("CACertCanonicalNameOccupied", "source-elsewhere", ANCHOR,
          (definition({"sourceSecretName": "{{ .release }}.tenant-ca"}), release(),
           secret(ANCHOR.name, GOOD))),
    Story("CACertCanonicalNameOccupied", "source-elsewhere", ANCHOR, name="label",
          world=(LABELLED, release(), labelled(ANCHOR.name, GOOD))),
    Story("CACertCanonicalNameContract", "source-elsewhere", ANCHOR,
          (definition({"sourceSecretName": "{{ .release }}.tenant-ca"}), release(),
           secret(ANCHOR.name, {"ca.crt": CERT1, "extra": b"x"}))),
    Story("CACertCanonicalNameContract", "source-elsewhere", ANCHOR, name="label-only",
          world=(definition({"sourceSecretName": "{{ .release }}.tenant-ca"}), release(),
                 secret(ANCHOR.name, {"ca.crt": CERT1}))),
    Story("CACertSourceAmbiguous", "source-unambiguous", SECRET.ref(SPACE, "ca-one"),
          (LABELLED, release(), labelled("ca-one", GOOD), labelled("ca-two", GOOD),
           labelled("ca-three", GOOD))),
    Story("CACertDeclarationInvalid", "declaration-usable", RELEASE,
          (definition({"sourceSecretName": "{{ .release"}), release(),
           secret(SOURCE.name, GOOD))),
    Story("CACertDeclarationInvalid", "declaration-usable", RELEASE, name="key",
          world=(definition({"sourceSecretName": "x", "sourceKey": "no/key"}), release())),
    Story("CACertDeclarationInvalid", "declaration-usable", RELEASE, name="table",
          world=(LABELLED, release()), settings=table("{{ .release")),
    Story("CACertPrivateKeyRefused", "no-private-key", SOURCE, name="table-other-key",
          world=(LABELLED, release(), secret(SOURCE.name, {"ca.key": KEY, "tls.crt": CERT1})),
          settings=table(key="ca.key")),
    Story("CACertSourceUnattributable", "source-attributable", SOURCE, key=SOURCE,
          world=(LABELLED, release(), labelled(SOURCE.name, GOOD, ""))),
    Story("CACertSourceUnattributable", "source-attributable", SOURCE, key=SOURCE, number=1,
          name="opt-out", world=(LABELLED, release(), labelled(SOURCE.name, GOOD, ""))),
    Story("CACertSourceUnattributable", "source-attributable", SOURCE, key=SOURCE,
          name="no-release", world=(LABELLED, labelled(SOURCE.name, GOOD, ""))),
    Story("CACertSourceKeyMissing", "source-filled", SOURCE,
          (DECLARED, release(), aged(secret(SOURCE.name, {"tls.crt": CERT1, "tls.key": KEY})))),
    Story("CACertSourceKeyMissing", "source-filled", SOURCE, name="no-certificate",
          world=(DECLARED, release(), aged(secret(SOURCE.name, {"tls.key": KEY})))),
    Story("CACertSourceKeyMissing", "source-filled", SECRET.ref(SPACE, "ca-src"), name="label",
          world=(LABELLED, release(), aged(labelled("ca-src", {"tls.crt": CERT1})))),
    Story("CACertSourceGone", "source-opted-out", SECRET.ref(SPACE, "ca-src"),
          (LABELLED, release(), labelled("ca-src", GOOD)), then=lose_the_source),
    Story("CACertSourceGone", "source-opted-out", SECRET.ref(SPACE, "ca-src"), name="give-up",
          world=(LABELLED, release(), labelled("ca-src", GOOD)), then=lose_the_source, number=1),
    Story("CACertReleaseNameUnsupported", "name-supported", HELM_RELEASE.ref(SPACE, "my.db"),
          (DECLARED, release("my.db")), key=HELM_RELEASE.ref(SPACE, "my.db"),
          files={"helmrelease.yaml": yaml.safe_dump(release("my-db"))}),
    Story("CACertExpired", "", SOURCE,
          (DECLARED, release(), secret(SOURCE.name, {"ca.crt": EXPIRED, "ca.key": KEY}))),
    Story("CACertWriteDenied", "written", RELEASE,
          (DECLARED, release(), secret(SOURCE.name, GOOD), QUOTA)),
    Story("CACertWithdrawalsHeld", "withdrawals-bounded", RELEASE, name="",
          world=(LABELLED, *(release(name) for name in SEVEN),
                 *(secret(f"{name}-ca", GOOD) for name in SEVEN),
                 *(anchor(name, "declared", f"{name}-ca") for name in SEVEN)),
          key=HELM_RELEASE.ref(SPACE, SEVEN[-1])),
)  # fmt: skip


def told(played: Played) -> set[tuple[Ref, str]]:
    """Every key with the reason it is refused or warned of for."""
    return {
        (key, event.reason)
        for key, (_, decision) in played.decisions.items()
        for event in decision.events
    }


@pytest.mark.parametrize("story", REFUSALS, ids=identity)
def test_the_next_step_clears_the_refusal(story: Story, tmp_path: Path) -> None:
    """What `why` tells a person to type must work; it names the rule and the object first."""
    played = settle(story, tmp_path)
    trail = told_of(played, story.key)
    assert story.reason in {trail.reason, *(note.partition(":")[0] for note in trail.notes)}
    text = shown(trail)
    stopped = [line for line in trail.lines if line.mark == "no"]
    assert [story.rule] * bool(story.rule) == [line.rule for line in stopped]
    if story.reason != "CACertWithdrawalsHeld":
        assert story.about.path in text or str(story.about) in text
    step = trail.next[story.number]
    files = {"ca.pem": CERT2.decode(), **story.files}

    for command in step.commands:
        assert command in text
        kubectl_lines.run(played.world, command, files)
    played.settler.tick(timedelta(minutes=6))

    assert story.key not in {key for key, _ in told(played)}


def test_every_refusing_reason_has_a_story() -> None:
    """A new reason without a next step, or without a test of it, is an omission."""
    refusing = {reason.name for reason in REASONS if reason.about}
    assert refusing == set(STEPS)
    assert refusing == {story.reason for story in REFUSALS}


def finalized() -> Body:
    """An anchor that somebody deleted and whose finalizer stays."""
    body = anchor(source=SOURCE.name)
    meta = body["metadata"]
    assert isinstance(meta, dict)
    meta |= {"finalizers": ["example.org/x"], "deletionTimestamp": "2025-12-31T00:00:00Z"}
    return body


def fail(verb: str, status: int = 500, cause: str = "") -> Then:
    """Let the server fail, and have the release looked at again."""

    def then(played: Played) -> None:
        played.world.delete(ANCHOR, By.OTHER)
        played.world.faults.set(Fault(verb=verb, kind="Secret", status=status, cause=cause))
        played.settler.settle()

    return then


WAITS = (
    Story("Ignored", "application-release", RELEASE, (DECLARED, release(group="other"))),
    Story("DefinitionUnknown", "definition-known", RELEASE, (release(),)),
    Story("SourceAbsent", "source-exists", SOURCE, (DECLARED, release())),
    Story("SourceEmpty", "source-filled", SOURCE,
          (DECLARED, release(), secret(SOURCE.name, {"ca.crt": b""}))),
    Story("NothingToDo", "anchor-ours", ANCHOR, (LABELLED, release())),
    Story("HeldAfterSourceLoss", "source-opted-out", SECRET.ref(SPACE, "ca-src"),
          (LABELLED, release(), anchor())),
    Story("CanonicalSelf", "source-elsewhere", ANCHOR,
          (definition({"sourceSecretName": "{{ .release }}.tenant-ca"}), release(),
           secret(ANCHOR.name, {"ca.crt": CERT1},
                  labels={"internal.cozystack.io/tenant-ca": "true"}))),
    Story("Terminating", "anchor-alive", ANCHOR,
          (DECLARED, release(), secret(SOURCE.name, GOOD), finalized())),
    Story("NamespaceTerminating", "written", RELEASE,
          (DECLARED, release(), secret(SOURCE.name, GOOD)),
          then=fail("create", 403, "NamespaceTerminating")),
    Story("ReadFailed", "readable", RELEASE,
          (DECLARED, release(), secret(SOURCE.name, GOOD)), then=fail("get")),
    Story("WriteFailed", "written", ANCHOR,
          (DECLARED, release(), secret(SOURCE.name, GOOD)), then=fail("create")),
)  # fmt: skip


@pytest.mark.parametrize("story", WAITS, ids=identity)
def test_a_wait_says_what_wakes_it(story: Story, tmp_path: Path) -> None:
    """Where nobody must act, the trail names the rule, the object, and what will come."""
    played = settle(story, tmp_path)
    trail = told_of(played, story.key)
    assert story.reason == trail.reason
    assert [story.rule] == [line.rule for line in trail.lines if line.mark == "wait"]
    assert not trail.next
    text = shown(trail)
    assert story.about.path in text
    assert "wakes: " in text


def test_every_waiting_reason_has_a_story() -> None:
    """A wait without a word of what ends it leaves a person guessing."""
    waiting = {reason.name for reason in REASONS if not reason.about}
    assert waiting <= set(WAKES)
    assert waiting == {story.reason for story in WAITS}


DENIED = ("CACertWriteDenied", "the API server refused to write it (403 Forbidden)")
HELD = ("CACertWithdrawalsHeld", "more anchors would be withdrawn than is allowed")
LOST = ("CACertSourceGone", "Secret tenant-foo/ca-src has been gone for more than an hour")


@pytest.mark.parametrize(
    ("world", "told", "rule"),
    [
        pytest.param((DECLARED, release(), secret(SOURCE.name, GOOD)), DENIED, "written"),
        pytest.param((LABELLED, release(), anchor(mode="declared")), HELD, "written"),
        pytest.param((LABELLED, release(), anchor()), LOST, "source-opted-out"),
    ],
)
def test_a_look_learns_from_events_what_only_the_controller_knows(
    world: tuple[Body, ...], told: tuple[str, str], rule: str
) -> None:
    """A look writes nothing and starts now; the event says what came of writing and waiting."""
    there = World(NOW)
    for body in world:
        place: dict[str, Any] = dict(body)
        meta = place["metadata"]
        kind = there.kinds.of(str(body["apiVersion"]), str(body["kind"]), meta.get("namespace", ""))
        there.seed(place, kind.ref(meta.get("namespace", ""), meta["name"]))
    looked, reader = look_at(there)
    found = with_event(RELEASE, looked, told)
    shown_trail = drive(trail_of(RELEASE, found, reader))
    assert (told[0], rule) == (shown_trail.reason, shown_trail.lines[len(found.findings) - 1].rule)
    assert shown_trail.next
    assert looked == with_event(RELEASE, looked, ("", ""))
    assert looked == with_event(RELEASE, looked, ("CACertInvalid", "it was junk"))


def look_at(world: World) -> tuple[Decision, PassReader]:
    """What a look without a controller decides, and reads; every view is filled as at a start."""
    engine = Engine((ANCHORS,), Settings(), WorldClock(world), dry=True)
    for view in engine.stores:
        engine.begin_list(view)
        engine.add_page(view, world.store.all(view.kind))
        engine.end_list(view, "1")
    api = Ours(world)
    passed = drive(engine.work("anchors", RELEASE, api))
    return passed.decision, PassReader(api, engine.stores, Settings(), NOW)


def test_a_key_name_that_could_steer_a_shell_is_never_typed(tmp_path: Path) -> None:
    """An annotation is anybody's text; what a person is told to type must not run it."""
    evil = labelled("ca-src", {"tls.crt": CERT1})
    meta = evil["metadata"]
    assert isinstance(meta, dict)
    meta["annotations"] = {f"{LABELS}-key": "x;touch /tmp/owned\x1b[2J"}
    story = Story("CACertSourceKeyMissing", "", SOURCE, (LABELLED, release(), aged(evil)))
    trail = told_of(settle(story, tmp_path), RELEASE)
    commands = [command for step in trail.next for command in step.commands]
    assert commands
    assert not any("touch" in command for command in commands)
    assert "\x1b[2J" not in shown(trail)
