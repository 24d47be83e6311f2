"""EndpointAttachment in the offline world: every row of the matrix, as on the API server.

Where words are compared whole, they were read off Kubernetes' API server 1.36.
Source: endpoint-attachments 1.6 and 1.7.
"""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from attachment_admission import CREATES, ROWS, UPDATES, Row, attachment, misread
from roadstead.capabilities.attachments.api.fields import ENDPOINT_ATTACHMENT
from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.errors import ClusterError, InputError
from roadstead.explain.world import UnreadableWorldError, play
from roadstead.kube.schema import definition_of
from roadstead.settings import Settings
from roadstead.sim.admission import rules
from roadstead.sim.load import Placed, load_text
from roadstead.sim.offline import Offline
from roadstead.sim.requests import By
from roadstead.sim.world import World

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NS = "tenant-blue"
REF = ATTACHMENT.ref(NS, "a")
HEAD = 'EndpointAttachment.local.sdn.cozystack.io "a" is invalid: '
NOTE = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was "
    "invalid; correct the existing errors to complete validation"
)
CONTRACT = Path(__file__).parent.parent / "data" / "endpointattachments.yaml"


def refused(row: Row) -> ClusterError | None:
    """What the world answers to a row; None when it is admitted."""
    at = World(NOW)
    try:
        if row.old is not None:
            at.create(ATTACHMENT, row.old, By.OTHER)
            at.replace(ATTACHMENT, over(at, row.new), By.OTHER)
        else:
            at.create(ATTACHMENT, row.new, By.OTHER)
    except ClusterError as error:
        return error
    return None


def over(at: World, body: Mapping[str, Any]) -> dict[str, Any]:
    """A whole object as it is sent over the one that is there."""
    there = at.store.get(REF)
    assert there is not None
    version = there.meta.resource_version
    return {**body, "metadata": {**body["metadata"], "resourceVersion": version}}


def holding(body: Mapping[str, Any]) -> World:
    """A world with one attachment."""
    at = World(NOW)
    at.create(ATTACHMENT, body, By.OTHER)
    return at


def spec_in(at: World) -> dict[str, Any]:
    """Its spec, as it is stored."""
    there = at.store.get(REF)
    assert there is not None
    spec: dict[str, Any] = there.body["spec"]
    return spec


def test_the_matrix_is_whole() -> None:
    """No row of the contract was left out."""
    assert [f"C{number:02}" for number in range(1, 60)] == [row.id for row in CREATES]
    assert [f"U{number:02}" for number in range(1, 30)] == [row.id for row in UPDATES]


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_row_of_the_matrix(row: Row) -> None:
    """What `plan` lets through, the server does, and it refuses in the server's words."""
    error = refused(row)

    assert (422 if row.problems else 0) == (error.status if error else 0)
    assert [] == (misread(error.message, row.problems) if error else [])


