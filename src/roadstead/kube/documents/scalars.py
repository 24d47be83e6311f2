"""What a plain scalar stands for: YAML 1.2.2, section 10.3, core schema."""

import re
from collections.abc import Mapping
from typing import Any

_CONSTANTS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
NUMBER = re.compile(rf"{_INTEGER.pattern}|{_FLOAT.pattern}")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def resolved(text: str, *, decimal: bool = False) -> Any:
    """Give what a plain scalar stands for. decimal: other integers are text.

    Source: YAML 1.2.2, section 10.3, core schema.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        if text[1:2] not in {"o", "x"}:
            return int(text)
        return text if decimal else int(text, 0)
    if _FLOAT.fullmatch(text) or _SPECIAL.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text
