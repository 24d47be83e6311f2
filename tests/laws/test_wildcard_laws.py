"""Laws of the wildcard replicas, over generated worlds and what others do to them meanwhile.

A world is a values channel, a source, three namespaces with their labels and TenantGateways, and
Secrets of every sort at the names that matter. Every Secret's value is a canary of its own.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from roadstead.capabilities.gateways.api import ATTACH_LABEL, TENANT_GATEWAY
from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.controller import WILDCARDS
from roadstead.decision import Verdict
from roadstead.engine.check import check
from roadstead.kube.objects import Object
from roadstead.kube.refs import NAMESPACE, SECRET, Ref
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.settle import Settler
from roadstead.sim.world import Serving, World

Json = dict[str, Any]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOME = "tenant-root"
TENANTS = ("tenant-a", "tenant-b")
SPACES = (HOME, *TENANTS)
NAMES = ("wildcard-tls", "older-tls")
CANARY = "canary"
HALF = settings(max_examples=settings().max_examples // 2)
"""A world takes some ten milliseconds; half the examples keep `make quick` quick."""


@dataclass(frozen=True)
class Scene:
    """What a generated world starts with, and what others do after we have settled."""

    objects: tuple[Json, ...]
    acts: tuple[Json, ...] = ()


CHANNELS = (
    "_cluster: {wildcard-secret-name: wildcard-tls}",
    "_cluster: {wildcard-secret-name: older-tls, expose-ingress: tenant-root}",
    "_cluster: {wildcard-secret-name: wildcard-tls, expose-ingress: tenant-a}",
    '_cluster: {wildcard-secret-name: ""}',
    "_cluster: {wildcard-secret-name: [canary]}",
    "_cluster: {}",
    "canary: [",
)
OURS = ("copy", "drifted", "opaque-copy", "held-copy")
"""Sorts of Secrets with our mark."""
UNSURE = CHANNELS[4:]
"""Those that say nothing, or nothing usable."""


def a_secret(namespace: str, name: str, sort: str, value: str) -> Json:
    """A Secret. sort: whose it is and what is odd about it."""
    meta: Json = {"name": name, "namespace": namespace}
    if sort in OURS:
        meta["labels"] = {api.COPY: "true"}
        meta["annotations"] = {api.COPY_SOURCE: f"{HOME}/{name}"}
    if sort == "drifted":
        meta["labels"] |= {"internal.cozystack.io/x": "y", "team": "blue"}
        meta["annotations"] |= {api.LAST_APPLIED: f"{CANARY}-applied"}
    if sort == "held-copy":
        meta["finalizers"] = ["example.org/hold"]
    if sort == "odd-mark":
        meta["labels"] = {api.COPY: "yes"}
    text = f"{CANARY}-{namespace}-{name}-{value}"
    data = {key: b64encode(f"{text}-{key}".encode()).decode() for key in api.REQUIRED}
    if sort == "empty-key":
        data[api.PRIVATE] = ""
    kind = "Opaque" if sort in {"opaque", "opaque-copy"} else api.TLS
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": kind, "data": data}


def values(text: str) -> Json:
    """The values Secret."""
    body = a_secret(api.VALUES.namespace, api.VALUES.name, "opaque", "")
    return body | {"data": {api.VALUES_KEY: b64encode(text.encode()).decode()}}


def a_gateway(namespace: str, name: str, mode: str) -> Json:
    """A TenantGateway."""
    return {
        "apiVersion": TENANT_GATEWAY.api_version,
        "kind": TENANT_GATEWAY.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"apex": "example.org", "certMode": mode},
    }


def a_namespace(name: str, ingress: str, gateway: str) -> Json:
    """A Namespace."""
    labels = {api.INGRESS_LABEL: ingress, ATTACH_LABEL: gateway}
    labels = {key: value for key, value in labels.items() if value}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


SECRETS = st.builds(
    a_secret,
    st.sampled_from(SPACES),
    st.sampled_from(NAMES),
    st.sampled_from((*OURS, "odd-mark", "foreign", "opaque", "empty-key")),
    st.sampled_from("12"),
)
SOURCE = st.builds(
    a_secret,
    st.sampled_from((HOME, HOME, "tenant-a")),
    st.sampled_from(NAMES),
    st.sampled_from(("foreign", "foreign", "copy", "opaque", "empty-key")),
    st.sampled_from("12"),
)
GATEWAYS = st.builds(
    a_gateway,
    st.sampled_from(TENANTS),
    st.sampled_from(("one", "two")),
    st.sampled_from((api.EDGE, api.EDGE, "dns01", "http01")),
)
NAMESPACES = st.sampled_from(SPACES).flatmap(
    lambda name: st.builds(
        a_namespace,
        st.just(name),
        st.sampled_from(("", name, HOME)),
        st.sampled_from(("", name, name, HOME)),
    )
)
VALUES = st.builds(values, st.sampled_from((*CHANNELS[:3], *CHANNELS)))
ANYTHING = st.one_of(VALUES, SOURCE, SECRETS, GATEWAYS, NAMESPACES)


def ref_of(body: Mapping[str, Any]) -> Ref:
    """The ref of a generated object."""
    kinds = {"Secret": SECRET, "Namespace": NAMESPACE, TENANT_GATEWAY.kind: TENANT_GATEWAY}
    meta = body["metadata"]
    return kinds[body["kind"]].ref(meta.get("namespace", ""), meta["name"])


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """A world and what happens to it."""
    drawn = [draw(VALUES), draw(SOURCE), *draw(st.lists(ANYTHING, max_size=8))]
    drawn += [draw(NAMESPACES), draw(NAMESPACES)]
    objects = {ref_of(one): one for one in drawn}
    return Scene(tuple(objects.values()), tuple(draw(st.lists(ANYTHING, max_size=4))))


def world_of(scene: Scene) -> World:
    """The world at its start."""
    world = World(NOW, Kinds(view.kind for view in WILDCARDS.views))
    for body in scene.objects:
        world.seed(body, ref_of(body))
    return world


def put(world: World, body: Json) -> None:
    """Another writer makes an object, or makes it anew; what a finalizer holds stays."""
    ref = ref_of(body)
    if ref.kind == NAMESPACE and world.store.get(ref) is not None:
        world.merge(ref, {"metadata": {"labels": None}}, By.OTHER)
        world.merge(ref, {"metadata": {"labels": body["metadata"]["labels"]}}, By.OTHER)
        return
    if world.store.get(ref) is not None:
        world.merge(ref, {"metadata": {"finalizers": None}}, By.OTHER)
    if world.store.get(ref) is not None:  # the last finalizer may have been all that held it
        world.delete(ref, By.OTHER)
    world.create(ref.kind, body, By.OTHER)


def settled(scene: Scene) -> tuple[World, Settler]:
    """A world that has come to rest after all that happens in it."""
    world = world_of(scene)
    settler = Settler(world, (WILDCARDS,), Settings())
    settler.settle()
    for act in scene.acts:
        put(world, act)
        settler.settle()
    return world, settler


def secrets(world: World) -> Iterator[Object]:
    """Every Secret but the values."""
    return (seen for seen in world.store.all(SECRET) if seen.ref != api.VALUES)


def is_marked(seen: Object) -> bool:
    """Whether we may write it."""
    return seen.labels.get(api.COPY) == "true"


@HALF
@given(scenes())
def test_a_settled_world_stays_as_it_is(scene: Scene) -> None:
    """Idempotent, and it settles: a further look, and one after a restart, writes nothing."""
    world, settler = settled(scene)
    told, written = len(world.told), len(world.store.log)
    settler.tick(timedelta(minutes=6))
    settler.restart(Settings())
    settler.settle()
    ours = [change for change in world.store.log[written:] if change.kind == SECRET]

    assert [] == ours
    assert told <= len(world.told)


@HALF
@given(scenes())
def test_nothing_without_our_mark_is_ever_written(scene: Scene) -> None:
    """Never takes over: whatever it is, and wherever it stands. The source is never written."""
    world = world_of(scene)
    before = {seen.ref: seen for seen in world.store.all() if not is_marked(seen)}
    settler = Settler(world, (WILDCARDS,), Settings())
    settler.settle()

    assert before == {ref: world.store.get(ref) for ref in before}
    for step in settler.steps:
        for want in step.decision.want:
            check(SECRET, want.body)
            assert (want.live is None) or is_marked(want.live)
            assert set(want.body["data"]) <= set(api.COPIED)


@HALF
@given(scenes())
def test_no_value_is_ever_told(scene: Scene) -> None:
    """Keeps secrets: not in a finding, an event, a repr or a view; trails hold no body."""
    world, settler = settled(scene)
    desk = settler.engine.desks[WILDCARDS.name]
    packed = b64encode(CANARY.encode()).decode()[:8]
    told = [str(one) for one in world.told]
    told += [repr(step.decision) for step in settler.steps]
    told += [repr(desk.trails), repr(settler.last)]
    for view, store in settler.engine.stores.items():
        told += [str(seen.body) for seen in store.list()] if store.complete else []
        assert len(store) == 0 or view.name != "secrets"

    assert [] == [text for text in told if CANARY in text or packed in text]
    assert all(decision.want == () for decision in desk.trails.values())


@HALF
@given(scenes(), st.sampled_from(("gateways", "channel", "namespaces", "copies", "source")))
def test_the_unknown_takes_nothing_away_and_makes_nothing(scene: Scene, blind: str) -> None:
    """Whatever cannot be read: what stood stays, unless another answer is definite."""
    world = world_of(scene)
    before = {seen.ref for seen in secrets(world)}
    go_blind(world, blind)
    settler = Settler(world, (WILDCARDS,), Settings())
    settler.settle()
    after = {seen.ref for seen in secrets(world) if not seen.deleting}
    gone = before - {seen.ref for seen in secrets(world)}

    if blind != "gateways":
        assert gone == set()
    if blind in {"channel", "namespaces", "source"}:
        assert before >= after
    for ref in before ^ after if blind == "gateways" else ():
        space = world.store.get(NAMESPACE.ref("", ref.namespace))
        labels = space.labels if space is not None else {}
        owns = labels.get(ATTACH_LABEL) == ref.namespace
        only_gateway = owns and labels.get(api.INGRESS_LABEL) != ref.namespace
        named = ref.name == named_in(world)
        assert not (only_gateway and named and ref.namespace != publishing_in(world))


def go_blind(world: World, what: str) -> None:
    """Have one of the answers fail."""
    if what == "gateways":
        world.serve(TENANT_GATEWAY, Serving(now=False))
    elif what == "channel":
        world.merge(api.VALUES, {"data": None}, By.OTHER)
    elif what == "namespaces":
        world.faults.set(Fault(verb="list", kind="Namespace"))
    elif what == "copies":
        world.faults.set(Fault(verb="list", kind="Secret"))
    else:
        named = named_in(world)
        space = publishing_in(world)
        if named:
            world.faults.set(Fault(verb="get", kind="Secret", namespace=space, name=named))
        else:
            world.merge(api.VALUES, {"data": None}, By.OTHER)


def channel_of(world: World) -> str:
    """The text of the values."""
    seen = world.store.get(api.VALUES)
    return (seen.decoded(api.VALUES_KEY) or b"").decode() if seen is not None else ""


def named_in(world: World) -> str:
    """The source that the values name."""
    text = channel_of(world)
    return next((name for name in NAMES if f"name: {name}" in text), "")


def publishing_in(world: World) -> str:
    """Where the values say that it stands."""
    return "tenant-a" if "ingress: tenant-a" in channel_of(world) else HOME


@HALF
@given(scenes(), st.one_of(SECRETS, GATEWAYS))
def test_what_happens_in_one_namespace_changes_nothing_in_another(scene: Scene, act: Json) -> None:
    """Bounded blast: but for the source, which all follow."""
    space = act["metadata"]["namespace"]
    world, settler = settled(scene)
    if space == publishing_in(world) or space == HOME:
        return
    before = {seen.ref: seen for seen in secrets(world) if seen.meta.namespace != space}
    put(world, act)
    settler.settle()

    assert before == {seen.ref: seen for seen in secrets(world) if seen.meta.namespace != space}


@HALF
@given(scenes(), st.sampled_from(TENANTS), st.sampled_from(("create", "update", "delete", "get")))
def test_a_fault_of_one_namespace_stops_no_other(scene: Scene, space: str, verb: str) -> None:
    """Error isolation: all others end as they would, and the one does once it can."""
    plain, _ = settled(Scene(scene.objects))
    world = world_of(scene)
    if space == publishing_in(world):
        return
    fault = Fault(verb=verb, kind="Secret", namespace=space, status=500)
    world.faults.set(fault)
    settler = Settler(world, (WILDCARDS,), Settings())
    settler.settle()

    def others(of: World) -> dict[Ref, Any]:
        return {seen.ref: seen.body.get("data") for seen in secrets(of)}

    def but(found: dict[Ref, Any]) -> dict[Ref, Any]:
        return {ref: data for ref, data in found.items() if ref.namespace != space}

    assert but(others(plain)) == but(others(world))
    world.faults.set(Fault(verb=verb, kind="Secret", namespace=space, times=0))
    settler.tick(timedelta(minutes=6))
    assert others(plain) == others(world)


@HALF
@given(scenes())
def test_the_same_world_gives_the_same_decision(scene: Scene) -> None:
    """Deterministic, whatever order its objects came in; a trail ends in at most one stop."""
    _, one = settled(Scene(scene.objects))
    _, other = settled(Scene(tuple(reversed(scene.objects))))

    assert [step.decision.findings for step in one.steps] == [
        step.decision.findings for step in other.steps
    ]
    for step in one.steps:
        verdicts = [found.verdict for found in step.decision.findings[:-1]]
        assert all(verdict is Verdict.PASS for verdict in verdicts)


@HALF
@given(scenes())
def test_disabled_and_enabled_again_ends_as_before(scene: Scene) -> None:
    """Reversible: the empty text takes every copy away, and the name brings them back."""
    world, settler = settled(Scene(scene.objects))
    text = channel_of(world)
    if text in UNSURE or publishing_in(world) != HOME:
        return
    if (source := world.store.get(SECRET.ref(HOME, named_in(world) or "x"))) and is_marked(source):
        return
    put(world, values(CHANNELS[3]))
    settler.settle()

    assert [] == [seen for seen in secrets(world) if is_marked(seen) and not seen.deleting]