def stripped(schema: Any) -> Any:
    """A schema without what is only there to be read."""
    if isinstance(schema, list):
        return [stripped(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: stripped(one)
        for name, one in schema.items()
        if not (name == "description" and isinstance(one, str))
    }


def test_the_definition_is_the_contracts() -> None:
    """Nothing but descriptions and columns of `-o wide` was added to it."""
    made = stripped(definition_of(ENDPOINT_ATTACHMENT))
    (version,) = made["spec"]["versions"]
    columns = version["additionalPrinterColumns"]
    version["additionalPrinterColumns"] = [one for one in columns if not one.get("priority")]
    wide = [one["name"] for one in columns if one.get("priority")]

    assert yaml.safe_load(CONTRACT.read_text(encoding="utf-8")) == made
    assert ["Reason", "Claim", "Service", "Class"] == wide


def undescribed(schema: Mapping[str, Any], path: str = "") -> list[str]:
    """The fields that `kubectl explain` would say nothing of."""
    found = [] if schema.get("description") else [path]
    for name, below in (schema.get("properties") or {}).items():
        found += undescribed(below, f"{path}.{name}")
    return found + (undescribed(schema["items"], f"{path}[]") if "items" in schema else [])


def test_every_field_says_what_it_is() -> None:
    """Nobody has to guess; the server alone describes metadata."""
    (version,) = definition_of(ENDPOINT_ATTACHMENT)["spec"]["versions"]

    assert [".metadata"] == undescribed(version["schema"]["openAPIV3Schema"])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(
            attachment({"ports": [80, 80, 80], "family": "x", "className": "A"}, applicationRef={}),
            "[spec.applicationRef.kind: Required value, spec.applicationRef.name: Required value,"
            ' spec.loadBalancer.className: Invalid value: "A": spec.loadBalancer.className in body'
            r" should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',"
            ' spec.loadBalancer.family: Unsupported value: "x": supported values: "IPv4", "IPv6",'
            ' "Dual", spec.loadBalancer.ports[1]: Duplicate value: 80, ' + NOTE + "]",
            id="every-problem-at-once",
        ),
        pytest.param(
            attachment([]),
            '[spec.loadBalancer: Invalid value: "array": spec.loadBalancer in body must be of type'
            ' object: "array", ' + NOTE + "]",
            id="a-list-for-an-object",
        ),
        pytest.param(
            attachment({"ports": [None]}),
            '[spec.loadBalancer.ports[0]: Invalid value: "null": spec.loadBalancer.ports[0] in'
            ' body must be of type integer,string: "null", ' + NOTE + "]",
            id="a-null-in-a-list-stays",
        ),
        pytest.param(
            attachment({"ports": ["53/UDP" * 3]}),
            "[spec.loadBalancer.ports[0]: Too long: may not be more than 10 bytes, " + NOTE + "]",
            id="a-port-that-is-too-long",
        ),
        pytest.param(
            attachment({"className": "public", "claimName": "held", "allowICMP": True}),
            "[spec.loadBalancer: Invalid value: className and claimName are mutually exclusive,"
            " spec.loadBalancer: Invalid value: allowICMP only applies to method PortList]",
            id="two-rules",
        ),
        pytest.param(
            attachment({"className": "public\n"}),
            'spec.loadBalancer.className: Invalid value: "public\\n": spec.loadBalancer.className'
            r" in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*"
            "[a-z0-9])?)*$'",
            id="a-line-break-is-no-end",
        ),
    ],
)
def test_a_refusal_is_put_as_the_server_puts_it(body: dict[str, Any], says: str) -> None:
    """Whoever has met it once knows it again."""
    error = refused(Row("", body))

    assert error is not None
    assert (HEAD + says, "Invalid") == (error.message, error.reason)


def test_a_rule_of_a_change_is_asked_with_what_else_is_wrong() -> None:
    """A pattern that is broken does not hide that the field is frozen."""
    error = refused(Row("", attachment({"className": "A"}), (), attachment({})))

    assert error is not None
    assert error.message.endswith(", spec.loadBalancer: Invalid value: className is immutable]")
    assert "FieldValueInvalid" == error.cause
    assert error.said.startswith("Invalid: spec.loadBalancer.className: ")


def test_what_is_read_is_pruned_and_defaulted() -> None:
    """What `plan` shows is what would be stored."""
    at = holding(
        attachment(
            {"ports": [1.0], "family": None, "port": 7},
            gateway={},
            applicationRef={"kind": "Postgres", "name": "db", "group": None},
        )
    )

    assert {
        "applicationRef": {"kind": "Postgres", "name": "db", "group": "apps.cozystack.io"},
        "endpoint": {"serviceName": "postgres-db-rw"},
        "loadBalancer": {"ports": [1]},
    } == spec_in(at)


def test_a_field_that_will_be_gone_is_warned_of() -> None:
    """Nobody takes a misspelt field for one that was heard, not even in a refusal."""
    stage = Offline(World(NOW), (), Settings())
    body = attachment({"claimname": None, "ports": [{"port": 80}]}, gateway={"x": 1}) | {"top": 1}
    refused = stage.apply(REF, body)
    stage.apply(REF, attachment({}))
    patched = stage.patch(REF, {"spec": {"gateway": {}}})
    removed = stage.patch(REF, {"spec": {"gateway": None}})

    assert 422 == refused.code
    assert (
        'unknown field "spec.gateway"',
        'unknown field "spec.loadBalancer.claimname"',
        'unknown field "spec.loadBalancer.ports[0].port"',
        'unknown field "top"',
    ) == refused.warnings
    assert (('unknown field "spec.gateway"',), ()) == (patched.warnings, removed.warnings)


