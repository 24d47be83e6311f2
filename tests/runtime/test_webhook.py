"""The admission server: what is answered, to whatever is sent, and what never leaves it.

Source: lineage 3, 4, 10 and 11; issue 7, bad input.
"""

import asyncio
import base64
import contextlib
import gc
import io
import json
import re
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from certificates import KEY
from faults import Faults, answer, refuse, slow, usual
from lineage_objects import (
    HELM,
    NS,
    Json,
    data,
    definition,
    given,
    owner,
    pod,
    release,
    secret,
    service,
    triple,
)
from parts import Lines, until
from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.webhook import LINEAGE
from roadstead.errors import InputError
from roadstead.kube.refs import HELM_RELEASE, NAMESPACE, Kind
from roadstead.runtime import webhook
from roadstead.runtime.access import Config
from roadstead.runtime.certificate import PERIOD, Serving
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.manager import Manager
from roadstead.runtime.options import RunOptions, served
from webhook_certificates import HOST, Pair, authority, pair, put, soon

CANARY = "canary-7f3a"
REPLICA_SET = Kind("ReplicaSet", "apps", "v1", "replicasets")


def discovery(*kinds: Kind) -> bytes:
    """What `/apis` says in the aggregated form."""
    items = [
        {
            "metadata": {"name": kind.group},
            "versions": [
                {
                    "version": kind.version,
                    "resources": [
                        {
                            "resource": kind.plural,
                            "scope": "Namespaced" if kind.namespaced else "Cluster",
                            "responseKind": {"kind": kind.kind},
                        }
                    ],
                }
            ],
        }
        for kind in kinds
    ]
    return json.dumps({"kind": "APIGroupDiscoveryList", "items": items}).encode()


