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
