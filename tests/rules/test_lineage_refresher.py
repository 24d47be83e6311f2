"""The refresher: what it asks again about, how often, and what it never touches.

Source: lineage 9. The webhook is in the world here, so that what is asked is also answered.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from certificates import CERT1, KEY
from lineage_objects import (
    CONFIG,
    HELM,
    NS,
    Json,
    body,
    data,
    definition,
    given,
    ingress,
    namespace,
    owner,
    release,
    secret,
    service,
    triple,
    with_uids,
)
from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.controller import REFRESHER, verdict_may_change
from roadstead.capabilities.lineage.render import asked_again
from roadstead.capabilities.lineage.snapshot import (
    DEFINITIONS,
    SWEEP,
    Application,
    Belonging,
    definition_of,
)
from roadstead.capabilities.lineage.webhook import LINEAGE
from roadstead.engine.check import check
from roadstead.engine.memory import REMEMBERED_SPENT, Spent
from roadstead.errors import BugError
from roadstead.explain.world import play
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SECRET, Kind, Ref
from roadstead.settings import Settings
from roadstead.sim.flags import START
from roadstead.sim.kinds import Kinds
from roadstead.sim.requests import By
from roadstead.sim.review import Reviewing
from roadstead.sim.settle import Settler
from roadstead.sim.world import World

ALL: Json = {"include": [{}]}
NONE: Json = {"include": []}
HARBOR = api.DEFINITION.ref("", "harbor")


class Cluster:
    """A world with the webhook and the refresher, and the tenant's release."""

    def __init__(self, *definitions: Json) -> None:
        """Put the definitions there."""
        kinds = (*LINEAGE.reviewed, *(view.kind for view in LINEAGE.views))
        self.world = World(START, Kinds(kinds))
        self.world.admission = Reviewing(self.world, (LINEAGE,), Settings())
        self.settler = Settler(self.world, (REFRESHER,), Settings())
        self.uid: dict[str, str] = {}
        for one in (namespace(), *definitions, release()):
            self.make(one)

    def make(self, one: Json) -> Object:
        """Create an object as another writer does."""
        full = with_uids(one, self.uid)
        where = full["metadata"].get("namespace", "")
        kind = self.world.kinds.of(full["apiVersion"], full["kind"], where)
        made = self.world.create(kind, full, By.OTHER)
        self.uid[f"{one['kind']}/{one['metadata']['name']}"] = made.meta.uid
        return made

    def merge(self, ref: Ref, **spec: Any) -> None:
        """Change a definition."""
        self.world.merge(ref, {"spec": spec}, By.OTHER)

    def settle(self) -> int:
        """Settle; give how many patches it took."""
        mark = len(self.world.requests)
        self.settler.settle()
        return sum(one.verb == "patch" for one in self.world.requests.since(mark))

    def labels(self, name: str = "s") -> Mapping[str, str]:
        """The labels of a Secret."""
        seen = self.world.store.get(SECRET.ref(NS, name))
        assert seen is not None
        return seen.labels

    @property
    def figures(self) -> Mapping[str, int]:
        """Of the last round over all visible Secrets."""
        return dict(self.settler.engine.desks["refresher"].trails[SWEEP].figures)


@pytest.mark.parametrize(("before", "after"), [(ALL, NONE), (NONE, ALL)], ids=["hidden", "shown"])
def test_a_changed_definition_reaches_what_stands(before: Json, after: Json) -> None:
    """In both directions; the webhook stamps the verdict, the refresher only asks."""
    at = Cluster(definition(secrets=before, services=before, ingresses=before))
    made = [at.make(secret()), at.make(service()), at.make(ingress())]
    assert 0 == at.settle()
    at.merge(HARBOR, secrets=after, services=after, ingresses=after)

    assert 3 == at.settle()

    verdict = "true" if after == ALL else "false"
    for one in made:
        seen = at.world.store.get(one.ref)
        assert seen is not None
        assert given(verdict).items() <= seen.labels.items()
    assert 0 == at.settle()


def test_a_guarded_secret_is_asked_about_once_for_each_state_of_a_definition() -> None:
    """Its metadata cannot tell that it is hidden for what it holds. Source: 9, item 4."""
    at = Cluster(definition(secrets=ALL))
    at.make(secret(labels={**HELM, TENANT_CA: "true"}, data=data(ca_crt=CERT1, tls_key=KEY)))

    assert 1 == at.settle()
    at.settler.engine.resync("refresher")
    assert 0 == at.settle()
    at.merge(HARBOR, services=ALL)
    assert 1 == at.settle()
    assert "false" == at.labels()[api.TENANT_RESOURCE]


@pytest.mark.parametrize("made", [secret(), service(), ingress()], ids=lambda one: one["kind"])
def test_a_webhook_that_was_behind_is_asked_again_to_hide(made: Json) -> None:
    """It stamped the old verdict; for the rest of time a tenant would see what is withdrawn."""
    before = definition(secrets=ALL, services=ALL, ingresses=ALL)
    at, behind = Cluster(before), Cluster(before)
    seen = at.make(made)
    at.settle()
    current, at.world.admission = at.world.admission, behind.world.admission
    at.merge(HARBOR, secrets=NONE, services=NONE, ingresses=NONE)
    assert 1 == at.settle()
    at.world.admission = current
    assert 0 == at.settle()

    at.settler.tick(api.AGAIN)

    after = at.world.store.get(seen.ref)
    assert after is not None
    assert "false" == after.labels[api.TENANT_RESOURCE]
    assert 0 == at.settle()