@dataclass
class Sent:
    """What was answered. code: of HTTP. response: of the review, empty where there is none.

    kept: whether the connection may be used again.
    """

    code: int
    response: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    kept: bool = True

    @property
    def patch(self) -> list[dict[str, Any]]:
        """The operations."""
        packed = self.response.get("patch")
        found: list[dict[str, Any]] = json.loads(base64.b64decode(packed)) if packed else []
        return found

    @property
    def labels(self) -> dict[str, str]:
        """The labels that are added."""
        found: dict[str, str] = {}
        for one in self.patch:
            path = one["path"]
            if path == "/metadata/labels":
                found |= one["value"]
            elif path.startswith("/metadata/labels/"):
                found[path.rpartition("/")[2].replace("~1", "/")] = one["value"]
        return found


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask again until something is so; a quarter of a minute is for ever."""
    async with asyncio.timeout(15):
        while not await holds():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.02)


class Running:
    """One manager that answers admission, over a scripted API server."""

    def __init__(self, server: Faults, folder: Path) -> None:
        """Prepare it."""
        self.lines, self.server, self.folder = Lines(), server, folder
        options = RunOptions(
            only=("lineage",),
            metrics="127.0.0.1:0",
            health="127.0.0.1:0",
            webhook_port=0,
            webhook_cert_dir=folder,
        )
        controllers, admissions = served(options)
        self.manager = Manager(
            options,
            controllers,
            Config(server=server.url),
            admissions=admissions,
            log=self.lines.log,
            clock=LiveClock(),
            dropped=lambda: 0,
        )
        self.tls = ssl.create_default_context(cadata=authority().pem.decode())

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"https://127.0.0.1:{self.manager.ports['webhook']}{api.PATH}?timeout=10s"

    @asynccontextmanager
    async def session(self, *, kept: bool = True) -> AsyncIterator[aiohttp.ClientSession]:
        """Connections that know the name of the certificate."""
        connector = aiohttp.TCPConnector(ssl=self.tls, force_close=not kept)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield session

    async def post(self, session: aiohttp.ClientSession, body: Any) -> Sent:
        """Send any body."""
        sent = io.BytesIO(body) if isinstance(body, bytes) else body
        async with session.post(self.url, data=sent, server_hostname=HOST) as got:
            text = await got.text()
            is_review = got.content_type == "application/json"
            response = json.loads(text)["response"] if is_review else {}
            return Sent(got.status, response, text, got.headers.get("Connection") != "close")

    async def ask(self, one: Json, operation: str = "CREATE", **more: Any) -> Sent:
        """Ask about one object, over a connection of its own."""
        async with self.session() as session:
            return await self.post(session, review(one, operation, **more))

    async def page(self, server: str, path: str) -> tuple[int, str]:
        """Ask one of its own servers."""
        url = f"http://127.0.0.1:{self.manager.ports[server]}{path}"
        async with aiohttp.ClientSession() as session, session.get(url) as got:
            return got.status, await got.text()

    async def figure(self, name: str) -> float:
        """One figure of `/metrics`."""
        _, text = await self.page("metrics", "/metrics")
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    async def until_ready(self) -> None:
        """Wait until it says that it is ready."""

        async def is_ready() -> bool:
            return (await self.page("health", "/readyz"))[0] == 200

        await eventually(is_ready)


def review(one: Json | Any, operation: str = "CREATE", **more: Any) -> bytes:
    """An AdmissionReview as the API server writes it. more: of the request."""
    stated = one if isinstance(one, dict) else {"apiVersion": "v1", "kind": "Secret"}
    group, _, version = str(stated["apiVersion"]).rpartition("/")
    kind = {"group": group, "version": version, "kind": stated["kind"]}
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": kind,
        "resource": {"group": group, "version": version, "resource": "things"},
        "operation": operation,
        "namespace": NS,
        "object": one,
        "oldObject": None,
        "dryRun": False,
        **more,
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(body).encode()


def fill(server: Faults, *releases: Json) -> None:
    """Serve what the webhook looks at."""
    definitions = server.serve(api.DEFINITION)
    spec = definition(secrets={"include": [{}]})["spec"]
    definitions.put("", "harbor", spec=spec)
    shelf = server.serve(HELM_RELEASE)
    for one in releases or (release(),):
        shelf.put(NS, one["metadata"]["name"], meta={"labels": one["metadata"]["labels"]})
    server.serve(NAMESPACE).put("", NS)


@pytest.fixture(autouse=True)
def _looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the certificate's folder looked at twenty times as often as outside of tests."""
    monkeypatch.setattr(webhook, "PERIOD", PERIOD / 20)


