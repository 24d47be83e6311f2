"""The rules of trust anchors: each row is the smallest change to a world that publishes."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from certificates import CERT1, CERT2, EXPIRED, KEY
from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.controller import (
    definition_changed,
    release_itself,
    releases_of_definition,
    releases_of_secret,
)
from roadstead.capabilities.anchors.decide import RULES, WITHDRAWAL, decide, is_ours, report
from roadstead.capabilities.anchors.render import fresh_anchor, mended_anchor, needs_readmission
from roadstead.capabilities.anchors.snapshot import (
    DEFINITIONS,
    RELEASES,
    SECRETS,
    Declaration,
    Recorded,
    Snapshot,
    Source,
    StraySource,
    declare,
    recorded_source,
    release_opted_into,
    selectors_digest,
)
from roadstead.decision import Bound, Did, How, Outcome, Verdict
from roadstead.kube.objects import Meta, Object
from roadstead.kube.pem import lift
from roadstead.kube.refs import HELM_RELEASE, SECRET, Ref
from roadstead.kube.views import View
from roadstead.settings import CaSource
from roadstead.wiring import identity_changed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE = "tenant-foo"
LABELS = {
    api.GROUP_LABEL: "apps.cozystack.io",
    api.KIND_LABEL: "Postgres",
    api.NAME_LABEL: "mydb",
}
RELEASE = Object(
    HELM_RELEASE,
    Meta(
        name="postgres-mydb",
        namespace=NAMESPACE,
        uid="release-uid",
        creation_timestamp="2025-12-31T23:00:00Z",
        labels=LABELS,
    ),
)
ANCHOR = SECRET.ref(NAMESPACE, "postgres-mydb.tenant-ca")
DECLARED_SOURCE = SECRET.ref(NAMESPACE, "postgres-mydb-ca")
LABELLED_SOURCE = SECRET.ref(NAMESPACE, "ca-src")
DEFINITION = api.DEFINITION.ref("", "postgres")
SOURCE = Source(
    ref=DECLARED_SOURCE,
    uid="source-uid",
    key="ca.crt",
    age=timedelta(hours=1),
    copy=False,
    has_key=True,
    others=True,
    lifted=lift(CERT1),
)
SEEN = Snapshot(
    release=RELEASE,
    now=NOW,
    definition=DEFINITION,
    definition_uid="definition-uid",
    digest="d" * 64,
    declaration=Declaration("postgres-mydb-ca", "ca.crt", "ApplicationDefinition postgres"),
    source=SOURCE,
)


def release(**changes: Any) -> Object:
    """The release with other metadata."""
    return Object(HELM_RELEASE, msgspec.structs.replace(RELEASE.meta, **changes))


def labelled(**changes: str | None) -> Object:
    """The release with other labels; None takes one off. `kind` stands for the kind's label."""
    short = {"group": api.GROUP_LABEL, "kind": api.KIND_LABEL, "name": api.NAME_LABEL}
    labels = {**LABELS, **{short[key]: value for key, value in changes.items()}}
    return release(labels={key: value for key, value in labels.items() if value is not None})


def source(value: bytes | None = CERT1, **changes: Any) -> Source:
    """The source with another value under the selected key."""
    lifted = lift(value) if value is not None and value.strip() else None
    return replace(SOURCE, lifted=lifted, has_key=value is not None, **changes)


def secret(name: str = ANCHOR.name, data: Mapping[str, bytes] | None = None, **meta: Any) -> Object:
    """A Secret as it is read live; `type` and `immutable` are its own, the rest is metadata."""
    top = {key: meta.pop(key) for key in ("type", "immutable") if key in meta}
    encoded = {key: b64encode(value).decode() for key, value in (data or {}).items()}
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": "secret-uid"} | meta,
        "type": "Opaque",
        "data": encoded,
    }
    return Object.of(SECRET, body | top)


def published(seen: Snapshot = SEEN, value: bytes = CERT1, **changes: Any) -> Object:
    """The anchor as it stands after a pass; a change replaces a field of its metadata or body."""
    body = fresh_anchor(seen, seen.source or SOURCE, value)
    body["metadata"] |= {"uid": "anchor-uid", "resourceVersion": "7"}
    for key, part in changes.items():
        place = body if key in {"type", "immutable", "data"} else body["metadata"]
        if isinstance(part, Mapping) and isinstance(place.get(key), Mapping):
            part = {k: v for k, v in {**place[key], **part}.items() if v is not None}  # noqa: PLW2901 - the merged part takes its place
        place[key] = part
    return Object.of(SECRET, body)


def owner(**changes: Any) -> dict[str, Any]:
    """The owner reference of an anchor, with other fields."""
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "name": "postgres-mydb",
        "uid": "release-uid",
        "controller": True,
        "blockOwnerDeletion": False,
    } | changes


