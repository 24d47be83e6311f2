"""The contract's cases of lineage in the offline world, and what its rules say.

Source: lineage 14; each case is found by its id.
"""

from dataclasses import replace
from typing import Any

import pytest

from certificates import CERT1, KEY, KEY_DER, armour
from lineage_cases import ALL, ROWS, Row, offering
from lineage_objects import (
    CONFIG,
    HELM,
    NS,
    REPLICA_SET,
    Json,
    body,
    data,
    definition,
    deployment,
    given,
    named,
    namespace,
    owner,
    pod,
    release,
    replica_set,
    secret,
    triple,
    with_uids,
)
from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.decide import admit
from roadstead.capabilities.lineage.render import pointer
from roadstead.capabilities.lineage.snapshot import Application, Snapshot, definition_of
from roadstead.capabilities.lineage.tenantsecrets import (
    Selection,
    got,
    listed,
    shown,
    watched,
    written,
)
from roadstead.capabilities.lineage.webhook import LINEAGE
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, NAMESPACE, SECRET, Kind
from roadstead.settings import Settings
from roadstead.sim.faults import Fault
from roadstead.sim.flags import START
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.review import Reviewing
from roadstead.sim.world import World

KINDS = (*LINEAGE.reviewed, *(view.kind for view in LINEAGE.views), api.SCHEDULING_CLASS)
S = SECRET.ref(NS, "s")


class Place:
    """An offline world with the webhook in it. uid: of what was made, by `Kind/name`."""

    def __init__(self, *there: Json, definitions: tuple[Json, ...] = ()) -> None:
        """Make the objects, the tenant's release and its definition first."""
        self.world = World(START, Kinds(KINDS))
        self.world.admission = Reviewing(self.world, (LINEAGE,), Settings())
        self.uid: dict[str, str] = {}
        spaces = [one for one in there if one["kind"] == "Namespace"] or [namespace()]
        others = [one for one in there if one["kind"] != "Namespace"]
        for one in (*spaces, *definitions, release(), *others):
            self.make(one)

    def make(self, one: Json) -> Object:
        """Create an object as another writer does."""
        full = with_uids(one, self.uid)
        kind = self.world.kinds.of(
            full["apiVersion"], full["kind"], full["metadata"].get("namespace", "")
        )
        made = self.world.create(kind, full, By.OTHER)
        self.uid[named(one)] = made.meta.uid
        return made


def place_of(row: Row) -> Place:
    """The world of a row."""
    return Place(*row.there, definitions=row.definitions)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_case_of_the_contract(row: Row) -> None:
    """What is created gets the labels the contract says, and nothing else of it changes."""
    place = place_of(row)

    made = place.make(row.submit)

    assert dict(row.want) == {key: made.labels.get(key) for key in row.want}
    assert dict(row.annotations) == {key: made.annotations.get(key) for key in row.annotations}
    assert len(row.warnings) == len(place.world.warnings)
    assert all(part in said for part, said in zip(row.warnings, place.world.warnings, strict=True))
    if row.scheduler:
        assert row.scheduler == made.body["spec"].get("schedulerName", "default-scheduler")
    submitted = row.submit["metadata"].get("labels", {})
    assert set(made.labels) <= {*submitted, *row.want}


def chained(length: int) -> tuple[Json, ...]:
    """ConfigMaps that own one another, the first owned by the release through its Helm label."""
    first = body(CONFIG, "c0", labels=HELM)
    return (
        first,
        *(body(CONFIG, f"c{at}", owners=[owner(CONFIG, f"c{at - 1}")]) for at in range(1, length)),
    )


# From the object to the release there is one owner more than there are ConfigMaps.
@pytest.mark.parametrize(("length", "found"), [(1, True), (19, True), (20, False), (1000, False)])
def test_a_chain_of_owners_is_followed_so_far(length: int, found: bool) -> None:
    """Neither a long chain nor a thousand owners keep the webhook busy."""
    place = Place(*chained(length), definitions=offering({}))

    made = place.make(secret(labels={}, owners=[owner(CONFIG, f"c{length - 1}")]))

    assert found is (made.labels.get(api.NAME_LABEL) == "demo")


