"""The laws of lineage: total, deterministic, bounded, and silent about what it was shown.

Source: architecture 4. 1 total, 2 deterministic, 3 idempotent, 4 settles, 6 valid, 7 bounded,
8 never takes over, 9 keeps secrets, 10 reversible; 5, confluence, has one controller here.
"""

import json
from dataclasses import replace
from typing import Any

import msgspec
from hypothesis import example
from hypothesis import given as generated
from hypothesis import strategies as st

from lineage_objects import (
    CONFIG,
    HELM,
    NS,
    Json,
    body,
    data,
    definition,
    named,
    namespace,
    owner,
    pod,
    release,
    secret,
    service,
    with_uids,
)
from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.controller import REFRESHER
from roadstead.capabilities.lineage.decide import admit, judge
from roadstead.capabilities.lineage.snapshot import (
    Application,
    Belonging,
    Snapshot,
    applications_of,
    definition_of,
)
from roadstead.capabilities.lineage.webhook import LINEAGE
from roadstead.engine.review import refused
from roadstead.errors import ClusterError
from roadstead.kube.names import is_label_value
from roadstead.kube.objects import Object, Owner, canonical
from roadstead.kube.refs import HELM_RELEASE, SECRET, SERVICE, Ref
from roadstead.runtime.reviews import MalformedError, decode, encode
from roadstead.settings import Settings
from roadstead.sim.flags import START
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.review import Reviewing, patched
from roadstead.sim.settle import Settler, drive
from roadstead.sim.world import World

CANARY = "canary-4d1e"
RELEASE = HELM_RELEASE.ref(NS, "harbor-demo")
HARBOR = Application(api.APPLICATION_GROUP, "Harbor", "demo", RELEASE)

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
keys = st.sampled_from(["tier", "app", "a b", "", api.NAME_LABEL, api.TENANT_RESOURCE])
values = st.sampled_from(["x", "y", "", "{{ .name }}", "harbor"])
expression = st.fixed_dictionaries(
    {"key": keys, "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Odd"])},
    optional={"values": st.lists(values, max_size=2)},
)
template = st.sampled_from(
    ["{{ .name }}-credentials", "{{ .kind }}", "{{ slice .namespace 7 }}", "{{ slice .name 99 }}",
     "{{ .bad", "", "s", "{{ .nothing }}", "demo-credentials"]
)  # fmt: skip
selector = st.none() | junk | st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(keys, values, max_size=2),
        "matchExpressions": st.lists(expression, max_size=2),
        "resourceNames": st.none() | st.lists(template, max_size=3),
    },
)  # fmt: skip
block = junk | st.fixed_dictionaries(
    {}, optional={name: st.lists(selector, max_size=3) for name in ("include", "exclude")}
)
blocks = st.fixed_dictionaries({}, optional=dict.fromkeys(api.BLOCKS.values(), block))
labels = st.dictionaries(
    keys.filter(lambda key: " " not in key and bool(key)),
    values.filter(lambda value: "{" not in value),
    max_size=4,
)


@st.composite
def secrets(draw: st.DrawFn) -> Json:
    """A Secret of the tenant, in whatever state."""
    stated: dict[str, Any] = {**draw(labels), **draw(st.sampled_from([HELM, {}]))}
    if draw(st.booleans()):
        stated[TENANT_CA] = "true"
    one = secret(
        draw(st.sampled_from(["s", "demo-credentials", "harbor"])),
        labels=stated,
        data=data(ca_crt=draw(st.binary(max_size=20)), k=CANARY),
    )
    if draw(st.booleans()):
        one["stringData"] = {"ca.crt": CANARY}
    if draw(st.booleans()):
        one["metadata"]["annotations"] = {api.LAST_APPLIED: CANARY}
    return one


@st.composite
def reviews(draw: st.DrawFn) -> Snapshot:
    """Anything that may be under review."""
    stated: dict[str, Any] = draw(blocks)
    known = definition_of(Object.of(api.DEFINITION, definition(**stated)))
    one = draw(
        secrets()
        | st.builds(lambda more: service(labels=more), labels)
        | st.builds(lambda more: pod(labels=more), labels)
    )
    kind = {"Secret": SECRET, "Service": SERVICE, "Pod": api.POD}[one["kind"]]
    owned = draw(st.sampled_from([(), (HARBOR,), (HARBOR, HARBOR)]))
    return Snapshot(
        Object.of(kind, one),
        draw(st.booleans()),
        owned,
        known if owned else None,
        scheduling=draw(st.sampled_from(["", "gpu"])) if kind == api.POD else "",
    )


