"""HTML and SVG, built from parts that escape whatever they are given.

Only what `element` made is taken as markup; every other text is text, so a name or a message can
hold nothing that a browser would act on.
"""

from collections.abc import Iterable, Iterator
from html import escape
from typing import TypeAlias

VOID = frozenset({"br", "hr", "input", "link", "meta"})
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), 127, 0xFFFE, 0xFFFF), "�")
_CONTROL |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{BULLET}")
"""What no document may hold, and what would turn the direction of a line."""


class Markup(str):
    """Text that is markup already; only this module makes it."""

    __slots__ = ()


Part: TypeAlias = "str | Markup | Iterable[Part] | None"
Attribute: TypeAlias = "str | int | float | bool | None"


def element(name: str, /, *content: Part, **attributes: Attribute) -> Markup:
    """One element.

    attributes: True stands alone, None and False are left out. An underscore in a name is a
    hyphen; one at its end is dropped, for names that Python keeps (`class_`, `for_`).
    """
    stated = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{stated}>")
    return Markup(f"<{name}{stated}>{''.join(_flat(content))}</{name}>")


def document(title: str, head: Iterable[Part], body: Iterable[Part], lang: str = "en") -> str:
    """A whole page."""
    page = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("title", title),
            head,
        ),
        element("body", body),
        lang=lang,
    )
    return f"<!doctype html>\n{page}\n"


def raw(name: str, content: str) -> Markup:
    """A `style` or `script` of ours, whose content a browser does not unescape.

    Raises: ValueError where it would end its element.
    """
    if f"</{name}" in content.lower() or name not in {"style", "script"}:
        raise ValueError(f"this cannot stand in a {name}")
    return Markup(f"<{name}>{content}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_escaped(str(value))}"'


def _flat(content: Part) -> Iterator[str]:
    if content is None:
        return
    if isinstance(content, Markup):
        yield content
    elif isinstance(content, str):
        yield _escaped(content)
    else:
        for one in content:
            yield from _flat(one)


def _escaped(text: str) -> str:
    return escape(text.translate(_CONTROL), quote=True)