PROJECTION = owner(
    apiVersion="internal.cozystack.io/v1alpha1", kind="TenantProjection", uid="old-uid"
)
MARKED = {api.COPY: "true", api.TENANT_CA: "true"}
FOREIGN = secret(data={"ca.crt": CERT2, "ca.key": KEY})
OURS = published()
LABELLED = replace(
    SEEN,
    declaration=None,
    candidates=(LABELLED_SOURCE,),
    source=replace(SOURCE, ref=LABELLED_SOURCE),
)
SOURCELESS = replace(
    SEEN,
    declaration=None,
    source=None,
    target=published(LABELLED),
    recorded=Recorded(LABELLED_SOURCE, exists=True),
    published=3,
)
GONE = replace(SOURCELESS, recorded=Recorded(LABELLED_SOURCE, exists=False))
DYING: dict[str, Any] = {
    "deletionTimestamp": "2026-01-01T00:00:00Z",
    "finalizers": ["example.org/hold"],
}


def itself(target: Object, *, occupied: bool = False) -> Snapshot:
    """The source stands at the anchor's own name."""
    value = target.decoded("ca.crt")
    canonical = lift(value) if value else None
    at_anchor = replace(SOURCE, ref=ANCHOR, lifted=canonical, copy=False)
    return replace(SEEN, source=at_anchor, target=target, occupied=occupied, canonical=canonical)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        pytest.param(SEEN, "", id="published"),
        pytest.param(LABELLED, "", id="published-by-label"),
        pytest.param(replace(SEEN, target=OURS), "", id="published-before"),
        pytest.param(replace(SEEN, release=labelled(kind=None)), "Ignored", id="no-kind-label"),
        pytest.param(replace(SEEN, release=labelled(name="")), "Ignored", id="empty-name-label"),
        pytest.param(replace(SEEN, release=labelled(group=None)), "Ignored", id="no-group"),
        pytest.param(replace(SEEN, release=labelled(group="x.io")), "Ignored", id="other-group"),
        pytest.param(
            replace(SEEN, release=release(name="foo.tenant")),
            "CACertReleaseNameUnsupported",
            id="dot-in-the-name",
        ),
        pytest.param(
            replace(SEEN, release=release(name="x" * 244)),
            "CACertReleaseNameUnsupported",
            id="name-too-long",
        ),
        pytest.param(replace(SEEN, release=release(name="x" * 243)), "", id="longest-name"),
        pytest.param(replace(SEEN, definition=None), "DefinitionUnknown", id="kind-not-registered"),
        pytest.param(
            replace(SEEN, declaration=Declaration("", "", "x", "broken"), source=None),
            "CACertDeclarationInvalid",
            id="unusable-declaration",
        ),
        pytest.param(
            replace(SEEN, source=source(copy=True)), "CACertSecretCollision", id="anothers-anchor"
        ),
        pytest.param(replace(SEEN, source=None), "SourceAbsent", id="operator-late"),
        pytest.param(
            replace(SEEN, source=None, target=OURS), "SourceAbsent", id="operator-late-anchor-held"
        ),
        pytest.param(
            replace(
                LABELLED, candidates=(LABELLED_SOURCE, SECRET.ref(NAMESPACE, "b")), source=None
            ),
            "CACertSourceAmbiguous",
            id="two-labelled",
        ),
        pytest.param(
            itself(secret(data={"ca.crt": CERT1}, labels={api.TENANT_CA: "true"})),
            "CanonicalSelf",
            id="engines-own-anchor",
        ),
        pytest.param(
            itself(FOREIGN, occupied=True), "CACertCanonicalNameOccupied", id="key-at-the-name"
        ),
        pytest.param(
            itself(secret(data={"ca.crt": CERT1})),
            "CACertCanonicalNameContract",
            id="own-anchor-without-label",
        ),
        pytest.param(
            itself(secret(data={"ca.crt": b"x"}, labels={api.TENANT_CA: "true"})),
            "CACertCanonicalNameContract",
            id="own-anchor-of-junk",
        ),
        pytest.param(replace(SEEN, source=source(b"")), "SourceEmpty", id="empty-value"),
        pytest.param(replace(SEEN, source=source(b" \n")), "SourceEmpty", id="blank-value"),
        pytest.param(
            replace(SEEN, source=source(None, others=False)), "SourceEmpty", id="no-keys-at-all"
        ),
        pytest.param(
            replace(SEEN, source=source(None, age=timedelta(minutes=15))),
            "SourceEmpty",
            id="key-missing-not-long",
        ),
        pytest.param(
            replace(SEEN, source=source(None, age=timedelta(minutes=20))),
            "CACertSourceKeyMissing",
            id="key-missing-for-long",
        ),
        pytest.param(
            replace(SEEN, source=source(CERT1 + KEY)), "CACertPrivateKeyRefused", id="key-beside"
        ),
        pytest.param(replace(SEEN, source=source(b"junk")), "CACertInvalid", id="junk"),
        pytest.param(replace(SEEN, target=FOREIGN), "CACertSecretCollision", id="name-taken"),
        pytest.param(
            replace(SEEN, target=secret(data={"ca.crt": CERT2}, **DYING)),
            "CACertSecretCollision",
            id="name-taken-by-one-that-goes",
        ),
        pytest.param(replace(SEEN, target=published(**DYING)), "Terminating", id="anchor-goes"),
        pytest.param(replace(SEEN, source=source(EXPIRED)), "", id="expired-is-published"),
    ],
)
def test_the_first_rule_that_stops_names_the_reason(seen: Snapshot, reason: str) -> None:
    """Each refusal is one step away from a world that publishes."""
    decision = decide(seen)
    assert reason == decision.findings[-1].reason
    assert bool(decision.want) is (reason == "")
    assert () == decision.drop


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        pytest.param(SOURCELESS, "", id="W5-source-opted-out"),
        pytest.param(replace(SOURCELESS, target=None), "NothingToDo", id="W1-no-anchor"),
        pytest.param(replace(SOURCELESS, target=FOREIGN), "NothingToDo", id="W2-not-ours"),
        pytest.param(
            replace(SOURCELESS, target=published(LABELLED, **DYING)),
            "NothingToDo",
            id="W2-goes-already",
        ),
        pytest.param(
            replace(SOURCELESS, target=published(LABELLED, ownerReferences=[PROJECTION])),
            "NothingToDo",
            id="W3-legacy",
        ),
        pytest.param(
            replace(
                SOURCELESS,
                target=published(
                    LABELLED, ownerReferences=[{**PROJECTION, "controller": False}, owner()]
                ),
            ),
            "",
            id="W3-legacy-owner-that-does-not-control",
        ),
        pytest.param(replace(SOURCELESS, target=OURS, recorded=None), "", id="W4-declared-mode"),
        pytest.param(GONE, "HeldAfterSourceLoss", id="W5-source-gone"),
        pytest.param(
            replace(GONE, lost_for=timedelta(minutes=59)), "HeldAfterSourceLoss", id="W5-not-long"
        ),
        pytest.param(
            replace(GONE, lost_for=timedelta(hours=2)), "CACertSourceGone", id="W5-gone-for-long"
        ),
        pytest.param(replace(SOURCELESS, recorded=None), "", id="W6-no-usable-note"),
        pytest.param(replace(SOURCELESS, definition=None), "DefinitionUnknown", id="no-definition"),
    ],
)
def test_an_anchor_goes_only_when_its_source_opted_out(seen: Snapshot, reason: str) -> None:
    """Absence and error are no opting out; a wrong withdrawal breaks every client of a tenant."""
    decision = decide(seen)
    assert reason == decision.findings[-1].reason
    assert bool(decision.drop) is (reason == "")
    assert () == decision.want


