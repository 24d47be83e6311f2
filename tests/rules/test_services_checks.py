"""Each check of the contract is found by the smallest change, and silent once it is put right."""

import pytest

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.cli.service.check_cases import CheckCase, cases
from services_base import BASE, findings, ids

CASES = [
    pytest.param(one, id=f"{one.check}-{number}") for number, one in enumerate(cases(), start=1)
]


@pytest.mark.parametrize("case", CASES)
def test_a_check_finds_what_it_is_for(case: CheckCase) -> None:
    """The finding has the check's id, the service, the severity, a place and the words."""
    shown = case.shown_by(case.positive(BASE))

    assert shown
    for word in case.says:
        assert any(word in one.message or word in one.hint for one in shown), shown
    assert all(one.place.file and one.place.line >= 1 for one in shown)


@pytest.mark.parametrize("case", CASES)
def test_a_check_is_silent_once_it_is_put_right(case: CheckCase) -> None:
    """Nothing but what the case is about makes the check speak."""
    assert () == case.shown_by(case.negative(BASE))


@pytest.mark.parametrize("case", CASES)
def test_no_finding_holds_a_value_that_looks_secret(case: CheckCase) -> None:
    """Values of Secrets and of variables are in no message, hint or place."""
    told = "".join(f"{one.line}{one.hint}" for one in case.positive(BASE))

    assert "canary" not in told


def test_every_check_but_those_of_the_schema_has_a_case() -> None:
    """ST-10: no check is written down and never shown."""
    wanted = {name for name in CHECKS if not name.startswith("S-")}

    assert wanted == {one.check for one in cases()}


def test_the_examples_have_no_finding_that_stops_anything() -> None:
    """Section 8: with their three Secrets, `check` reports no policy finding."""
    found = findings()

    assert ["P-UPD-06"] == ids(found, "actions-runner")
    assert ["P-NET-06"] == ids(found, "qbittorrent")
    assert ["P-IDP-05"] == ids(found, "wiki")
    assert {"info"} == {str(one.severity) for one in found}
