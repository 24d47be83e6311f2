"""A plan against what is there knows what was minted there, under whatever name."""

import copy
import re
from pathlib import Path

import yaml

from cli_command import run
from roadstead.capabilities.attachments import api
from roadstead.explain.world import play
from roadstead.kube.refs import EVENT
from roadstead.settings import Settings
from stories import NOW

WORLD = Path(__file__).parent.parent / "cli" / "worlds" / "attachments.yaml"


def settled(folder: Path, *, edit: str = "") -> Path:
    """The objects of a cluster in which the world has settled, its minted names other ones."""
    played = play([str(WORLD)], Settings(), NOW, lambda: b"")
    left_out = {EVENT, api.ADDRESS}  # what happened, and what is the substrate's alone
    every = [seen for seen in played.world.store.all() if seen.kind not in left_out]
    there = [copy.deepcopy(seen.body) for seen in every]
    text = yaml.safe_dump_all(there)
    for seen in every:
        prefix = seen.body["metadata"].get("generateName")
        if prefix:
            text = text.replace(seen.meta.name, f"{prefix}{'x' * 4}{len(seen.kind.kind) % 10}")
            text = text.replace(seen.meta.uid, f"live-{seen.kind.plural}")
    text = text.replace("port: 5432", edit or "port: 5432")
    file = folder / "there" / "there.yaml"
    file.parent.mkdir()
    file.write_text(text.replace("clusterIP: 10.", "clusterIP: 172."))
    return file.parent


def test_what_is_there_is_no_change(tmp_path: Path) -> None:
    """A pipeline that asks for changes must get none from another uid."""
    there = settled(tmp_path)
    flags = ("--against", str(there), "--exit-code", "--fail-on", "never")
    ran = run("plan", "-f", str(WORLD), *flags)
    assert "0 to create, 0 to change" in ran.out
    assert ran.code == 0, ran.out


def test_what_differs_is_shown_under_the_name_it_has_there(tmp_path: Path) -> None:
    """A person looks for the object that is there."""
    there = settled(tmp_path, edit="port: 15432")
    flags = ("--against", str(there), "--exit-code", "--fail-on", "never")
    ran = run("plan", "-f", str(WORLD), *flags)
    assert re.search(r"~  Service +tenant-blue/shop-db-xxxx7 .*LoadBalancer 5432", ran.out)
    assert ran.code == 1
