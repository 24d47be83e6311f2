"""What the API server refuses, in its own order and words; never with a value of the object."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from typing import Any

from roadstead.errors import ClusterError
from roadstead.kube import names
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, NAMESPACE, SECRET, Kind, Ref

SECRET_SIZE_LIMIT = 1024 * 1024
"""Bytes of all values of a Secret together, decoded."""

_RBAC = "rbac.authorization.k8s.io"


def refusal(status: int, reason: str, ref: Ref, sentence: str, *, cause: str = "") -> ClusterError:
    """An answer of the API server about one object."""
    return ClusterError(sentence, status=status, reason=reason, cause=cause, about=str(ref))


def not_found(ref: Ref) -> ClusterError:
    """There is no such object."""
    return refusal(404, "NotFound", ref, f'{ref.kind.resource} "{ref.name}" not found')


def invalid(ref: Ref, field: str, problem: str, *, cause: str = "") -> ClusterError:
    """A field has a value it must not have."""
    kind = f"{ref.kind.kind}.{ref.kind.group}" if ref.kind.group else ref.kind.kind
    sentence = f'{kind} "{ref.name}" is invalid: {field}: {problem}'
    return refusal(422, "Invalid", ref, sentence, cause=cause)


def conflict(ref: Ref, sentence: str = "") -> ClusterError:
    """A precondition does not hold."""
    return refusal(
        409,
        "Conflict",
        ref,
        f'Operation cannot be fulfilled on {ref.kind.resource} "{ref.name}": '
        + (
            sentence
            or "the object has been modified; please apply your changes to the latest version"
            " and try again"
        ),
    )


def with_string_data(kind: Kind, body: dict[str, Any]) -> dict[str, Any]:
    """Fold `stringData` into `data`, as the API server does with a Secret's.

    Line breaks within base64 go too: its decoder passes over them.
    """
    if kind == SECRET and isinstance(body.get("data"), Mapping):
        body = body | {"data": {key: _joined(value) for key, value in body["data"].items()}}
    if kind not in {SECRET, CONFIG_MAP} or not isinstance(body.get("stringData"), Mapping):
        return body
    texts = {key: str(value) for key, value in body["stringData"].items()}
    if kind == SECRET:
        texts = {key: b64encode(text.encode()).decode() for key, text in texts.items()}
    rest = {key: value for key, value in body.items() if key != "stringData"}
    return rest | {"data": {**(body.get("data") or {}), **texts}}


def _joined(value: Any) -> Any:
    return value.replace("\r", "").replace("\n", "") if isinstance(value, str) else value


def check_name(ref: Ref) -> None:
    """Refuse a name the kind cannot have."""
    usable: Callable[[str], bool] = names.is_subdomain
    words = "a lowercase RFC 1123 subdomain"
    if ref.kind == NAMESPACE:
        usable, words = names.is_label, "a lowercase RFC 1123 label"
    elif (ref.kind.group, ref.kind.kind) == ("", "Service"):
        usable, words = names.is_service_name, "a DNS-1035 label"
    elif ref.kind.group == _RBAC:
        usable, words = _is_path_segment, "a path segment"
    if not usable(ref.name):
        raise invalid(ref, "metadata.name", f"Invalid value: must be {words}")


def _is_path_segment(name: str) -> bool:
    return bool(name) and name not in {".", ".."} and not set("/%") & set(name)


def check_decodes(ref: Ref, body: Mapping[str, Any]) -> None:
    """Refuse what cannot be read at all, before anything is looked up."""
    if ref.kind == SECRET:
        secret_size(ref, body)


def check_patch(ref: Ref, body: Mapping[str, Any]) -> None:
    """Refuse a patch whose outcome cannot be read."""
    try:
        check_decodes(ref, body)
    except ClusterError as error:
        raise invalid(ref, "patch", "Invalid value: its outcome cannot be read") from error


def check_body(ref: Ref, body: Mapping[str, Any]) -> None:
    """Refuse a body no object of the kind may have."""
    check_decodes(ref, body)
    _check_labels(ref, body["metadata"].get("labels"))
    _check_owners(ref, body["metadata"].get("ownerReferences"))
    if ref.kind in {SECRET, CONFIG_MAP}:
        for key in body.get("data") or {}:
            if not names.is_data_key(key):
                raise invalid(ref, f"data[{key}]", "Invalid value: not a valid key")
    if ref.kind == SECRET and secret_size(ref, body) > SECRET_SIZE_LIMIT:
        problem = f"Too long: may not be more than {SECRET_SIZE_LIMIT} bytes"
        raise invalid(ref, "data", problem, cause="FieldValueTooLong")


def _check_labels(ref: Ref, labels: object) -> None:
    if labels is not None and not isinstance(labels, Mapping):
        raise refusal(400, "BadRequest", ref, f"metadata.labels of {ref} is no map")
    for key, value in (labels or {}).items():
        if not names.is_label_key(str(key)) or not isinstance(value, str):
            raise invalid(ref, "metadata.labels", "Invalid value: a label is malformed")
        if not names.is_label_value(value):
            raise invalid(ref, "metadata.labels", f"Invalid value: of label {key}")


def _check_owners(ref: Ref, owners: object) -> None:
    listed = owners if isinstance(owners, list) else []
    for number, owner in enumerate(listed):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not (isinstance(owner, Mapping) and owner.get(field)):
                place = f"metadata.ownerReferences[{number}].{field}"
                raise invalid(ref, place, "Required value: must not be empty")
    if sum(1 for owner in listed if owner.get("controller") is True) > 1:
        raise invalid(
            ref,
            "metadata.ownerReferences",
            "Invalid value: Only one reference can have Controller set to true",
        )


def secret_size(ref: Ref, body: Mapping[str, Any]) -> int:
    """Bytes of all values together.

    Raises: ClusterError (400) when one is no base64.
    """
    size = 0
    for value in (body.get("data") or {}).values():
        try:
            size += len(b64decode(value or "", validate=True))
        except (Base64Error, ValueError, TypeError):
            sentence = 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data'
            raise refusal(400, "BadRequest", ref, sentence) from None
    return size


def check_change(old: Object, body: Mapping[str, Any]) -> None:
    """Refuse a change of what cannot change."""
    ref = old.ref
    if old.deleting:
        added = set(body["metadata"].get("finalizers") or ()) - set(old.meta.finalizers or ())
        if added:
            problem = "Forbidden: no new finalizers can be added if the object is being deleted"
            raise invalid(ref, "metadata.finalizers", problem)
    if ref.kind == SECRET and body.get("type") != old.body.get("type"):
        raise invalid(ref, "type", "Invalid value: field is immutable")
    if ref.kind in {SECRET, CONFIG_MAP} and old.body.get("immutable") is True:
        problem = "Forbidden: field is immutable when `immutable` is set"
        if body.get("immutable") is not True:
            raise invalid(ref, "immutable", problem)
        if (body.get("data") or {}) != (old.body.get("data") or {}):
            raise invalid(ref, "data", problem)
