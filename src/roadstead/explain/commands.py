"""The lines a person may type, spelled once: `kubectl` with a name, a patch or a label."""

import json
import re
from typing import Any

from roadstead.explain.subject import Next
from roadstead.kube.refs import Kind, Ref

QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas")
_EXCEEDED = re.compile(r"exceeded quota: ([^\s,]+), requested: (\S+), used: (\S+), limited: ")
GRANT = Next(("roadstead manifests rbac | kubectl apply -f -",), "where a permission is missing")


def named(ref: Ref) -> str:
    """An object as kubectl takes it: `secret NAME -n NAMESPACE`."""
    kind = ref.kind.kind.lower()
    return f"{kind} {ref.name} -n {ref.namespace}" if ref.namespace else f"{kind} {ref.name}"


def patch(ref: Ref, change: dict[str, Any]) -> str:
    """A merge patch of an object."""
    return f"kubectl patch {named(ref)} --type merge -p '{json.dumps(change)}'"


def label(ref: Ref) -> str:
    """A change of labels, which follow."""
    return f"kubectl label {named(ref)}"


def annotate(ref: Ref) -> str:
    """A change of annotations, which follow."""
    return f"kubectl annotate {named(ref)}"


def delete(ref: Ref) -> str:
    """The deletion of an object."""
    return f"kubectl delete {named(ref)}"


def apply(file: str) -> str:
    """What a file that the reader supplies says."""
    return f"kubectl apply -f {file}"


def more_room(namespace: str, said: str) -> tuple[Next, ...]:
    """Raise the quota that a refusal quotes, by what was asked for; empty where it quotes none."""
    exceeded = _EXCEEDED.search(said)
    if exceeded is None:
        return ()
    requested, used = (_counts(exceeded[group]) for group in (2, 3))
    hard = {name: str(used.get(name, 0) + count) for name, count in requested.items()}
    quota = QUOTA.ref(namespace, exceeded[1])
    return (Next((patch(quota, {"spec": {"hard": hard}}),), "there is then room for it"),)


def _counts(text: str) -> dict[str, int]:
    pairs = (part.partition("=") for part in text.rstrip(",").split(","))
    return {name: int(count) for name, _, count in pairs if count.isdecimal()}
