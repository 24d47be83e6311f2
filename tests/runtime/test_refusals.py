"""What of a refusal is kept, what may be quoted, and what never is."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from faults import Faults, answer, error, refuse, stream
from parts import CANARY, MAPS, SECRETS
from roadstead.errors import ClusterError
from roadstead.kube.refs import CONFIG_MAP, SECRET, Kind
from roadstead.runtime.client import Client
from roadstead.runtime.refusals import MESSAGE_LENGTH, SAID_LENGTH, one_line, unserved

QUOTA = (
    'services "app" is forbidden: exceeded quota: tenant, requested: services.loadbalancers=1, '
    "used: services.loadbalancers=2, limited: services.loadbalancers=2"
)
DENIED = f'admission webhook "v.example.org" denied the request: exceeded quota: {CANARY}'


@pytest.fixture
async def server() -> AsyncIterator[Faults]:
    """Run a server with Secrets and ConfigMaps."""
    async with Faults() as running:
        running.serve(SECRET)
        running.serve(CONFIG_MAP)
        yield running


@pytest.fixture
async def client(server: Faults) -> AsyncIterator[Client]:
    """Give a client of it."""
    async with server.client() as made:
        yield made


async def written(
    server: Faults, client: Client, refusal: Any, kind: Kind = CONFIG_MAP
) -> ClusterError:
    """Give the error that a refused write becomes."""
    server.next("create", refusal)
    body = {"apiVersion": "v1", "kind": kind.kind, "metadata": {"name": "a", "namespace": "ns"}}
    with pytest.raises(ClusterError) as caught:
        await client.create(kind, body)
    return caught.value


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        pytest.param(refuse(403, "Forbidden", "no"), "Forbidden", id="reason"),
        pytest.param(answer(b"<html>", 502), "BadGateway", id="no-status"),
        pytest.param(
            refuse(
                422,
                "Invalid",
                CANARY,
                causes=(("spec.x", "must be odd"), ("", "and short"), ("spec.x", "must be odd")),
            ),
            "Invalid: spec.x: must be odd; and short",
            id="causes",
        ),
        pytest.param(
            refuse(403, "Forbidden", QUOTA),
            f"Forbidden: {QUOTA[QUOTA.index('exceeded') :]}",
            id="quota",
        ),
        pytest.param(refuse(403, "Forbidden", DENIED), "Forbidden", id="webhook-says-quota"),
        pytest.param(refuse(500, "InternalError", QUOTA), "InternalError", id="no-quota's-code"),
        pytest.param(refuse(403, CANARY, CANARY), "Forbidden", id="sentence-as-reason"),
        pytest.param(
            refuse(422, "Invalid", causes=(("spec.x\n\x1b[31m", "red\u202e\x00\ttext"),)),
            "Invalid: spec.x [31m: red text",
            id="control-characters",
        ),
    ],
)
async def test_only_reason_causes_and_quota_may_be_quoted(
    server: Faults, client: Client, refusal: Any, said: str
) -> None:
    """The rest may name what is a stranger's; a terminal or a condition gets plain text."""
    assert said == (await written(server, client, refusal)).said


@pytest.mark.parametrize(
    "refusal",
    [
        refuse(422, "Invalid", CANARY, causes=(("data.x", f"bad value {CANARY}"),)),
        refuse(403, "Forbidden", f"exceeded quota: {CANARY}"),
        refuse(422, CANARY, CANARY, causes=(CANARY,)),
    ],
    ids=["causes", "quota", "everywhere"],
)
async def test_of_a_secret_nothing_but_the_reason_is_kept(
    server: Faults, client: Client, refusal: Any
) -> None:
    """A cause quotes the value it finds wrong, whatever word stands before it."""
    caught = await written(server, client, refusal, SECRET)

    assert caught.said == caught.reason
    assert CANARY not in repr(vars(caught)) + str(caught)


async def test_an_error_in_a_watch_of_secrets_is_as_quiet(server: Faults, client: Client) -> None:
    """The stream has its own way to refuse."""
    server.next("watch", *[stream(error(500, "InternalError", f"exceeded quota: {CANARY}"))] * 2)
    caught = []
    for view in (SECRETS, MAPS):
        with pytest.raises(ClusterError) as one:
            await anext(client.watch(view, "1", timeout_seconds=300))
        caught.append(one.value)
    secret, config_map = caught

    assert secret.said == "InternalError"
    assert CANARY not in repr(vars(secret))
    assert CANARY in config_map.message


async def test_the_log_has_the_whole_sentence_in_one_line(server: Faults, client: Client) -> None:
    """Whoever operates us needs what a tenant must not read."""
    caught = await written(server, client, refuse(403, "Forbidden", f"{DENIED}\r\nreally"))

    assert caught.message == f"create ConfigMap ns/a: 403 Forbidden: {DENIED} really"


async def test_what_is_quoted_is_bounded(server: Faults, client: Client) -> None:
    """A condition's message is read by people, and an object has a size."""
    many = tuple((f"spec.f{number}", "x" * 90) for number in range(50))
    caught = await written(server, client, refuse(422, "Invalid", "y" * 5000, causes=many))

    assert len(caught.said) == SAID_LENGTH
    assert caught.said.endswith("…")
    assert len(caught.message) < MESSAGE_LENGTH + 100


def test_a_line_is_one_line() -> None:
    """Short ones are left as they are."""
    assert one_line("plain text", 10) == "plain text"
    assert one_line("a\u2028b\x7f \x85c", 10) == "a b c"
    assert one_line("plain texts", 10) == "plain tex…"


def test_a_kind_that_discovery_leaves_out_reads_like_its_404() -> None:
    """Whatever handles the one handles the other."""
    said = unserved(CONFIG_MAP)

    assert (said.status, said.reason, said.not_found) == (404, "NotServed", True)
    assert said.message == "configmaps is not served at v1"
