"""Findings as other programs read them: JUnit, SARIF 2.1.0, and GitHub's annotations.

All three tell the same findings as the table, in its order.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roadstead import __version__

_GITHUB = {"note": "notice"}
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding about one object.

    level: `error`, `warning` or `note`. key: what was judged. about: the object that decided.
    place: `file:line:column`, or empty.
    """

    level: str
    key: str
    about: str
    reason: str
    message: str
    hint: str = ""
    place: str = ""

    @property
    def at(self) -> tuple[str, int, int]:
        """File, line and column; 1 where the line is not known."""
        file, _, rest = self.place.partition(":")
        numbers = [int(part) for part in rest.split(":") if part.isdecimal()]
        line, column = (*numbers, 1, 1)[:2]
        return file, line, column


def junit(suite: str, keys: Sequence[str], problems: Iterable[Problem]) -> str:
    """One test case a key; a key with an error has failed."""
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - it brings an HTTP client with it

    failed: dict[str, list[Problem]] = {}
    for problem in problems:
        failed.setdefault(problem.key, []).append(problem)
    names = sorted({*keys, *failed})
    failures = sum(any(p.level == "error" for p in failed.get(name, ())) for name in names)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    counts = f'tests="{len(names)}" failures="{failures}" errors="0" skipped="0"'
    lines.append(f"<testsuites {counts}>")
    lines.append(f"  <testsuite name={quoteattr(suite)} {counts}>")
    for name in names:
        cases = failed.get(name, [])
        opening = f"    <testcase classname={quoteattr(suite)} name={quoteattr(name)}"
        if not cases:
            lines.append(f"{opening}/>")
            continue
        lines.append(f"{opening}>")
        for problem in cases:
            lines += _outcome(problem)
        lines.append("    </testcase>")
    lines += ["  </testsuite>", "</testsuites>"]
    return "".join(f"{_printable(line)}\n" for line in lines)


def _outcome(problem: Problem) -> list[str]:
    from xml.sax.saxutils import escape, quoteattr  # noqa: PLC0415 - as above

    text = "\n".join(
        part for part in (problem.place or problem.about, problem.message, problem.hint) if part
    )
    if problem.level != "error":
        return [f"      <system-out>{escape(f'{problem.reason}: {text}')}</system-out>"]
    kind, message = quoteattr(problem.reason), quoteattr(problem.message)
    return [f"      <failure type={kind} message={message}>{escape(text)}</failure>"]


def _printable(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(mark if mark >= " " or mark in "\t\n" else "?" for mark in text)


def sarif(problems: Sequence[Problem], meanings: dict[str, str]) -> str:
    """One run with one result a finding; a finding without a file names its object alone."""
    rules = [
        {"id": reason, "shortDescription": {"text": meanings.get(reason, reason)}}
        for reason in sorted({problem.reason for problem in problems})
    ]
    driver = {"name": "roadstead", "version": __version__, "rules": rules}
    whole = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(one) for one in problems]}],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _result(problem: Problem) -> dict[str, object]:
    location: dict[str, object] = {"logicalLocations": [{"fullyQualifiedName": problem.about}]}
    if problem.place:
        file, line, column = problem.at
        location["physicalLocation"] = {
            "artifactLocation": {"uri": file},
            "region": {"startLine": line, "startColumn": column},
        }
    text = f"{problem.message}. {problem.hint}" if problem.hint else problem.message
    return {
        "ruleId": problem.reason,
        "level": problem.level,
        "message": {"text": text},
        "locations": [location],
    }


def github(problems: Iterable[Problem]) -> str:
    """One workflow command a finding."""
    lines = []
    for problem in problems:
        file, line, column = problem.at
        where = f"file={_property(file)},line={line},col={column}," if file else ""
        title = _property(f"{problem.reason} {problem.about}")
        lines.append(
            f"::{_GITHUB.get(problem.level, problem.level)} {where}title={title}::{_data(problem.message)}"
        )
    return "".join(f"{line}\n" for line in lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
