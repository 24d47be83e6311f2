"""Every rule of the wildcard replicas, each row the smallest change to a world that works."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from roadstead.capabilities.gateways.api import ATTACH_LABEL, TENANT_GATEWAY
from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.controller import (
    WILDCARDS,
    copy_or_name_of_the_source,
    kept_facts_changed,
    the_key_if_there_are_values,
)
from roadstead.capabilities.wildcards.decide import RULES, decide, report
from roadstead.capabilities.wildcards.render import mended_copy
from roadstead.capabilities.wildcards.snapshot import (
    CHANNEL,
    GATEWAYS,
    NAMESPACES,
    SECRETS,
    Channel,
    Place,
    Snapshot,
    Tls,
    Word,
    read_channel,
)
from roadstead.capabilities.wildcards.snapshot.facts import usable
from roadstead.decision import Did, How, Outcome, Verdict, Want
from roadstead.errors import Unread
from roadstead.kube.objects import Meta, Object
from roadstead.kube.refs import NAMESPACE, SECRET
from roadstead.kube.views import View

CRT, PRIVATE = "Q1JU", "S0VZ"
DATA = {"tls.crt": CRT, "tls.key": PRIVATE}


def secret(namespace: str, name: str = "wildcard-tls", **parts: Any) -> Object:
    """A Secret; `labels` and `annotations` are its metadata's, all else stands beside it."""
    keys = ("labels", "annotations", "ownerReferences", "deletionTimestamp", "finalizers")
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"}
    meta |= {key: parts.pop(key) for key in keys if key in parts} | {"resourceVersion": "7"}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": api.TLS}
    return Object.of(SECRET, {**body, "data": dict(DATA)} | parts)


def copy(namespace: str, name: str = "wildcard-tls", **parts: Any) -> Object:
    """A copy that has not drifted, or the same with other parts."""
    parts.setdefault("labels", {api.COPY: "true"})
    parts.setdefault("annotations", {api.COPY_SOURCE: "tenant-root/wildcard-tls"})
    return secret(namespace, name, **parts)


def values(text: str) -> Object:
    """The values Secret."""
    data = {api.VALUES_KEY: b64encode(text.encode()).decode()}
    return secret(api.VALUES.namespace, api.VALUES.name, data=data, type="Opaque")


ACTIVE = Channel(Word.ACTIVE, "wildcard-tls", "tenant-root")
HELD = Place("a", Tls.TERMINATES, holder=copy("a"))
SEEN = Snapshot(
    ACTIVE,
    "uid-values",
    source=secret("tenant-root"),
    places=(HELD, Place("b", Tls.TERMINATES), Place("c", Tls.NOT)),
    copies=(copy("a"),),
    wanted=DATA,
)
BARE = replace(SEEN, source=None, wanted={})
OPAQUE = replace(SEEN, source=secret("tenant-root", type="Opaque"), wanted={})


def of(*places: Place, **rest: Any) -> Snapshot:
    """A world that works, with other namespaces."""
    return replace(SEEN, places=places, **rest)


CLUSTER = "_cluster: "
NAMED = CLUSTER + "{wildcard-secret-name: wildcard-tls"


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        pytest.param(NAMED + ", expose-ingress: x}", Word.ACTIVE, "", id="named"),
        pytest.param(NAMED + "}", Word.ACTIVE, "", id="no-namespace"),
        pytest.param(NAMED + ", wildcard-issue: [1]}", Word.ACTIVE, "", id="other-keys"),
        pytest.param(CLUSTER + '{wildcard-secret-name: ""}', Word.DISABLED, "empty", id="empty"),
        pytest.param("{}", Word.UNKNOWN, "_cluster", id="no-cluster"),
        pytest.param(CLUSTER + "null", Word.UNKNOWN, "_cluster", id="null-cluster"),
        pytest.param(CLUSTER + "{}", Word.UNKNOWN, "wildcard-secret-name", id="no-name"),
        pytest.param(CLUSTER + "{wildcard-secret-name: ~}", Word.UNKNOWN, "name", id="null-name"),
        pytest.param(": [", Word.BROKEN, "YAML", id="malformed"),
        pytest.param("", Word.BROKEN, "one map", id="nothing"),
        pytest.param("- a", Word.BROKEN, "one map", id="a-list"),
        pytest.param("a: b\n---\na: b\n", Word.BROKEN, "one map", id="two-documents"),
        pytest.param(CLUSTER + "[]", Word.BROKEN, "_cluster", id="cluster-is-a-list"),
        pytest.param(CLUSTER + "{wildcard-secret-name: 1}", Word.BROKEN, "name", id="a-number"),
        pytest.param(CLUSTER + "{wildcard-secret-name: a b}", Word.BROKEN, "name", id="a-space"),
        pytest.param(CLUSTER + '{wildcard-secret-name: " "}', Word.BROKEN, "name", id="blank"),
        pytest.param(CLUSTER + '{wildcard-secret-name: "a\\n"}', Word.BROKEN, "name", id="newline"),
        pytest.param(CLUSTER + "{wildcard-secret-name: A}", Word.BROKEN, "name", id="capital"),
        pytest.param(NAMED + ", expose-ingress: 1}", Word.BROKEN, "expose", id="odd-namespace"),
    ],
)
def test_the_channel_says_one_of_four_things(text: str, word: Word, said: str) -> None:
    """Absence, the empty text and a fault are different facts. Source: wildcard-secrets 3."""
    read = read_channel(values(text))

    assert word is read.word
    assert said in read.said