@asynccontextmanager
async def running(
    folder: Path, *, serve: bool = True, ready: bool = True
) -> AsyncIterator[Running]:
    """Run it, by default until it is ready."""
    async with Faults() as server:
        if serve:
            fill(server)
        found = Running(server, folder)
        task = asyncio.create_task(found.manager.run())
        try:
            await until(lambda: len(found.manager.ports) == 3 or task.done())
            if ready:
                await found.until_ready()
            yield found
        finally:
            found.manager.stop()
            await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a good pair in it."""
    put(tmp_path / "tls", pair())
    return tmp_path / "tls"


async def test_an_object_of_an_application_is_labelled(folder: Path) -> None:
    """The five labels together, whatever it came with; nothing for what nobody owns."""
    async with running(folder) as run:
        sent = await run.ask(secret())
        again = await run.ask(secret(labels={**HELM, **given("true")}), "UPDATE")
        unowned = await run.ask(secret(labels={api.TENANT_RESOURCE: "true"}))
        dry = await run.ask(secret(), dryRun=True)

        assert (200, True, given("true")) == (sent.code, sent.response["allowed"], sent.labels)
        assert "705ab4f5-6393-11e8-b7cc-42010a800002" == sent.response["uid"]
        assert sent.patch == dry.patch
        assert ([], []) == (again.patch, unowned.patch)
        assert "patchType" not in unowned.response
        labelled = 'roadstead_lineage_requests_total{kind="Secret",operation="%s",outcome="%s"}'
        assert 2 == await run.figure(labelled % ("CREATE", "labelled"))
        assert 1 == await run.figure(labelled % ("UPDATE", "labelled"))
        assert 1 == await run.figure(labelled % ("CREATE", "unowned"))
        verdict = 'roadstead_lineage_verdict_total{kind="Secret",verdict="true"}'
        assert 3 == await run.figure(verdict)
        assert 4 == await run.figure("roadstead_lineage_duration_seconds_count")


ODD = [
    pytest.param(b"", 400, id="empty"),
    pytest.param(b"{", 400, id="cut"),
    pytest.param(b"[]", 400, id="list"),
    pytest.param(b'"text"', 400, id="text"),
    pytest.param(b"null", 400, id="null"),
    pytest.param(b"\xff\xfe{}", 400, id="no-utf8"),
    pytest.param(b"[" * 100_000, 400, id="deep"),
    pytest.param(b"{}", 400, id="nothing"),
    pytest.param(
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', 400, id="no-request"
    ),
    pytest.param(
        review(secret()).replace(b"admission.k8s.io/v1", b"admission.k8s.io/v1beta1"), 200,
        id="older-version",
    ),
    pytest.param(
        review(secret()).replace(b"admission.k8s.io/v1", b"admission.k8s.io/v9"), 200,
        id="newer-version",
    ),
    pytest.param(review([]), 200, id="C-23"),
    pytest.param(review("text"), 200, id="C-23-text"),
    pytest.param(review(None), 200, id="C-23-null"),
    pytest.param(review({**secret(), "metadata": []}), 200, id="no-metadata"),
    pytest.param(review({**secret(), "metadata": {"labels": {"a": 1}}}), 200, id="odd-label"),
    pytest.param(review(secret(), "DELETE"), 200, id="delete"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code"), ODD)
async def test_c23_a_body_that_is_no_object_is_refused(
    folder: Path, body: bytes, code: int
) -> None:
    """C-23: code 400 in the answer, whatever is sent; and the next one is answered."""
    async with running(folder) as run:
        async with run.session() as session:
            for _ in range(3):  # the same body again is answered the same
                sent = await run.post(session, body)

                assert code == sent.code
                assert (False, 400) == (sent.response["allowed"], sent.response["status"]["code"])
            assert given("true") == (await run.post(session, review(secret()))).labels
        assert [] == [line for line in run.lines.all() if line["level"] == "error"]


async def test_a_body_as_large_as_an_update_of_two_secrets_is_taken(folder: Path) -> None:
    """16 MiB are taken, more are not, and the same connection goes on."""
    fits = review(secret(data={"k": "A" * (15 << 20)}))
    large = review(secret(data={"k": "A" * (17 << 20)}))
    async with running(folder) as run, run.session() as session:
        assert given("true") == (await run.post(session, fits)).labels
        with contextlib.suppress(aiohttp.ClientError):  # it need not read on to refuse
            assert 413 == (await run.post(session, large)).code
        assert given("true") == (await run.post(session, review(secret()))).labels


async def test_many_large_bodies_at_once_are_all_answered(folder: Path) -> None:
    """They take turns; none is lost, and small ones do not wait for them."""
    body = review(secret(data={"k": "A" * (8 << 20)}))
    async with running(folder) as run, run.session() as session:
        sent = await asyncio.gather(*(run.post(session, body) for _ in range(12)))

        assert [given("true")] * 12 == [one.labels for one in sent]


async def test_no_body_is_kept(folder: Path) -> None:
    """Key material goes with the answer: memory after many bodies is what it was before."""
    body = review(secret(labels={**HELM, TENANT_CA: "true"}, data={"k": "A" * (4 << 20)}))
    async with running(folder) as run, run.session(kept=False) as session:
        await run.post(session, body)
        gc.collect()
        tracemalloc.start()
        for _ in range(6):
            assert api.HIDDEN == (await run.post(session, body)).labels[api.TENANT_RESOURCE]
        await asyncio.sleep(0)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert kept < 2 << 20


async def test_nothing_of_an_object_is_logged(folder: Path) -> None:
    """Neither a value nor an annotation, whatever goes wrong."""
    carried: dict[str, Any] = {
        "data": data(password=CANARY),
        "stringData": {"x": CANARY},
        "annotations": {api.LAST_APPLIED: CANARY},
    }
    packed = base64.b64encode(CANARY.encode()).decode()
    guarded = secret(labels={**HELM, TENANT_CA: "true"}, **carried)
    broken = review(secret(**carried)).replace(b'"labels": {', b'"labels": {"x": 1, ')
    async with running(folder) as run:
        run.server.next("other", *(refuse(503) for _ in range(3)))
        sent = [await run.ask(secret(**carried)), await run.ask(guarded)]
        async with run.session() as session:
            sent += [await run.post(session, broken), await run.post(session, broken[:-20])]
        sent.append(await run.ask(secret(owners=[owner(REPLICA_SET, "x", "u")], **carried)))
        figures = (await run.page("metrics", "/metrics"))[1]
        said = json.dumps(run.lines.all()) + figures + "".join(one.text for one in sent)

    assert [True, True, False, False, False] == [one.response["allowed"] for one in sent]
    for hidden in (CANARY, packed):
        assert hidden not in said


@pytest.mark.slow
async def test_a_slow_body_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends a byte now and then holds nothing for longer than the budget."""
    monkeypatch.setattr(
        "roadstead.capabilities.ADMISSIONS",
        {"lineage": replace(LINEAGE, budget=timedelta(seconds=0.4))},
    )
    monkeypatch.setattr(
        "roadstead.runtime.options.ADMISSIONS",
        {"lineage": replace(LINEAGE, budget=timedelta(seconds=0.4))},
    )

    async def trickle() -> AsyncIterator[bytes]:
        for byte in review(secret())[:200]:
            yield bytes([byte])
            await asyncio.sleep(0.05)

    async with running(folder) as run, run.session() as session:
        began = asyncio.get_running_loop().time()
        with contextlib.suppress(aiohttp.ClientError):
            assert 408 == (await run.post(session, trickle())).code
        assert asyncio.get_running_loop().time() - began < 5
        assert given("true") == (await run.post(session, review(secret()))).labels


