"""One file: its documents, and what is wrong with it as a file.

Source: contract 1.1; every problem is a schema finding.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from roadstead.capabilities.services.api.findings import Finding, Severity
from roadstead.capabilities.services.api.model import Origin
from roadstead.capabilities.services.reading.plain import about_of, shown
from roadstead.errors import InputError
from roadstead.kube.documents import Document, Place, RepeatedKeyError, parse

MOST_NODES = 100_000
MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Text:
    """One file as it was found. name: its path, as findings tell it.

    refused: why it was not read, where it was not: a link that leads out of its folder.
    """

    name: str
    data: bytes = field(repr=False)
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """The one document of a file; None where there is none to go on with."""

    document: Document | None
    findings: tuple[Finding, ...]


def opened(text: Text, about: str = "", what: str = "a definition") -> Opened:
    """Read a file that must hold one mapping.

    about: what findings name. what: what the file should be, for messages.
    """
    if text.refused:
        return Opened(None, (_not(what, text.refused, Place(text.name, 1, 1), about),))
    if len(text.data) > MOST_BYTES:
        reason = f"the file has more than {MOST_BYTES} bytes"
        return Opened(None, (_not(what, reason, Place(text.name, 1, 1), about),))
    parsed = parse(text.data, text.name, most_nodes=MOST_NODES, decimal=True, keep_repeated=True)
    documents = parsed.documents
    about = about or (_name_of(documents[0]) if len(documents) == 1 else "")
    findings = [_problem(one, about, what) for one in parsed.problems]
    if not documents:
        if not findings:
            findings.append(_not(what, "an empty document", Place(text.name, 1, 1), about))
        return Opened(None, tuple(findings))
    findings += [
        _not(what, "a second document; a list under `services` holds several", one.place, "")
        for one in documents[1:]
    ]
    first = documents[0]
    if not isinstance(first.value, dict):
        found = "a list" if isinstance(first.value, list) else "a scalar"
        findings.append(_not(what, f"{found}, not a mapping", first.place, about))
        return Opened(None, tuple(findings))
    return Opened(first, tuple(findings))


def _name_of(document: Document) -> str:
    value = document.value
    return about_of(value.get("name")) if isinstance(value, dict) else ""


def _not(what: str, reason: str, place: Place, about: str, hint: str = "") -> Finding:
    return Finding(Severity.ERROR, "S-12", about, f"not {what}: {reason}", place, hint)


def _problem(problem: InputError, about: str, what: str) -> Finding:
    file, _, at = problem.place.rpartition(":")
    file, _, line = file.rpartition(":")
    place = Place(file, int(line), int(at))
    if isinstance(problem, RepeatedKeyError):
        message = (
            f"key `{shown(problem.key)}` appears twice in the same mapping"
            f" (first at line {problem.first})"
        )
        return Finding(Severity.ERROR, "S-08", about, message, place, problem.hint)
    return _not(what, problem.message, place, about, problem.hint)


def origins(document: Document, findings: list[Finding]) -> Iterator[Origin]:
    """Each definition of a file: the document, or the entries of its one key `services`.

    findings: what is wrong with the list goes there.
    """
    value = document.value
    if "services" not in value:
        yield Origin(document)
        return
    for key in value:
        if key != "services":
            place = document.place_of(key)
            message = f"unknown field `{shown(key)}` beside `services`"
            findings.append(Finding(Severity.ERROR, "S-01", "", message, place))
    entries = value["services"]
    place = document.value_place("services")
    if not isinstance(entries, list):
        findings.append(_not("a definition", "`services` is not a list", place, ""))
        return
    if not entries:
        findings.append(_not("a definition", "`services` is empty", place, ""))
    for number, one in enumerate(entries):
        if isinstance(one, dict):
            yield Origin(document, ("services", number), single=False)
        else:
            at = document.value_place("services", number)
            findings.append(_not("a definition", "an entry is not a mapping", at, ""))
