"""The ten laws of architecture, section 4, over generated worlds of trust anchors.

A world is two tenants, two names of releases, two kinds of engines with their definitions, and
Secrets of every sort at the names that matter: sources, anchors, forgeries, key material.
"""

import copy
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from certificates import CERT1, CERT2, EXPIRED, KEY, KEY_DER
from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.capabilities.anchors.decide import RULES, WITHDRAWAL, decide, is_ours, report
from roadstead.capabilities.anchors.snapshot import (
    Declaration,
    Recorded,
    Snapshot,
    Source,
    StraySource,
    declare,
)
from roadstead.decision import Decision, Did, Finding, How, Outcome, Verdict
from roadstead.engine.check import check
from roadstead.kube import names
from roadstead.kube.objects import Meta, Object, canonical
from roadstead.kube.pem import holds_private_key, lift, passes_unchanged
from roadstead.kube.refs import EVENT, HELM_RELEASE, SECRET, Ref
from roadstead.settings import CaSource, Settings
from roadstead.sim.faults import Fault
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import World
from watched_world import WatchedWorld

Json = dict[str, Any]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANTS = ("tenant-a", "tenant-b")
RELEASES = ("pg-a", "pg-b")
KINDS = ("Postgres", "MongoDB")
HALF = settings(max_examples=settings().max_examples // 2)
"""A world takes ten milliseconds; half the examples of the profile keep `make quick` quick."""

CANARY = b"canary-of-a-password"
PACKED_CANARY = b64encode(CANARY)[:8]

# worlds


@dataclass(frozen=True)
class Scene:
    """What a generated world starts with.

    swept: whether the garbage collector has been round before we look; else it races with us
        for what has lost its owner and could be adopted.
    """

    objects: tuple[Json, ...]
    settings: Settings
    swept: bool = False


def of_kind(body: Mapping[str, Any]) -> Ref:
    """The ref of a generated object."""
    kind = {"Secret": SECRET, "HelmRelease": HELM_RELEASE}.get(body["kind"], api.DEFINITION)
    meta = body["metadata"]
    return kind.ref(meta.get("namespace", ""), meta["name"])


def uid(tenant: str, name: str) -> str:
    """The uid of a generated release."""
    return f"uid-{tenant}-{name}"


def a_release(tenant: str, name: str, kind: str, sort: str) -> Json:
    """A HelmRelease; `sort` says what is odd about it."""
    labels = {
        api.GROUP_LABEL: "example.org" if sort == "alien" else api.APPLICATION_GROUP,
        api.KIND_LABEL: kind,
        api.NAME_LABEL: "" if sort == "nameless" else name,
    }
    meta: Json = {"name": name, "namespace": tenant, "uid": uid(tenant, name), "labels": labels}
    if sort == "old":
        meta["creationTimestamp"] = "2025-12-01T00:00:00Z"
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": meta,
        "spec": {"interval": "5m"},
    }


def a_definition(name: str, kind: str, ca: Any, secrets: Any) -> Json:
    """An ApplicationDefinition."""
    spec = {"application": {"kind": kind}, "secrets": secrets, "caCert": ca}
    return {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "ApplicationDefinition",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {key: part for key, part in spec.items() if part is not None},
    }


def a_secret(place: tuple[str, str], parts: Mapping[str, Any]) -> Json:
    """A Secret at a place, of drawn parts."""
    tenant, name = place
    owners = []
    if parts["owner"] is not None:
        release, which = parts["owner"]
        owners = [
            {
                "apiVersion": "internal.cozystack.io/v1alpha1"
                if which == "projection"
                else "helm.toolkit.fluxcd.io/v2",
                "kind": "TenantProjection" if which == "projection" else "HelmRelease",
                "name": release,
                "uid": uid(tenant, release) if which == "current" else "uid-of-old",
                "controller": True,
            }
        ]
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": tenant,
            "labels": parts["labels"],
            "annotations": parts["annotations"],
            "ownerReferences": owners,
        },
        "type": parts["type"],
        "data": {key: b64encode(value).decode() for key, value in parts["data"].items()},
    }