async def test_c24_nothing_is_judged_before_all_was_read(folder: Path) -> None:
    """C-24: without the definitions every object would be hidden from its tenant, for good."""
    async with running(folder, serve=False, ready=False) as run:
        for _ in range(3):
            sent = await run.ask(secret())
            assert (False, 500) == (sent.response["allowed"], sent.response["status"]["code"])
            assert "not ready" in sent.response["status"]["message"]
        code, text = await run.page("health", "/readyz")
        assert 500 == code
        assert "lineage-definitions" in text

        fill(run.server)
        for feed in run.manager.feeds.all:
            feed.wake()
        await run.until_ready()
        assert given("true") == (await run.ask(secret())).labels


def owned(uid: str) -> Json:
    """A Pod of a ReplicaSet of the application."""
    return pod(labels={"app": "x"}, owners=[owner(REPLICA_SET, "web", uid)])


def replica_set(run: Running) -> Json:
    """Serve the owner; give a Pod of it."""
    made = run.server.serve(REPLICA_SET).put(NS, "web", labels=HELM)
    return owned(made["metadata"]["uid"])


def told(run: Running) -> None:
    """Have discovery say what is served."""
    run.server.next("other", answer(discovery()), answer(discovery(REPLICA_SET)))


async def test_c21_an_owner_that_answers_503_three_times_refuses(folder: Path) -> None:
    """C-21: tried three times, then the writer is told to come again."""
    async with running(folder) as run:
        one = replica_set(run)
        told(run)
        run.server.next("get", refuse(503), refuse(503), refuse(503))
        sent = await run.ask(one)
        assert (False, 500) == (sent.response["allowed"], sent.response["status"]["code"])
        assert 3 == sum(seen.verb == "get" for seen in run.server.requests)

        run.server.next("get", refuse(503), refuse(503), usual())
        assert given("false") == (await run.ask(one)).labels
        assert 1 == await run.figure('roadstead_lineage_owner_fetch_total{result="error"}')
        assert 1 == await run.figure('roadstead_lineage_owner_fetch_total{result="found"}')


