"""How an admission and a round of the refresher are collected. Source: lineage 4, 5, 7 and 9."""

from dataclasses import replace
from http import HTTPStatus

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.snapshot.ancestry import Application, applications_of
from roadstead.capabilities.lineage.snapshot.facts import Belonging, Round, Snapshot
from roadstead.capabilities.lineage.snapshot.matching import is_offered, is_stale
from roadstead.capabilities.lineage.snapshot.registry import Definition, compiled
from roadstead.capabilities.lineage.snapshot.views import DEFINITIONS, NAMESPACES, RELEASES
from roadstead.decision import Reader
from roadstead.errors import ClusterError
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Ref
from roadstead.wiring import Review

SWEEP = SECRET.ref("", "visible")
"""The key of the round over all visible Secrets."""
_MANAGED = f"{api.MANAGED_BY}=true"


class Registry:
    """What the walk asks, answered by a reader."""

    def __init__(self, reader: Reader) -> None:
        """Read through this reader."""
        self._reader = reader
        self.owner = reader.owner

    def release(self, namespace: str, name: str) -> Object | None:
        """A HelmRelease as the view knows it."""
        return self._reader.get(RELEASES, namespace, name) if namespace else None

    def definition(self, kind: str) -> Definition | None:
        """The definition of a kind; of several the one whose name sorts first."""
        found = self._reader.list(DEFINITIONS, "kind", kind) if kind else ()
        return compiled(found[0]) if found else None

    def passed_over(self, kind: str) -> tuple[Ref, ...]:
        """The definitions of a kind behind the first one."""
        return tuple(one.ref for one in self._reader.list(DEFINITIONS, "kind", kind)[1:])


async def review(reader: Reader, asked: Review) -> Snapshot:
    """Collect what one object under review is judged on.

    Raises: ClusterError when something could not be read; the request is refused then.
    """
    registry = Registry(reader)
    found = await applications_of(asked.subject, registry)
    return Snapshot(
        subject=asked.subject,
        creating=asked.creating,
        applications=found,
        definition=registry.definition(found[0].kind) if found else None,
        passed_over=registry.passed_over(found[0].kind) if found else (),
        scheduling=await _scheduling(reader, asked),
    )


async def _scheduling(reader: Reader, asked: Review) -> str:
    """The class of a Pod's namespace that exists; Source: lineage 7."""
    kind = asked.subject.kind
    if not asked.creating or (kind.group, kind.kind) != (api.POD.group, api.POD.kind):
        return ""
    namespace = reader.get(NAMESPACES, "", asked.subject.meta.namespace)
    name = namespace.labels.get(api.SCHEDULING, "") if namespace is not None else ""
    if not name:
        return ""
    try:
        # Never from a cache: a Pod that is given a class that is gone waits for ever.
        found = await reader.live_get(api.SCHEDULING_CLASS.ref("", name))
    except ClusterError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return ""
    return name if found is not None else ""


async def observe(reader: Reader, key: Ref) -> Round | None:
    """Collect one round of the refresher; None when a definition has nothing to say.

    Raises: ClusterError when something could not be read.
    """
    registry = Registry(reader)
    if key == SWEEP:
        return await _visible(reader, registry)
    kept = reader.get(DEFINITIONS, "", key.name)
    if kept is None:
        return None
    definition = compiled(kept)
    known = registry.definition(definition.kind)
    if known is None or known.ref != key:
        return None  # another definition of the kind comes first
    return await _of_definition(reader, registry, known)


async def _of_definition(reader: Reader, registry: Registry, definition: Definition) -> Round:
    """Stored objects that claim to be of a kind, and that its selectors judge otherwise now."""
    claims = f"{api.GROUP_LABEL}={api.APPLICATION_GROUP},{api.KIND_LABEL}={definition.kind}"
    found: list[Belonging] = []
    for kind in api.BLOCKS:
        for stored in await reader.live_list(kind, "", f"{claims},{_MANAGED}"):
            claimed = _claimed(stored)
            if is_stale(Belonging(stored, claimed, definition, whole=False)):
                # What it claims is only a hint: owners are asked where something would change.
                found += await _belonging(registry, stored)
    return _round(reader, found)


def _claimed(stored: Object) -> Application:
    """The application that the labels of an object name."""
    group, kind, name = (stored.labels.get(label, "") for label in api.TRIPLE)
    return Application(group, kind, name, stored.ref)


async def _visible(reader: Reader, registry: Registry) -> Round:
    """Visible Secrets, whatever their labels claim. Source: lineage 9, item 3."""
    found: list[Belonging] = []
    unowned = 0
    for stored in await reader.live_list(SECRET, "", f"{api.TENANT_RESOURCE}=true,{_MANAGED}"):
        belonging = await _belonging(registry, stored)
        found += belonging
        unowned += not belonging
    return _round(reader, found, unowned)


def _round(reader: Reader, found: list[Belonging], unowned: int = 0) -> Round:
    """Those that are stale by their own application, each at most once for a definition.

    The anchor guard cannot be repeated on metadata; without the limit what it hides would be
    asked about for ever. No guard shows anything, though: what is visible after all was judged
    by a webhook that had not seen the definition yet, and is asked about again each minute.
    Source: lineage 9, item 4; docs/reference/differences.md.
    """
    minute = f"{reader.now:%Y-%m-%dT%H:%M}"
    stale = [
        replace(one, minute="" if is_offered(one) else minute) for one in found if is_stale(one)
    ]
    return Round(
        stale=tuple(one for one in stale if not reader.done(one.once)),
        unowned=unowned,
        shown=any(one.minute for one in stale),
    )


async def _belonging(registry: Registry, stored: Object) -> tuple[Belonging, ...]:
    """A stored object with the application that its owners lead to; nothing if they lead nowhere.

    What its labels claim is not looked at.
    """
    found = await applications_of(stored, registry)
    definition = registry.definition(found[0].kind) if found else None
    if definition is None:
        return ()
    return (Belonging(stored, found[0], definition, whole=False),)
