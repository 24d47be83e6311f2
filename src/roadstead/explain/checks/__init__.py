"""What `roadstead check` asks: pure questions over one frozen look at a cluster.

A new check is one more entry of its module's table; the command, the reference and the machine
formats follow. What is looked at is read in `cli.survey`.
"""

from roadstead.explain.checks.check import (
    AFTER,
    BEFORE,
    ERROR,
    GROUPS,
    OK,
    UNASKED,
    WARNING,
    Check,
    Found,
    Outcome,
)
from roadstead.explain.checks.cluster import CLUSTER_CHECKS
from roadstead.explain.checks.facts import Facts
from roadstead.explain.checks.installed import INSTALLED_CHECKS
from roadstead.explain.checks.neighbours import NEIGHBOUR_CHECKS
from roadstead.explain.checks.settings import SETTING_CHECKS
from roadstead.explain.checks.webhook import WEBHOOK_CHECKS

CHECKS: tuple[Check, ...] = (
    *CLUSTER_CHECKS,
    *NEIGHBOUR_CHECKS,
    *SETTING_CHECKS,
    *INSTALLED_CHECKS,
    *WEBHOOK_CHECKS,
)
"""Every check, in the order of answers."""


def judge(seen: Facts) -> tuple[Outcome, ...]:
    """Ask every check of the phase; those whose question does not arise are left out."""
    phase = BEFORE if seen.installed is None else AFTER
    found = ((one, one.judge(seen)) for one in CHECKS if phase in one.phases)
    return tuple(Outcome(check, what) for check, what in found if what is not None)


__all__ = [
    "AFTER",
    "BEFORE",
    "CHECKS",
    "ERROR",
    "GROUPS",
    "OK",
    "UNASKED",
    "WARNING",
    "Check",
    "Facts",
    "Found",
    "Outcome",
    "judge",
]
