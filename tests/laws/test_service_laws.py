"""Laws of reading and judging definitions: order says nothing, and nothing raises."""

import copy
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roadstead.capabilities.services.api.fields import DEFINITION
from roadstead.capabilities.services.api.setting import Setting
from roadstead.capabilities.services.decide import judged
from roadstead.capabilities.services.reading.catalog import CatalogRead, read_catalog
from roadstead.capabilities.services.reading.texts import Text
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.documents import dump
from services_base import BASE, PLATFORM

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SETTINGS = [
    (name, part)
    for name, part in DEFINITION.fields.items()
    if name not in {"name", "source", "schemaVersion"}
]


def a_value(one: Setting) -> st.SearchStrategy[Any]:
    """A value that is often right for a field, and sometimes of another kind."""
    return st.one_of(*(_right(each) for each in (one, *one.either)), JSON)


def _right(one: Setting) -> st.SearchStrategy[Any]:
    if one.choices:
        return st.sampled_from(one.choices)
    return {"array": _list, "object": _mapping}.get(one.type, _scalar)(one)


def _scalar(one: Setting) -> st.SearchStrategy[Any]:
    if one.type == "integer":
        return st.integers((one.least or 0) - 1, min(one.most or 9, 70_000) + 1)
    if one.type == "boolean":
        return st.booleans()
    return st.sampled_from(["a", "/a", "gitea", "10m", "1Gi", "~1.2", "10.0.0.0/8", ""]) | st.text()


def _list(one: Setting) -> st.SearchStrategy[Any]:
    return st.lists(a_value(one.items) if one.items else JSON, max_size=3)


def _mapping(one: Setting) -> st.SearchStrategy[Any]:
    if one.values is not None:
        return st.dictionaries(st.text(max_size=5), a_value(one.values), max_size=3)
    parts = {name: a_value(part) for name, part in one.fields.items()}
    return st.fixed_dictionaries({}, optional=parts)


DEFINITIONS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["app", "gitea", "wiki", "kube-x"]),
        "source": a_value(DEFINITION.fields["source"]),
    },
    optional={name: a_value(part) for name, part in SETTINGS},
)


def judge(*definitions: dict[str, Any]) -> CatalogRead:
    """Read and judge definitions beside the examples on their platform; nothing may raise."""
    named = [Text(f"{number}.yaml", dump([one]).encode()) for number, one in enumerate(definitions)]
    read = read_catalog(named, Text("platform.yaml", PLATFORM.read_bytes()))
    assert read.catalog is not None
    seen = [Snapshot(one, read.catalog, secrets={}) for one in read.catalog.everyone]
    for one in judged(read.catalog, seen, read.findings):
        assert one.place.line >= 1
        assert "\n" not in one.line
    return read


@given(DEFINITIONS)
def test_no_definition_makes_a_rule_raise(definition: dict[str, Any]) -> None:
    """Total: whatever is written, it is read or refused, and each rule answers."""
    judge(definition, *map(dict, BASE.definitions.values()))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_file_makes_the_reader_raise(data: bytes) -> None:
    """Bytes of any kind are a definition, or a finding."""
    read = read_catalog([Text("a.yaml", data)], Text("platform.yaml", data))

    assert read.findings
    assert read.catalog is None


SETS = [
    ("dependencies",),
    ("inClusterClients",),
    ("storage",),
    ("ingressRoutes",),
    ("ports",),
    ("directPorts",),
    ("lanEgress",),
    ("secrets",),
    ("auth", "groups"),
    ("observability", "slis"),
]
FULL: dict[str, Any] = {
    "name": "app",
    "source": {"image": "docker.io/library/app:1.2.3"},
    "dependencies": [{"to": "gitea", "port": 3000}, {"to": "postgres-main", "port": 5432}],
    "inClusterClients": [
        {"namespace": "flux-system", "port": 80},
        {"namespace": "monitoring", "port": 81},
    ],
    "storage": [{"name": "b", "size": "1Gi"}, {"name": "a", "size": "2Gi"}],
    "ingressRoutes": [
        {"host": "b.home.example.net", "port": 80},
        {"host": "a.home.example.net", "port": 81},
    ],
    "ports": [{"port": 81}, {"port": 80}],
    "directPorts": [{"port": 25565}, {"port": 53, "protocol": "UDP"}],
    "lanEgress": [{"cidr": "10.0.0.9/32", "port": 1}, {"cidr": "10.0.0.1/32", "port": 1}],
    "secrets": [{"name": "b", "keys": ["z", "a"]}, {"name": "a", "keys": ["k"]}],
    "auth": {"mode": "oidc", "groups": ["b", "a"]},
    "observability": {"slis": ["up", "storage", {"name": "slow", "expr": "x > 1"}]},
}


@pytest.mark.parametrize("path", SETS, ids=[".".join(path) for path in SETS])
def test_the_order_of_a_set_says_nothing(path: tuple[str, ...]) -> None:
    """5.1, 2: the model of a definition is the same whatever order the file has."""
    other = copy.deepcopy(FULL)
    listed = other
    for step in path[:-1]:
        listed = listed[step]
    listed[path[-1]] = list(reversed(listed[path[-1]]))
    first, second = judge(FULL), judge(other)

    assert first.catalog is not None
    assert second.catalog is not None
    assert first.catalog.services == second.catalog.services


def test_the_order_of_files_says_nothing() -> None:
    """5.1, 2: nor does the order in which definitions are read."""
    bodies = [dict(one) for one in BASE.definitions.values()]
    shuffled = random.Random(3).sample(bodies, len(bodies))  # noqa: S311 - an order, no secret
    first, second = judge(*bodies), judge(*shuffled)

    assert first.catalog is not None
    assert second.catalog is not None
    assert first.catalog.services == second.catalog.services
    assert [one.name for one in first.catalog.services] == sorted(BASE.definitions)


def test_every_list_of_the_contract_is_a_set() -> None:
    """The schema's marks and the contract's list of sets agree."""
    marked = {(name,) for name, part in DEFINITION.fields.items() if part.is_set} | {
        (outer, name)
        for outer, part in DEFINITION.fields.items()
        for name, inner in part.fields.items()
        if inner.is_set
    }

    assert {*SETS, ("auth", "redirectPaths"), ("auth", "skipPaths")} == marked