def test_a_withdrawal_is_bounded_and_carries_what_was_seen() -> None:
    """The DELETE must hit the very object that was judged, and count towards the guard."""
    (drop,) = decide(SOURCELESS).drop
    assert (ANCHOR, "anchor-uid", "7") == (drop.ref, drop.uid, drop.resource_version)
    assert Bound("Postgres", 3) == drop.bound


def test_an_allowed_withdrawal_is_not_counted() -> None:
    """`--allow-withdrawals` and an empty engine table are decisions of a person."""
    assert [None] == [drop.bound for drop in decide(replace(SOURCELESS, allowed=True)).drop]


@pytest.mark.parametrize(
    ("seen", "about", "uid"),
    [
        (replace(SEEN, source=source(KEY)), DECLARED_SOURCE, "source-uid"),
        (replace(SEEN, source=source(b"x")), DECLARED_SOURCE, "source-uid"),
        (replace(SEEN, source=source(None)), DECLARED_SOURCE, "source-uid"),
        (replace(SEEN, source=source(EXPIRED)), DECLARED_SOURCE, "source-uid"),
        (replace(SEEN, target=FOREIGN), ANCHOR, "secret-uid"),
        (itself(FOREIGN, occupied=True), ANCHOR, "secret-uid"),
        (itself(secret(data={"ca.crt": CERT1})), ANCHOR, "secret-uid"),
        (replace(SEEN, source=source(copy=True)), RELEASE.ref, "release-uid"),
        (replace(LABELLED, candidates=(LABELLED_SOURCE, ANCHOR)), RELEASE.ref, "release-uid"),
        (replace(SEEN, declaration=Declaration("", "", "x", "no")), RELEASE.ref, "release-uid"),
        (replace(GONE, lost_for=timedelta(hours=2)), RELEASE.ref, "release-uid"),
    ],
)
def test_a_refusal_is_told_on_the_object_a_person_must_mend(
    seen: Snapshot, about: Ref, uid: str
) -> None:
    """An event on the wrong object is read by nobody; one with no uid is found by nobody."""
    assert [(about, uid)] == [(event.about, event.uid) for event in decide(seen).events]


def test_an_anchor_expires_with_its_last_certificate() -> None:
    """During a rotation the old CA may run out beside the new one; that is no alarm."""
    (last,) = lift(CERT1).certificates

    figures = decide(replace(SEEN, source=source(EXPIRED + CERT1))).figures

    assert ((api.EXPIRY, int(last.not_after.timestamp())),) == figures
    assert () == decide(replace(SEEN, source=None)).figures