def patch_of(kind: Kind) -> Json:
    """What the refresher writes to an object of a kind."""
    meta = {"name": "s", "namespace": NS, "uid": "u", "resourceVersion": "1"}
    seen = Object.of(kind, {"metadata": {**meta, "labels": {api.MANAGED_BY: "true"}}})
    known = definition_of(Object.of(api.DEFINITION, definition()))
    application = Application(
        api.APPLICATION_GROUP, "Harbor", "demo", HELM_RELEASE.ref(NS, "harbor-demo")
    )
    return dict(asked_again(Belonging(seen, application, known)).body)


@pytest.mark.parametrize("kind", list(api.BLOCKS), ids=lambda one: one.kind)
def test_a_patch_of_the_refresher_is_one_label_and_nothing_else(kind: Kind) -> None:
    """Whatever makes it write more, a schema of its own refuses before anything is sent."""
    wanted = patch_of(kind)
    check(kind, wanted, patch=True)

    further: tuple[Json, ...] = (
        {"labels": {api.TENANT_RESOURCE: None}},
        {"labels": {api.MANAGED_BY: "true"}},
        {"annotations": {"a": None}},
        {"finalizers": []},
    )
    for more in further:
        with pytest.raises(BugError):
            check(kind, {"metadata": {**wanted["metadata"], **more}}, patch=True)
    for key in ("data", "spec", "status"):
        with pytest.raises(BugError):
            check(kind, {**wanted, key: {}}, patch=True)


def test_only_owners_say_whose_an_object_is() -> None:
    """A claim in a label, or an owner of another application, is found out. Source: 9, item 3."""
    at = Cluster(definition(secrets=ALL), definition("Postgres", "postgres-", secrets=NONE))
    at.make(release("postgres-x", triple("Postgres", "x")))
    at.make(body(CONFIG, "plain"))
    stamped = {api.MANAGED_BY: "true", api.TENANT_RESOURCE: "true"}
    at.make(secret("forged", labels={**triple(), **stamped}))
    at.make(
        secret(
            "claims",
            labels={**triple(), **stamped},
            owners=[owner(HELM_RELEASE, "postgres-x")],
        )
    )
    at.make(secret("bare", labels={api.HELM_NAME: "postgres-x", **stamped}))
    at.make(secret("dangling", labels=stamped, owners=[owner(CONFIG, "plain")]))

    assert 2 == at.settle()

    assert given("false", "Postgres", "x").items() <= at.labels("claims").items()
    assert given("false", "Postgres", "x").items() <= at.labels("bare").items()
    assert {**triple(), **stamped} == dict(at.labels("forged"))
    assert stamped == dict(at.labels("dangling"))
    assert {"unowned": 2} == at.figures


def test_what_was_never_stamped_is_left() -> None:
    """Without the managed label the webhook sees the next write of it anyway."""
    at = Cluster(definition(secrets=ALL))
    at.world.admission = None
    at.make(secret(labels={**HELM, **triple(), api.TENANT_RESOURCE: "false"}))

    assert 0 == at.settle()


def test_a_definition_behind_another_of_its_kind_says_nothing() -> None:
    """Until the first one goes; then it is asked. Source: 5, registry."""
    at = Cluster(definition(secrets=ALL), definition(name="zz", secrets=NONE))
    at.make(secret())
    assert 0 == at.settle()

    at.world.delete(HARBOR, By.OTHER)

    assert 1 == at.settle()
    assert "false" == at.labels()[api.TENANT_RESOURCE]


def test_one_pass_writes_so_many_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass has its time; what it could not reach is next."""
    monkeypatch.setattr(api, "BATCH", 2)
    at = Cluster(definition(secrets=ALL))
    for number in range(5):
        at.make(secret(f"s{number}"))
    at.merge(HARBOR, secrets=NONE)

    assert 5 == at.settle()


def test_other_facts_of_a_definition_wake_nobody() -> None:
    """A dashboard's title changes no verdict."""
    spec = definition(secrets=ALL)["spec"]

    def kept(**more: Any) -> Object:
        whole = body(api.DEFINITION, "harbor", spec={**spec, **more})
        found = DEFINITIONS.keep(Object.of(api.DEFINITION, whole))
        assert found is not None
        return found

    assert not verdict_may_change(kept(), kept(dashboard={"title": "x"}))
    assert verdict_may_change(kept(), kept(secrets=NONE))
    assert verdict_may_change(kept(), kept(release={"prefix": "x-"}))


def test_what_was_spent_is_remembered_as_long_as_there_is_room() -> None:
    """Memory is bounded, and nothing is never spent."""
    spent = Spent()
    spent.add("")
    spent.add("first")
    assert ("" in spent, "first" in spent) == (False, True)

    for number in range(REMEMBERED_SPENT):
        spent.add(str(number))
    assert ("first" in spent, "0" in spent) == (False, True)


@pytest.mark.parametrize(
    ("only", "visible"), [((), ""), (("anchors", "lineage"), "true")], ids=["alone", "reviewed"]
)
def test_a_plan_with_lineage_shows_what_the_tenant_will_see(
    only: tuple[str, ...], visible: str
) -> None:
    """Asked for by name, the webhook stamps what a plan would write."""
    folder = Path(__file__).parents[2] / "src/roadstead/examples/anchors"
    played = play([str(folder)], Settings(), START, lambda: b"", only=only)

    anchor = played.world.store.get(SECRET.ref("tenant-blue", "postgres-shop.tenant-ca"))

    assert anchor is not None
    assert visible == anchor.labels.get(api.TENANT_RESOURCE, "")
