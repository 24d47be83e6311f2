"""What the API server makes of an object of a kind that we ship the definition of.

It prunes and defaults what it reads, and refuses what the schema or a CEL rule of the definition
does not allow. Other kinds, and other versions of ours, pass untouched.
"""

from typing import Any

from roadstead.capabilities.attachments.api.fields import ENDPOINT_ATTACHMENT
from roadstead.capabilities.gateways.fields import TENANT_GATEWAY_DEFINITION
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.schema import Definition
from roadstead.sim.admission import limits, rules, shape
from roadstead.sim.admission.limits import Problem
from roadstead.sim.validity import invalid_all

_REVIEWED = (ENDPOINT_ATTACHMENT, TENANT_GATEWAY_DEFINITION)
_UNCHECKED = Problem(
    "<nil>",
    "FieldValueInvalid",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


def definition_for(kind: Kind) -> Definition | None:
    """The definition that a kind is reviewed by; None when it is not reviewed."""
    spoken = (kind.group, kind.version, kind.kind)
    for one in _REVIEWED:
        if (one.kind.group, one.kind.version, one.kind.kind) == spoken:
            return one
    return None


def decoded(kind: Kind, body: dict[str, Any]) -> dict[str, Any]:
    """Read a body as the API server does: nulls and unknown fields go, defaults come."""
    one = definition_for(kind)
    return body if one is None else shape.decoded(one.top, body)


def unknown_fields(kind: Kind, body: dict[str, Any]) -> tuple[str, ...]:
    """What the API server warns of before it decodes a body: fields that will be gone."""
    one = definition_for(kind)
    paths = sorted(shape.unknown(one.top, body)) if one else ()
    return tuple(f'unknown field "{path}"' for path in paths)


def check_schema(ref: Ref, body: dict[str, Any], old: Object | None) -> None:
    """Refuse a decoded body that the kind's definition does not allow.

    old: what it replaces; None for a new object, of which no transition rule is asked.
    Raises: ClusterError, 422 with every problem in one sentence.
    """
    one = definition_for(ref.kind)
    if one is None:
        return
    problems = limits.problems(one.top, body)
    if any(problem.blocks for problem in problems):
        problems.append(_UNCHECKED)
    else:
        problems += rules.problems(one.top, body, old.body if old else None)
    if problems:
        raise _refusal(ref, problems)


def _refusal(ref: Ref, problems: list[Problem]) -> ClusterError:
    """Put it as the API server does, each problem once."""
    error = invalid_all(ref, list(dict.fromkeys((one.field, one.detail) for one in problems)))
    # A value of a wrong type begins with the same words as any other that is invalid.
    error.cause = problems[0].reason
    return error
