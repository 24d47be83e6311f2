"""What the API server refuses, in its own order and words; never with a value of the object."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from roadstead.errors import ClusterError
from roadstead.kube import names
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, NAMESPACE, SECRET, SERVICE, Kind, Ref

SECRET_SIZE_LIMIT = 1024 * 1024
"""Bytes of all values of a Secret together, decoded."""

_RBAC = "rbac.authorization.k8s.io"
_SAID_LENGTH = 300

LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
    " start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for"
    " validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)

Problem = tuple[str, str]
"""A field and what is wrong with it, in the words of the API server."""
_CAUSES: Mapping[str, str] = {
    "Invalid value": "FieldValueInvalid",
    "Required value": "FieldValueRequired",
    "Duplicate value": "FieldValueDuplicate",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Too long": "FieldValueTooLong",
}


def refusal(
    status: int,
    reason: str,
    ref: Ref,
    sentence: str,
    *,
    cause: str = "",
    details: str = "",
) -> ClusterError:
    """An answer of the API server about one object.

    details: what of it a tenant may read beside the reason; of a Secret that is nothing.
    """
    said = f"{reason}: {details}" if details and ref.kind != SECRET else reason
    said = " ".join(said.split())
    if len(said) > _SAID_LENGTH:
        said = f"{said[: _SAID_LENGTH - 1]}…"
    about = str(ref)
    return ClusterError(sentence, status=status, reason=reason, cause=cause, about=about, said=said)


def not_found(ref: Ref) -> ClusterError:
    """There is no such object."""
    return refusal(404, "NotFound", ref, f'{ref.kind.resource} "{ref.name}" not found')


def invalid(ref: Ref, field: str, problem: str) -> ClusterError:
    """A field has a value it must not have."""
    return invalid_all(ref, [(field, problem)])


def invalid_all(ref: Ref, problems: Sequence[Problem]) -> ClusterError:
    """Fields have values they must not have; there is at least one."""
    kind = f"{ref.kind.kind}.{ref.kind.group}" if ref.kind.group else ref.kind.kind
    told = [f"{field}: {problem}" for field, problem in problems]
    text = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
    cause = _CAUSES.get(problems[0][1].partition(":")[0], "")
    sentence = f'{kind} "{ref.name}" is invalid: {text}'
    return refusal(422, "Invalid", ref, sentence, cause=cause, details="; ".join(told))


def ending(ref: Ref) -> ClusterError:
    """Nothing new comes into a namespace that is being deleted."""
    sentence = (
        f'{ref.kind.resource} "{ref.name}" is forbidden: unable to create new content in'
        f" namespace {ref.namespace} because it is being terminated"
    )
    details = f"metadata.namespace: namespace {ref.namespace} is being terminated"
    cause = "NamespaceTerminating"
    return refusal(403, "Forbidden", ref, sentence, cause=cause, details=details)


def already_exists(there: Object, *, generated: bool) -> ClusterError:
    """A name is taken.

    generated: whether the creation stated `generateName`, alone or beside the name.
    """
    ref = there.ref
    first = "object is being deleted: " if there.deleting else ""
    last = ", the server was not able to generate a unique name for the object" if generated else ""
    sentence = f'{first}{ref.kind.resource} "{ref.name}" already exists{last}'
    error = refusal(409, "AlreadyExists", ref, sentence)
    if generated:
        error.retry_after = timedelta(seconds=1)
    return error


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
    elif ref.kind == SERVICE:
        _check_service_name(ref)
    elif ref.kind.group == _RBAC:
        usable, words = _is_path_segment, "a path segment"
    if not usable(ref.name):
        raise invalid(ref, "metadata.name", f"Invalid value: must be {words}")


def _check_service_name(ref: Ref) -> None:
    """Refuse a name no Service can have; since 1.36 it may begin with a digit."""
    text = LABEL_TEXT
    if len(ref.name) > names.LABEL_CHARACTERS:
        text = "must be no more than 63 characters"
    elif "." in ref.name:
        text = "must not contain dots"
    if not names.is_label(ref.name):
        raise invalid(ref, "metadata.name", f'Invalid value: "{ref.name}": {text}')


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
        raise invalid(ref, "data", problem)


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