@pytest.mark.parametrize(
    "seen",
    [
        SEEN,
        replace(SEEN, source=None),
        replace(SEEN, source=source(b"")),
        replace(SEEN, definition=None),
        replace(SEEN, release=labelled(kind=None)),
        replace(SEEN, target=published(**DYING)),
        replace(SEEN, source=source(EXPIRED + CERT1)),
        SOURCELESS,
        GONE,
        replace(SOURCELESS, target=None),
    ],
)
def test_waiting_is_silent(seen: Snapshot) -> None:
    """Operators make their CA late; an event each time would teach people to look away."""
    assert () == decide(seen).events


def test_every_deviation_of_an_engines_own_anchor_is_named_at_once() -> None:
    """Mending them one by one would take a rollout each."""
    deviating = itself(secret(data={"chain.pem": CERT1}, type="example.org/ca"))
    (event,) = decide(deviating).events
    assert all(word in event.message for word in ("type", "ca.crt", "other keys", "label"))


def test_a_source_that_names_no_release_is_told_and_nothing_else() -> None:
    """It may be anybody's; guessing would publish it for the wrong one."""
    stray = StraySource(secret("ca-src", labels={api.PUBLISH: "true"}))
    decision = decide(stray)
    assert ["CACertSourceUnattributable"] == [event.reason for event in decision.events]
    assert ((), (), None) == (decision.want, decision.drop, decision.recheck)
    assert decision == report(stray, decision, ())


@pytest.mark.parametrize(
    ("target", "ours"),
    [
        pytest.param(OURS, True, id="as-written"),
        pytest.param(published(ownerReferences=[]), True, id="b-owner-lost-in-a-restore"),
        pytest.param(published(ownerReferences=[], data={"ca.crt": None}), True, id="b-no-data"),
        pytest.param(published(labels={api.COPY: None}), True, id="a-mark-stripped"),
        pytest.param(published(data={"tls.key": "QQ=="}), True, id="a-other-keys"),
        pytest.param(
            published(ownerReferences=[owner(uid="old", controller=False)]), True, id="a-old-uid"
        ),
        pytest.param(
            secret(ownerReferences=[owner(apiVersion="helm.toolkit.fluxcd.io/v2beta1")]),
            True,
            id="a-any-version",
        ),
        pytest.param(secret(ownerReferences=[owner(name="other")]), False, id="anothers-owner"),
        pytest.param(secret(ownerReferences=[owner(kind="Kustomization")]), False, id="other-kind"),
        pytest.param(
            secret(ownerReferences=[owner(apiVersion="example.org/v2")]), False, id="other-group"
        ),
        pytest.param(secret(data={"ca.crt": CERT1}), False, id="neither"),
        pytest.param(secret(data={"ca.crt": CERT1}, labels={api.COPY: "yes"}), False, id="no-mark"),
        pytest.param(
            secret(data={"ca.crt": CERT1, "x": b""}, labels=MARKED), False, id="marked-other-keys"
        ),
        pytest.param(published(type="kubernetes.io/tls"), False, id="other-type"),
    ],
)
def test_only_what_is_ours_may_be_overwritten(target: Object, ours: bool) -> None:
    """The same predicate answers for writing and for withdrawing (8.1)."""
    assert ours is is_ours(target, RELEASE)


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(published(data={"tls.key": "QQ=="}), id="stray-key"),
        pytest.param(published(value=CERT2), id="other-certificate"),
        pytest.param(published(labels={api.TENANT_CA: None}), id="no-tenant-label"),
        pytest.param(published(labels={api.COPY: "no"}), id="other-mark"),
        pytest.param(published(annotations={api.SOURCE: "tenant-foo/x"}), id="other-source"),
        pytest.param(published(annotations={api.MODE: "labelled"}), id="other-mode"),
        pytest.param(published(annotations={api.SELECTORS: None}), id="no-digest"),
        pytest.param(published(annotations={api.LAST_APPLIED: "{}"}), id="last-applied"),
        pytest.param(published(ownerReferences=[]), id="no-owner"),
        pytest.param(published(ownerReferences=[owner(), owner(uid="2")]), id="second-owner"),
        pytest.param(published(ownerReferences=[owner(uid="2")]), id="old-uid"),
        pytest.param(published(ownerReferences=[owner(name="x")]), id="other-owner"),
        pytest.param(published(ownerReferences=[owner(kind="X")]), id="other-owner-kind"),
        pytest.param(published(ownerReferences=[owner(apiVersion="x/v1")]), id="other-owner-group"),
        pytest.param(published(ownerReferences=[owner(controller=False)]), id="no-controller"),
        pytest.param(published(ownerReferences=[owner(controller=None)]), id="unset-controller"),
        pytest.param(published(ownerReferences=[owner(blockOwnerDeletion=True)]), id="blocking"),
    ],
)
def test_drift_is_mended_to_the_contract(live: Object) -> None:
    """Whatever one field drifted to, one PUT brings back exactly what a first write makes."""
    mended = mended_anchor(SEEN, SOURCE, CERT1, live)
    assert OURS.body == mended
    assert live.body != mended
    assert mended == mended_anchor(SEEN, SOURCE, CERT1, Object.of(SECRET, mended))


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(OURS, id="as-written"),
        pytest.param(published(labels={api.MANAGED_BY: "true"}), id="webhooks-label"),
        pytest.param(published(labels={"example.org/team": "blue"}), id="anothers-label"),
        pytest.param(published(annotations={"example.org/x": "y"}), id="anothers-annotation"),
        pytest.param(
            published(ownerReferences=[owner(blockOwnerDeletion=None)]), id="missing-is-false"
        ),
        pytest.param(published(immutable=True), id="immutable"),
    ],
)
def test_what_is_no_drift_costs_no_write(live: Object) -> None:
    """An unchanged reconcile performs zero writes."""
    assert live.body == mended_anchor(SEEN, SOURCE, CERT1, live)