VALUES = st.sampled_from(
    [
        CERT1,
        CERT2,
        CERT2 + CERT1,
        EXPIRED,
        CERT1.replace(b"\n", b"\r\n"),
        CERT1 + KEY,
        CERT1 + CANARY,
        KEY_DER,
        CANARY,
        b"",
        b" \n",
    ]
)
DATA = st.dictionaries(
    st.sampled_from([api.KEY, api.KEY, "tls.crt"]), VALUES, max_size=2
) | st.fixed_dictionaries({api.KEY: VALUES, "ca.key": st.just(KEY), "password": st.just(CANARY)})


def texts(**choices: tuple[str | None, ...]) -> st.SearchStrategy[dict[str, str]]:
    """A map of labels or annotations; None leaves one out."""
    drawn = st.fixed_dictionaries({key: st.sampled_from(some) for key, some in choices.items()})
    return drawn.map(lambda d: {key: v for key, v in d.items() if v is not None})


def marks(*, stray: bool) -> st.SearchStrategy[dict[str, str]]:
    """Labels of a Secret; `stray` allows it to opt in as a source."""
    choices: dict[str, tuple[str | None, ...]] = {
        api.COPY: (None, None, "true"),
        api.TENANT_CA: (None, "true"),
        api.MANAGED_BY: (None, "true"),
    }
    if stray:
        choices |= {
            api.PUBLISH: (None, "true", "true", "false"),
            api.PUBLISH_RELEASE: (None, *RELEASES),
            api.PUBLISH_KEY: (None, None, "tls.crt"),
        }
        choices[api.COPY] = (None, None, None, "true")
    return texts(**choices)


NOTES = texts(
    **{
        api.SOURCE: (None, "tenant-a/pg-a-src", "tenant-b/stray-1", "tenant-a/pg-a-ca", "nonsense"),
        api.MODE: (None, api.DECLARED, api.LABELLED),
        api.SELECTORS: (None, "0" * 64),
        api.PUBLISH_KEY: (None, None, None, "tls.crt", ""),
        api.LAST_APPLIED: (None, None, f'{{"data":"{PACKED_CANARY.decode()}"}}'),
        "example.org/note": (None, "kept"),
    }
)
OWNERS = st.none() | st.tuples(
    st.sampled_from(RELEASES), st.sampled_from(["current", "current", "old", "projection"])
)
STRAY_NAMES = ("shared-ca", "stray-1", "stray-2")
SOURCE_NAMES = ("pg-a-ca", "pg-b-src", *STRAY_NAMES)
ANCHOR_NAMES = tuple(name + api.SUFFIX for name in RELEASES)


def secrets_at(
    places: Iterable[str], labels: st.SearchStrategy[dict[str, str]], most: int
) -> st.SearchStrategy[tuple[Json, ...]]:
    """Secrets at some of the names, in both tenants."""
    parts = st.fixed_dictionaries(
        {
            "labels": labels,
            "annotations": NOTES,
            "data": DATA,
            "owner": OWNERS,
            "type": st.sampled_from(["Opaque", "Opaque", "kubernetes.io/tls"]),
        }
    )
    place = st.tuples(st.sampled_from(TENANTS), st.sampled_from(sorted(places)))
    return st.dictionaries(place, parts, max_size=most).map(
        lambda drawn: tuple(a_secret(place, parts) for place, parts in drawn.items())
    )


BY_RELEASE = {"sourceSecretName": "{{ .release }}-ca"}
CA_CERTS: tuple[Any, ...] = (
    *(None, None, None, None),
    *(BY_RELEASE, BY_RELEASE, BY_RELEASE),
    {**BY_RELEASE, "sourceKey": "tls.crt"},
    {"sourceSecretName": "shared-ca"},
    {"sourceSecretName": "{{ .release }}.tenant-ca"},
    {"sourceSecretName": "{{ .release"},
    {"sourceSecretName": "Upper_Case"},
)
CONTESTED: tuple[Any, ...] = (*CA_CERTS, {"sourceSecretName": "pg-b.tenant-ca"})
SELECTORS: tuple[Any, ...] = (None, {}, {"include": [{"matchLabels": {api.TENANT_CA: "true"}}]})
TABLES = st.sampled_from([None, None, (), (CaSource("Postgres", "{{ .release }}-ca"),)])
SORTS = st.sampled_from([*["young", "old"] * 5, "alien", "nameless"])
PLACES = st.tuples(st.sampled_from(TENANTS), st.sampled_from(RELEASES))
GOOD = st.sampled_from(
    [
        {api.KEY: CERT1, "ca.key": KEY, "password": CANARY},
        {api.KEY: CERT2},
        {api.KEY: CERT2 + CERT1, "tls.crt": CERT1},
    ]
)
PLAIN: Json = {"labels": {}, "annotations": {}, "owner": None, "type": "Opaque"}


