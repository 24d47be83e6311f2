"""Which of several objects a name means."""

from collections.abc import Collection, Iterable

from roadstead.errors import InputError
from roadstead.kube.nearest import did_you_mean
from roadstead.kube.refs import Ref


def only(
    name: str, namespace: str, there: Iterable[Ref], noun: str, also: Collection[str] = ()
) -> Ref:
    """The one object of a name; namespace: empty to look for the only one that has it.

    also: other names that are taken for it.
    Raises: InputError when there is none, with what was probably meant, or more than one.
    """
    seen = [ref for ref in there if namespace in {"", ref.namespace}]
    found = [ref for ref in seen if ref.name in {name, *also}]
    if not found:
        where = f" in {namespace}" if namespace else ""
        names = sorted({ref.name for ref in seen})
        hint = did_you_mean(name, names, "roadstead status -A lists what there is")
        raise InputError(f"there is no {noun} `{name}`{where}", hint=hint)
    if len(found) > 1:
        spaces = ", ".join(ref.namespace for ref in found)
        raise InputError(f"`{name}` stands in several namespaces: {spaces}", hint="choose with -n")
    return found[0]
