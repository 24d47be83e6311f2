"""Each check of the contract is found by the smallest change, and silent once it is put right."""

import pytest

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.decide.secrets import looks_secret
from roadstead.cli.service.check_cases import CheckCase, cases
from services_base import BASE, errors, findings, ids

ROWS = {
    "I-1": "SD-04",
    "I-2": "SD-63 SD-64",
    "I-6": "SD-82",
    "P-CAT-01": "SD-86",
    "P-CAT-02": "SD-87",
    "P-CAT-03": "SD-59",
    "P-DEP-01": "SD-26",
    "P-DEP-02": "SD-27",
    "P-DEP-03": "SD-88",
    "P-DEP-04": "SD-28",
    "P-DEP-05": "SD-25",
    "P-ICC-04": "SD-35",
    "P-NET-01": "SD-37",
    "P-NET-02": "SD-38",
    "P-NET-03": "SD-40",
    "P-STO-01": "SD-47",
    "P-STO-02": "SD-47 SD-50",
    "P-STO-03": "SD-50",
    "P-STO-05": "SD-48",
    "P-STO-06": "SD-49",
    "P-STO-08": "SD-52",
    "P-STO-09": "SD-85",
    "P-RTE-01": "SD-58",
    "P-IDP-01": "SD-66",
    "P-IDP-02": "SD-66",
    "P-IDP-04": "SD-65",
    "P-SEC-01": "SD-69",
    "P-SEC-02": "SD-70",
    "P-SEC-03": "SD-69",
    "P-SEC-04": "SD-55",
    "P-SEC-05": "SD-54",
    "P-UPD-01": "SD-77",
    "P-UPD-02": "SD-73",
    "P-UPD-03": "SD-72",
    "P-UPD-05": "SD-53",
    "P-OBS-02": "SD-79",
    "P-VM-03": "SD-85",
    "P-PSA-01": "SD-57",
}
"""The rows of the contract's section 7 whose check part a case shows."""
CASES = [
    pytest.param(one, id=f"{one.check}-{number} {ROWS.get(one.check, '')}".strip())
    for number, one in enumerate(cases(), start=1)
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


def test_a_host_in_capitals_is_refused_before_it_is_compared() -> None:
    """SD-59: S-04 for the upper case one, and no second finding for the same host."""
    host = "Gitea.home.example.net"
    found = findings(change={"wiki": {"ingressRoutes": [{"host": host, "port": 3000}]}})

    assert ["S-04"] == [one.id for one in found if one.severity == "error"]


@pytest.mark.parametrize("tag", ["2.5.308", "v1.2.3", "1.2.3-rc.1", "1.2", "bookworm"])
def test_a_range_is_derived_from_a_release_alone(tag: str) -> None:
    """SD-72: `^X.Y.Z`, with or without a `v`; any other tag needs a range or a pin."""
    image = f"ghcr.io/requarks/wiki:{tag}"
    found = findings(change={"wiki": {"source": {"image": image}, "update": {"range": None}}})

    assert (tag not in {"2.5.308", "v1.2.3"}) == ("P-UPD-03" in ids(found, "wiki"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("API_TOKEN", True),
        ("DB_PASS", True),
        ("ADMIN_PASSWORD", True),
        ("APIKEY", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("PRIVATE_KEY", True),
        ("dbPassword", True),
        ("db_password", True),
        ("SMTP_CREDENTIALS", True),
        ("PASSENGERS", False),
        ("COMPASS", False),
        ("TOKENIZER", False),
        ("KEYBOARD", False),
        ("TZ", False),
    ],
)
def test_a_word_of_a_secret_is_a_word(name: str, expected: bool) -> None:
    """P-SEC-04 looks at the words of a name, not at letters within them."""
    assert expected == looks_secret(name)


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ([{"port": 80, "name": "web"}, {"port": 81, "name": "web"}], ["S-09"]),
        ([{"port": 80, "name": "tcp-3000"}], ["S-09"]),
        ([{"port": 80, "name": "web"}, {"port": 81, "name": "api"}], []),
    ],
)
def test_no_two_ports_of_a_service_have_one_name(
    ports: list[dict[str, object]], expected: list[str]
) -> None:
    """The API server refuses such a Service; a name may also meet one the renderer makes."""
    found = findings(change={"gitea": {"ports": [{"port": 3000}, *ports]}})

    assert expected == errors(found)


def test_every_namespace_of_the_platform_file_is_reserved() -> None:
    """Section 2: also that of an image's claim, but not Keycloak's own."""
    images = {"golden": {"source": {"http": None, "pvc": {"name": "a", "namespace": "images"}}}}
    template = {"osFamily": "debian", "size": "1Gi", "cpu": 1, "memory": "1Gi"}
    platform = {"vmTemplates": {"golden": {**template, **images["golden"]}}}
    image = {"source": {"image": "docker.io/library/redis:7.4.1"}}
    change = dict.fromkeys(("images", "keycloak", "databases", "default"), image)
    found = findings(platform=platform, change=change)

    assert ["databases", "default", "images"] == sorted(
        one.service for one in found if one.id == "P-CAT-02"
    )


def test_the_examples_have_no_finding_that_stops_anything() -> None:
    """Section 8: with their three Secrets, `check` reports no policy finding."""
    found = findings()

    assert ["P-UPD-06"] == ids(found, "actions-runner")
    assert ["P-NET-06"] == ids(found, "qbittorrent")
    assert ["P-IDP-05"] == ids(found, "wiki")
    assert {"info"} == {str(one.severity) for one in found}
