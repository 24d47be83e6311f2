"""The last line of a test run: how many tests met a real API server, and which."""

from collections import Counter
from typing import Any

import pytest

VERSION = pytest.StashKey[str]()
"""The server's own word for its version, once it was asked."""
COUNTS = pytest.StashKey[Counter[str]]()
NOTES = pytest.StashKey[list[str]]()
"""Lines that tests want to have said at the end."""
WORKER = "roadstead"
"""Where a worker's part travels to the process that speaks, when a run is spread over several."""


class Summary:
    """Counts tests of the marker `cluster`; a plugin of the test run."""

    def __init__(self, config: pytest.Config) -> None:
        """Count from nothing."""
        self._config = config
        config.stash[COUNTS] = Counter()
        config.stash[NOTES] = []

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Note what the run leaves out."""
        left = sum(1 for item in items if item.get_closest_marker("cluster"))
        self._config.stash[COUNTS]["left"] += left

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what the run will do."""
        chosen = sum(1 for item in session.items if item.get_closest_marker("cluster"))
        self._config.stash[COUNTS]["chosen"] += chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that ran, or was skipped after all."""
        if "cluster" not in report.keywords:
            return
        if report.skipped:
            self._config.stash[COUNTS]["skipped"] += 1
        elif report.when == "call" or (report.when == "setup" and report.failed):
            self._config.stash[COUNTS]["run"] += 1

    def pytest_sessionfinish(self) -> None:
        """Hand a worker's part over; it has no terminal of its own."""
        stash = self._config.stash
        if (output := getattr(self._config, "workeroutput", None)) is not None:
            counts = {name: stash[COUNTS][name] for name in ("left", "chosen")}
            output[WORKER] = (counts, stash[NOTES], stash.get(VERSION, None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take a worker's part; each collects all tests, so what it counted there is said once."""
        counts, notes, version = getattr(node, "workeroutput", {}).get(WORKER, ({}, [], None))
        for name, count in counts.items():
            self._config.stash[COUNTS][name] = count
        self._config.stash[NOTES].extend(notes)
        if version:
            self._config.stash[VERSION] = version

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what tests noted."""
        for line in self._config.stash[NOTES]:
            terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        """Write the last line of all."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and (line := self.line()):
            reporter.ensure_newline()
            reporter.write_line(line)

    def line(self) -> str:
        """The line; empty where no cluster test was asked for or left out."""
        counts = self._config.stash[COUNTS]
        if counts["chosen"]:
            version = self._config.stash.get(VERSION, "did not answer")
            return (
                f"cluster: {counts['run']} run, {counts['skipped']} skipped, Kubernetes {version}"
            )
        return "cluster: left out by make test-offline" if counts["left"] else ""