def definitions(ca_certs: tuple[Any, ...]) -> st.SearchStrategy[tuple[Json, ...]]:
    """One definition of Postgres, and up to two more: another of it, one of MongoDB."""
    parts = st.tuples(st.sampled_from(ca_certs), st.sampled_from(SELECTORS))
    more = st.none() | parts
    return st.tuples(parts, more, more).map(
        lambda drawn: tuple(
            a_definition(name, kind, *stated)
            for name, kind, stated in zip(
                ("m-postgres", "z-postgres", "mongodb"), (KINDS[0], *KINDS), drawn, strict=True
            )
            if stated is not None
        )
    )


@st.composite
def sources(draw: st.DrawFn, tenant: str, name: str) -> tuple[Json, ...]:
    """What a release's certificate may be lifted from, on either leg; mostly it is good."""
    legs = draw(st.sampled_from([*["both"] * 5, "declared", "labelled", "neither"]))
    made = []
    if legs in {"declared", "both"}:
        data = draw(GOOD | GOOD | DATA)
        made.append(a_secret((tenant, f"{name}-ca"), {**PLAIN, "data": data}))
    if legs in {"labelled", "both"}:
        opted = draw(st.sampled_from(["true", "true", "true", "false"]))
        labels = {api.PUBLISH: opted, api.PUBLISH_RELEASE: name}
        data = draw(GOOD | GOOD | DATA)
        made.append(a_secret((tenant, f"{name}-src"), {**PLAIN, "labels": labels, "data": data}))
    return tuple(made)


@st.composite
def standing(draw: st.DrawFn, tenant: str, name: str, *, stray: bool) -> Json:
    """What stands at a release's anchor already; more often than not it is ours."""
    source = draw(st.sampled_from([f"{tenant}/{name}-src", f"{tenant}/gone", "tenant-b/stray-1"]))
    mode = draw(st.sampled_from([api.LABELLED, api.LABELLED, api.DECLARED]))
    ours = {api.COPY: "true", api.TENANT_CA: "true", api.MANAGED_BY: "true"}
    parts = {
        "labels": draw(st.just(ours) | marks(stray=stray)),
        "annotations": draw(st.just({api.SOURCE: source, api.MODE: mode}) | NOTES),
        "data": draw(st.sampled_from([{api.KEY: CERT1}, {api.KEY: CERT2}]) | DATA),
        "owner": draw(st.just((name, "current")) | OWNERS),
        "type": draw(st.sampled_from(["Opaque", "Opaque", "Opaque", "kubernetes.io/tls"])),
    }
    return a_secret((tenant, name + api.SUFFIX), parts)