def test_status_is_written_through_its_subresource_alone() -> None:
    """A status sent with a new object is dropped, and a status write changes no spec."""
    at = holding(attachment({}) | {"status": {"phase": "Nope"}})
    before = spec_in(at)
    sent = over(at, attachment({"ports": [0]})) | {"status": {"phase": "Pending", "extra": 1}}
    after = at.replace(ATTACHMENT, sent, By.US, status=True)

    assert (before, {"phase": "Pending"}) == (spec_in(at), after.body["status"])
    assert 1 == after.body["metadata"]["generation"]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        pytest.param(
            {"phase": "Nope"},
            'status.phase: Unsupported value: "Nope": supported values: "Pending", "Attached",'
            ' "Detached"',
            id="phase",
        ),
        pytest.param(
            {"conditions": [{"type": "Ready", "status": "True", "reason": "A", "message": "m"}]},
            "status.conditions[0].lastTransitionTime: Required value",
            id="condition",
        ),
        pytest.param(
            {"observedGeneration": "1"},
            'status.observedGeneration: Invalid value: "string"',
            id="generation",
        ),
    ],
)
def test_a_status_must_fit_too(status: dict[str, Any], says: str) -> None:
    """A status of ours that the server would refuse is refused in a case."""
    at = holding(attachment({}))
    with pytest.raises(ClusterError) as failed:
        at.merge(REF, {"status": status}, By.OTHER)

    assert f"{HEAD}[{says}" in failed.value.message


def test_a_condition_stands_once() -> None:
    """The list is a map by type."""
    at = holding(attachment({}))
    ready = {"type": "Ready", "status": "True", "reason": "A", "message": "m"}
    dated = ready | {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    with pytest.raises(ClusterError) as failed:
        at.merge(REF, {"status": {"conditions": [dated, dated]}}, By.OTHER)

    assert HEAD + 'status.conditions[1]: Duplicate value: {"type":"Ready"}' == failed.value.message


def test_a_patch_is_reviewed_as_it_comes_out() -> None:
    """A default that is patched away comes back, and a frozen field stays."""
    at = holding(attachment({"className": "public"}))
    at.merge(REF, {"spec": {"applicationRef": {"group": None}, "gateway": {}}}, By.OTHER)
    there = at.store.get(REF)
    stage = Offline(at, (), Settings())
    answer = stage.patch(REF, {"spec": {"loadBalancer": {"className": None}}})

    assert there is not None
    assert 1 == there.body["metadata"]["generation"]
    expected = (422, f"{HEAD}spec.loadBalancer: Invalid value: className is immutable")
    assert expected == (answer.code, answer.message)


def placed(body: Mapping[str, Any]) -> Placed:
    """An object as a file states it."""
    (one,) = load_text(yaml.safe_dump(dict(body)), "world.yaml", World(NOW).kinds, NOW).objects
    return one


def test_the_world_of_a_case_is_reviewed() -> None:
    """A case cannot start from what no server would store, and starts with the defaults."""
    stage = Offline(World(NOW), (), Settings())
    stage.seed(placed(attachment({}) | {"status": {"phase": "Attached"}}))

    assert "apps.cozystack.io" == spec_in(stage.world)["applicationRef"]["group"]
    with pytest.raises(ClusterError, match="exactly one attachment mechanism"):
        Offline(World(NOW), (), Settings()).seed(placed(attachment(None)))


def test_a_file_that_the_server_would_refuse_is_named(tmp_path: Path) -> None:
    """`plan` says where it stands."""
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump(attachment(None)), encoding="utf-8")
    with pytest.raises(UnreadableWorldError) as failed:
        play([str(file)], Settings(), NOW, bytes)

    assert f"{file}:1:1" == failed.value.place
    assert f"{HEAD}spec: Invalid value: exactly one attachment mechanism must be set" == (
        failed.value.message
    )


def test_other_kinds_and_versions_pass_untouched() -> None:
    """Nobody knows their schema here."""
    at = World(NOW)
    kind = ATTACHMENT._replace(version="v1beta1")
    body = attachment({"ports": None}) | {"apiVersion": kind.api_version}

    assert body["spec"] == at.create(kind, body, By.OTHER).body["spec"]


def test_without_the_library_the_answer_is_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An install without the extra says so, instead of letting through what breaks a rule."""
    rules._environment.cache_clear()
    rules._compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    with pytest.raises(InputError) as failed:
        holding(attachment({}))

    assert "install roadstead with its extra `plan`" == failed.value.hint