@generated(reviews())
def test_every_object_gets_an_answer_and_the_same_one_twice(seen: Snapshot) -> None:
    """Total and deterministic: no rule raises, and nothing but the snapshot counts."""
    once, twice = admit(seen), admit(seen)

    assert canonical([dict(one) for one in once.patch]) == canonical(
        [dict(one) for one in twice.patch]
    )
    assert once == twice
    assert once.outcome in {"labelled", "unowned", "ambiguous"}


@generated(reviews())
def test_only_our_own_labels_are_ever_changed(seen: Snapshot) -> None:
    """Never takes over: what it did not come to write stays byte for byte as it was."""
    whole = seen.subject.body
    after = patched(whole, admit(seen).patch)
    mine = {*api.TRIPLE, api.TENANT_RESOURCE, api.MANAGED_BY, api.SCHEDULING}

    for part in ("labels", "annotations"):
        before, now = (one["metadata"].pop(part, None) or {} for one in (dict(whole), after))
        assert {k: v for k, v in before.items() if k not in mine} == {
            k: v for k, v in now.items() if k not in mine
        }
    stated = whole.get("spec")
    if seen.scheduling and isinstance(stated, dict):
        assert {**stated, "schedulerName": api.SCHEDULER} == after["spec"]
    else:
        assert stated == after.get("spec")
    assert (whole.get("data"), whole.get("stringData")) == (
        after.get("data"),
        after.get("stringData"),
    )
    if not seen.applications and not seen.scheduling:
        assert () == admit(seen).patch


@generated(reviews())
def test_what_is_given_is_valid_and_is_given_once(seen: Snapshot) -> None:
    """Valid and idempotent: an object with its labels is asked about again and gets no patch."""
    answer = admit(seen)
    after = Object.of(seen.subject.kind, patched(seen.subject.body, answer.patch))

    assert all(is_label_value(after.labels[key]) for key in api.TRIPLE if seen.applications)
    again = replace(seen, subject=after)
    if admit(again).verdict == answer.verdict:
        assert () == admit(again).patch


@generated(reviews())
def test_nothing_of_a_secret_is_ever_said(seen: Snapshot) -> None:
    """Keeps secrets: neither in a patch nor in a warning, a finding or a repr."""
    answer = admit(seen)
    said = f"{answer} {seen} {seen.subject!r} {seen.belonging}"

    assert CANARY not in said
    assert data(k=CANARY)["k"] not in said


@generated(secrets(), blocks)
def test_a_broken_part_never_shows_more(one: Json, stated: Json) -> None:
    """An unreadable `exclude` hides all that it would have been asked about."""

    def verdict(spec: Json) -> bool:
        known = definition_of(Object.of(api.DEFINITION, definition(**spec)))
        found = judge(Belonging(Object.of(SECRET, one), HARBOR, known))
        return all(finding.verdict == "pass" for finding in found)

    block_of = stated.get("secrets")
    if not isinstance(block_of, dict):
        return
    broken = {"secrets": {**block_of, "exclude": [{"matchLabels": {"a b": "x"}}]}}
    nothing = {"secrets": {**block_of, "exclude": []}}

    assert not verdict(broken)
    assert verdict(nothing) or not verdict(stated)


class Graph:
    """Owners by name, for the walk. asked: how often one was read."""

    def __init__(self, edges: dict[str, list[str]], labelled: set[str]) -> None:
        """Hold them."""
        self.edges, self.labelled, self.asked = edges, labelled, 0

    def at(self, name: str) -> Object:
        """One object."""
        owners = [owner(CONFIG, above, above) for above in self.edges.get(name, [])]
        one = body(CONFIG, name, owners=owners, labels=HELM if name in self.labelled else {})
        one["metadata"]["uid"] = name
        return Object.of(CONFIG, one)

    def release(self, namespace: str, name: str) -> Object | None:
        """The release of the application."""
        return Object.of(HELM_RELEASE, release(name)) if (namespace, name) == RELEASE[::2] else None

    def definition(self, _kind: str) -> Any:
        """Its definition."""
        return definition_of(Object.of(api.DEFINITION, definition()))

    async def owner(self, one: Owner, _namespace: str) -> Object | None:
        """An owner; some are gone, and some may not be read."""
        self.asked += 1
        if one.name == "hidden":
            raise ClusterError("forbidden", status=403)
        return None if one.name == "gone" else self.at(one.name)