async def test_c22_an_owner_that_may_not_be_read_is_said_once(folder: Path) -> None:
    """C-22: admitted without labels, and one line in the log for the kind."""
    async with running(folder) as run:
        one = replica_set(run)
        told(run)
        for _ in range(3):
            run.server.next("get", refuse(403))
            sent = await run.ask(one)
            assert (True, []) == (sent.response["allowed"], sent.patch)
        said = [one for one in run.lines.all() if one["msg"] == "owners may not be read"]
        assert ["replicasets.apps"] == [one["kind"] for one in said]
        assert 3 == await run.figure('roadstead_lineage_owner_fetch_total{result="forbidden"}')


async def test_a_found_owner_is_asked_for_once(folder: Path) -> None:
    """Kept for half a minute, unless a reference has another uid."""
    async with running(folder) as run:
        one = replica_set(run)
        told(run)
        for _ in range(3):
            assert given("false") == (await run.ask(one)).labels
        assert 1 == sum(seen.verb == "get" for seen in run.server.requests)

        other = pod(labels={"app": "x"}, owners=[owner(REPLICA_SET, "web", "older")])
        assert {} == (await run.ask(other)).labels
        assert 2 == sum(seen.verb == "get" for seen in run.server.requests)


async def test_an_absent_owner_is_asked_for_again(folder: Path) -> None:
    """It is often made moments before its dependant."""
    async with running(folder) as run:
        run.server.serve(REPLICA_SET)
        told(run)
        assert {} == (await run.ask(owned("u"))).labels
        assert given("false") == (await run.ask(replica_set(run))).labels


async def test_a_kind_that_nobody_serves_is_looked_up_once_in_a_while(folder: Path) -> None:
    """A forged reference costs the API server next to nothing."""
    async with running(folder) as run:
        told(run)
        for number in range(5):
            one = owner(Kind("Thing", "x.example.org", "v1", "things"), "x", f"u{number}")
            assert {} == (await run.ask(secret(owners=[one]))).labels
        assert 2 == sum(seen.verb == "other" for seen in run.server.requests)


async def test_a_thousand_owners_are_refused_within_the_budget(folder: Path) -> None:
    """However many owners an object claims, the answer is in time."""
    many = [owner(REPLICA_SET, f"x{at}", f"u{at}") for at in range(1000)]
    async with running(folder) as run:
        run.server.serve(REPLICA_SET)
        told(run)
        began = asyncio.get_running_loop().time()
        sent = await run.ask(secret(owners=many))
        assert asyncio.get_running_loop().time() - began < 9
        assert sent.response["allowed"] or 500 == sent.response["status"]["code"]


