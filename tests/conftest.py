"""What every test run starts from."""

import asyncio
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from live_summary import Summary

# Fixed examples for every commit, fewer in `make quick`; random ones, and more, in `make soak`.
settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "quick",
    derandomize=True,
    deadline=None,
    max_examples=24,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("ROADSTEAD_HYPOTHESIS", "ci"))


def pytest_configure(config: pytest.Config) -> None:
    """Say that there is no event loop yet; asked for one, asyncio makes it and nobody closes it.

    A shell's background job is started deaf to SIGINT, and so would be the programs it tests.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asyncio.set_event_loop(None)
    config.pluginmanager.register(Summary(config), "cluster summary")


@pytest.hookimpl(tryfirst=True)  # xdist reads the mark in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what shares a scene in one worker of a run that is spread over several.

    The cases of the differential share nothing but the server, and each worker has its own,
    unless somebody lent us one; most tests of `up` share nothing at all, and are long.
    """
    lent = "ROADSTEAD_TEST_KUBECONFIG" in os.environ
    for item in items:
        if not any(item.get_closest_marker(one) for one in ("cluster", "foreign")):
            continue
        if lent or not _is_alone(item):
            item.add_marker(pytest.mark.xdist_group("lent" if lent else item.path.name))


ALONE = {"test_differential.py": "", "test_up.py": "plane"}
"""Files whose tests may run anywhere, but those with the fixture that is named."""


def _is_alone(item: pytest.Item) -> bool:
    shared = ALONE.get(item.path.name)
    return shared is not None and shared not in getattr(item, "fixturenames", ())