def test_an_absent_channel_says_nothing() -> None:
    """Neither does one without its key."""
    assert Word.UNKNOWN is read_channel(None).word
    assert Word.UNKNOWN is read_channel(secret("cozy-system", api.VALUES.name)).word


@pytest.mark.parametrize(
    ("stated", "publishing"),
    [(", expose-ingress: x", "x"), (', expose-ingress: ""', "tenant-root"), ("", "tenant-root")],
)
def test_the_publishing_namespace_has_a_default(stated: str, publishing: str) -> None:
    """Missing and empty mean the root tenant. Source: wildcard-secrets 2."""
    assert publishing == read_channel(values(NAMED + stated + "}")).publishing


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        pytest.param({}, DATA, id="both"),
        pytest.param({"data": {**DATA, "ca.crt": "Q0E="}}, {**DATA, "ca.crt": "Q0E="}, id="ca"),
        pytest.param({"data": {**DATA, "tls-combined.pem": "eA=="}}, DATA, id="more"),
        pytest.param({"type": "Opaque"}, {}, id="another-type"),
        pytest.param({"data": {**DATA, "tls.key": ""}}, {}, id="empty-key"),
        pytest.param({"data": {"tls.key": PRIVATE}}, {}, id="no-certificate"),
        pytest.param({"data": None}, {}, id="no-data"),
    ],
)
def test_three_keys_of_a_usable_source_are_copied(
    parts: Mapping[str, Any], kept: Mapping[str, str]
) -> None:
    """Source: wildcard-secrets 4."""
    assert kept == usable(secret("tenant-root", **parts))


@pytest.mark.parametrize(
    ("seen", "verdict", "reason"),
    [
        pytest.param(SEEN, Verdict.PASS, "", id="replicated"),
        pytest.param(Snapshot(Channel(Word.UNKNOWN)), Verdict.WAIT, "ChannelUnknown", id="unknown"),
        pytest.param(
            Snapshot(Channel(Word.BROKEN)), Verdict.REFUSE, "WildcardConfigInvalid", id="broken"
        ),
        pytest.param(Snapshot(Channel(Word.DISABLED)), Verdict.WAIT, "Disabled", id="disabled"),
        pytest.param(BARE, Verdict.REFUSE, "WildcardSourceMissing", id="no-source"),
        pytest.param(OPAQUE, Verdict.REFUSE, "WildcardSourceInvalid", id="source-unusable"),
        pytest.param(replace(SEEN, copies=None), Verdict.WAIT, "ReadFailed", id="unlisted"),
        pytest.param(
            of(Place("a", Tls.TERMINATES, problem="500")), Verdict.WAIT, "ReadFailed", id="unread"
        ),
        pytest.param(
            of(Place("a", Tls.TERMINATES, holder=secret("a"))),
            Verdict.REFUSE,
            "WildcardReplicaSkipped",
            id="name-taken",
        ),
        pytest.param(
            of(Place("a", Tls.TERMINATES, holder=copy("a", deletionTimestamp="now"))),
            Verdict.WAIT,
            "Terminating",
            id="on-its-way-out",
        ),
        pytest.param(of(Place("a", Tls.UNKNOWN)), Verdict.WAIT, "GatewaysUnread", id="unknown-tls"),
    ],
)
def test_the_first_rule_that_stops_names_the_reason(
    seen: Snapshot, verdict: Verdict, reason: str
) -> None:
    """Each stop is one step away from a world that is replicated."""
    last = decide(seen).findings[-1]

    assert (verdict, reason) == (last.verdict, last.reason)
    assert decide(seen).state in {api.REPLICATED, *(one.state for one in api.REASONS)}


