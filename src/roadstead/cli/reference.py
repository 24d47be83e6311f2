"""The reference of commands and of reasons, written from the code that they describe."""

from roadstead.cli.main import ALIASES, COMMANDS, help_of, load, overview
from roadstead.explain.subjects import REASONS
from roadstead.kube.reasons import Reason

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
    """The page of all reasons, in the order of the tables in `api`, capability by capability."""
    parts = [
        MARK,
        "",
        "# Reasons",
        "",
        "The words of findings, conditions, events and tables.",
        "`roadstead docs REASON` prints one of them; `roadstead why` says which holds for an",
        "object, and what to do about it there.",
        "The state of a reason of attachments and gateways is the condition that carries it.",
        "",
        "| Reason | Capability | State | Event on |",
        "| --- | --- | --- | --- |",
        *(_row(capability, one) for capability, one in REASONS),
        "",
    ]
    for name in dict.fromkeys(one.name for _, one in REASONS):
        parts += [f"## {name}", ""]
        same = [pair for pair in REASONS if pair[1].name == name]
        for capability, one in same:
            parts += _section(one, f"**{capability}.** " if len(same) > 1 else "")
    return "\n".join(parts).rstrip() + "\n"


def _row(capability: str, one: Reason) -> str:
    link = f"[{one.name}](#{one.name.lower()})"
    return f"| {link} | {capability} | {one.state or 'none'} | {one.about or 'no event'} |"


def _section(reason: Reason, opening: str) -> list[str]:
    return [
        f"{opening}{reason.meaning}",
        "",
        f"- **Cause.** {reason.cause}",
        f"- **Remedy.** {reason.remedy}",
        "",
    ]
