"""Names at and just past what the API server accepts."""

from collections.abc import Callable

import pytest

from roadstead.kube.names import (
    is_data_key,
    is_label,
    is_label_key,
    is_label_value,
    is_service_name,
    is_subdomain,
)


@pytest.mark.parametrize(
    ("accepted", "check", "name"),
    [
        (True, is_label, "a"),
        (True, is_label, "0-a"),
        (True, is_label, "a" * 63),
        (False, is_label, "a" * 64),
        (False, is_label, ""),
        (False, is_label, "-a"),
        (False, is_label, "a-"),
        (False, is_label, "a.b"),
        (False, is_label, "A"),
        (False, is_label, "a\n"),
        (False, is_label, "é"),
        (False, is_label, "\u0661"),
        (True, is_service_name, "a-0"),
        (False, is_service_name, "0-a"),
        (False, is_service_name, "a" * 64),
        (True, is_subdomain, "postgres-mydb.tenant-ca"),
        (True, is_subdomain, "a" * 253),
        (False, is_subdomain, "a" * 254),
        (False, is_subdomain, "a..b"),
        (False, is_subdomain, ".a"),
        (False, is_subdomain, "a."),
        (False, is_subdomain, "a.-b"),
        (False, is_subdomain, "Postgres_CA"),
        (False, is_subdomain, "a\n"),
        (False, is_subdomain, ""),
        (True, is_data_key, "ca.crt"),
        (True, is_data_key, "A_b-C.9"),
        (True, is_data_key, "k" * 253),
        (False, is_data_key, "k" * 254),
        (False, is_data_key, ""),
        (False, is_data_key, "a/b"),
        (False, is_data_key, "ca.crt\n"),
        (False, is_data_key, "ca crt"),
        (True, is_label_key, "app"),
        (True, is_label_key, "apps.cozystack.io/application.name"),
        (False, is_label_key, "/app"),
        (False, is_label_key, "a/b/c"),
        (False, is_label_key, "A.io/app"),
        (False, is_label_key, "a.io/"),
        (False, is_label_key, "k" * 64),
        (False, is_label_key, ""),
        (True, is_label_value, ""),
        (True, is_label_value, "V_1.2-x"),
        (True, is_label_value, "v" * 63),
        (False, is_label_value, "v" * 64),
        (False, is_label_value, "-v"),
        (False, is_label_value, "v w"),
        (False, is_label_value, "{{ .name }}"),
    ],
)
def test_a_name_is_judged_as_the_api_server_does(
    accepted: bool, check: Callable[[str], bool], name: str
) -> None:
    """A name we let through and the API server does not fails a pass half-way."""
    assert accepted is check(name)


@pytest.mark.parametrize("check", [is_label, is_subdomain, is_data_key, is_label_key])
def test_a_very_long_name_costs_nothing(check: Callable[[str], bool]) -> None:
    """A pattern that backtracks would let a template stall the controller."""
    assert not check("a-" * 500_000)
