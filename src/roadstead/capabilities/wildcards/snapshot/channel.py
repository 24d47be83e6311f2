"""What the platform's values say of the wildcard certificate. Source: wildcard-secrets 3.

No message quotes a value: the values hold more than the two keys that are read here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from roadstead.capabilities.wildcards import api
from roadstead.kube import names
from roadstead.kube.documents import parse
from roadstead.kube.objects import Object


class Word(StrEnum):
    """What the channel comes to."""

    UNKNOWN = "unknown"
    BROKEN = "broken"
    DISABLED = "disabled"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class Channel:
    """The channel, read. name: of the source; publishing: its namespace, both where it is active.

    said: what is absent or wrong.
    """

    word: Word
    name: str = ""
    publishing: str = ""
    said: str = ""


def read_channel(values: Object | None) -> Channel:
    """Read the values Secret; None where it is absent."""
    if values is None:
        return Channel(Word.UNKNOWN, said=f"{api.VALUES} does not exist")
    if api.VALUES_KEY not in values.data_keys():
        return Channel(Word.UNKNOWN, said=f"{api.VALUES} has no key `{api.VALUES_KEY}`")
    parsed = parse(values.decoded(api.VALUES_KEY) or b"", api.VALUES_KEY)
    if parsed.problems:
        first = parsed.problems[0]
        return _broken(f"is no YAML: line {_line_of(first.place)}: {first.message}")
    documents = parsed.documents
    value = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, Mapping):
        return _broken("is not one map")
    return _of_cluster(value.get(api.CLUSTER))


def _of_cluster(cluster: Any) -> Channel:
    if cluster is None:
        return Channel(Word.UNKNOWN, said=f"{api.VALUES} says nothing under `{api.CLUSTER}`")
    if not isinstance(cluster, Mapping):
        return _broken(f"holds no map under `{api.CLUSTER}`")
    return _of_name(cluster)


def _of_name(cluster: Mapping[Any, Any]) -> Channel:
    where = f"`{api.CLUSTER}.{api.SOURCE_NAME}`"
    name = cluster.get(api.SOURCE_NAME)
    if name is None:
        return Channel(Word.UNKNOWN, said=f"{api.VALUES} says nothing under {where}")
    if name == "":
        return Channel(Word.DISABLED, said=f"{where} of {api.VALUES} is empty")
    if not isinstance(name, str) or not names.is_subdomain(name):
        return _broken(f"holds under {where} what can be no Secret's name")
    publishing = cluster.get(api.PUBLISHING)
    if not isinstance(publishing, str | None):
        return _broken(f"holds no text under `{api.CLUSTER}.{api.PUBLISHING}`")
    return Channel(Word.ACTIVE, name, publishing or api.DEFAULT_PUBLISHING)


def _broken(said: str) -> Channel:
    return Channel(Word.BROKEN, said=f"`{api.VALUES_KEY}` of {api.VALUES} {said}")


def _line_of(place: str) -> str:
    return place.split(":")[1] if place.count(":") else "1"
