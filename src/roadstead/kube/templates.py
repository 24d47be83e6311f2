"""The subset of Go's text/template that ApplicationDefinitions and CA declarations use.

Literal text, `{{ expr }}` with trimming, fields, strings, integers, `slice`, `printf`, `len`,
`index` and pipelines. Anything else is an error, never passed through. Strings are bytes while a
template runs, as they are in Go; the outcome must be UTF-8.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from roadstead.errors import RoadsteadError

LONGEST_TEMPLATE = 8_192
LONGEST_OUTPUT = 65_536

_SPACE = " \t\r\n"
_INT64 = 2**63
_DIGITS = 20
_NO_VALUE = b"<no value>"


class TemplateError(RoadsteadError):
    """A template cannot be read or rendered; the message says where, in characters."""


@dataclass(frozen=True, slots=True)
class _NoValue:
    """What an unknown variable stands for: Go's nil."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A variable by name, and where its dot stands."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class _Call:
    """One stage of a pipeline: a value alone, or a function with arguments."""

    head: "_Operand | str"
    arguments: "tuple[_Operand, ...]"
    at: int


_Value = bytes | int | _NoValue
_Operand = bytes | int | _Field
_Pipeline = tuple[_Call, ...]
_Function = Callable[[list[_Value], int], _Value]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<pipe>\|)
    |\.(?P<field>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<integer>[+-]?(?:0|[1-9][0-9]*))
    |"(?P<quoted>(?:[^"\\\n]|\\[^\n])*)"
    |`(?P<raw>[^`]*)`
    """,
    re.VERBOSE,
)
_CLOSE = re.compile(r"(?:[ \t\r\n]-)?\}\}")
_ESCAPE = re.compile(
    r"""\\(?:(?P<plain>[abfnrtv\\"])
    |x(?P<hex>[0-9a-fA-F]{2})
    |(?P<octal>[0-3][0-7]{2})
    |u(?P<short>[0-9a-fA-F]{4})
    |U(?P<long>[0-9a-fA-F]{8})
    |(?P<bad>.))""",
    re.VERBOSE | re.DOTALL,
)
_PLAIN = dict(zip('abfnrtv\\"', b'\a\b\f\n\r\t\v\\"', strict=True))
_SHORT = {byte: mark for mark, byte in _PLAIN.items()}


@dataclass(frozen=True, slots=True)
class Template:
    """A template that has been read: literal text and pipelines, in order."""

    parts: tuple[bytes | _Pipeline, ...]

    def render(self, variables: Mapping[str, str], *, strict: bool) -> str:
        """Fill in the variables.

        variables: by name, without the dot.
        strict: an unknown variable is an error; otherwise it renders as `<no value>`.
        Raises: TemplateError, and nothing else.
        """
        out = bytearray()
        for part in self.parts:
            out += part if isinstance(part, bytes) else _printed(_run(part, variables, strict))
            if len(out) > LONGEST_OUTPUT:
                raise TemplateError(f"the outcome is longer than {LONGEST_OUTPUT} bytes")
        try:
            return out.decode()
        except UnicodeDecodeError:
            raise TemplateError("the outcome is not UTF-8: a character was cut") from None


@lru_cache(maxsize=256)
def compile_template(template: str) -> Template:
    """Read a template, so that it can be rendered often.

    Raises: TemplateError, and nothing else.
    Source: lineage 6.3.
    Cost: linear; a template longer than LONGEST_TEMPLATE characters is refused.
    """
    if len(template) > LONGEST_TEMPLATE:
        raise TemplateError(f"the template is longer than {LONGEST_TEMPLATE} characters")
    parts: list[bytes | _Pipeline] = []
    at = 0
    trim = False
    while True:
        opening = template.find("{{", at)
        text = template[at:] if opening < 0 else template[at:opening]
        if trim:
            text = text.lstrip(_SPACE)
        if opening < 0:
            parts.append(_bytes(text))
            return Template(tuple(parts))
        inside = opening + 2
        if template.startswith("-", inside) and template[inside + 1 : inside + 2] in set(_SPACE):
            inside += 1
            text = text.rstrip(_SPACE)
        parts.append(_bytes(text))
        pipeline, at = _action(template, inside, opening)
        parts.append(pipeline)
        trim = template[at - 3] == "-"


def render(template: str, variables: Mapping[str, str], *, strict: bool) -> str:
    """Read a template and fill in the variables.

    variables: by name, without the dot.
    strict: an unknown variable is an error; otherwise it renders as `<no value>`.
    Raises: TemplateError, and nothing else.
    Source: lineage 6.3; strict for trust-anchors 4.2.
    """
    return compile_template(template).render(variables, strict=strict)


def _action(template: str, at: int, opening: int) -> tuple[_Pipeline, int]:
    """Read one action up to its closing braces; give it and where the text goes on."""
    stages: list[list[_Operand | str]] = [[]]
    starts = [at]
    separated = True
    while True:
        closing = _CLOSE.match(template, at)
        if closing:
            break
        token = _TOKEN.match(template, at)
        if token is None:
            raise _unreadable(template, at, opening)
        if token["space"] is None and token["pipe"] is None:
            if not separated:
                raise TemplateError(f"a blank is missing at offset {at}")
            if not stages[-1]:
                starts[-1] = at
            stages[-1].append(_operand(token))
        separated = token["space"] is not None or token["pipe"] is not None
        if token["pipe"]:
            stages.append([])
            starts.append(at)
        at = token.end()
    calls = tuple(
        _call(words, start, first=number == 0)
        for number, (words, start) in enumerate(zip(stages, starts, strict=True))
    )
    return calls, closing.end()


def _unreadable(template: str, at: int, opening: int) -> TemplateError:
    """Say why no token begins at `at`."""
    if at >= len(template):
        return TemplateError(f"the action at offset {opening} is not closed")
    if template[at] in '"`':
        return TemplateError(f"the string at offset {at} is not closed")
    return TemplateError(f"unsupported syntax at offset {at}")