NAMES = [f"o{number}" for number in range(8)]


@generated(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.lists(st.sampled_from([*NAMES, "gone", "hidden"]), max_size=4),
    ),
    st.sets(st.sampled_from(NAMES)),
)
def test_every_walk_ends_and_reads_an_edge_once(
    edges: dict[str, list[str]], labelled: set[str]
) -> None:
    """Bounded: whatever loops or dangles, no reference is followed twice."""
    graph = Graph(edges, labelled)

    found = drive(applications_of(graph.at("o0"), graph))

    assert found in {(), (HARBOR,)}
    assert graph.asked <= sum(len(above) for above in edges.values())


@generated(st.binary(max_size=400))
def test_no_body_brings_the_decoder_down(text: bytes) -> None:
    """Total: a refusal in words of our own, and none of the body's."""
    try:
        asked = decode(text)
    except MalformedError as error:
        answer = msgspec.json.decode(encode(error.uid, refused(400, str(error))))
        assert not answer["response"]["allowed"]
    else:
        assert asked.uid is not None


@generated(junk)
def test_no_object_brings_the_decoder_down(one: Any) -> None:
    """Whatever stands under `object`, who asks gets an answer."""
    request = {
        "uid": "u",
        "kind": {"group": "", "version": "v1", "kind": "Secret"},
        "operation": "CREATE",
        "object": one,
    }
    stated = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    uid = "u"
    try:
        decode(json.dumps(stated).encode())
    except MalformedError as error:
        uid = error.uid

    assert "u" == uid


GUARDED = secret(labels={**HELM, TENANT_CA: "true"}, data=data(k="more than a certificate"))


@example([{"services": {}, "secrets": {"include": [{}]}}, {"secrets": {}}], [GUARDED])
@generated(st.lists(blocks, min_size=1, max_size=3), st.lists(secrets(), max_size=3))
def test_the_refresher_settles_and_comes_back(history: list[Json], made: list[Json]) -> None:
    """Settles, is idempotent, and reversible: the last definition decides, not the way to it.

    Law 7 as well: an object of another namespace is what it was.
    """
    world = World(START, Kinds((*LINEAGE.reviewed, *(view.kind for view in LINEAGE.views))))
    world.admission = Reviewing(world, (LINEAGE,), Settings())
    settler = Settler(world, (REFRESHER,), Settings())
    apart = secret("apart", namespace="tenant-other", labels={api.HELM_NAME: "harbor-demo"})
    there = {named(one): one for one in (namespace(), release(), definition(), apart, *made)}
    for one in there.values():
        full = with_uids(one, {})
        kind = world.kinds.of(
            full["apiVersion"], full["kind"], full["metadata"].get("namespace", "")
        )
        world.create(kind, full, By.OTHER)
    before = world.store.get(SECRET.ref("tenant-other", "apart"))
    for spec in history:
        stated = {name: spec.get(name) for name in api.BLOCKS.values()}
        world.merge(api.DEFINITION.ref("", "harbor"), {"spec": stated}, By.OTHER)
        settler.settle()

    def hour() -> list[Ref]:
        mark = len(world.requests)
        settler.engine.resync("refresher")
        settler.settle()
        asked = [one for one in world.requests.since(mark) if one.verb not in {"list", "get"}]
        return [one.kind.ref(one.namespace, one.name) for one in asked]

    # An edit that no verdict rests on is a generation, too: what the guard hides is asked about
    # once more, by the hour that finds it. Source: lineage 9.4.
    guarded = {one.ref for one in world.store.all(SECRET, NS) if one.labels.get(TENANT_CA)}
    late = hour()
    assert len(late) == len(set(late) & guarded)
    assert [] == hour()
    assert before == world.store.get(SECRET.ref("tenant-other", "apart"))
    known = world.store.get(api.DEFINITION.ref("", "harbor"))
    assert known is not None
    for seen in world.store.all(SECRET, NS):
        if seen.labels.get(api.MANAGED_BY) and not seen.labels.get(TENANT_CA):
            verdict = api.VISIBLE if _offered(seen, known) else api.HIDDEN
            assert verdict == seen.labels[api.TENANT_RESOURCE]


def _offered(seen: Object, known: Object) -> bool:
    belonging = Belonging(seen, HARBOR, definition_of(known), whole=False)
    return all(finding.verdict == "pass" for finding in judge(belonging))
