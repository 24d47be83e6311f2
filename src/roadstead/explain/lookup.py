"""Which of several objects a name means."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from roadstead.errors import InputError
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
        near = get_close_matches(name, sorted({ref.name for ref in seen}), n=1)
        hint = f"did you mean `{near[0]}`?" if near else "roadstead status -A lists what there is"
        raise InputError(f"there is no {noun} `{name}`{where}", hint=hint)
    if len(found) > 1:
        spaces = ", ".join(ref.namespace for ref in found)
        raise InputError(f"`{name}` stands in several namespaces: {spaces}", hint="choose with -n")
    return found[0]