def _operand(token: re.Match[str]) -> _Operand | str:
    """Give what one token stands for; a bare word comes back as str."""
    if token["field"] is not None:
        return _Field(token["field"], token.start())
    if token["integer"] is not None:
        digits = token["integer"]
        number = int(digits) if len(digits) <= _DIGITS else _INT64
        if not -_INT64 <= number < _INT64:
            raise TemplateError(f"the number at offset {token.start()} is out of range")
        return number
    if token["quoted"] is not None:
        return _unquoted(token["quoted"], token.start())
    if token["raw"] is not None:
        return _bytes(token["raw"].replace("\r", ""))  # as Go's back-quoted strings do
    return token["word"]


def _unquoted(text: str, at: int) -> bytes:
    """Resolve the escapes of a double-quoted string."""
    out = bytearray()
    done = 0
    for escape in _ESCAPE.finditer(text):
        out += _bytes(text[done : escape.start()])
        done = escape.end()
        code = int(escape["short"] or escape["long"] or "0", 16)
        if escape["bad"] or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - Unicode
            raise TemplateError(f"the string at offset {at} holds an unknown escape")
        if escape["plain"]:
            out.append(_PLAIN[escape["plain"]])
        elif escape["hex"] or escape["octal"]:
            out.append(int(escape["hex"], 16) if escape["hex"] else int(escape["octal"], 8))
        else:
            out += chr(code).encode()
    return bytes(out + _bytes(text[done:]))


def _call(words: list[_Operand | str], at: int, *, first: bool) -> _Call:
    """Make one stage of a pipeline; only a function may take arguments or follow a pipe."""
    if not words:
        raise TemplateError(f"a value is missing at offset {at}")
    head, *arguments = words
    if isinstance(head, str):
        if head not in _FUNCTIONS:
            raise TemplateError(f"unknown function {head!r} at offset {at}")
    elif arguments or not first:
        raise TemplateError(f"only a function takes arguments, at offset {at}")
    operands = tuple(one for one in arguments if not isinstance(one, str))
    if len(operands) != len(arguments):
        raise TemplateError(f"a function cannot be an argument, at offset {at}")
    return _Call(head, operands, at)


def _run(pipeline: _Pipeline, variables: Mapping[str, str], strict: bool) -> _Value:
    """Run the stages; each value becomes the last argument of the next stage."""
    piped: list[_Value] = []
    for call in pipeline:
        if isinstance(call.head, str):
            given = [_value(one, variables, strict) for one in call.arguments]
            result = _FUNCTIONS[call.head](given + piped, call.at)
        else:
            result = _value(call.head, variables, strict)
        piped = [result]
    return piped[0]


def _value(operand: _Operand, variables: Mapping[str, str], strict: bool) -> _Value:
    """Give the value of an operand."""
    if not isinstance(operand, _Field):
        return operand
    found = variables.get(operand.name)
    if found is not None:
        return _bytes(found)
    if strict:
        known = ", ".join(f".{name}" for name in sorted(variables))
        raise TemplateError(
            f"unknown variable .{operand.name} at offset {operand.at}", hint=f"known are {known}"
        )
    return _NoValue()