def test_owners_that_own_each_other_lead_nowhere() -> None:
    """A loop ends, and another branch still counts."""
    place = Place(body(CONFIG, "a"), body(CONFIG, "b", owners=[owner(CONFIG, "a")]))
    place.make(definition(secrets=ALL))
    loop = with_uids({"metadata": {"ownerReferences": [owner(CONFIG, "b")]}}, place.uid)
    place.world.merge(CONFIG.ref(NS, "a"), loop, By.OTHER)

    alone = place.make(secret("alone", labels={}, owners=[owner(CONFIG, "b")]))
    beside = place.make(
        secret("beside", labels={}, owners=[owner(CONFIG, "b"), owner(HELM_RELEASE, "harbor-demo")])
    )

    assert {} == dict(alone.labels)
    assert given("true") == dict(beside.labels)


def test_the_virtual_application_is_never_fetched() -> None:
    """C-05-b: lineage needs nothing of the aggregated API. Source: lineage 5."""
    place = Place(definitions=offering({}))
    virtual = {"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "Harbor", "name": "demo"}
    mark = len(place.world.requests)

    made = place.make(secret(owners=[{**virtual, "uid": "u"}]))

    assert dict(HELM) == dict(made.labels)
    assert [] == list(place.world.requests.since(mark))


OWNED_POD = pod(labels={"app": "web"}, owners=[owner(REPLICA_SET, "web")])


@pytest.mark.parametrize(("times", "refused"), [(1, True), (0, False)], ids=["C-21", "lifted"])
def test_c21_an_owner_that_cannot_be_read_refuses(times: int, refused: bool) -> None:
    """C-21: a Pod admitted without its labels would stand outside of its security group."""
    place = Place(deployment(), replica_set(), definitions=offering({}))
    place.world.faults.set(Fault("get", "ReplicaSet", status=503, times=times))

    if refused:
        with pytest.raises(ClusterError, match="try again") as error:
            place.make(OWNED_POD)
        assert 500 == error.value.status
        assert place.world.store.get(api.POD.ref(NS, "p")) is None
    else:
        assert given("false").items() <= place.make(OWNED_POD).labels.items()


def test_c22_an_owner_that_may_not_be_read_is_skipped() -> None:
    """C-22: a right that is missing keeps nobody from writing."""
    place = Place(deployment(), replica_set(), definitions=offering({}))
    place.world.faults.set(Fault("get", "ReplicaSet", status=403))

    made = place.make(OWNED_POD)

    assert {"app": "web"} == dict(made.labels)


def test_another_error_of_the_scheduling_class_refuses() -> None:
    """C-26-b: only a class that is not there is passed over; Source: lineage 7."""
    place = Place(namespace(scheduling="gpu"), definitions=offering({}))
    place.world.faults.set(Fault("get", "SchedulingClass", status=403))

    with pytest.raises(ClusterError) as error:
        place.make(pod())

    assert 500 == error.value.status


def test_a_pod_keeps_its_scheduler_on_update() -> None:
    """C-25-c: the field is immutable, so an update that would set it could never go through."""
    place = Place(definitions=offering({}))
    place.make(pod(labels={"app": "x"}))
    labels = {"metadata": {"labels": {api.SCHEDULING: "gpu"}}}
    place.world.merge(NAMESPACE.ref("", NS), labels, By.OTHER)
    place.world.create(
        api.SCHEDULING_CLASS,
        {"metadata": {"name": "gpu"}, **_typed(api.SCHEDULING_CLASS)},
        By.OTHER,
    )

    touched = {"metadata": {"labels": {"touched": "yes"}}}
    after = place.world.merge(api.POD.ref(NS, "p"), touched, By.OTHER)

    assert {"app": "x", "touched": "yes"} == dict(after.labels)
    assert "schedulerName" not in after.body["spec"]


def _typed(kind: Kind) -> Json:
    return {"apiVersion": kind.api_version, "kind": kind.kind}


def test_c27_without_its_managed_label_an_object_is_judged_anew() -> None:
    """C-27: once stamped a verdict is frozen; taking the label off is how to ask again."""
    place = Place(definitions=offering({}))
    place.make(secret())
    hidden: Json = {"spec": {"secrets": {"include": []}}}
    place.world.merge(api.DEFINITION.ref("", "harbor"), hidden, By.OTHER)

    frozen = place.world.merge(S, {"metadata": {"labels": {"touched": "yes"}}}, By.OTHER)
    anew = place.world.merge(S, {"metadata": {"labels": {api.MANAGED_BY: None}}}, By.OTHER)

    assert "true" == frozen.labels[api.TENANT_RESOURCE]
    assert given("false").items() <= anew.labels.items()


def test_an_object_made_with_the_managed_label_is_never_seen() -> None:
    """C-27-b: what must be creatable before the webhook runs is created so. Source: lineage 3."""
    place = Place(definitions=offering({}))
    labels = {**HELM, api.MANAGED_BY: "true", api.TENANT_RESOURCE: "true"}

    assert labels == dict(place.make(secret(labels=labels)).labels)


@pytest.mark.parametrize(
    "where", [namespace(system="true"), namespace("kube-system"), namespace("default")], ids=named
)
def test_system_namespaces_are_left_alone(where: Json) -> None:
    """C-01-c: the network must heal while the webhook is away. Source: lineage 3, 13."""
    place = Place(where, definitions=offering({}))
    name = where["metadata"]["name"]
    place.make(release("harbor-demo", namespace=name)) if name != NS else None

    assert (
        HELM[api.HELM_NAME]
        == place.make(secret(labels={api.HELM_NAME: "harbor-demo"}, namespace=name)).labels[
            api.HELM_NAME
        ]
    )
    made = place.world.store.get(SECRET.ref(name, "s"))
    assert made is not None
    assert {api.HELM_NAME: "harbor-demo"} == dict(made.labels)


def reviewed(kind: Kind, one: Json, *, creating: bool = True) -> Snapshot:
    """An object of Harbor/demo under review."""
    of = HELM_RELEASE.ref(NS, "harbor-demo")
    application = Application(api.APPLICATION_GROUP, "Harbor", "demo", of)
    known = definition_of(Object.of(api.DEFINITION, definition(secrets=ALL)))
    return Snapshot(Object.of(kind, one), creating, (application,), known)


def test_c28_only_labels_are_in_a_patch() -> None:
    """C-28: whatever the object holds, no value of it is written out anew."""
    large = pod(spec={"terminationGracePeriodSeconds": 9007199254740993})

    patch = admit(reviewed(api.POD, large)).patch

    assert {"add"} == {one["op"] for one in patch}
    assert all(one["path"].startswith("/metadata/labels/") for one in patch)
    assert 5 == len(patch)


@pytest.mark.parametrize(
    ("seen", "rule", "reason"),
    [
        pytest.param(reviewed(SECRET, secret()), "selected-by-application", "", id="visible"),
        pytest.param(reviewed(api.POD, pod()), "kind-for-tenants", "NoSelectors", id="pod"),
        pytest.param(
            replace(reviewed(SECRET, secret()), applications=(), definition=None),
            "owned-by-application",
            "Unowned",
            id="unowned",
        ),
        pytest.param(
            replace(
                reviewed(SECRET, secret()),
                definition=definition_of(Object.of(api.DEFINITION, offering({}, exclude=[{}])[0])),
            ),
            "not-excluded",
            "Excluded",
            id="excluded",
        ),
        pytest.param(
            replace(
                reviewed(SECRET, secret()),
                definition=definition_of(Object.of(api.DEFINITION, offering()[0])),
            ),
            "selected-by-application",
            "NotSelected",
            id="not-selected",
        ),
        pytest.param(
            reviewed(SECRET, secret(labels={**HELM, TENANT_CA: "true"})),
            "anchor-holds-certificates-alone",
            "AnchorGuarded",
            id="guarded",
        ),
    ],
)
def test_the_last_rule_that_was_asked_names_the_reason(
    seen: Snapshot, rule: str, reason: str
) -> None:
    """`why` prints the trail; each refusal is one step away from an object that is visible."""
    last = admit(seen).findings[-1]

    assert (rule, reason) == (last.rule, last.reason)
    assert bool(reason) is bool(last.message)


@pytest.mark.parametrize("labels", [None, {}], ids=["none", "empty"])
def test_an_object_without_labels_gets_them_as_one_map(labels: Json | None) -> None:
    """A member cannot be added to a map that is not there."""
    one = secret()
    one["metadata"] |= {"labels": labels}

    assert ({"op": "add", "path": "/metadata/labels", "value": given("true")},) == admit(
        reviewed(SECRET, one)
    ).patch


def test_an_object_that_has_it_all_gets_no_patch() -> None:
    """Asked twice, nothing is said twice."""
    assert () == admit(reviewed(SECRET, secret(labels={**HELM, **given("true")}))).patch


def test_a_key_is_escaped_in_a_pointer() -> None:
    """`/` and `~` of a label's key are no steps of a path."""
    assert "a~1b~0c" == pointer("a/b~c")


ANCHOR = {**HELM, TENANT_CA: "true"}


@pytest.mark.parametrize(
    ("one", "fault"),
    [
        pytest.param(secret(labels=ANCHOR, data=data(ca_crt=CERT1)), "", id="anchor"),
        pytest.param(
            secret(labels=ANCHOR, data=data(ca_crt=CERT1), type="kubernetes.io/tls"),
            "type",
            id="type",
        ),
        pytest.param(
            secret(labels=ANCHOR, data=data(ca_crt=CERT1, tls_key=KEY)),
            "only key",
            id="another-key",
        ),
        pytest.param(secret(labels=ANCHOR), "only key", id="empty"),
        pytest.param(secret(labels=ANCHOR, data=data(ca_crt=b"")), "other than", id="blank"),
        pytest.param(secret(labels=ANCHOR, data=data(ca_crt=KEY)), "other than", id="key"),
        pytest.param(secret(labels=ANCHOR, data=data(ca_crt=KEY_DER)), "other than", id="der-key"),
        pytest.param(
            secret(labels=ANCHOR, data=data(ca_crt=CERT1 + armour(KEY_DER, "X"))),
            "other than",
            id="hidden-key",
        ),
        pytest.param(
            secret(labels=ANCHOR, data=data(ca_crt=b"# a text\n" + CERT1)), "other than", id="text"
        ),
        pytest.param(
            secret(labels=ANCHOR, data={"ca.crt": "no base64"}), "other than", id="no-base64"
        ),
        pytest.param(
            secret(labels=ANCHOR, data=data(ca_crt=CERT1), stringData={"tls.key": "x"}),
            "only key",
            id="string-data",
        ),
        pytest.param(
            secret(labels=ANCHOR, data=data(ca_crt=CERT1), stringData={"ca.crt": "x"}),
            "other than",
            id="string-data-ca",
        ),
        pytest.param(
            secret(labels=ANCHOR, data=data(ca_crt=CERT1), annotations={api.LAST_APPLIED: "{}"}),
            "last-applied",
            id="last-applied",
        ),
        pytest.param(
            secret(labels={**HELM, TENANT_CA: "false"}, data=data(tls_key=KEY)), "", id="no-anchor"
        ),
    ],
)
def test_what_is_no_anchor_is_hidden_though_it_is_labelled_so(one: Json, fault: str) -> None:
    """One label set by mistake must not hand a private key to a tenant. Source: lineage 6.4."""
    admitted = admit(reviewed(SECRET, one))

    assert (api.HIDDEN if fault else api.VISIBLE) == admitted.verdict
    assert bool(fault) is bool(admitted.warnings)
    for warning in admitted.warnings:
        assert "tenant-demo/s" in warning
        assert "tenant-ca" in warning
        assert fault in warning
        assert "BEGIN" not in warning


def test_a_name_that_is_still_to_be_given_matches_no_entry() -> None:
    """An empty template is no way to select what has no name yet. Source: lineage 6.2."""
    one = secret()
    del one["metadata"]["name"]
    one["metadata"]["generateName"] = "s-"
    known = definition_of(
        Object.of(api.DEFINITION, offering({"resourceNames": ["", "{{ .name }}"]})[0])
    )

    assert api.HIDDEN == admit(replace(reviewed(SECRET, one), definition=known)).verdict
    assert api.VISIBLE == admit(reviewed(SECRET, one)).verdict


def test_of_two_definitions_of_a_kind_the_first_by_name_counts() -> None:
    """Whatever the order in which they came. Source: lineage 5."""
    place = Place(definitions=(definition(name="b", secrets=ALL), definition(name="a", secrets={})))

    assert given("false").items() <= place.make(secret()).labels.items()


def test_a_second_definition_of_a_kind_is_told() -> None:
    """A log line, under the state of the one that counts. Source: lineage 5, registry."""
    other = api.DEFINITION.ref("", "zz")

    remarks = admit(replace(reviewed(SECRET, secret()), passed_over=(other,))).remarks

    assert [f"{other} has the kind Harbor as well"] == [
        said.partition(";")[0] for _, said in remarks
    ]


@pytest.mark.parametrize(
    "block",
    [
        "text", [], {"include": "text"}, {"include": ["text"]}, {"include": [{"matchLabels": 3}]},
        {"include": [{"resourceNames": "x"}]}, {"include": [{"resourceNames": [3]}]},
    ],
    ids=str,
)  # fmt: skip
def test_a_malformed_definition_offers_nothing(block: Any) -> None:
    """What cannot be read never widens what a tenant sees, and stops nobody from writing."""
    place = Place(definitions=(definition(secrets=block),))

    assert given("false").items() <= place.make(secret()).labels.items()


# C-29 and C-30: the tenants' view


def stored(name: str, version: int = 1, **labels: str) -> Object:
    """A Secret at a version; `tenant` as a label is the verdict."""
    one = secret(name, labels={api.TENANT_RESOURCE: labels.pop("tenant", "true"), **labels})
    one["metadata"] |= {"resourceVersion": str(version), "uid": name}
    return Object.of(SECRET, {**one, "data": data(password="hunter2")})


def test_c29_only_labelled_secrets_are_listed() -> None:
    """C-29: what the platform has not offered does not exist for a tenant."""
    secrets = (stored("b", app="x"), stored("a", app="x"), stored("c", tenant="false", app="x"),
               stored("d", app="y"))  # fmt: skip

    names = [one["metadata"]["name"] for one in listed(secrets, Selection(NS, "app=x"))]

    assert ["a", "b"] == names
    assert () == listed(secrets, Selection(NS, "app=x", "metadata.namespace=other"))
    assert ["a"] == [
        one["metadata"]["name"] for one in listed(secrets, Selection(NS, "", "metadata.name=a"))
    ]
    assert () == listed(secrets, Selection(NS, f"{api.TENANT_RESOURCE}=false"))
    assert "b" == got(secrets, NS, "b")["metadata"]["name"]
    for hidden in ("c", "nobody"):
        with pytest.raises(ClusterError) as error:
            got(secrets, NS, hidden)
        assert (404, "NotFound") == (error.value.status, error.value.reason)


def test_c30_a_secret_that_is_hidden_is_deleted_for_the_tenant() -> None:
    """C-30: revocation reaches whoever watches, and shows nothing of what came after."""
    before = (stored("a"), stored("old", app="y"))
    hidden = stored("a", 7, tenant="false")
    hidden.body["data"] = data(password="rotated")
    changes = [
        ("ADDED", stored("old", 1)),
        ("MODIFIED", stored("a", 6, more="x")),
        ("MODIFIED", hidden),
        ("MODIFIED", stored("a", 8, tenant="false")),
        ("MODIFIED", stored("a", 9)),
        ("DELETED", stored("a", 10)),
        ("ADDED", stored("late", 3)),
        ("ADDED", stored("new", 11)),
    ]

    events = list(watched(before[:1], changes, Selection(NS), version=5))

    assert [
        ("MODIFIED", "a", "6"), ("DELETED", "a", "7"), ("ADDED", "a", "9"), ("DELETED", "a", "10"),
        ("ADDED", "new", "11"),
    ] == [
        (one.type, one.object["metadata"]["name"], one.object["metadata"]["resourceVersion"])
        for one in events
    ]  # fmt: skip
    assert data(password="hunter2") == events[1].object["data"]


def test_a_watch_with_initial_events_says_where_they_end() -> None:
    """One bookmark follows what was there, as a reflector awaits it."""
    events = list(watched((stored("b"), stored("a")), (), Selection(NS), version=5, initial=True))

    assert ["ADDED", "ADDED", "BOOKMARK"] == [one.type for one in events]
    assert {"k8s.io/initial-events-end": "true"} == events[-1].object["metadata"]["annotations"]


def test_what_a_tenant_reads_of_a_secret() -> None:
    """Neither who owns it nor what `kubectl apply` wrote beside it. Source: lineage 8."""
    one = secret(
        labels={**given("true"), "app": "x"},
        annotations={api.LAST_APPLIED: "{}", "note": "y"},
        owners=[owner(HELM_RELEASE, "harbor-demo", "u")],
        data=data(password="hunter2"),
    )
    one["metadata"] |= {"uid": "u", "resourceVersion": "4", "finalizers": ["x/y"]}

    assert {
        "apiVersion": "core.cozystack.io/v1alpha1",
        "kind": "TenantSecret",
        "metadata": {
            "name": "s",
            "namespace": NS,
            "uid": "u",
            "resourceVersion": "4",
            "labels": {**triple(), api.MANAGED_BY: "true", "app": "x"},
            "annotations": {"note": "y"},
        },
        "type": "Opaque",
        "data": data(password="hunter2"),
        "stringData": data(password="hunter2"),
    } == shown(Object.of(SECRET, one))


def test_what_a_tenant_writes_becomes_a_labelled_secret() -> None:
    """Keys of the platform in it are ignored; the data is the whole map. Source: lineage 8."""
    theirs: Json = {
        "metadata": {
            "name": "mine",
            "labels": {"a": "b", f"{api.INTERNAL}tenant-ca": "true"},
            "annotations": {"n": "y", f"{api.INTERNAL}x": "z", api.LAST_APPLIED: "{}"},
        },
        "stringData": {"k": "v"},
    }

    made = written(theirs, None, NS)

    assert {"a": "b", api.TENANT_RESOURCE: "true"} == made["metadata"]["labels"]
    assert {"n": "y"} == made["metadata"]["annotations"]
    assert (data(k="v"), "Opaque", NS) == (
        made["data"],
        made["type"],
        made["metadata"]["namespace"],
    )

    live = Object.of(SECRET, secret(labels={**given("true"), "old": "x"}, data=data(a="1", b="2")))
    stated = {"metadata": {"labels": {"new": "x", api.NAME_LABEL: "other"}}, "data": data(a="3")}
    changed = written(stated, live, NS)

    assert {**given("true"), "new": "x"} == changed["metadata"]["labels"]
    assert data(a="3") == changed["data"]
    assert data(a="1", b="2") == written({"metadata": {}}, live, NS)["data"]
    with pytest.raises(ClusterError, match="not found"):
        written(stated, Object.of(SECRET, secret(labels=HELM)), NS)