@st.composite
def scenes(draw: st.DrawFn, *, contests: bool = True, anchors: bool = True) -> Scene:
    """A world of one to three releases.

    contests: whether it matters who comes first: one release lifts what stands at another's
        anchor, and a hold keeps what was; the garbage collector takes what we would adopt.
    anchors: whether something may stand at the anchors' names already.
    """
    objects = draw(definitions(CONTESTED if contests else CA_CERTS))
    for tenant, name in draw(st.lists(PLACES, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from([KINDS[0], KINDS[0], KINDS[0], KINDS[1]]))
        objects += (a_release(tenant, name, kind, draw(SORTS)), *draw(sources(tenant, name)))
        if anchors and draw(st.sampled_from([True, True, False])):
            objects += (draw(standing(tenant, name, stray=contests)),)
    objects += draw(secrets_at(STRAY_NAMES, marks(stray=True), 2))
    return Scene(objects, Settings(ca_sources=draw(TABLES)), swept=not contests)


def world_of(scene: Scene) -> WatchedWorld:
    """The world before anybody acts."""
    world = WatchedWorld(NOW, ANCHORS.views)
    for body in scene.objects:
        world.seed(copy.deepcopy(body), of_kind(body))
    while scene.swept and world.collect():
        pass
    return world


def play(scene: Scene, *faults: Fault) -> tuple[WatchedWorld, Settler]:
    """Let anchors settle a world."""
    world = world_of(scene)
    for fault in faults:
        world.faults.set(fault)
    settler = Settler(world, (ANCHORS,), scene.settings)
    settler.settle()
    return world, settler


PASSING = ("uid", "resourceVersion", "creationTimestamp", "generation")


def substance(world: World, tenant: str = "") -> list[bytes]:
    """Everything in a world but events and what the server counts."""
    found = []
    for seen in world.store.all(namespace=tenant):
        if seen.kind == EVENT:
            continue
        body = copy.deepcopy(seen.body)
        for key in PASSING:
            body["metadata"].pop(key, None)
        found.append(canonical(body))
    return found


# snapshots

LIFTED = st.just(lift(CERT1)) | VALUES.map(lambda value: lift(value) if value.strip() else None)
REFS = st.builds(
    SECRET.ref, st.sampled_from(TENANTS), st.sampled_from([*SOURCE_NAMES, *ANCHOR_NAMES])
)
SPANS = st.sampled_from([timedelta(0), timedelta(minutes=20), timedelta(hours=2)])
NAMES = st.sampled_from([*RELEASES * 4, "a.dot", "x" * 250])


@st.composite
def release_objects(draw: st.DrawFn) -> Object:
    """The metadata of a release, mostly of an application."""
    tenant, name = draw(st.sampled_from(TENANTS)), draw(NAMES)
    meta = a_release(tenant, name, draw(st.sampled_from(KINDS)), draw(SORTS))["metadata"]
    born = draw(st.sampled_from([None, "2025-12-31T23:59:00Z", "2025-01-01T00:00:00Z"]))
    return Object(HELM_RELEASE, Meta(name, tenant, "uid", "1", 0, born, labels=meta["labels"]))


@st.composite
def secret_objects(draw: st.DrawFn, tenant: str, name: str, release: str) -> Object:
    """A Secret at a place; more often than not its owner is the release."""
    owners = st.just((release, "current")) | OWNERS
    parts = {
        "labels": draw(marks(stray=True)),
        "annotations": draw(NOTES),
        "data": draw(GOOD | DATA),
        "owner": draw(owners),
        "type": draw(st.sampled_from(["Opaque", "Opaque", "Opaque", "kubernetes.io/tls"])),
    }
    body = a_secret((tenant, name), parts)
    body["metadata"] |= {"uid": "uid", "resourceVersion": "1"}
    if draw(st.sampled_from([False] * 6 + [True])):
        body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if draw(st.sampled_from([False] * 4 + [True])):
        body["immutable"] = True
    return Object.of(SECRET, body)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A snapshot, mostly of an application with a definition; its parts need not agree."""
    release = draw(release_objects())
    tenant, name = release.meta.namespace, release.meta.name
    problem = draw(st.sampled_from([*[""] * 6, "it is broken"]))
    declared = Declaration("" if problem else f"{name}-ca", api.KEY, "here", problem)
    candidates = draw(st.lists(REFS, max_size=2).map(tuple))
    source = Source(
        ref=draw(st.just(SECRET.ref(tenant, f"{name}-ca")) | REFS),
        uid="uid",
        key=api.KEY,
        age=draw(SPANS),
        copy=draw(st.sampled_from([False] * 5 + [True])),
        has_key=draw(st.booleans()),
        others=draw(st.booleans()),
        lifted=draw(st.none() | LIFTED | LIFTED),
    )
    target = draw(st.none() | secret_objects(tenant, name + api.SUFFIX, name))
    return Snapshot(
        release=release,
        now=NOW,
        definition=draw(st.sampled_from([api.DEFINITION.ref("", "postgres")] * 6 + [None])),
        definition_uid="uid",
        digest=draw(st.sampled_from(["0" * 64, "1" * 64])),
        declaration=draw(st.sampled_from([declared, None])),
        candidates=candidates,
        source=draw(st.sampled_from([source, source, source, None])),
        target=target,
        occupied=draw(st.booleans()),
        canonical=draw(st.none() | LIFTED),
        recorded=draw(st.none() | st.builds(Recorded, REFS, st.booleans())),
        lost_for=draw(SPANS),
        published=draw(st.integers(0, 50)),
        allowed=draw(st.booleans()),
    )


OUTCOMES = st.builds(
    Outcome,
    REFS,
    st.sampled_from(list(Did)),
    st.sampled_from([0, 403, 409, 413, 422, 500]),
    st.sampled_from(["", "Conflict", "Forbidden"]),
    st.sampled_from(["", "NamespaceTerminating", "FieldValueTooLong"]),
)


def said(decision: Decision) -> bytes:
    """Everything a decision tells a person."""
    spoken = [*decision.findings, *decision.events]
    return repr(spoken).encode() + decision.state.encode()


# the laws


@given(snapshots(), st.lists(OUTCOMES, max_size=2))
def test_total_every_snapshot_gets_an_answer(seen: Snapshot, outcomes: list[Outcome]) -> None:
    """Law 1: a rule that raises would leave its key in a back-off loop for ever."""
    for rule in {*RULES, *WITHDRAWAL}:
        finding = rule(seen)
        assert isinstance(finding, Finding)
        assert (finding.verdict is Verdict.PASS) is (finding.reason == "")
    decision = report(seen, decide(seen), tuple(outcomes))
    assert decision.findings
    assert all(finding.reason in api.BY_NAME for finding in decision.findings if finding.reason)
    assert not (decision.want and decision.drop)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["sourceSecretName", "sourceKey", "x"]), inner, max_size=3
            )
        ),
        max_leaves=4,
    ),
    release_objects(),
)
def test_total_whatever_a_definition_states_is_judged(stated: object, release: Object) -> None:
    """Law 1: `spec.caCert` is another's to write."""
    declared = declare(stated, release, "here")
    assert bool(declared.problem) is (declared.secret == "")
    assert not declared.secret or names.is_subdomain(declared.secret)


@given(snapshots())
def test_deterministic_the_same_snapshot_gives_the_same_decision(seen: Snapshot) -> None:
    """Law 2: `why` and `plan` print what the loop would do."""
    assert repr(decide(seen)) == repr(decide(copy.deepcopy(seen)))
    again = copy.deepcopy(seen)
    assert [want.body for want in decide(seen).want] == [want.body for want in decide(again).want]


@HALF
@given(scenes(contests=False), st.randoms(use_true_random=False))
def test_deterministic_and_confluent_the_order_of_objects_changes_nothing(
    scene: Scene, order: Any
) -> None:
    """Laws 2 and 5: which release is looked at first is chance."""
    shuffled = list(scene.objects)
    order.shuffle(shuffled)
    one, _ = play(scene)
    other, _ = play(replace(scene, objects=tuple(shuffled)))
    assert substance(one) == substance(other)
    assert sorted(map(str, one.told)) == sorted(map(str, other.told))


@HALF
@given(scenes())
def test_settled_and_idempotent_a_further_pass_writes_and_tells_nothing(scene: Scene) -> None:
    """Laws 3 and 4: every world settles, and stays as it is."""
    world, settler = play(scene)
    settler.tick(timedelta(minutes=21))  # a key that stays missing is told by then
    writes, told = len(world.met), len(world.told)
    settler.engine.resync(ANCHORS.name)
    settler.settle()
    settler.tick(timedelta(minutes=11))
    assert writes == len(world.met)
    assert told == len(world.told)
    settler.restart(scene.settings)
    settler.settle()
    assert writes == len(world.met)


@given(snapshots())
def test_valid_everything_wanted_satisfies_schema_and_names(seen: Snapshot) -> None:
    """Law 6: what the API server would refuse is never sent."""
    for want in decide(seen).want:
        check(want.kind, want.body)
        assert want.ref == seen.anchor
        assert names.is_subdomain(want.ref.name)
        assert want.how in {How.REPLACE, How.RENEW}
    for drop in decide(seen).drop:
        assert drop.ref == seen.anchor
    assert all(len(event.message) <= 1024 for event in decide(seen).events)


@HALF
@given(
    scenes(),
    st.sampled_from(TENANTS),
    st.data(),
)
def test_bounded_blast_one_tenant_changes_nothing_for_another(
    scene: Scene, tenant: str, data: st.DataObject
) -> None:
    """Law 7: anchors have no tie between namespaces; definitions have none either way."""
    theirs = [body for body in scene.objects if body["metadata"].get("namespace") == tenant]
    left = data.draw(st.sampled_from(theirs)) if theirs else None
    without = replace(scene, objects=tuple(body for body in scene.objects if body is not left))
    other = next(name for name in TENANTS if name != tenant)
    assert substance(play(scene)[0], other) == substance(play(without)[0], other)


@HALF
@given(scenes())
def test_never_takes_over_what_is_not_ours(scene: Scene) -> None:
    """Law 8: only Secrets at an anchor's name, and there only what 8.1 calls ours."""
    world, _ = play(scene)
    for verb, ref, met, _ in world.met:
        assert SECRET == ref.kind
        assert ref.name.endswith(api.SUFFIX)
        owner = Object(HELM_RELEASE, Meta(ref.name.removesuffix(api.SUFFIX), ref.namespace))
        assert (met is None) is (verb == "create")
        assert met is None or is_ours(met, owner)


@HALF
@given(scenes())
def test_keeps_secrets_to_itself(scene: Scene) -> None:
    """Law 9: a tenant reads the anchor and the events; an operator's log reads the findings."""
    world, settler = play(scene)
    for step in settler.steps:
        spoken = said(step.decision)
        for forbidden in (CANARY, PACKED_CANARY, b"BEGIN", b64encode(KEY)[:24]):
            assert forbidden not in spoken
        for want in step.decision.want:
            assert {api.KEY} == set(want.body["data"])
            assert PACKED_CANARY not in canonical(want.body)
            value = Object.of(SECRET, dict(want.body)).decoded(api.KEY) or b""
            assert passes_unchanged(value)
            assert not holds_private_key(value)
            assert repr(want).count("data") == 0
    assert all(CANARY.decode() not in str(told) for told in world.told)


@HALF
@given(scenes(contests=False, anchors=False))
def test_reversible_opting_out_withdraws_what_opting_in_published(scene: Scene) -> None:
    """Law 10: with every label off and every declaration back, no anchor is left."""
    scene = replace(scene, settings=Settings())
    world, settler = play(scene)
    sources = [of_kind(body) for body in scene.objects if body["kind"] == "Secret"]
    for ref in sources:
        if world.store.get(ref) is not None:
            world.merge(ref, {"metadata": {"labels": {api.PUBLISH: "false"}}}, By.OTHER)
    for body in scene.objects:
        if body["kind"] == "ApplicationDefinition":
            world.merge(of_kind(body), {"spec": {"caCert": None}}, By.OTHER)
    settler.settle()
    left = [seen.ref for seen in world.store.all(SECRET) if seen.meta.name in ANCHOR_NAMES]
    assert [] == left
    assert all(world.store.is_as_left(ref) for ref in sources)


@HALF
@given(scenes(contests=False, anchors=False))
def test_reversible_a_deleted_release_takes_its_anchor_along(scene: Scene) -> None:
    """Law 10: by garbage collection alone; we delete nothing."""
    world, settler = play(scene)
    for body in scene.objects:
        if body["kind"] == "HelmRelease":
            world.delete(of_kind(body), By.OTHER)
    settler.settle()
    assert [] == [seen.ref for seen in world.store.all(SECRET) if seen.meta.name in ANCHOR_NAMES]
    assert not [verb for verb, *_ in world.met if verb == "delete"]


FAULTS = st.lists(
    st.builds(
        Fault,
        verb=st.sampled_from(["get", "list", "create", "update", "delete"]),
        kind=st.just("Secret"),
        status=st.sampled_from([0, 403, 409, 429, 500]),
        times=st.integers(1, 3),
        lost=st.booleans(),
    ),
    max_size=3,
)


@HALF
@given(scenes(contests=False), FAULTS)
def test_faults_that_pass_leave_no_trace(scene: Scene, faults: list[Fault]) -> None:
    """Laws 1, 4 and 5: an error holds, and what comes after it is what would have come anyway."""
    calm, _ = play(scene)
    world, settler = play(scene, *faults)
    settler.tick(timedelta(minutes=12))
    assert substance(calm) == substance(world)


def test_a_stray_source_is_answered() -> None:
    """Law 1 for the other kind of key."""
    stray = StraySource(Object(SECRET, Meta("x", "tenant-a", labels={api.PUBLISH: "true"})))
    assert repr(decide(stray)) == repr(report(stray, decide(stray), ()))