async def test_a_silent_api_server_is_waited_for_within_the_budget(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API server gives up after ten seconds; the reason has to arrive before."""
    monkeypatch.setattr(
        "roadstead.runtime.options.ADMISSIONS",
        {"lineage": replace(LINEAGE, budget=timedelta(seconds=0.3))},
    )
    async with running(folder) as run:
        one = replica_set(run)
        told(run)
        run.server.next("get", slow(asyncio.Event()))
        sent = await run.ask(one)
        assert (False, 500) == (sent.response["allowed"], sent.response["status"]["code"])
        assert "too long" in sent.response["status"]["message"]


async def test_a_broken_selector_is_said_once(folder: Path) -> None:
    """A log line for each state of the definition, however many objects meet it."""
    broken = {"include": [{}], "exclude": [{"resourceNames": ["{{ .bad"]}]}
    async with running(folder) as run:
        shelf = run.server.shelves["cozystack.io", "v1alpha1", "applicationdefinitions"]
        shelf.put("", "harbor", spec=definition(secrets=broken)["spec"])

        async def is_hidden() -> bool:
            return (await run.ask(secret())).labels[api.TENANT_RESOURCE] == api.HIDDEN

        await eventually(is_hidden)
        await run.ask(secret())
        said = [one["said"] for one in run.lines.all() if one["msg"] == "definition at fault"]
        assert 1 == len(said)
        assert "spec.secrets.exclude[0].resourceNames[0]" in said[0]


async def test_two_applications_are_warned_of(folder: Path) -> None:
    """Upstream's own words, and the figure beside it."""
    async with running(folder) as run:
        shelf = run.server.shelves["helm.toolkit.fluxcd.io", "v2", "helmreleases"]
        made = (
            shelf.put(NS, "harbor-other", labels=triple(name="other")),
            shelf.put(NS, "harbor-demo", labels=triple()),
        )
        refs = [
            owner(HELM_RELEASE, found["metadata"]["name"], found["metadata"]["uid"])
            for found in made
        ]

        async def is_warned() -> bool:
            return "warnings" in (await run.ask(service(labels={}, owners=refs))).response

        await eventually(is_warned)
        sent = await run.ask(service(labels={}, owners=refs))
        assert [api.AMBIGUOUS] == sent.response["warnings"]
        assert given("false", name="other") == sent.labels


# the certificate


async def serial(run: Running) -> int:
    """The serial number of the certificate that a new connection is shown."""
    _, writer = await asyncio.open_connection(
        "127.0.0.1", run.manager.ports["webhook"], ssl=run.tls, server_hostname=HOST
    )
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()
    return x509.load_der_x509_certificate(shown).serial_number


async def shown(run: Running, made: Pair) -> None:
    """Wait until a pair serves."""

    async def serves() -> bool:
        return await serial(run) == made.serial

    await eventually(serves)


async def test_a_pair_is_exchanged_under_load_without_a_failed_request(folder: Path) -> None:
    """Certificate and key come a second apart; meanwhile the old pair serves."""
    fresh, failed, count, ended = pair(), [], 0, asyncio.Event()

    async def load(run: Running, *, kept: bool) -> None:
        nonlocal count
        async with run.session(kept=kept) as session:
            while not ended.is_set():
                try:
                    sent = await run.post(session, review(secret()))
                    assert given("true") == sent.labels
                except (aiohttp.ClientError, OSError, AssertionError) as error:
                    failed.append(repr(error))
                count += 1

    async with running(folder) as run:
        jobs = [asyncio.create_task(load(run, kept=at % 2 == 0)) for at in range(4)]
        put(folder, fresh, key=False)
        await asyncio.sleep(1.0)
        put(folder, fresh, certificate=False)
        await shown(run, fresh)
        ended.set()
        await asyncio.gather(*jobs)

        assert [] == failed
        assert count > 50
        name = "roadstead_webhook_certificate_reloads_total"
        assert 1 <= await run.figure(f'{name}{{result="refused"}}')
        assert 2 == await run.figure(f'{name}{{result="ok"}}')


async def test_a_stop_goes_on_answering_until_nobody_asks(folder: Path) -> None:
    """Each answer says that its connection ends; not one request is lost with a connection."""
    failed: list[str] = []
    kept: list[bool] = []
    ended = asyncio.Event()

    async def load(run: Running) -> None:
        async with run.session(kept=True) as session:
            while not ended.is_set():
                try:
                    sent = await run.post(session, review(secret()))
                    assert given("true") == sent.labels
                    kept.append(sent.kept)
                except (aiohttp.ClientError, OSError, AssertionError) as error:
                    failed.append(repr(error))

    async with running(folder) as run:
        jobs = [asyncio.create_task(load(run)) for _ in range(4)]
        await until(lambda: len(kept) >= 20)
        before = len(kept)
        run.manager.stop()
        await until(lambda: len(kept) >= before + 40)
        ended.set()
        await asyncio.gather(*jobs)

        assert [] == failed
        assert all(kept[:before])
        assert not any(kept[before + len(jobs) :])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        pytest.param(pair("other.default.svc"), "is not for", id="another-name"),
        pytest.param(pair(after=datetime(2021, 1, 1, tzinfo=UTC)), "has expired", id="expired"),
        pytest.param(pair(before=datetime(2049, 1, 1, tzinfo=UTC)), "not valid yet", id="not-yet"),
        pytest.param(replace(pair(), key=pair().key), "of another certificate", id="another-key"),
        pytest.param(replace(pair(), certificate=b"text"), "no certificate", id="no-pem"),
        pytest.param(replace(pair(), key=KEY[:60]), "of another certificate", id="cut-key"),
    ],
)
async def test_a_pair_that_cannot_serve_is_left(folder: Path, wrong: Pair, why: str) -> None:
    """The old pair goes on, and a line says what is wrong with the new one."""
    async with running(folder) as run:
        before = await serial(run)
        put(folder, wrong)
        await until(lambda: run.lines.all("certificate not taken"))
        said = [one["said"] for one in run.lines.all("certificate not taken")]

        assert why in said[-1]
        assert "BEGIN" not in said[-1]
        assert before == await serial(run)
        assert given("true") == (await run.ask(secret())).labels
        assert (await run.page("health", "/readyz"))[0] == 200


