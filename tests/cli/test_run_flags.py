"""What `run` is told about attachments: by flag, by file, and which of the two wins."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cli_command import run
from roadstead.capabilities import CONTROLLERS
from roadstead.errors import InputError
from roadstead.runtime.options import RunOptions, chosen
from roadstead.runtime.page import Maker
from roadstead.settings import Settings
from roadstead.sim.flags import settings_of

Told = Callable[..., Settings]
ALL = {
    "cozyProxyContractImplemented": True,
    "endpointAttachmentAllocateNodePorts": True,
    "attachmentTenantClasses": ["internal", "public"],
    "kstatusConditions": False,
}
STATED = Settings(
    cozy_proxy_contract_implemented=True,
    endpoint_attachment_allocate_node_ports=True,
    attachment_tenant_classes=frozenset({"internal", "public"}),
    kstatus_conditions=False,
)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Told:
    """Give what `run` would start with, from a settings file and flags."""
    started: list[RunOptions] = []

    async def start(options: RunOptions, _pages: Maker | None) -> int:
        started.append(options)
        return 0

    monkeypatch.setattr(importlib.import_module("roadstead.cli.run"), "run_manager", start)

    def ask(*flags: str, **file: object) -> Settings:
        path = tmp_path / "settings.yaml"
        path.write_text(yaml.safe_dump(file), encoding="utf-8")
        ran = run("run", "--settings", str(path), *flags)
        assert (0, "", "") == (ran.code, ran.out, ran.err)
        return started[-1].settings

    return ask


def test_nothing_is_declared_by_itself(told: Told) -> None:
    """No datapath, no node ports, every class, and conditions for kstatus."""
    assert Settings() == told()
    assert (False, False, frozenset(), True) == (
        Settings().cozy_proxy_contract_implemented,
        Settings().endpoint_attachment_allocate_node_ports,
        Settings().attachment_tenant_classes,
        Settings().kstatus_conditions,
    )


def test_each_flag_sets_its_field(told: Told) -> None:
    """By the names of the contract. Source: endpoint-attachments 8.3."""
    assert STATED == told(
        "--cozy-proxy-contract-implemented",
        "--endpoint-attachment-allocate-node-ports",
        "--attachment-tenant-classes=public, internal",
        "--no-kstatus-conditions",
    )


def test_each_name_in_the_file_sets_its_field(told: Told) -> None:
    """And a case's settings.yaml is read by the same function."""
    assert STATED == told(**ALL)
    assert STATED == settings_of(ALL, Path())
    assert STATED == told(**{**ALL, "attachmentTenantClasses": "public,internal"})


def test_a_flag_wins_over_the_file(told: Told) -> None:
    """In both directions, and an empty list of classes is all of them."""
    assert Settings() == told(
        "--no-cozy-proxy-contract-implemented",
        "--no-endpoint-attachment-allocate-node-ports",
        "--attachment-tenant-classes=",
        "--kstatus-conditions",
        **ALL,
    )


@pytest.mark.parametrize("empty", ["", "  ", []])
def test_an_empty_list_of_classes_offers_all(told: Told, empty: object) -> None:
    """It is no list of one class without a name, which would offer none."""
    assert frozenset() == told(attachmentTenantClasses=empty).attachment_tenant_classes


@pytest.mark.parametrize("holes", [",", "public,", ",public", "public,,internal", [""], [None]])
def test_a_class_without_a_name_is_refused(holes: object) -> None:
    """A list that lost its names in a template must not open every class."""
    with pytest.raises(InputError, match="`attachmentTenantClasses` has an entry without a name"):
        settings_of({"attachmentTenantClasses": holes}, Path())
    if isinstance(holes, str):
        ran = run("run", f"--attachment-tenant-classes={holes}")
        assert (2, "") == (ran.code, ran.out)
        assert "`--attachment-tenant-classes` has an entry without a name" in ran.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cozyProxyContractImplemented", "true"),
        ("cozyProxyContractImplemented", 1),
        ("endpointAttachmentAllocateNodePorts", "false"),
        ("endpointAttachmentAllocateNodePorts", None),
        ("kstatusConditions", "no"),
        ("attachmentTenantClasses", {"public": True}),
        ("attachmentTenantClasses", 1),
        ("attachmentTenantClasses", None),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: object) -> None:
    """A text that says `false` is not taken for true."""
    with pytest.raises(InputError, match=f"`{name}`"):
        settings_of({name: value}, Path())


def test_all_capabilities_run_unless_some_are_named() -> None:
    """And a name that nobody has ends the start."""
    every = ["anchors", "attachments", "gateways", "refresher", "wildcards"]

    assert every == [one.name for one in chosen(CONTROLLERS, ())]
    assert ["attachments"] == [one.name for one in chosen(CONTROLLERS, ["attachments"])]
    with pytest.raises(InputError, match="no capability `attachment`"):
        chosen(CONTROLLERS, ["attachment"])