@pytest.mark.parametrize(
    ("place", "how"),
    [
        pytest.param(Place("a", Tls.TERMINATES), "make", id="owed"),
        pytest.param(HELD, "keep", id="kept"),
        pytest.param(Place("a", Tls.UNKNOWN), "", id="unknown-makes-none"),
        pytest.param(replace(HELD, tls=Tls.UNKNOWN), "keep", id="unknown-keeps"),
        pytest.param(Place("a", Tls.NOT), "", id="not"),
        pytest.param(Place("a", Tls.TERMINATES, ending=True), "", id="namespace-ends"),
        pytest.param(Place("a", Tls.TERMINATES, problem="500"), "", id="unread"),
        pytest.param(Place("a", Tls.TERMINATES, holder=secret("a")), "", id="foreign"),
        pytest.param(
            Place("a", Tls.TERMINATES, holder=copy("a", labels={api.COPY: "yes"})),
            "",
            id="no-claim",
        ),
        pytest.param(
            Place("a", Tls.TERMINATES, holder=copy("a", deletionTimestamp="now")), "", id="dying"
        ),
        pytest.param(Place("a", Tls.TERMINATES, holder=copy("a", data={})), "mend", id="drifted"),
        pytest.param(
            Place("a", Tls.TERMINATES, holder=copy("a", type="Opaque")), "renew", id="type"
        ),
        pytest.param(
            Place("a", Tls.TERMINATES, holder=copy("a", data={}, immutable=True)),
            "renew",
            id="immutable",
        ),
        pytest.param(
            Place("a", Tls.TERMINATES, holder=copy("a", immutable=True)),
            "keep",
            id="immutable-same",
        ),
    ],
)
def test_a_copy_is_made_kept_mended_or_made_anew(place: Place, how: str) -> None:
    """The table of section 5, and the ways to write of section 7."""
    assert how == "".join(way_of(want) for want in decide(of(place)).want)
    assert decide(replace(of(place), wanted={}, source=None)).want == ()


def way_of(want: Want) -> str:
    """What a want comes to, in a word."""
    if want.how is How.RENEW:
        return "renew"
    if want.live is None:
        return "make"
    return "keep" if want.body == want.live.body else "mend"


@pytest.mark.parametrize(
    ("seen", "gone"),
    [
        pytest.param(of(HELD), (), id="terminates"),
        pytest.param(of(Place("a", Tls.UNKNOWN, holder=copy("a"))), (), id="unknown"),
        pytest.param(of(Place("a", Tls.NOT)), ("a",), id="not"),
        pytest.param(of(Place("a", Tls.NOT), source=None, wanted={}), ("a",), id="not-sourceless"),
        pytest.param(of(HELD, source=None, wanted={}), (), id="terminates-sourceless"),
        pytest.param(of(), (), id="namespace-not-listed"),
        pytest.param(of(HELD, copies=(copy("a", "old"),)), ("a",), id="old-name"),
        pytest.param(
            of(HELD, copies=(copy("a", "old"),), source=None, wanted={}), (), id="old-sourceless"
        ),
        pytest.param(of(copies=(copy("tenant-root"),)), (), id="source-slot"),
        pytest.param(of(copies=(copy("tenant-root", "old"),)), ("tenant-root",), id="old-at-home"),
        pytest.param(
            of(Place("a", Tls.NOT), copies=(copy("a", deletionTimestamp="now"),)), (), id="dying"
        ),
        pytest.param(of(Place("a", Tls.NOT), copies=None), (), id="unlisted"),
        pytest.param(
            of(channel=Channel(Word.DISABLED), copies=(copy("a"), copy("tenant-root"))),
            ("a", "tenant-root"),
            id="disabled",
        ),
        pytest.param(of(channel=Channel(Word.UNKNOWN)), (), id="channel-unknown"),
        pytest.param(of(channel=Channel(Word.BROKEN)), (), id="channel-broken"),
    ],
)
def test_only_a_definite_answer_takes_a_copy_away(seen: Snapshot, gone: tuple[str, ...]) -> None:
    """With the uid and the version that were seen. Source: wildcard-secrets 6."""
    drops = decide(seen).drop

    assert gone == tuple(one.ref.namespace for one in drops)
    assert all(one.uid and one.resource_version == "7" for one in drops)