async def test_without_a_certificate_it_is_not_ready(tmp_path: Path) -> None:
    """It starts all the same, and serves as soon as there is one."""
    folder = tmp_path / "tls"
    folder.mkdir()
    async with running(folder, ready=False) as run:
        code, text = await run.page("health", "/readyz")
        assert 500 == code
        assert "no serving certificate" in text
        with pytest.raises(aiohttp.ClientError):
            await run.ask(secret())

        put(folder, pair())
        await run.until_ready()
        assert given("true") == (await run.ask(secret())).labels


@pytest.mark.slow
async def test_a_certificate_that_expires_while_it_serves_is_told(tmp_path: Path) -> None:
    """Nobody can be answered any more, so nobody is to be sent there."""
    put(tmp_path / "tls", pair(after=soon(3)))
    async with running(tmp_path / "tls") as run:

        async def is_unready() -> bool:
            return (await run.page("health", "/readyz"))[0] != 200

        await eventually(is_unready)
        assert "has expired" in (await run.page("health", "/readyz"))[1]
        assert 0 < await run.figure("roadstead_webhook_certificate_expiry_timestamp_seconds")


def test_an_encrypted_key_asks_nobody_for_a_password(tmp_path: Path) -> None:
    """A prompt on a terminal would stop the process."""
    made = pair()
    sealed = serialization.load_pem_private_key(made.key, None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"word"),
    )
    put(tmp_path, replace(made, key=sealed))
    serving = Serving(tmp_path, HOST, LiveClock().wall)

    serving.look()

    assert "unreadable" in serving.wrong


@pytest.mark.parametrize(
    ("name", "covered"),
    [("*.default.svc", True), ("*.svc", False), (HOST.upper(), True), ("default.svc", False)],
)
def test_a_wildcard_of_a_certificate_covers_one_label(
    tmp_path: Path, name: str, covered: bool
) -> None:
    """As clients read it."""
    put(tmp_path, pair(name))
    serving = Serving(tmp_path, HOST, LiveClock().wall)

    serving.look()

    assert covered is (serving.wrong == "")


# what is started


def test_admission_without_a_certificate_is_an_error_of_the_flags(tmp_path: Path) -> None:
    """Named, it must be answerable; left out, everything else runs."""
    with pytest.raises(InputError, match="without a certificate"):
        served(RunOptions(only=("lineage",)))
    assert () == served(RunOptions())[1]
    assert (LINEAGE,) == served(RunOptions(webhook_cert_dir=tmp_path))[1]
    assert () == served(RunOptions(only=("lineage",), read_only=True))[1]


def test_whoever_only_answers_leads_nothing(tmp_path: Path) -> None:
    """Two replicas answer at once: the webhook has no lease. Source: cli.md, 2.3."""
    options = RunOptions(only=("lineage",), webhook_cert_dir=tmp_path, leader_elect=True)
    controllers, admissions = served(options)
    made = Manager(
        options,
        controllers,
        Config(server="http://127.0.0.1:1"),
        admissions=admissions,
        log=Lines().log,
        clock=LiveClock(),
        dropped=lambda: 0,
    )

    assert made.lease is None
