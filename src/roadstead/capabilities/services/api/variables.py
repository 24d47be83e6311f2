"""Texts that Flux would take for a variable. Source: contract 3.13."""

from collections.abc import Mapping
from typing import Any

VARIABLE = "${"


def mentions_variable(value: Any) -> bool:
    """Tell whether any text in a value begins a variable."""
    if isinstance(value, str):
        return VARIABLE in value
    if isinstance(value, Mapping):
        return any(VARIABLE in key or mentions_variable(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(mentions_variable(item) for item in value)