FOREIGN_KEYS = ("internal.cozystack.io/x", "apps.cozystack.io/x", "helm.toolkit.fluxcd.io/x")
ANNOTATIONS = {api.COPY_SOURCE: "tenant-root/wildcard-tls"}


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(copy("a", data={**DATA, "more": "eA=="}), id="stray-key"),
        pytest.param(copy("a", data={"tls.crt": CRT}), id="lacking-key"),
        pytest.param(copy("a", annotations={}), id="no-source"),
        pytest.param(copy("a", annotations={api.COPY_SOURCE: "x/y"}), id="other-source"),
        pytest.param(
            copy("a", ownerReferences=[{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}]),
            id="owner",
        ),
        pytest.param(copy("a", annotations={**ANNOTATIONS, api.LAST_APPLIED: "{}"}), id="applied"),
        *(
            pytest.param(copy("a", labels={api.COPY: "true", key: "x"}), id=f"label-{key}")
            for key in FOREIGN_KEYS
        ),
        *(
            pytest.param(copy("a", annotations={**ANNOTATIONS, key: "x"}), id=f"annotation-{key}")
            for key in FOREIGN_KEYS
        ),
    ],
)
def test_what_has_drifted_is_put_right(live: Object) -> None:
    """Each drift of section 7 ends in a copy like any other."""
    mended = mended_copy(SEEN, live)

    assert mended != live.body
    assert copy("a").body == mended


def test_what_others_wrote_beside_it_stays() -> None:
    """Other labels, annotations and finalizers are no drift."""
    labels, notes = {api.COPY: "true", "team": "blue"}, {**ANNOTATIONS, "note": "x"}
    live = copy("a", labels=labels, annotations=notes, finalizers=["example.org/hold"])

    assert live.body == mended_copy(SEEN, live)


def test_events_come_in_the_order_of_the_pass() -> None:
    """Of the source, then of each namespace; what a tenant reads names nothing of another's."""
    seen = of(
        Place("a", Tls.TERMINATES, holder=secret("a")),
        Place("b", Tls.TERMINATES, holder=secret("b")),
        source=copy("tenant-root"),
    )
    events = decide(seen).events

    assert [
        ("tenant-root", "WildcardSourceIsReplica"),
        ("a", "WildcardReplicaSkipped"),
        ("b", "WildcardReplicaSkipped"),
    ] == [(event.about.namespace, event.reason) for event in events]
    assert not any(
        "tenant-root" in event.message or " b/" in event.message for event in events[1:2]
    )


@pytest.mark.parametrize(
    ("seen", "recheck", "backoff"),
    [
        pytest.param(SEEN, api.RESYNC, False, id="active"),
        pytest.param(BARE, api.RESYNC, False, id="no-source"),
        pytest.param(OPAQUE, api.RESYNC, False, id="source-unusable"),
        pytest.param(of(Place("a", Tls.UNKNOWN)), None, True, id="unknown-tls"),
        pytest.param(of(Place("a", Tls.TERMINATES, problem="500")), None, True, id="unread"),
        pytest.param(replace(SEEN, copies=None), None, True, id="unlisted"),
        pytest.param(Snapshot(Channel(Word.BROKEN)), None, True, id="broken"),
        pytest.param(Snapshot(Channel(Word.UNKNOWN)), None, False, id="unknown"),
        pytest.param(Snapshot(Channel(Word.DISABLED)), None, False, id="disabled"),
    ],
)
def test_the_next_look(seen: Snapshot, recheck: timedelta | None, backoff: bool) -> None:
    """Source: wildcard-secrets 8, P7 and the line under it."""
    decision = decide(seen)

    assert (recheck, backoff) == (decision.recheck, decision.backoff)
    assert decision.independent


