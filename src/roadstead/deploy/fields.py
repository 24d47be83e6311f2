"""The reference of every field that our definitions state, written from the same data."""

from collections.abc import Iterator

from roadstead.deploy.crds import SHIPPED
from roadstead.kube.schema import INT_OR_STRING, UNIQUE, Definition, Field, Rule

MARK = "<!-- Written by `make manifests`; edit the code instead. -->"
_SERVERS = frozenset({"apiVersion", "kind", "metadata"})


def generated() -> dict[str, str]:
    """The page, by its path below the repository's root."""
    parts = [
        MARK,
        "",
        "# Fields",
        "",
        "What an object of each kind may state, as `kubectl explain` tells it.",
        "A field that is not required may be left out; one of a list's items ends in `[]`.",
        "",
    ]
    for one in SHIPPED:
        parts += _section(one)
    return {"docs/reference/fields.md": "\n".join(parts).rstrip() + "\n"}


def _section(one: Definition) -> Iterator[str]:
    yield from (f"## {one.kind.kind}", "", _cell(one.top.meaning), "")
    names = [f"`{name}`" for name in one.short_names]
    names += [f"category `{name}`" for name in one.categories]
    if names:
        yield from (f"`kubectl get` also takes {', '.join(names)}.", "")
    yield from ("| field | type | limits | meaning |", "| --- | --- | --- | --- |")
    for path, field, required in _below(one.top, ""):
        limits = "; ".join(_limits(field, required=required))
        yield f"| `{path}` | {_type(field)} | {limits} | {_cell(field.meaning)} |"
    yield ""
    if patterns := list(_patterns(one.top)):
        yield from ("```text", *patterns, "```", "")
    if rules := list(_rules(one.top, "")):
        yield from ("| rule on | message | asked |", "| --- | --- | --- |")
        for path, rule in rules:
            when = "on a change" if rule.of_change else "always"
            yield f"| `{path}` | {_cell(rule.message)} | {when} |"
        yield ""


def _patterns(top: Field) -> Iterator[str]:
    """Each pattern as a line; in a block, since a table would break them."""
    for path, field, _ in _below(top, ""):
        if field.pattern:
            yield f"{path}  {field.pattern}"
        if field.items is not None and field.items.pattern:
            yield f"{path}[]  {field.items.pattern}"


def _below(one: Field, path: str) -> Iterator[tuple[str, Field, bool]]:
    """Every field below one with its path, and whether it is required; outer ones first."""
    for name, part in one.fields.items():
        if not path and name in _SERVERS:
            continue
        place = f"{path}.{name}" if path else name
        yield place, part, name in one.required
        yield from _below(part, place)
        if part.items is not None and part.items.fields:
            yield from _below(part.items, f"{place}[]")


def _type(one: Field) -> str:
    if one.type == INT_OR_STRING:
        return "integer or string"
    if one.items is not None:
        return f"{'set' if one.list_type == UNIQUE else 'list'} of {_type(one.items)}"
    return one.format or one.type or "any"


def _limits(one: Field, *, required: bool) -> Iterator[str]:
    """Every limit in words; those of a list's items at the end."""
    told = (
        (required, "required"),
        (one.default is not None, f"default `{one.default}`" if one.default else "default empty"),
        (one.choices, "one of " + ", ".join(f"`{choice}`" for choice in one.choices)),
        (one.longest, f"{_range(one.shortest or None, one.longest)} characters"),
        (one.least is not None, _range(one.least, one.most)),
        (one.longest_list, f"at most {one.longest_list} items"),
        (one.keys, f"one for each `{'`, `'.join(one.keys)}`"),
        (one.pattern, "matches its pattern below"),
        (one.open, "others are kept"),
    )
    yield from (text for holds, text in told if holds)
    if one.items is not None:
        yield from (f"each {limit}" for limit in _limits(one.items, required=False))


def _range(least: int | None, most: int | None) -> str:
    if least is None:
        return f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}"


def _rules(one: Field, path: str) -> Iterator[tuple[str, Rule]]:
    yield from ((path, rule) for rule in one.rules)
    for name, part in one.fields.items():
        yield from _rules(part, f"{path}.{name}" if path else name)
    if one.items is not None:
        yield from _rules(one.items, f"{path}[]")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
