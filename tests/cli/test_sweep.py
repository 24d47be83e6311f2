"""Every case of the repository can be planned, listed, explained and drawn without a bug."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from cli_command import run
from roadstead.capabilities.wildcards.api import VALUES

ROUTED = {"TenantGateway", "HTTPRoute", "TLSRoute"}
CASES = sorted((Path(__file__).parent.parent / "cases").glob("*/*/world.yaml"))
pytestmark = pytest.mark.slow


def names(text: str, namespace: str) -> bool:
    """Tell whether a text names a namespace, which would be another tenant's."""
    return re.search(rf"(?<![\w-]){namespace}(?![\w-])", text) is not None


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("world", CASES, ids=lambda world: world.parent.name)
def test_a_case_is_planned_and_explained(world: Path) -> None:
    """Whatever is refused or waits has a trail that says what to do or what will come."""
    flags = ["-f", str(world)]
    settings = world.with_name("settings.yaml")
    if settings.exists():
        flags += ["--settings", str(settings)]
    planned = run("plan", *flags, "-o", "json")
    assert "internal error" not in planned.err
    # The other formats are compared for every command in test_formats.
    assert planned.code == run("plan", *flags).code
    if planned.code == 2:
        assert world.parent.name.endswith("stops-the-start")
        return
    spaces = set(re.findall(r"namespace: ([a-z0-9-]+)", world.read_text()))
    why = cache(lambda *line: run("why", *line))  # several findings may be of one key
    for finding in json.loads(planned.out)["findings"]:
        key = finding["key"]
        line = (f"{key['kind'].lower()}/{key['name']}", "-n", key["namespace"], *flags)
        ran = why(*line)
        assert ran.code == 1, ran.err
        assert finding["reason"] in ran.out
        told = [other for other in spaces - {key["namespace"]} if names(ran.out, other)]
        # The platform's own, and routes beside each other: who may read them all is told of all.
        shared = key["namespace"] == VALUES.namespace or key["kind"] in ROUTED
        assert told == [] or shared
        waiting = finding["verdict"] == "waiting"
        trails = json.loads(why(*line, "-o", "json").out)
        # One object may have several: a route is judged for each of its parents.
        mine = [trail for trail in trails["trails"] if trail["reason"] == finding["reason"]]
        assert mine
        assert all(bool(trail["wakes"]) is waiting for trail in mine)
        assert waiting or all(trail["next"] and "next:" in ran.out for trail in mine)
    listed = run("status", *flags, "-o", "json")
    assert listed.code in {0, 1}, listed.err
    exposed = run("graph", *flags, "-o", "json")
    assert exposed.code == 0, exposed.err
