"""Placeholders in wants and steps: `${uid:REF}`, `${now}`, `${minted:NAME}`, `${any}` and so on."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from roadstead.errors import InputError
from roadstead.kube.times import format_time

_PLACEHOLDER = re.compile(r"\$\{(?P<word>[a-z]+)(?::(?P<rest>[^}]*))?\}")
MINTED = re.compile(r"\$\{minted:([^}]*)\}")
WORDS = ("uid", "now", "minted", "any", "has", "lacks")


@dataclass(slots=True)
class Names:
    """What placeholders stand for in one case.

    uid: gives the uid of a `Kind/namespace/name`, None when it is not there.
    minted: the names our process minted so far.
    now: the time the case has reached.
    any: values of `${any:NAME}`. mints: names of `${minted:NAME}`.
    """

    uid: Callable[[str], str | None]
    minted: Callable[[], Collection[str]]
    now: Callable[[], datetime]
    any: dict[str, str] = field(default_factory=dict)
    mints: dict[str, str] = field(default_factory=dict)

    def tried(self) -> "Names":
        """A copy to bind names in that may turn out wrong."""
        return Names(self.uid, self.minted, self.now, dict(self.any), dict(self.mints))

    def keep(self, tried: "Names") -> None:
        """Take over what a copy bound."""
        self.any, self.mints = tried.any, tried.mints

    def matches(self, wanted: str, got: str, *, search: bool = False) -> bool:
        """Tell whether a text is the wanted one, and bind the names this shows.

        search: what stands around the placeholders is a regular expression to be found.
        Raises: InputError for a placeholder that does not exist, or a broken expression.
        """
        rest, has, lacks = _split_literals(self.named(wanted))
        if any(text not in got for text in has) or any(text in got for text in lacks):
            return False
        if (has or lacks) and not rest.strip():
            return True
        groups: list[tuple[str, str]] = []
        pattern = "".join(self._patterns(rest, groups, search=search))
        try:
            compiled = re.compile(pattern, re.DOTALL)
        except re.error as error:
            raise InputError(f"`{wanted}` is no regular expression: {error}") from None
        found = compiled.search(got) if search else compiled.fullmatch(got)
        if found is None:
            return False
        return all(
            self._bind(word, name, found[f"p{number}"])
            for number, (word, name) in enumerate(groups)
        )

    def named(self, text: str) -> str:
        """A text with the bound names of minted objects put in, also inside a `${uid:..}`."""
        return MINTED.sub(lambda found: self.mints.get(found[1], found[0]), text)

    def _patterns(self, text: str, groups: list[tuple[str, str]], *, search: bool) -> Iterator[str]:
        at = 0
        for found in _PLACEHOLDER.finditer(text):
            yield text[at : found.start()] if search else re.escape(text[at : found.start()])
            at = found.end()
            word, rest = found["word"], found["rest"] or ""
            known = self._known(word, rest)
            if known is not None:
                yield re.escape(known)
            elif rest:
                yield f"(?P<p{len(groups)}>.+?)"
                groups.append((word, rest))
            else:
                yield ".*?"
        yield text[at:] if search else re.escape(text[at:])

    def _known(self, word: str, rest: str) -> str | None:
        if word == "uid":
            # Nothing has an unknown uid; U+0000 stands in no text of an object.
            return self.uid(rest) or "\0"
        if word == "now":
            return format_time(self.now())
        if word == "any":
            return self.any.get(rest)
        if word == "minted" and rest:
            return self.mints.get(rest)
        raise InputError(f"`${{{word}}}` is no placeholder; there are {', '.join(WORDS)}")

    def _bind(self, word: str, name: str, value: str) -> bool:
        if word == "any":
            return self.any.setdefault(name, value) == value
        if name in self.mints:
            return self.mints[name] == value
        if value not in self.minted() or value in self.mints.values():
            return False
        self.mints[name] = value
        return True

    def resolved(self, value: Any) -> Any:
        """A value of a step with its placeholders replaced.

        Raises: InputError when one stands for nothing now.
        """
        if isinstance(value, dict):
            return {str(self.resolved(key)): self.resolved(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.resolved(part) for part in value]
        if isinstance(value, str):
            return _PLACEHOLDER.sub(self._meaning, self.named(value))
        return value

    def _meaning(self, found: re.Match[str]) -> str:
        word, rest = found["word"], found["rest"] or ""
        meaning = self.uid(rest) if word == "uid" else self._known(word, rest)
        if meaning is None:
            raise InputError(f"`{found[0]}` stands for nothing at this step")
        return meaning


def _split_literals(wanted: str) -> tuple[str, list[str], list[str]]:
    """Take `${has:..}` and `${lacks:..}` out of a text."""
    asked: dict[str, list[str]] = {"has": [], "lacks": []}

    def take(found: re.Match[str]) -> str:
        if found["word"] not in asked:
            return found[0]
        asked[found["word"]].append(found["rest"] or "")
        return ""

    rest = _PLACEHOLDER.sub(take, wanted)
    return rest, asked["has"], asked["lacks"]


def uids_in(value: Any) -> Iterator[str]:
    """Every `Kind/namespace/name` whose uid a value asks for."""
    if isinstance(value, dict):
        for part in value.values():
            yield from uids_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from uids_in(part)
    elif isinstance(value, str):
        for found in _PLACEHOLDER.finditer(value):
            if found["word"] == "uid":
                yield found["rest"] or ""