def test_only_a_changed_verdict_hands_the_anchor_back_to_the_webhook() -> None:
    """A rotation that took the label off would cost the tenant its view for a moment."""
    stamped = {api.MANAGED_BY: "true", "internal.cozystack.io/tenantresource": "true"}
    current = published(value=CERT2, labels=stamped)
    stale = published(labels=stamped, annotations={api.SELECTORS: "0" * 64})
    kept = mended_anchor(SEEN, SOURCE, CERT1, current)["metadata"]["labels"]
    handed_back = mended_anchor(SEEN, SOURCE, CERT1, stale)["metadata"]["labels"]
    assert {**MARKED, **stamped} == kept
    assert {**MARKED, "internal.cozystack.io/tenantresource": "true"} == handed_back
    assert (False, True) == (needs_readmission(SEEN, current), needs_readmission(SEEN, stale))


@pytest.mark.parametrize(
    ("target", "how", "note"),
    [
        (None, How.REPLACE, ""),
        (OURS, How.REPLACE, ""),
        (published(annotations={api.SELECTORS: "0"}), How.REPLACE, "readmit"),
        (published(immutable=True), How.REPLACE, ""),
        (published(immutable=True, labels={api.COPY: None}), How.REPLACE, ""),
        (published(immutable=True, value=CERT2), How.RENEW, ""),
    ],
)
def test_an_anchor_is_made_anew_only_where_it_cannot_be_changed(
    target: Object | None, how: How, note: str
) -> None:
    """Deleting and creating leaves a gap; a PUT on immutable data is refused for ever."""
    assert [(how, note)] == [
        (want.how, want.note) for want in decide(replace(SEEN, target=target)).want
    ]


def test_nothing_but_the_certificate_comes_from_the_source() -> None:
    """A fresh anchor has our metadata alone: no stringData, no immutable, no finalizer."""
    body = fresh_anchor(SEEN, SOURCE, CERT1)
    assert {"apiVersion", "kind", "metadata", "type", "data"} == set(body)
    assert {"name", "namespace", "labels", "annotations", "ownerReferences"} == set(
        body["metadata"]
    )
    assert {"ca.crt"} == set(body["data"])
    assert [owner()] == body["metadata"]["ownerReferences"]


YOUNG = release(creation_timestamp="2025-12-31T23:59:00Z")
RESYNC, SOON = timedelta(minutes=5), timedelta(seconds=30)


@pytest.mark.parametrize(
    ("seen", "state", "old", "young"),
    [
        (SEEN, "Published", RESYNC, RESYNC),
        (replace(SEEN, source=source(KEY)), "Refused", RESYNC, RESYNC),
        (replace(SEEN, target=FOREIGN), "Collision", RESYNC, RESYNC),
        (itself(OURS), "CanonicalSelf", RESYNC, RESYNC),
        (replace(LABELLED, candidates=(ANCHOR, LABELLED_SOURCE)), "Ambiguous", RESYNC, RESYNC),
        (replace(SEEN, source=None), "SourceAbsent", RESYNC, SOON),
        (replace(SEEN, source=source(b"")), "SourceEmpty", RESYNC, SOON),
        (replace(SEEN, source=source(None)), "SourceEmpty", RESYNC, SOON),
        (replace(SEEN, target=published(**DYING)), "Terminating", RESYNC, SOON),
        (GONE, "HeldAfterSourceLoss", RESYNC, SOON),
        (replace(GONE, lost_for=timedelta(hours=2)), "HeldAfterSourceLoss", RESYNC, SOON),
        (replace(SEEN, definition=None), "DefinitionUnknown", None, None),
        (replace(SEEN, source=source(copy=True)), "DeclarationInvalid", None, None),
        (replace(SEEN, declaration=Declaration("", "", "", "x")), "DeclarationInvalid", None, None),
        (SOURCELESS, "Withdrawn", None, None),
        (replace(SOURCELESS, target=None), "NothingToDo", None, None),
    ],
)
def test_timers_are_those_of_the_contract(
    seen: Snapshot, state: str, old: timedelta | None, young: timedelta | None
) -> None:
    """Too long and an operator's CA waits; too short and the cluster is polled (6.1)."""
    assert (state, old) == (decide(seen).state, decide(seen).recheck)
    younger = replace(seen, release=YOUNG)
    assert (state, young) == (decide(younger).state, decide(younger).recheck)