@pytest.mark.parametrize(
    ("outcome", "backoff", "kept"),
    [
        pytest.param(Outcome(secret("b").ref, Did.CREATED), False, 2, id="made"),
        pytest.param(Outcome(secret("b").ref, Did.FAILED, 500, "InternalError"), True, 1, id="500"),
        pytest.param(
            Outcome(secret("a").ref, Did.FAILED, 409, "Conflict"), True, 2, id="it-stands"
        ),
        pytest.param(
            Outcome(secret("b").ref, Did.FAILED, 403, "Forbidden", "NamespaceTerminating"),
            False,
            1,
            id="namespace-ends",
        ),
    ],
)
def test_a_failed_write_has_the_pass_repeated(outcome: Outcome, backoff: bool, kept: int) -> None:
    """But for one that nobody waits for."""
    reported = report(SEEN, decide(SEEN), (outcome,))

    assert backoff is reported.backoff
    assert ("WriteFailed" in {found.reason for found in reported.findings}) is backoff
    assert kept == dict(reported.figures)["kept"]


def test_every_rule_answers_on_an_empty_snapshot() -> None:
    """And has a name of its own."""
    nobody = Snapshot(Channel(Word.UNKNOWN))
    names = [rule(nobody).rule for rule in RULES]

    assert len(RULES) == len(set(names))


class Known:
    """What mappers may look into. named: by the channel; None where it is unread."""

    def __init__(self, named: str | None = "wildcard-tls", *, values: bool = True) -> None:
        """Know the channel."""
        self._named, self._values = named, values

    def get(self, view: View, _namespace: str, _name: str) -> Object | None:
        """The channel's object."""
        assert view is CHANNEL
        if self._named is None:
            raise Unread("not yet")
        return Object(SECRET, Meta(), {"name": self._named}) if self._values else None

    def list(self, _view: View, _index: str = "", _value: str = "") -> tuple[Object, ...]:
        """Nothing."""
        return ()


@pytest.mark.parametrize(
    ("seen", "known", "woken"),
    [
        pytest.param(copy("x", "old"), Known(), True, id="mark"),
        pytest.param(copy("x", labels={api.COPY: "no"}), Known("other"), True, id="odd-mark"),
        pytest.param(secret("x"), Known(), True, id="name-of-the-source"),
        pytest.param(secret("x", "other"), Known(), False, id="unrelated"),
        pytest.param(secret("x"), Known(""), False, id="no-source-named"),
        pytest.param(copy("x"), Known(values=False), False, id="no-values"),
    ],
)
def test_a_secret_wakes_by_its_mark_or_its_name(seen: Object, known: Known, woken: bool) -> None:
    """X2 and X3 of section 9, in one watch."""
    assert woken is bool(list(copy_or_name_of_the_source(seen, known)))


def test_nothing_wakes_before_there_are_values() -> None:
    """A cluster without the platform costs no pass."""
    namespace = Object(NAMESPACE, Meta("a"))

    assert [api.VALUES] == list(the_key_if_there_are_values(namespace, Known()))
    assert [] == list(the_key_if_there_are_values(namespace, Known(values=False)))
    with pytest.raises(Unread):
        list(the_key_if_there_are_values(namespace, Known(None)))


def test_the_views_keep_next_to_nothing() -> None:
    """No informer holds anything of a Secret but two facts of the values. Source: 9."""
    kept = CHANNEL.keep(values("secret: canary\n" + NAMED + "}"))
    gateway = Object.of(
        TENANT_GATEWAY,
        {"metadata": {"name": "g", "namespace": "a"}, "spec": {"certMode": "edge", "apex": "x"}},
    )
    labels = {ATTACH_LABEL: "a", "more": "x"}
    mode, lean = (
        GATEWAYS.keep(gateway),
        NAMESPACES.keep(Object(NAMESPACE, Meta("a", labels=labels))),
    )

    assert kept is not None
    assert mode is not None
    assert lean is not None
    assert "canary" not in str(kept.body)
    assert {"mode": "edge"} == mode.body
    assert {ATTACH_LABEL: "a"} == lean.labels
    assert SECRETS.keep(copy("a")) is None
    assert not kept_facts_changed(lean, lean)
    assert kept_facts_changed(lean, Object(NAMESPACE, Meta("a", deletion_timestamp="now")))


def test_one_key_one_worker_and_a_pause() -> None:
    """At most one pass a second, and none beside another. Source: 8."""
    assert (1, timedelta(seconds=1)) == (WILDCARDS.workers, WILDCARDS.pause)
    assert {GATEWAYS} == WILDCARDS.unawaited == WILDCARDS.optional
