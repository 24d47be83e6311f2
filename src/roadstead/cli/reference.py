"""The reference of commands and of reasons, written from the code that they describe."""

from roadstead.capabilities.anchors.api import REASONS, Reason
from roadstead.cli.main import ALIASES, COMMANDS, help_of, load, overview

MARK = "<!-- Written by `make manifests`; edit the code instead. -->"


def generated() -> dict[str, str]:
    """The pages, by their path below the repository's root."""
    return {"docs/reference/cli.md": commands(), "docs/reference/reasons.md": reasons()}


def commands() -> str:
    """The page of all commands: each one's help as it is printed."""
    parts = [MARK, "", "# Commands", "", *_block(overview())]
    for name in COMMANDS:
        command, module = load(name)
        also = [alias for alias, of in ALIASES.items() if of == name]
        parts += [f"## roadstead {name}", ""]
        parts += [f"Also `roadstead {alias}`.\n" for alias in also]
        parts += _block(help_of(name, command, module))
    return "\n".join(parts).rstrip() + "\n"


def _block(text: str) -> list[str]:
    return ["```text", *text.rstrip().splitlines(), "```", ""]


def reasons() -> str:
    """The page of all reasons, in the order of the table in `api.py`."""
    parts = [
        MARK,
        "",
        "# Reasons",
        "",
        "The words of findings, events and tables. `roadstead docs REASON` prints one of them;",
        "`roadstead why` says which holds for an object, and what to do about it there.",
        "",
        "| Reason | State | Event on |",
        "| --- | --- | --- |",
        *(
            f"| [{one.name}](#{one.name.lower()}) | {one.state} | {one.about or 'no event'} |"
            for one in REASONS
        ),
        "",
    ]
    for one in REASONS:
        parts += _section(one)
    return "\n".join(parts).rstrip() + "\n"


def _section(reason: Reason) -> list[str]:
    return [
        f"## {reason.name}",
        "",
        reason.meaning,
        "",
        f"- **Cause.** {reason.cause}",
        f"- **Remedy.** {reason.remedy}",
        "",
    ]
