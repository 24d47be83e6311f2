"""Whether the selectors of a definition match one object. Source: lineage 6.1 to 6.3."""

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.snapshot.facts import Belonging
from roadstead.capabilities.lineage.snapshot.registry import Selector
from roadstead.kube.templates import Template, TemplateError


def is_excluded(one: Belonging) -> bool:
    """Tell whether `exclude` hides an object; what is broken in that list hides."""
    block = one.block
    return block is not None and any(_matches(s, one, broken=True) for s in block.exclude)


def is_included(one: Belonging) -> bool:
    """Tell whether `include` offers an object; what is broken in that list offers nothing."""
    block = one.block
    return block is not None and any(_matches(s, one, broken=False) for s in block.include)


def is_offered(one: Belonging) -> bool:
    """Tell whether its selectors show an object."""
    return is_included(one) and not is_excluded(one)


def is_stale(stored: Belonging) -> bool:
    """Tell whether the verdict that an object carries is another than its selectors give now."""
    verdict = stored.seen.labels.get(api.TENANT_RESOURCE)
    return verdict != (api.VISIBLE if is_offered(stored) else api.HIDDEN)


def _matches(selector: Selector, one: Belonging, *, broken: bool) -> bool:
    """Ask one selector: all its parts must match. broken: what counts for a part nobody can read.

    A selector whose labels cannot be read is broken as a whole; of the names each is for itself.
    """
    if selector.labels is None:
        return broken
    if not selector.labels.matches(one.labels):
        return False
    if selector.names is None:
        return True
    return any(_is_named(entry, one, broken=broken) for entry in selector.names)


def _is_named(entry: Template | None, one: Belonging, *, broken: bool) -> bool:
    if entry is None:
        return broken
    try:
        name = entry.render(one.variables, strict=False)
    except TemplateError:
        return broken
    # An object that is still to be given a name equals none, not even an empty one.
    return bool(name) and name == one.seen.meta.name
