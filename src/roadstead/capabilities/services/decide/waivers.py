"""Findings a platform accepts, each with its reason. Source: contract 4.3."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import INFO, POLICY, WARNING, Finding
from roadstead.capabilities.services.api.platform import Platform, Waiver
from roadstead.capabilities.services.decide.saying import meant, of_platform
from roadstead.kube.nearest import nearest

_FARTHEST = 2


def waived(platform: Platform, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, those that are accepted as info with the reason; and what fits none.

    A waiver accepts every policy or warning finding of its check on its service.
    """
    known = {(one.check, one.service): one for one in platform.waivers}
    used: set[tuple[str, str]] = set()
    for finding in findings:
        waiver = known.get((finding.id, finding.service))
        if waiver is None or finding.severity not in {POLICY, WARNING}:
            yield finding
            continue
        used.add((finding.id, finding.service))
        message = f"{finding.message} (waived: {waiver.reason})"
        yield replace(finding, severity=INFO, message=message)
    for key, waiver in known.items():
        yield from _fault(platform, waiver, used=key in used)


def _fault(platform: Platform, waiver: Waiver, *, used: bool) -> Iterator[Finding]:
    check = CHECKS.get(waiver.check)
    path = ("waivers", waiver.index, "check")
    if check is None:
        near = nearest(waiver.check, CHECKS, _FARTHEST)
        message = f"there is no check {waiver.check}"
        yield of_platform(platform.origin, "P-WAI-02", path, message, meant(near))
    elif not check.waivable:
        message = f"{waiver.check} is an error and cannot be waived"
        yield of_platform(platform.origin, "P-WAI-02", path, message)
    elif not used:
        message = f"the waiver of {waiver.check} for {waiver.service} matched nothing"
        yield of_platform(platform.origin, "P-WAI-01", path, message)