@pytest.mark.parametrize("name", ["foo.tenant", "x" * 244])
def test_an_ineligible_release_sets_no_timer(name: str) -> None:
    """Its name never changes."""
    decision = decide(replace(SEEN, release=release(name=name)))
    assert ("ReleaseNameUnsupported", None) == (decision.state, decision.recheck)


@pytest.mark.parametrize(
    ("seen", "wakes"),
    [
        (SEEN, (DECLARED_SOURCE,)),
        (replace(SEEN, source=None), (DECLARED_SOURCE,)),
        (replace(SEEN, target=published(LABELLED)), (LABELLED_SOURCE, DECLARED_SOURCE)),
        (LABELLED, (LABELLED_SOURCE,)),
        (GONE, (LABELLED_SOURCE,)),
        (SOURCELESS, (LABELLED_SOURCE,)),
        (replace(SEEN, definition=None, declaration=None, source=None), ()),
    ],
)
def test_a_decision_names_what_must_wake_it(seen: Snapshot, wakes: tuple[Ref, ...]) -> None:
    """No label of a declared or a recorded source says whose it is (9, rule 2)."""
    assert wakes == decide(seen).wakes


FAILED = Outcome(ANCHOR, Did.FAILED)


@pytest.mark.parametrize(
    ("outcome", "reason", "about", "recheck", "backoff"),
    [
        (replace(FAILED, status=403), "CACertWriteDenied", RELEASE.ref, RESYNC, True),
        (replace(FAILED, status=422), "CACertWriteDenied", RELEASE.ref, RESYNC, True),
        (
            replace(FAILED, status=403, cause="NamespaceTerminating"),
            "NamespaceTerminating",
            None,
            None,
            False,
        ),
        (replace(FAILED, status=413), "CACertInvalid", DECLARED_SOURCE, RESYNC, False),
        (
            replace(FAILED, status=422, cause="FieldValueTooLong"),
            "CACertInvalid",
            DECLARED_SOURCE,
            RESYNC,
            False,
        ),
        (replace(FAILED, status=409, reason="Conflict"), "WriteFailed", None, RESYNC, True),
        (replace(FAILED, status=500), "WriteFailed", None, RESYNC, True),
        (replace(FAILED, status=0), "WriteFailed", None, RESYNC, True),
        (Outcome(ANCHOR, Did.HELD), "CACertWithdrawalsHeld", DEFINITION, RESYNC, False),
    ],
)
def test_a_refused_write_says_what_it_means(
    outcome: Outcome, reason: str, about: Ref | None, recheck: timedelta | None, backoff: bool
) -> None:
    """A person can only mend what is told where they look; nobody is told of what passes."""
    told = report(SEEN, decide(SEEN), (outcome,))
    assert (reason, recheck, backoff) == (told.findings[-1].reason, told.recheck, told.backoff)
    assert ([] if about is None else [(about, reason)]) == [
        (event.about, event.reason) for event in told.events
    ]


def test_a_namespace_that_goes_is_told_nothing_of_expired_certificates() -> None:
    """No event is owed where nothing was published (section 12)."""
    seen = replace(SEEN, source=source(EXPIRED))
    outcome = replace(FAILED, status=403, cause="NamespaceTerminating")
    assert () == report(seen, decide(seen), (outcome,)).events


@pytest.mark.parametrize("did", [Did.CREATED, Did.UPDATED, Did.UNCHANGED, Did.DELETED])
def test_what_went_well_changes_no_word(did: Did) -> None:
    """The report lays failures over a decision, nothing else."""
    assert decide(SEEN) == report(SEEN, decide(SEEN), (Outcome(ANCHOR, did),))


def entry(template: Any, key: Any = None) -> dict[str, Any]:
    """A definition's own declaration."""
    return {"sourceSecretName": template} | ({} if key is None else {"sourceKey": key})


@pytest.mark.parametrize(
    ("stated", "secret_name", "key"),
    [
        (entry("{{ .release }}-ca"), "postgres-mydb-ca", "ca.crt"),
        (CaSource("Postgres", "{{ .release }}-ca"), "postgres-mydb-ca", "ca.crt"),
        (CaSource("Postgres", "x", " tls.crt "), "x", "tls.crt"),
        (entry("{{ .name }}.{{ .kind }}.{{ .namespace }}"), "mydb.postgres.tenant-foo", "ca.crt"),
        (entry("{{ slice .namespace 7 }}"), "foo", "ca.crt"),
        (entry("  fixed\n", ""), "fixed", "ca.crt"),
        (entry("fixed", "   "), "fixed", "ca.crt"),
        (entry("fixed", "_A-z.9"), "fixed", "_A-z.9"),
        (entry("fixed", "x" * 253), "fixed", "x" * 253),
    ],
)
def test_a_declaration_is_rendered(stated: object, secret_name: str, key: str) -> None:
    """Adding an engine is data."""
    assert Declaration(secret_name, key, "here") == declare(stated, RELEASE, "here")


