"""What `why` says of a Secret's visibility: the webhook's own rules, with the caller's rights."""

from pathlib import Path

import pytest
import yaml

from cli_command import run
from lineage_objects import (
    HELM,
    Json,
    data,
    definition,
    given,
    namespace,
    release,
    secret,
)
from roadstead.capabilities.anchors.api import TENANT_CA
from roadstead.capabilities.lineage import api

CANARY = "canary-8c21"
ALL: Json = {"include": [{}]}


def why(folder: Path, one: Json, *definitions: Json, only: str = "anchors") -> tuple[int, str]:
    """Ask about the Secret `s` of these files."""
    file, settings = folder / "world.yaml", folder / "settings.yaml"
    file.write_text(yaml.safe_dump_all([namespace(), *definitions, release(), one]))
    settings.write_text(f"capabilities: [{only}]\n")
    ran = run("why", "secret/s", "-n", "tenant-demo", "-f", str(file), "--settings", str(settings))
    assert CANARY not in ran.out + ran.err
    return ran.code, ran.out


@pytest.mark.parametrize(
    ("one", "spec", "said"),
    [
        pytest.param(secret(), ALL, ("visible to the tenant", "ok    selected"), id="visible"),
        pytest.param(
            secret(),
            {"include": []},
            ("hidden from the tenant", "no    selected-by-application", "NotSelected"),
            id="not-selected",
        ),
        pytest.param(
            secret(), {**ALL, "exclude": [{}]}, ("hidden", "no    not-excluded"), id="excluded"
        ),
        pytest.param(
            secret(labels={**HELM, TENANT_CA: "true"}, data=data(k=CANARY)),
            ALL,
            ("hidden", "no    anchor-holds-certificates-alone", "AnchorGuarded"),
            id="guarded",
        ),
        pytest.param(
            secret(labels={**HELM, **given("true")}),
            {"include": []},
            ("hidden", "carries the verdict `true` of an earlier look"),
            id="stale",
        ),
        pytest.param(
            secret(labels={api.TENANT_RESOURCE: "true"}, data=data(k=CANARY)),
            {"include": []},
            ("no application owns it", "visible to the tenant"),
            id="unowned",
        ),
    ],
)
def test_the_verdict_is_told_with_the_rule(
    tmp_path: Path, one: Json, spec: Json, said: tuple[str, ...]
) -> None:
    """Whoever misses a Secret reads which entry of which definition hides it."""
    code, text = why(tmp_path, one, definition(secrets=spec))

    assert 0 == code
    assert [] == [part for part in said if part not in text]


def test_what_the_tenant_reads_of_a_reason() -> None:
    """Each word of a trail has a page."""
    for name in ("NotSelected", "Excluded", "AnchorGuarded", "Unowned", "VerdictStale"):
        assert run("docs", name).code == 0
