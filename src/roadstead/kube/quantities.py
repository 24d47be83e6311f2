"""Quantities as Kubernetes writes them: `20Gi`, `250m`, `1e3`.

Source: k8s.io/apimachinery, resource.Quantity.
"""

import re
from decimal import Decimal

_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))"
    r"(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]{1,3}))?"
)
_BINARY = {unit: Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)}
_DECIMAL = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", start=1)},
}


def parse_quantity(text: str) -> Decimal:
    """Read a quantity as a number; two that mean the same amount are equal.

    Raises: ValueError when it is none.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text}` is no quantity such as 500m, 20Gi or 1e3")
    number, suffix, exponent = Decimal(found["number"]), found["suffix"], found["exponent"]
    if suffix and suffix.endswith("i"):
        return number * _BINARY[suffix[0]]
    if suffix:
        return number * _DECIMAL[suffix]
    return number.scaleb(int(exponent)) if exponent else number


def is_quantity(text: str) -> bool:
    """Tell whether a text is a quantity that is not below zero."""
    try:
        return parse_quantity(text) >= 0
    except ValueError:
        return False


def is_positive_quantity(text: str) -> bool:
    """Tell whether a text is a quantity above zero."""
    try:
        return parse_quantity(text) > 0
    except ValueError:
        return False