@pytest.mark.parametrize(
    "stated",
    [
        {},
        "text",
        [],
        entry(None),
        entry(""),
        entry("  "),
        entry(7),
        entry("{{ .release"),
        entry("{{ .tenant }}"),
        entry("{{ template }}"),
        entry("Postgres_CA"),
        entry("a/b"),
        entry("-a"),
        entry("x" * 254),
        entry("{{ slice .namespace 99 }}"),
        entry("x", "a/b"),
        entry("x", "x" * 254),
        entry("x", "ключ"),
        entry("x", 7),
        entry("x", False),
        entry("x", []),
        CaSource("Postgres", "{{ .release }}_ca"),
    ],
)
def test_an_unusable_declaration_says_why(stated: object) -> None:
    """Rendering something near to it could name somebody else's Secret."""
    declared = declare(stated, RELEASE, "here")
    assert "" == declared.secret
    assert declared.problem


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (None, {}, True),
        (None, {"include": [], "exclude": None}, True),
        ({"include": [{"a": 1, "b": 2}]}, {"exclude": [], "include": [{"b": 2, "a": 1}]}, True),
        ({"include": [1]}, {"exclude": [1]}, False),
        ({"include": [1, 2]}, {"include": [2, 1]}, False),
        ({"include": []}, {"include": [], "other": 1}, False),
    ],
)
def test_the_digest_changes_with_what_is_selected_alone(
    one: object, other: object, same: bool
) -> None:
    """A digest that moves on its own takes the tenant's view away for nothing (7.4)."""
    assert same is (selectors_digest(one) == selectors_digest(other))


def test_the_digest_is_the_one_of_the_contract() -> None:
    """Canonical JSON, SHA-256, full hex: it is recorded on every anchor there is."""
    selecting = {"include": [{"matchLabels": {api.TENANT_CA: "true"}}]}
    assert "8c4b17e87d5e5118cd575408f5da1ad85a823f320c0acd746498cae0a72dbd5f" == selectors_digest(
        selecting
    )


@pytest.mark.parametrize(
    ("note", "name"),
    [
        ("tenant-foo/ca-src", "ca-src"),
        (None, None),
        ("", None),
        ("ca-src", None),
        ("tenant-bar/ca-src", None),
        ("tenant-foo/", None),
        ("tenant-foo/a/b", None),
        ("tenant-foo/CA", None),
        ("/ca-src", None),
    ],
)
def test_a_recorded_source_is_followed_only_within_the_namespace(
    note: str | None, name: str | None
) -> None:
    """Following it elsewhere would tell a namespace writer which Secrets exist there (W5)."""
    found = recorded_source(published(annotations={api.SOURCE: note}))
    assert (SECRET.ref(NAMESPACE, name) if name else None) == found


class Stored:
    """Cached reads over a few releases."""

    def __init__(self, *releases: Object) -> None:
        """Store them."""
        self._releases = releases

    def get(self, _view: View, namespace: str, name: str) -> Object | None:
        """One of them."""
        return next((one for one in self._releases if one.ref[::2] == (namespace, name)), None)

    def list(self, view: View, index: str = "", value: str = "") -> tuple[Object, ...]:
        """Those an index holds."""
        values = next(one.values for one in view.indexes if one.name == index)
        return tuple(one for one in self._releases if value in values(one))


def key(name: str) -> Ref:
    """The key of a release."""
    return HELM_RELEASE.ref(NAMESPACE, name)


@pytest.mark.parametrize(
    ("seen", "keys"),
    [
        pytest.param(secret("x"), set(), id="unrelated"),
        pytest.param(
            secret("x", labels={api.PUBLISH: "true", api.PUBLISH_RELEASE: "a"}),
            {key("a")},
            id="1-opted-in",
        ),
        pytest.param(
            secret("x", labels={api.PUBLISH: "false", api.PUBLISH_RELEASE: "a"}),
            {key("a")},
            id="1-opted-out",
        ),
        pytest.param(
            secret("x", labels={api.PUBLISH_RELEASE: "a"}), set(), id="release-label-only"
        ),
        pytest.param(
            secret("x", labels={api.PUBLISH: "true"}), {SECRET.ref(NAMESPACE, "x")}, id="stray"
        ),
        pytest.param(
            secret("x", labels={api.PUBLISH: "true", api.PUBLISH_RELEASE: ""}),
            {SECRET.ref(NAMESPACE, "x")},
            id="stray-empty",
        ),
        pytest.param(secret("x", labels={api.PUBLISH: "no"}), set(), id="opted-out-of-nothing"),
        pytest.param(secret("a.tenant-ca"), {key("a")}, id="3-by-name"),
        pytest.param(
            secret("x", labels={api.COPY: "true"}, ownerReferences=[owner(name="a")]),
            {key("a")},
            id="4-copy-owned",
        ),
        pytest.param(
            secret("x", labels={api.TENANT_CA: "no"}, ownerReferences=[owner(name="a")]),
            {key("a")},
            id="4-label-of-any-value",
        ),
        pytest.param(
            secret("x", labels=MARKED, ownerReferences=[owner(kind="ConfigMap")]),
            set(),
            id="4-another-owner",
        ),
        pytest.param(secret("x", ownerReferences=[owner()]), set(), id="owned-without-a-label"),
        pytest.param(
            secret(
                "a.tenant-ca",
                labels={**MARKED, api.PUBLISH: "true", api.PUBLISH_RELEASE: "b"},
                ownerReferences=[owner(name="c")],
            ),
            {key("a"), key("b"), key("c")},
            id="the-union",
        ),
    ],
)
def test_a_secret_wakes_the_releases_it_concerns(seen: Object, keys: set[Ref]) -> None:
    """A release that is not woken waits for its timer; one too many costs a pass (9)."""
    assert keys == set(releases_of_secret(seen, Stored()))


