"""The part of the reference that speaks of `roadstead check`, written from its checks."""

from roadstead.explain.checks import AFTER, BEFORE, CHECKS, Check


def installations() -> list[str]:
    """Lines of the page of all checks: those of a cluster and of an installation."""
    parts = [
        "What `roadstead check` asks of a cluster, by name.",
        "",
        "- An **error** makes the answer no: something of Roadstead does not work.",
        "- A **warning** does not, but with `--strict`.",
        "- **Not checked** is what you may not read; with `--strict` it makes the answer no.",
        "",
        "| Check | Finds | Asked | So when all is well |",
        "| --- | --- | --- | --- |",
        *(_row(one) for one in CHECKS),
        "",
    ]
    for one in CHECKS:
        parts += [
            f"## {one.name}",
            "",
            one.meaning,
            "",
            f"- **Finds.** {_levels(one)}.",
            f"- **Cause.** {one.cause}",
            f"- **Remedy.** {one.remedy}",
            "",
        ]
    return parts


def _row(one: Check) -> str:
    link = f"[{one.name}](#{one.name})"
    return f"| {link} | {_levels(one)} | {_phases(one)} | {one.title} |"


def _levels(one: Check) -> str:
    return " or ".join(one.levels)


def _phases(one: Check) -> str:
    words = {(BEFORE, AFTER): "both times", (BEFORE,): "before", (AFTER,): "after"}
    return words[one.phases]
