"""The characters of a YAML file, and where each stands."""

import re
from dataclasses import dataclass

from roadstead.errors import InputError

_BYTE_ORDER_MARK = "\ufeff"
_FORBIDDEN = re.compile(
    r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_SURROGATES = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """Spell it as compilers do, so that editors can jump there."""
        return f"{self.file}:{self.line}:{self.column}"


def text_of(text: str | bytes, name: str) -> str:
    """Decode a file and refuse the characters that YAML does."""
    decoded = text if isinstance(text, str) else _decoded(text, name)
    decoded = decoded.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")
    forbidden = _FORBIDDEN.search(decoded)
    if forbidden:
        code = f"U+{ord(forbidden[0]):04X}"
        place = _place(decoded, forbidden.start(), name)
        raise InputError(f"the character {code} is not allowed", place=str(place))
    return _SURROGATES.sub(_joined, decoded) if decoded.lstrip()[:1] in {"{", "["} else decoded


def _decoded(text: bytes, name: str) -> str:
    """Decode UTF-8 and say where it is something else."""
    hint = "save it as UTF-8"
    if text.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        raise InputError("UTF-16 or UTF-32, not UTF-8", place=f"{name}:1:1", hint=hint)
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        start = text[: error.start].decode()
    raise InputError("not UTF-8", place=str(_place(start, len(start), name)), hint=hint)


def _joined(pair: re.Match[str]) -> str:
    """Write JSON's two escapes of one character as the one YAML has."""
    high, low = int(pair[2], 16) - 0xD800, int(pair[3], 16) - 0xDC00
    return f"{pair[1]}\\U{0x10000 + (high << 10) + low:08x}"


def _place(text: str, at: int, name: str) -> Place:
    """Tell the place of a character by its index."""
    return Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
