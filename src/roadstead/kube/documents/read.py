"""YAML text to values with line and column.

Reading follows YAML 1.2's core schema and keeps to plain data: no tags, no merging, no key twice.
Every problem of a file is collected; none of the messages quotes a scalar, since a file may hold
Secrets.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from roadstead.errors import InputError
from roadstead.kube.documents.scalars import NUMBER, resolved
from roadstead.kube.documents.text import Place, text_of

MOST_NODES = 1_000_000
DEEPEST = 100
_MOST_SYNTAX_ERRORS = 50
_LONGEST_NUMBER = 400

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NEXT_DOCUMENT = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)


@dataclass(slots=True)
class _Node:
    """A value while it is read, with where it and its parts begin.

    size: nodes in it with every alias counted in full; height: 1 for a scalar.
    raw: how a plain scalar is written that stands for something else than text.
    parts: by key or index; for a mapping the key's line and column, then the value's. A value
        without parts or raw text is None there.
    """

    value: Any = field(repr=False)
    line: int
    column: int
    size: int = 1
    height: int = 1
    raw: str | None = field(default=None, repr=False)
    parts: "dict[str | int, tuple[int, int, int, int, _Node | None]]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file.

    value: dicts, lists, strings, numbers, booleans and None, its own copy even of aliases.
    place: where the value begins.
    """

    value: Any = field(repr=False)
    place: Place
    _root: _Node = field(repr=False, compare=False)

    def place_of(self, *path: str | int) -> Place:
        """Tell where a part stands: at its key in a mapping, at its start in a list.

        path: keys and indices from the root, as ("spec", "ports", 0). Where a part is absent the
            place of the nearest thing around it is told.
        """
        return self._found(path)[0]

    def value_place(self, *path: str | int) -> Place:
        """Tell where the value of a part begins; of an absent one, as `place_of` does."""
        at, begins, _, left = self._found(path)
        return at if left else begins

    def raw(self, *path: str | int) -> str | None:
        """How a number, a boolean or null is written; None for anything else."""
        _, _, node, left = self._found(path)
        return node.raw if node is not None and not left else None

    def _found(self, path: tuple[str | int, ...]) -> "tuple[Place, Place, _Node | None, int]":
        """Go down a path as far as it leads: place, the value's, its node, steps that are left."""
        node: _Node | None = self._root
        line, column = at_line, at_column = self.place.line, self.place.column
        left = len(path)
        for step in path:
            if node is None or step not in node.parts:
                break
            line, column, at_line, at_column, node = node.parts[step]
            left -= 1
        file = self.place.file
        return Place(file, line, column), Place(file, at_line, at_column), node, left


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file gave.

    documents: those without a problem, in order; empty ones are left out.
    problems: in order of their place.
    """

    documents: tuple[Document, ...]
    problems: tuple[InputError, ...]


class RepeatedKeyError(InputError):
    """A key that comes twice in one mapping.

    key: as it is written. first: the line of the one that comes first.
    """

    def __init__(self, key: str, first: int, place: str) -> None:
        """Keep both."""
        super().__init__(f"the key {key!r} comes twice", place=place)
        self.key = key
        self.first = first


def parse(
    text: str | bytes,
    name: str,
    *,
    most_nodes: int = MOST_NODES,
    decimal: bool = False,
    keep_repeated: bool = False,
) -> Parsed:
    """Read YAML 1.2 or JSON.

    text: UTF-8 when bytes; a byte-order mark at the very start is dropped.
    name: the file's, for places.
    most_nodes: of the whole file, every alias counted in full.
    decimal: hexadecimal and octal integers are text.
    keep_repeated: a document with no other problem than a key that comes twice is kept, with
        the first value, so that a reader can say what else is wrong.
    Raises: nothing; problems are returned.
    Cost: linear, but for a file of more than a few broken documents, of which 50 are told.
    """
    try:
        whole = text_of(text, name)
    except InputError as problem:
        return Parsed((), (problem,))
    reading = _Reading(name, most_nodes, decimal=decimal, keep_repeated=keep_repeated)
    at = 0
    for _ in range(_MOST_SYNTAX_ERRORS):
        reading.skipped = whole.count("\n", 0, at)
        try:
            reading.read(whole[at:])
        except _FullError:
            break
        except yaml.YAMLError as broken:
            reading.broken(broken, whole[at:])
        else:
            break
        # libyaml gives up at its first error; a document marker is a safe place to go on.
        following = _NEXT_DOCUMENT.search(
            whole, max(at + 1, _line_start(whole, at, reading.stopped))
        )
        if following is None:
            break
        at = following.start()
    return Parsed(tuple(reading.documents), tuple(reading.problems))


class _FullError(Exception):
    """The file holds more nodes than allowed; reading stops."""


class _Reading:
    """The state of reading one file: what was found so far, and the anchors of this document."""

    def __init__(
        self, name: str, most_nodes: int, *, decimal: bool = False, keep_repeated: bool = False
    ) -> None:
        """Begin a file."""
        self.name = name
        self._decimal = decimal
        self._keep_repeated = keep_repeated
        self.documents: list[Document] = []
        self.problems: list[InputError] = []
        self.skipped = 0  # lines before the text handed to the parser
        self.stopped = 0  # line, within that text, where the parser gave up
        self._left = most_nodes
        self._most = most_nodes
        self._anchors: dict[str, _Node | None] = {}
        self._loader: Any = None

    def read(self, text: str) -> None:
        """Read documents until the text ends or breaks."""
        self._loader = _Loader(text)
        try:
            while True:
                event = self._next()
                if isinstance(event, yaml.StreamEndEvent):
                    return
                if isinstance(event, yaml.DocumentStartEvent):
                    self._document()
        finally:
            self._loader.dispose()

    def broken(self, error: yaml.YAMLError, text: str) -> None:
        """Note a syntax error without what the parser quotes of the text."""
        within = getattr(error, "context_mark", None)
        mark = getattr(error, "problem_mark", None) or within
        line, column = (mark.line, mark.column) if mark else (0, 0)
        self.stopped = line
        found = text.split("\n", line + 1)[line : line + 1]
        indent = found[0][: len(found[0]) - len(found[0].lstrip())] if found else ""
        if "\t" in indent:
            self._problem("a tab indents this line", line, indent.index("\t"), "indent with spaces")
            return
        reason = _unquoted(getattr(error, "problem", None) or "it cannot be read")
        context = getattr(error, "context", None)
        if within and context:
            began = within.line + 1 + self.skipped
            reason += f" {_unquoted(context)} that begins on line {began}"
        self._problem(f"not YAML: {reason}", line, column)

    def _next(self) -> Any:
        return self._loader.get_event()

    def _problem(self, message: str, line: int, column: int, hint: str = "") -> None:
        place = Place(self.name, line + 1 + self.skipped, column + 1)
        # Reading goes on at the line of an error, which may then break once more.
        if not self.problems or self.problems[-1].place != str(place):
            self.problems.append(InputError(message, place=str(place), hint=hint))

    def _repeated(self, name: str, first: int, mark: Any) -> None:
        place = Place(self.name, mark.line + 1 + self.skipped, mark.column + 1)
        self.problems.append(RepeatedKeyError(name, first, str(place)))

    def _clean(self, before: int) -> bool:
        """Whether what was read since is whole enough to be kept."""
        return all(
            self._keep_repeated and isinstance(one, RepeatedKeyError)
            for one in self.problems[before:]
        )

    def _document(self) -> None:
        """Read one document and keep it when nothing is wrong with it."""
        self._anchors = {}
        before = len(self.problems)
        event = self._next()
        empty = isinstance(event, yaml.ScalarEvent) and event.value == "" and event.implicit[0]
        root = self._node(event, 1)
        if not empty and self._clean(before):
            place = Place(self.name, root.line, root.column)
            self.documents.append(Document(root.value, place, root))

    def _node(self, event: Any, depth: int) -> _Node:
        """Read one value, of which the first event was taken."""
        mark = event.start_mark
        node = _Node(None, mark.line + 1 + self.skipped, mark.column + 1)
        if isinstance(event, yaml.AliasEvent):
            self._alias(event, node, depth)
            return node
        self._count(1, mark)
        if depth > DEEPEST:
            self._problem(f"nested more than {DEEPEST} levels deep", mark.line, mark.column)
            raise _FullError
        if event.tag is not None:
            self._problem("tags are not supported", mark.line, mark.column, "remove the tag")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, node)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._sequence(node, depth)
        else:
            self._mapping(node, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _count(self, nodes: int, mark: Any) -> None:
        """Count nodes against what is allowed."""
        self._left -= nodes
        if self._left < 0:
            self._problem(
                f"more than {self._most} nodes, aliases counted in full", mark.line, mark.column
            )
            raise _FullError

    def _alias(self, event: Any, node: _Node, depth: int) -> None:
        """Fill a node with a copy of what an alias names."""
        mark = event.start_mark
        meant = self._anchors.get(event.anchor)
        if meant is None:
            what = (
                "stands inside what it names" if event.anchor in self._anchors else "names nothing"
            )
            self._problem(f"the alias {what}", mark.line, mark.column)
            return
        self._count(meant.size, mark)
        if depth + meant.height - 1 > DEEPEST:
            self._problem(f"nested more than {DEEPEST} levels deep", mark.line, mark.column)
            raise _FullError
        node.value = _copy(meant.value)
        node.size, node.height, node.parts = meant.size, meant.height, meant.parts
        node.raw = meant.raw

    def _scalar(self, event: Any, node: _Node) -> None:
        """Fill a node with a scalar; quoted ones and block ones are strings."""
        node.value = event.value
        if not event.implicit[0]:
            return
        if len(event.value) > _LONGEST_NUMBER and NUMBER.fullmatch(event.value):
            mark = event.start_mark
            self._problem("the number is too long", mark.line, mark.column, "quote it")
        else:
            node.value = resolved(event.value, decimal=self._decimal)
            if not isinstance(node.value, str):
                node.raw = event.value

    def _sequence(self, node: _Node, depth: int) -> None:
        """Fill a node with a list."""
        node.value = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            item = self._node(event, depth + 1)
            kept = item if item.parts or item.raw is not None else None
            at = (item.line, item.column)
            node.parts[len(node.value)] = (*at, *at, kept)
            node.value.append(item.value)
            node.size += item.size
            node.height = max(node.height, item.height + 1)

    def _mapping(self, node: _Node, depth: int) -> None:
        """Fill a node with a dict, and note keys that come twice."""
        node.value = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            item = self._node(self._next(), depth + 1)
            node.size += key.size + item.size
            node.height = max(node.height, item.height + 1)
            mark = event.start_mark
            # A number or a boolean for a key is meant as it is written, as JSON's keys are strings.
            name = event.value if isinstance(event, yaml.ScalarEvent) else key.value
            if not isinstance(name, str):
                self._problem("a key must be a string", mark.line, mark.column)
            elif name in node.parts:
                self._repeated(name, node.parts[name][0], mark)
            else:
                kept = item if item.parts or item.raw is not None else None
                node.parts[name] = (key.line, key.column, item.line, item.column, kept)
                node.value[name] = item.value


def _unquoted(message: str) -> str:
    """Take the file's words out of a parser's message; quoted punctuation may stay."""
    return _QUOTED.sub(lambda it: "it" if re.search(r"\w", it[0]) else it[0], message)


def _line_start(text: str, at: int, line: int) -> int:
    """Give the index where a line begins, counted from the line that begins at `at`."""
    for _ in range(line):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return at


def _copy(value: Any) -> Any:
    """Copy lists and dicts, so that changing one place does not change another."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
