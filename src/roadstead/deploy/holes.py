"""Places in our manifests that an installation decides: chart and plain files are one table.

A table is written once, with holes in it. `filled` puts each hole's default in its place, which
gives the plain manifests. `template` writes YAML in which each hole is an action of Helm's engine;
nothing else of a template is written by hand but the few named in `chart.py`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roadstead.deploy.values import default_of
from roadstead.kube.documents import dump

ANY_HOME = "ANYHOMEOFACHART"
"""Stands for the namespace in tables that are made for a chart: no namespace has capitals."""
_MARK = "HOLE{}ELOH"
_MARKED = re.compile(r"HOLE(\d+)ELOH")
_RELEASE = ".Release.Namespace"


@dataclass(frozen=True, slots=True)
class Hole:
    """One place. expression: a pipeline of Helm's engine. default: what it gives with no values."""

    expression: str
    default: Any


def hole(path: str) -> Hole:
    """The place of one value of the table, whatever its type. path: as `image.repository`."""
    return Hole(f".Values.{path}", default_of(path))


def filled(tree: Any) -> Any:
    """Give a table with every default in its place."""
    if isinstance(tree, Hole):
        return tree.default
    if isinstance(tree, Mapping):
        return {key: filled(value) for key, value in tree.items()}
    if isinstance(tree, Sequence) and not isinstance(tree, str | bytes):
        return [filled(value) for value in tree]
    return tree


def template(objects: Iterable[Any]) -> str:
    """Write a table as a template.

    Each hole is JSON of one line, which is YAML wherever it stands and for every type. Text that
    the engine would take for an action of its own is a hole as well.
    """
    actions: list[str] = []
    text = dump([_marked(one, actions) for one in objects])
    return _MARKED.sub(lambda found: f"{{{{ {actions[int(found[1])]} | toJson }}}}", text)


def _marked(tree: Any, actions: list[str]) -> Any:
    if isinstance(tree, str) and (ANY_HOME in tree or "{{" in tree):
        tree = Hole(_spelt(tree), None)
    if isinstance(tree, Hole):
        actions.append(tree.expression)
        return _MARK.format(len(actions) - 1)
    if isinstance(tree, Mapping):
        return {key: _marked(value, actions) for key, value in tree.items()}
    if isinstance(tree, Sequence) and not isinstance(tree, str | bytes):
        return [_marked(value, actions) for value in tree]
    return tree


def _spelt(text: str) -> str:
    """A string of ours as an expression; the namespace is the release's."""
    if text == ANY_HOME:
        return _RELEASE
    count = text.count(ANY_HOME)
    if not count:
        return json.dumps(text)
    form = json.dumps(text.replace("%", "%%").replace(ANY_HOME, "%s"))
    return f"printf {form} {' '.join([_RELEASE] * count)}"
