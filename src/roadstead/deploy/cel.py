"""Pieces of CEL that admission policies are made up of.

Each function gives text. `object` is the object as it would be stored, `oldObject` as it is. What
is absent counts as empty. Source: Kubernetes, Common Expression Language in Kubernetes.
"""

from base64 import b64encode
from collections.abc import Iterable

from roadstead.kube.cel import literal
from roadstead.kube.refs import Kind

CREATES = "request.operation == 'CREATE'"
UPDATES = "request.operation == 'UPDATE'"
DELETES = "request.operation == 'DELETE'"
OLD = "oldObject.metadata.name"
NAMED = f"({DELETES} ? {OLD} : object.metadata.?name.orValue(''))"
"""The name of what is written."""
TURNS = ("labels", "annotations", "resourceVersion", "generation", "managedFields")
"""Metadata that a write changes by itself, and what is compared key by key."""


def texts(values: Iterable[str]) -> str:
    """A list of texts."""
    return "[" + ", ".join(literal(value) for value in values) + "]"


def entries(thing: str, field: str) -> str:
    """A map within an object, as `data` or `metadata.?labels`."""
    return f"{thing}.?{field}.orValue({{}})"


def labels(thing: str) -> str:
    """The labels of an object."""
    return entries(thing, "metadata.?labels")


def annotations(thing: str) -> str:
    """The annotations of an object."""
    return entries(thing, "metadata.?annotations")


def value(among: str, key: str) -> str:
    """What a map holds under a key."""
    return f"{among}[?{literal(key)}].orValue('')"


def owners(thing: str) -> str:
    """The owner references of an object."""
    return f"{thing}.metadata.?ownerReferences.orValue([])"


def owner_is(kind: Kind) -> str:
    """Whether the owner reference `one` is to a kind, in whatever version."""
    return f"one.kind == {literal(kind.kind)} && one.apiVersion.startsWith({literal(kind.group + '/')})"


def controlled_by(thing: str, kind: Kind) -> str:
    """Whether an object's controller is of a kind."""
    return f"{owners(thing)}.exists(one, one.?controller.orValue(false) && {owner_is(kind)})"


def both(*parts: str) -> str:
    """Whether all of some expressions hold."""
    return " && ".join(f"({part})" for part in parts)


def only(place: str, fields: Iterable[str]) -> str:
    """Whether an object, or the part of it at a place, is as before but for these fields.

    place: empty for the object, or as `.metadata`.
    """
    return _as_before(f"dyn(object{place})", f"dyn(oldObject{place})", fields)


def same_but(field: str, keys: Iterable[str]) -> str:
    """Whether a map is as before but for these keys."""
    return _as_before(entries("object", field), entries("oldObject", field), keys)


def _as_before(new: str, old: str, keys: Iterable[str]) -> str:
    but = texts(keys)
    return (
        f"{new}.all(k, k in {but} || (k in {old} && {new}[k] == {old}[k])) && "
        f"{old}.all(k, k in {but} || k in {new})"
    )


def only_metadata(
    label_keys: Iterable[str],
    annotation_keys: Iterable[str] = (),
    fields: Iterable[str] = (),
    parts: Iterable[str] = (),
) -> str:
    """Whether nothing of an object changes but these labels and annotations.

    fields: of the metadata, that may change as well. parts: of the object.
    """
    return both(
        only("", ("metadata", *parts)),
        only(".metadata", (*TURNS, *fields)),
        same_but("metadata.?labels", label_keys),
        same_but("metadata.?annotations", annotation_keys),
    )


def spellings(what: str) -> tuple[str, ...]:
    """What a text becomes within base64, by where in a group of three bytes it begins.

    what: ASCII, of four characters at least.
    """
    found = []
    for before in range(3):
        whole = b64encode(b"\0" * before + what.encode()).decode()
        first, last = -(-before * 8 // 6), (before + len(what)) * 8 // 6
        found.append(whole[first:last])
    return tuple(found)
