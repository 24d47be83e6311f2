"""What a decision wants, as YAML without a Secret's value: lengths and names are all that is shown.

Whatever an annotation of a Secret holds is masked with its data, and what kubectl keeps of the last
apply on any object: it repeats the whole of it.
"""

from collections.abc import Mapping
from typing import Any

from roadstead.kube.documents import dump
from roadstead.kube.refs import SECRET, Kind

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_VALUES = ("data", "stringData")


def masked(kind: Kind, body: Mapping[str, Any]) -> str:
    """An object as YAML that may be shown."""
    meta = dict(body.get("metadata") or {})
    meta.pop("managedFields", None)
    annotations = meta.get("annotations")
    if isinstance(annotations, Mapping):
        meta["annotations"] = {
            name: _hidden(value) if kind == SECRET or name == APPLIED else value
            for name, value in annotations.items()
        }
    shown = {**body, "metadata": meta}
    if kind == SECRET:
        for part in _VALUES:
            values = shown.get(part)
            if isinstance(values, Mapping):
                shown[part] = {name: _hidden(value) for name, value in values.items()}
            elif part in shown:
                shown[part] = _hidden(values)
    return dump([shown])


def _hidden(value: Any) -> str:
    return f"(hidden, {len(value)} characters)" if isinstance(value, str) else "(hidden)"