def _printed(value: _Value) -> bytes:
    """Give the bytes an action leaves in the outcome."""
    if isinstance(value, _NoValue):
        return _NO_VALUE
    return value if isinstance(value, bytes) else str(value).encode()


def _indices(arguments: list[_Value], name: str, at: int) -> tuple[bytes, list[int]]:
    """Split the arguments of a function into the string it works on and integers."""
    if not arguments or not isinstance(arguments[0], bytes):
        raise TemplateError(f"{name} needs a string, at offset {at}")
    numbers = [one for one in arguments[1:] if isinstance(one, int)]
    if len(numbers) != len(arguments) - 1:
        raise TemplateError(f"{name} takes whole numbers, at offset {at}")
    return arguments[0], numbers


def _slice(arguments: list[_Value], at: int) -> _Value:
    """Give the bytes from one index up to another."""
    text, numbers = _indices(arguments, "slice", at)
    if len(numbers) > 2:  # noqa: PLR2004 - a string has no capacity to limit
        raise TemplateError(f"slice takes at most two numbers, at offset {at}")
    start, stop = [*numbers, *(0, len(text))[len(numbers) :]]
    if not 0 <= start <= stop <= len(text):
        raise TemplateError(f"slice is out of range at offset {at}")
    return text[start:stop]


def _index(arguments: list[_Value], at: int) -> _Value:
    """Give one byte of a string, as a number."""
    text, numbers = _indices(arguments, "index", at)
    if not numbers:
        return text
    if len(numbers) > 1:
        raise TemplateError(f"index takes one number, at offset {at}")
    if not 0 <= numbers[0] < len(text):
        raise TemplateError(f"index is out of range at offset {at}")
    return text[numbers[0]]


def _len(arguments: list[_Value], at: int) -> _Value:
    """Give the length of a string in bytes."""
    text, numbers = _indices(arguments, "len", at)
    if numbers:
        raise TemplateError(f"len takes one string, at offset {at}")
    return len(text)


def _printf(arguments: list[_Value], at: int) -> _Value:
    """Format values with %s, %d, %v and %q; a verb that does not fit its value is an error."""
    if not arguments or not isinstance(arguments[0], bytes):
        raise TemplateError(f"printf needs a format, at offset {at}")
    values = iter(arguments[1:])
    out = bytearray()
    pieces = re.split(rb"%(.?)", arguments[0], flags=re.DOTALL)
    for number, piece in enumerate(pieces):
        if number % 2 == 0 or piece == b"%":
            out += piece
        else:
            out += _formatted(piece, next(values, None), at)
        if len(out) > LONGEST_OUTPUT:
            raise TemplateError(f"the outcome is longer than {LONGEST_OUTPUT} bytes")
    if next(values, None) is not None:
        raise TemplateError(f"printf has more values than verbs, at offset {at}")
    return bytes(out)


def _formatted(verb: bytes, value: _Value | None, at: int) -> bytes:
    """Format one value."""
    if verb not in {b"s", b"d", b"v", b"q"}:
        raise TemplateError(f"printf knows %s, %d, %v and %q only, at offset {at}")
    if value is None:
        raise TemplateError(f"printf has fewer values than verbs, at offset {at}")
    if isinstance(value, _NoValue):
        return b"<nil>" if verb == b"v" else b"%!" + verb + b"(<nil>)"  # as Go prints nil
    if isinstance(value, int) and verb in {b"d", b"v"}:
        return str(value).encode()
    if isinstance(value, bytes) and verb in {b"s", b"v"}:
        return value
    if isinstance(value, bytes) and verb == b"q":
        return _quoted(value)
    raise TemplateError(f"printf: %{verb.decode()} does not fit its value, at offset {at}")


def _quoted(value: bytes) -> bytes:
    """Quote a string as Go does: what is not printable, or not UTF-8, becomes an escape."""
    out = ""
    for mark in value.decode(errors="surrogateescape"):
        code = ord(mark)
        if code in _SHORT:
            out += "\\" + _SHORT[code]
        elif mark.isprintable():
            out += mark
        elif 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - a byte that was no UTF-8
            out += f"\\x{code - 0xDC00:02x}"
        elif code < 0x80:  # noqa: PLR2004 - ASCII
            out += f"\\x{code:02x}"
        else:
            out += f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - as Go
    return f'"{out}"'.encode()


def _bytes(text: str) -> bytes:
    """Encode text; a lone surrogate is kept here and refused in the outcome."""
    return text.encode(errors="surrogatepass")


_FUNCTIONS: Mapping[str, _Function] = {
    "slice": _slice,
    "printf": _printf,
    "len": _len,
    "index": _index,
}
