"""The CEL rules of a schema, asked as the API server asks them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from roadstead.errors import InputError
from roadstead.kube.schema import KEYED, Field, Rule
from roadstead.sim.admission.limits import Problem, below


def problems(
    top: Field, body: Mapping[str, Any], old: Mapping[str, Any] | None
) -> Iterator[Problem]:
    """Tell of each rule that a well-formed object breaks, outer parts first.

    old: the object as it was; None when it is new.
    Raises: InputError when the library that reads CEL is not installed.
    """
    yield from _below(top, body, old, "")


def _below(one: Field, value: Any, old: Any, path: str) -> Iterator[Problem]:
    """Ask the rules of a value, then of what is in it."""
    for rule in one.rules:
        if not (rule.of_change and old is None) and not _holds(rule, value, old):
            yield Problem(path, "FieldValueInvalid", f"Invalid value: {rule.message}")
    if isinstance(value, Mapping):
        before = old if isinstance(old, Mapping) else {}
        for name, part in sorted(value.items()):
            if name in one.fields:
                yield from _below(one.fields[name], part, before.get(name), below(path, name))
    elif isinstance(value, list) and one.items is not None:
        known = _by_key(one, old)
        for number, item in enumerate(value):
            there = known.get(_key(one, item))
            yield from _below(one.items, item, there, f"{path}[{number}]")


def _by_key(one: Field, old: Any) -> dict[Any, Any]:
    """The items that were there; only those of a map by key are known again."""
    if one.list_type != KEYED or not isinstance(old, list):
        return {}
    return {_key(one, item): item for item in old}


def _key(one: Field, item: Any) -> tuple[Any, ...]:
    return tuple(item.get(name) for name in one.keys) if isinstance(item, Mapping) else ()


def _holds(rule: Rule, value: Any, old: Any) -> bool:
    # An evaluation that fails has a value of the type ERROR, which is not True either.
    given = {"self": value} | ({} if old is None else {"oldSelf": old})
    return bool(_compiled(rule.expression).eval(data=given).value() is True)


@cache
def _compiled(expression: str) -> Any:
    return _environment().compile(expression)


@cache
def _environment() -> Any:
    try:
        # Imported late: it is large, and whatever has no object with rules does without.
        from cel_expr_python import cel  # type: ignore[import-untyped] # noqa: PLC0415 - as above
    except ImportError as error:
        raise InputError(
            "the rules of our kinds cannot be checked: cel-expr-python is not installed",
            hint="install roadstead with its extra `plan`",
        ) from error
    return cel.NewEnv(variables={"self": cel.Type.DYN, "oldSelf": cel.Type.DYN})