def definition(**spec: Any) -> Object:
    """A definition as its view stores it."""
    body = {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "ApplicationDefinition",
        "metadata": {"name": "postgres"},
        "spec": {"application": {"kind": "Postgres", "plural": "postgreses"}} | spec,
    }
    kept = DEFINITIONS.keep(Object.of(api.DEFINITION, body))
    assert kept is not None
    return kept


def test_a_definition_wakes_the_releases_of_its_kind() -> None:
    """Definitions register at run time."""
    stored = Stored(RELEASE, release(name="other", labels={api.KIND_LABEL: "MongoDB"}))
    assert [RELEASE.ref] == list(releases_of_definition(definition(), stored))
    assert [RELEASE.ref] == list(release_itself(RELEASE, stored))


@pytest.mark.parametrize(
    "spec",
    [
        {"application": None},
        {"application": "text"},
        {"application": {"kind": 7}},
        {"application": {"kind": ""}},
        {"application": []},
    ],
)
def test_a_malformed_definition_wakes_nobody(spec: dict[str, Any]) -> None:
    """The fields are another's schema; an exception here would end a watch."""
    stored = Stored(RELEASE)
    assert [] == list(releases_of_definition(definition(**spec), stored))
    assert () == DEFINITIONS.indexes[0].values(definition(**spec))


@pytest.mark.parametrize(
    ("spec", "changed"),
    [
        ({}, False),
        ({"application": {"kind": "Postgres", "plural": "x"}, "release": {"prefix": "p"}}, False),
        ({"secrets": {"include": []}}, True),
        ({"caCert": {"sourceSecretName": "x"}}, True),
        ({"application": {"kind": "Other"}}, True),
    ],
)
def test_only_the_kept_fields_of_a_definition_wake(spec: dict[str, Any], changed: bool) -> None:
    """A definition is edited far more often than what an anchor depends on (A-43)."""
    assert changed is definition_changed(definition(), definition(**spec))


@pytest.mark.parametrize(
    ("new", "changed"),
    [
        (RELEASE, False),
        (release(resource_version="9", generation=4, annotations={"a": "b"}), False),
        (release(uid="other"), True),
        (labelled(name="other"), True),
        (release(deletion_timestamp="2026-01-01T00:00:00Z"), True),
    ],
)
def test_only_identity_labels_and_deletion_of_a_release_wake(new: Object, changed: bool) -> None:
    """Flux rewrites status constantly (A-45)."""
    assert changed is identity_changed(RELEASE, new)


@pytest.mark.parametrize(
    ("seen", "opted", "stored"),
    [
        (secret("x"), (), False),
        (secret("x.tenant-ca"), (), True),
        (secret("x", labels={api.PUBLISH: "true", api.PUBLISH_RELEASE: "a"}), "a", True),
        (secret("x", labels={api.PUBLISH: "True", api.PUBLISH_RELEASE: "a"}), (), True),
        (secret("x", labels={api.PUBLISH: "true"}), (), True),
        (secret("x", labels={api.PUBLISH_RELEASE: "a"}), (), False),
        (
            secret("x", labels={api.PUBLISH: "true", api.PUBLISH_RELEASE: "a", api.COPY: "true"}),
            (),
            True,
        ),
        (
            secret("x", labels={api.PUBLISH: "true", api.PUBLISH_RELEASE: "a"}, **DYING),
            (),
            True,
        ),
    ],
)
def test_the_view_stores_sources_and_anchors_alone(seen: Object, opted: Any, stored: bool) -> None:
    """Memory grows with the releases, not with the Secrets of the cluster (9)."""
    expected = (f"{NAMESPACE}/{opted}",) if opted else ()
    assert expected == release_opted_into(seen)
    assert stored is (SECRETS.keep(seen) is not None)
    assert (RELEASES.labels, SECRETS.fields) == (api.KIND_LABEL, "type!=helm.sh/release.v1")


def test_every_rule_answers_on_every_snapshot() -> None:
    """A rule that leaned on the one before it would raise when `why` asks it alone."""
    for seen in (SEEN, LABELLED, SOURCELESS, GONE, Snapshot(RELEASE, NOW), itself(OURS)):
        for rule in {*RULES, *WITHDRAWAL}:
            finding = rule(seen)
            assert finding.rule
            assert bool(finding.reason) is (finding.verdict is not Verdict.PASS)
