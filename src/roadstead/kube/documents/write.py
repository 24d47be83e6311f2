"""Values to YAML text: the same bytes for the same values, for readers of YAML 1.1 and 1.2.

Block style, two spaces, lists at the indent of their key, no folding, no trailing blanks.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Self

from roadstead.errors import BugError

_LONGEST_SIMPLE_KEY = 1_000  # readers look 1024 characters ahead for the colon
_REMEMBERED = 1 << 16  # spellings kept; a thousand services share most of theirs
_LEAVES = frozenset({str, int, bool, float, type(None)})
_FIRST = ("apiVersion", "kind", "metadata")
_FIRST_OF_METADATA = ("name", "namespace", "labels", "annotations")

# Starts and goes on like a word; what it must not be is in _NOT_TEXT.
_WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_./\-]*")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_OPTION = re.compile(r"--?[^ \-]")  # `-v` and `--verbose` are no list entries
_NOT_TEXT = re.compile(
    r"""y|n|yes|no|on|off|true|false|null|~|=|<<
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?
    |[-+]?\.[0-9_]+(?:e[-+]?[0-9]+)?
    |[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+)
    |[-+]?\.inf|\.nan
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:t|\ +)[0-9].*)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ESCAPES: Mapping[str, str] = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Noted(str):
    """A string with a comment that is written behind it, on the same line.

    note: without the number sign, one line; it is no part of the value, and of no comparison.
    """

    __slots__ = ("note",)
    note: str

    def __new__(cls, text: str, note: str) -> Self:
        """Keep the comment beside the text."""
        made = super().__new__(cls, text)
        made.note = note
        return made


def dump(objects: Iterable[Any], *, sort: bool = False) -> str:
    """Write values as YAML documents, separated by `---`.

    objects: dicts with string keys, lists, strings, numbers, booleans and None.
    sort: keys in byte order instead of the order given; either way an object begins with
        apiVersion, kind and metadata, and its metadata with name and namespace.
    Raises: BugError for anything else, named by its type.
    Cost: linear; about 20 MB a second.
    """
    out: list[str] = []
    for one in objects:
        if out:
            out.append("---\n")
        _root(out, _ordered(one, sort=sort))
    return "".join(out)


def _ordered(value: Any, *, sort: bool) -> Any:
    """Put the keys of an object, and of its metadata, in their place."""
    value = _sorted(value) if sort else value
    if not isinstance(value, Mapping) or "kind" not in value:
        return value
    moved = _moved(value, _FIRST)
    if isinstance(moved.get("metadata"), Mapping):
        moved["metadata"] = _moved(moved["metadata"], _FIRST_OF_METADATA)
    return moved


