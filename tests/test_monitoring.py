"""Alerts and dashboard: each alert has a runbook, each panel its place."""

from itertools import combinations
from typing import Any
from urllib.parse import urlsplit

import pytest

from roadstead.deploy.monitoring import ALERTS, dashboard, rules_file
from test_docs import PAGES, slugs

UNITS = {"short", "s", "ops", "reqps", "bytes"}
RUNBOOKS = "docs/guides/runbooks.md"
PANELS: list[dict[str, Any]] = dashboard()["panels"]


@pytest.mark.parametrize("alert", ALERTS, ids=[one.name for one in ALERTS])
def test_every_alert_has_a_runbook(alert: Any) -> None:
    """Whoever is called at night lands on the section of its name, with a command to type."""
    (rule,) = (one for one in rules_file()["groups"][0]["rules"] if one["alert"] == alert.name)
    url = urlsplit(rule["annotations"]["runbook_url"])

    assert f"/{RUNBOOKS.removeprefix('docs/').removesuffix('.md')}.html" == url.path
    assert url.fragment in slugs(PAGES[RUNBOOKS])
    section = PAGES[RUNBOOKS].split(f"\n## {alert.name}\n")[1].split("\n## ")[0]
    assert "```" in section or "`roadstead " in section or "`kubectl " in section


def test_no_runbook_is_of_an_alert_that_does_not_exist() -> None:
    """A page that is never reached is never kept up."""
    named = {line[3:] for line in PAGES[RUNBOOKS].splitlines() if line.startswith("## Roadstead")}

    assert {one.name for one in ALERTS} == named


def test_an_alert_is_told_by_its_severity_and_in_sentences() -> None:
    """Two severities: one wakes somebody, the other waits for the morning."""
    assert {"warning", "critical"} == {one.severity for one in ALERTS}
    assert [] == [one.name for one in ALERTS if not one.summary.endswith(".")]
    assert [] == [one.name for one in ALERTS if not one.says.endswith(".")]


def test_every_panel_is_told_apart_and_says_what_it_shows() -> None:
    """Ids and titles are its names; a unit that Grafana does not know shows bare numbers."""
    charts = [one for one in PANELS if one["type"] != "row"]
    numbers = [one["id"] for one in PANELS]

    assert len(numbers) == len(set(numbers))
    assert [] == [one["title"] for one in charts if not one["description"].endswith(".")]
    assert {one["fieldConfig"]["defaults"]["unit"] for one in charts} <= UNITS
    assert [] == [one["title"] for one in charts if not one["targets"]]
    for one in charts:
        sources = [one["datasource"], *(target["datasource"] for target in one["targets"])]
        assert {"${datasource}"} == {source["uid"] for source in sources}
        ids = [target["refId"] for target in one["targets"]]
        assert len(ids) == len(set(ids))
    (variable,) = dashboard()["templating"]["list"]
    assert "datasource" == variable["name"]


def test_no_panel_lies_over_another_or_beside_the_page() -> None:
    """Grafana would move it, and every save would change the file."""
    for one in PANELS:
        place = one["gridPos"]
        assert place["x"] + place["w"] <= 24, one["title"]
    for one, other in combinations(PANELS, 2):
        a, b = one["gridPos"], other["gridPos"]
        apart = (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
        assert apart, (one["title"], other["title"])
