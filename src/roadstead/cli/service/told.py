"""Findings as they are printed: lines for people, facts, and the forms of other programs.

Every form tells the same findings in the same order; the exit code depends on none of them.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import (
    ERROR,
    INFO,
    POLICY,
    WARNING,
    Finding,
    Severity,
)
from roadstead.cli import reports
from roadstead.cli.main import complain
from roadstead.cli.out import Screen, machine
from roadstead.errors import InputError

FORMATS = ("table", "json", "yaml", "junit", "sarif", "github")
Strict = Annotated[bool, typer.Option("--strict", help="A warning answers no, too.")]

_STYLES = {ERROR: "red", POLICY: "yellow", WARNING: "yellow", INFO: "dim"}
_LEVELS = {ERROR: "error", POLICY: "error", WARNING: "warning", INFO: "note"}
_FAILED = 2


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many there are of each severity."""
    found = [one.severity for one in findings]
    return {str(one): found.count(one) for one in Severity}


def answers_no(findings: Iterable[Finding], *, strict: bool) -> bool:
    """Tell whether any finding makes the answer "no". Source: contract, section 4."""
    stopping = {ERROR, POLICY, WARNING} if strict else {ERROR, POLICY}
    return any(one.severity in stopping for one in findings)


def summary(findings: Sequence[Finding]) -> str:
    """All counts in one phrase."""
    plural = {"error": "errors", "policy": "policy", "warning": "warnings", "info": "info"}
    told = [
        f"{count} {plural[name] if count != 1 else name}"
        for name, count in counts(findings).items()
        if count
    ]
    return ", ".join(told) or "no findings"


def lines(page: Screen, findings: Iterable[Finding]) -> None:
    """Print findings for people. Source: contract 1.6."""
    for one in findings:
        severity = page.paint(str(one.severity), _STYLES[one.severity])
        about = f" {one.service}" if one.service else ""
        page.line(f"{one.place}: {severity} {one.id}{about}: {one.message}")
        if one.hint:
            page.line(f"  hint: {one.hint}")


def facts_of(one: Finding) -> dict[str, Any]:
    """One finding for machines."""
    return {
        "file": one.place.file,
        "line": one.place.line,
        "column": one.place.column,
        "severity": str(one.severity),
        "id": one.id,
        "service": one.service,
        "message": one.message,
        "hint": one.hint,
    }


def facts(findings: Sequence[Finding]) -> dict[str, Any]:
    """Findings for machines, and how many there are."""
    return {"findings": [facts_of(one) for one in findings], "summary": counts(findings)}


def show(
    page: Screen,
    form: str,
    command: str,
    findings: Sequence[Finding],
    keys: Sequence[str],
    *,
    further: Sequence[reports.Problem] = (),
    **more: Any,
) -> None:
    """Print findings in any form.

    keys: what was judged, for JUnit. further: what is no finding, for the forms that know only
    those. more: further facts.
    """
    if form == "table":
        lines(page, findings)
    elif form in {"json", "yaml"}:
        page.write(machine(form, "ServiceFindings", {**facts(findings), **more}))
    else:
        problems = [*_problems(findings), *further]
        page.write(_report(form, command, problems, keys))


def _problems(findings: Iterable[Finding]) -> list[reports.Problem]:
    return [
        reports.Problem(
            _LEVELS[one.severity],
            one.service or one.place.file,
            one.service or one.place.file,
            one.id,
            one.message,
            one.hint,
            str(one.place),
        )
        for one in findings
    ]


def _report(
    form: str, command: str, problems: Sequence[reports.Problem], keys: Sequence[str]
) -> str:
    if form == "junit":
        return reports.junit(f"roadstead service {command}", keys, problems)
    if form == "sarif":
        return reports.sarif(problems, {name: one.meaning for name, one in CHECKS.items()})
    return reports.github(problems)


def ended(answer: int, problems: Sequence[InputError]) -> int:
    """The exit code, after what could not be looked at was told."""
    for problem in problems:
        complain(problem)
    return _FAILED if problems else answer
