"""Merge patches: what is stated replaces what is there, null removes, lists are whole."""

import copy
from collections.abc import Mapping
from typing import Any


def merged(body: Any, patch: Any) -> Any:
    """A value with a JSON merge patch applied; neither argument is changed.

    Source: RFC 7386.
    """
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    made = copy.deepcopy(dict(body)) if isinstance(body, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merged(made.get(key), value)
    return made