def _sorted(value: Any) -> Any:
    """Sort the keys of every mapping."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_sorted(item) for item in value]
    return value


def _moved(value: Mapping[str, Any], first: tuple[str, ...]) -> dict[str, Any]:
    """Give a mapping with some keys first, in that order."""
    return {key: value[key] for key in first if key in value} | dict(value)


def _root(out: list[str], value: Any) -> None:
    """Write one document."""
    if isinstance(value, str) and "\n" in value:
        # A literal block at the root is indented differently by different readers.
        out.append(f"{_quoted(value)}\n")
    elif isinstance(value, Mapping) and value:
        _mapping(out, value, "", "")
    elif _is_list(value) and value:
        _list(out, value, "", "")
    else:
        _leaf(out, "", value, "")


def _mapping(out: list[str], value: Mapping[str, Any], start: str, indent: str) -> None:
    """Write a mapping that is not empty; its first line begins with `start`."""
    inner = indent + "  "
    for key, item in value.items():
        name = start + _key(key)
        if len(name) > _LONGEST_SIMPLE_KEY and len(_key(key)) > _LONGEST_SIMPLE_KEY:
            name = f"{start}? {_key(key)}\n{indent}"
        start = indent
        kind = type(item)
        # The plain types first: a test against an abstract one costs more than writing a line.
        if kind is str and "\n" not in item:
            out.append(f"{name}: {_text(item)}\n")
        elif kind is int:
            out.append(f"{name}: {item}\n")
        elif item and (kind is dict or (kind not in _LEAVES and isinstance(item, Mapping))):
            out.append(f"{name}:\n")
            _mapping(out, item, inner, inner)
        elif item and (kind is list or (kind not in _LEAVES and _is_list(item))):
            out.append(f"{name}:\n")
            _list(out, item, indent, indent)
        else:
            _leaf(out, f"{name}: ", item, inner)


def _list(out: list[str], value: Sequence[Any], start: str, indent: str) -> None:
    """Write a list that is not empty; its first line begins with `start`."""
    inner = indent + "  "
    for item in value:
        # The first line of what is nested follows the dash, the others line up with it.
        dash = f"{start}- "
        start = indent
        kind = type(item)
        if item and (kind is dict or (kind not in _LEAVES and isinstance(item, Mapping))):
            _mapping(out, item, dash, inner)
        elif item and (kind is list or (kind not in _LEAVES and _is_list(item))):
            _list(out, item, dash, inner)
        else:
            _leaf(out, dash, item, inner)


def _leaf(out: list[str], start: str, value: Any, indent: str) -> None:
    """Write a scalar: one line, or those of a literal block."""
    if type(value) is Noted:
        text = _quoted(value) if "\n" in value else _text(str(value))
        out.append(f"{start}{text} # {value.note}\n")
        return
    if not isinstance(value, str) or "\n" not in value:
        out.append(f"{start}{_scalar(value)}\n")
        return
    lines = value.split("\n")
    if not _fits_block(lines):
        out.append(f"{start}{_quoted(value)}\n")
        return
    ends = len(value) - len(value.rstrip("\n"))
    lead = "2" if not lines[0] or lines[0][0] in " \t" else ""
    out.append(f"{start}|{lead}{'-' if ends == 0 else '' if ends == 1 else '+'}\n")
    out.extend(f"{indent}{line}\n" if line else "\n" for line in (lines[:-1] if ends else lines))


@lru_cache(maxsize=_REMEMBERED)
def _key(key: Any) -> str:
    """Spell a key, without its colon."""
    if not isinstance(key, str):
        raise BugError(f"YAML keys are strings, not {type(key).__name__}")
    return _quoted(key) if "\n" in key else _text(key)


def _fits_block(lines: list[str]) -> bool:
    """Tell whether lines survive a literal block: printable, no trailing blanks, not all empty."""
    return any(lines) and all(
        line.replace("\t", "").isprintable() and line[-1:] not in {" ", "\t"} for line in lines
    )


def _scalar(value: Any) -> str:
    """Spell a scalar, or an empty list or mapping."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping) or _is_list(value):
        return "{}" if isinstance(value, Mapping) else "[]"
    raise BugError(f"YAML has no {type(value).__name__}")


def _float(value: float) -> str:
    """Spell a float so that it stays one: YAML 1.1 wants a dot."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(float(value)).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + exponent + power


@lru_cache(maxsize=_REMEMBERED)
def _text(value: str) -> str:
    """Spell a string on one line: plain when no reader takes it for anything else."""
    if _WORD.fullmatch(value):
        return f'"{value}"' if _NOT_TEXT.fullmatch(value) else value
    return value if _is_plain(value) else _quoted(value)


def _is_plain(value: str) -> bool:
    """Tell whether a string that is not just a word may go without quotes."""
    if not value or not value.isprintable() or value != value.strip(" "):
        return False
    if value[0] in _INDICATORS and not _OPTION.match(value):
        return False
    if ": " in value or " #" in value or value[-1] == ":" or value.startswith("..."):
        return False
    return _NOT_TEXT.fullmatch(value) is None


def _quoted(value: str) -> str:
    """Spell a string in double quotes."""
    return '"' + "".join(_escaped(mark) for mark in value) + '"'


def _escaped(mark: str) -> str:
    """Spell one character inside double quotes."""
    if mark in _ESCAPES:
        return _ESCAPES[mark]
    if mark.isprintable():
        return mark
    code = ord(mark)
    if code <= 0xFF:  # noqa: PLR2004 - YAML's escapes
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"  # noqa: PLR2004 - same


def _is_list(value: Any) -> bool:
    """Tell whether a value is written as a list."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
