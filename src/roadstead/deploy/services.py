"""The reference of service definitions, of the platform file, and of every check.

Written from the same data that files are read with, so that no page can promise another thing.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from roadstead.capabilities.services.api.check import Check
from roadstead.capabilities.services.api.checks import ALL_CHECKS
from roadstead.capabilities.services.api.fields import DEFINITION
from roadstead.capabilities.services.api.platform_fields import PLATFORM
from roadstead.capabilities.services.api.setting import Setting
from roadstead.deploy.installations import installations

MARK = "<!-- Written by `make manifests`; edit the code instead. -->"

_LOOKS_AT = {
    "": "definitions",
    "output": "what is rendered",
    "platform": "the platform file",
    "previous": "the output tree as it was",
    "secrets": "the Secrets folder",
}


def generated() -> dict[str, str]:
    """The pages, by their path below the repository's root."""
    return {
        "docs/reference/checks.md": checks(),
        "docs/reference/platform-file.md": fields(
            PLATFORM,
            "The platform file",
            "One YAML mapping; unknown keys are errors.",
            "`roadstead service schema --of platform` prints the same as a JSON Schema.",
        ),
        "docs/reference/service-definition.md": fields(
            DEFINITION,
            "Service definitions",
            "One file holds one definition, or a list of them under the single key `services`.",
            "`roadstead service schema` prints the same as a JSON Schema, with the values of your"
            " platform.",
            "Fields marked *extension* go beyond schema 1.5.0: `--core` refuses them.",
        ),
    }


def fields(top: Setting, title: str, *opening: str) -> str:
    """The page of every field of a file."""
    parts = [MARK, "", f"# {title}", "", *opening]
    parts += ["An item of a list ends in `[]`, a key of your own choice is `<key>`.", ""]
    parts += ["| field | type | default | limits | meaning |", "| --- | --- | --- | --- | --- |"]
    parts += [_row(*one) for one in _below(top, "")]
    return "\n".join(parts).rstrip() + "\n"


def _below(one: Setting, path: str) -> Iterator[tuple[str, Setting, bool]]:
    """Every field below one with its path, and whether it is required; outer ones first."""
    for name, part in one.fields.items():
        place = f"{path}.{name}" if path else name
        yield place, part, name in one.required
        yield from _inside(part, place)


def _inside(part: Setting, place: str) -> Iterator[tuple[str, Setting, bool]]:
    yield from _below(part, place)
    for other in part.either:
        yield from _below(other, place)
    if part.items is not None:
        yield from _inside(part.items, f"{place}[]")
    if part.values is not None:
        yield from _inside(part.values, f"{place}.<key>")


def _row(path: str, one: Setting, required: bool) -> str:
    default = "required" if required else _default(one)
    limits = "; ".join(_limits(one))
    meaning = f"*extension* {one.meaning}" if one.extension else one.meaning
    cells = (f"`{path}`", _type(one), default, limits, meaning)
    return f"| {' | '.join(_cell(text) for text in cells)} |"


def _default(one: Setting) -> str:
    if one.derived:
        return one.derived
    if one.default is None:
        return ""
    return f"`{_spelt(one.default)}`"


def _spelt(value: Any) -> str:
    """A value as YAML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(_spelt(one) for one in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_spelt(one)}' for key, one in value.items())}}}"
    return f'"{value}"' if value == "" else str(value)


def _type(one: Setting) -> str:
    if one.only_false:
        return "`false`"
    if one.items is not None:
        return f"{'set' if one.is_set else 'list'} of {_type(one.items)}"
    found = "mapping" if one.type == "object" else one.type
    return " or ".join([found, *(_type(other) for other in one.either)])


def _limits(one: Setting) -> Iterator[str]:
    """Every limit in words; those of a list's items at the end."""
    length = f"at most {one.longest} characters"
    told = (
        (one.choices, f"one of {_listed(one.choices)}"),
        (one.extension_choices, f"{_listed(one.extension_choices)} is an extension"),
        (one.words, one.words),
        (one.longest and "at most" not in one.words, length),
        (one.least is not None, f"{one.least} to {one.most}"),
        (one.key_words, f"keys: {one.key_words}"),
        (one.one_of, f"exactly one of {_listed(one.one_of)}"),
        (one.unique, f"no two equal in {_listed(one.unique or ())}"),
        (one.since, f"since {one.since}"),
    )
    yield from (text for holds, text in told if holds)
    if one.items is not None:
        yield from (f"each {limit}" for limit in _limits(one.items))


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def checks() -> str:
    """The page of all checks, each under an anchor of its own."""
    parts = [
        MARK,
        "",
        "# Checks",
        "",
        "What `roadstead service validate`, `check` and `render` find, by id.",
        "`roadstead docs P-SEC-01` prints one of them.",
        "",
        "- An **error** stops the rendering and cannot be waived.",
        "- A **policy** finding renders, but `check` answers no.",
        "- A **warning** and an **info** change no answer; with `--strict` a warning does.",
        "",
        "| Check | Severity | Looks at | Meaning |",
        "| --- | --- | --- | --- |",
        *(_check_row(one) for one in ALL_CHECKS),
        "",
    ]
    for one in ALL_CHECKS:
        parts += [
            f"## {one.id}",
            "",
            one.meaning,
            "",
            f"- **Severity.** {_severities(one)}; {_waivable(one)}.",
            f"- **Cause.** {one.cause}",
            f"- **Remedy.** {one.remedy}",
            "",
        ]
    return "\n".join([*parts, *installations()]).rstrip() + "\n"


def _check_row(one: Check) -> str:
    link = f"[{one.id}](#{one.id.lower()})"
    cells = (link, _severities(one), _LOOKS_AT[one.looks_at], one.meaning)
    return f"| {' | '.join(cells)} |"


def _severities(one: Check) -> str:
    return " or ".join(one.severities)


def _waivable(one: Check) -> str:
    return "a waiver of the platform file can accept it" if one.waivable else "it cannot be waived"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
