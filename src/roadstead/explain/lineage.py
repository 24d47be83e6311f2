"""Whether a tenant sees a Secret, by the rules that the webhook asks, with the caller's rights.

The webhook's word stands in the label; what is told here is what it would say now, and whether
the two are one. Source: cli.md, 2.4; lineage 5 and 6.
"""

from roadstead.capabilities.anchors.snapshot import DEFINITIONS
from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.decide import RULES, judge
from roadstead.capabilities.lineage.snapshot import (
    Belonging,
    Definition,
    applications_of,
    definition_of,
)
from roadstead.capabilities.lineage.tenantsecrets import Selection
from roadstead.decision import Finding, Reader
from roadstead.errors import ClusterError
from roadstead.explain.subject import Part, Told
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE

VISIBLE, HIDDEN = "visible to the tenant", "hidden from the tenant"


class Neighbourhood:
    """The releases of a namespace and the definitions of their kinds, read once."""

    def __init__(self, reader: Reader) -> None:
        """Know nothing yet."""
        self._reader = reader
        self._releases: dict[str, Object] = {}
        self._definitions: dict[str, Definition] = {}
        self.owner = reader.owner

    async def fill(self, namespace: str) -> None:
        """Read what the walk may be led to.

        Raises: ClusterError.
        """
        for release in await self._reader.live_list(HELM_RELEASE, namespace, ""):
            self._releases[release.meta.name] = release
            kind = release.labels.get(api.KIND_LABEL, "")
            found = self._reader.list(DEFINITIONS, "kind", kind) if kind else ()
            if found and kind not in self._definitions:
                whole = await self._reader.live_get(found[0].ref)
                if whole is not None:
                    self._definitions[kind] = definition_of(whole)

    def release(self, _namespace: str, name: str) -> Object | None:
        """A release of the namespace."""
        return self._releases.get(name)

    def definition(self, kind: str) -> Definition | None:
        """The definition of a kind."""
        return self._definitions.get(kind)


async def visibility(secret: Object, reader: Reader) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """What the webhook says of a Secret: a trail where an application owns it, else a note."""
    known = Neighbourhood(reader)
    try:
        await known.fill(secret.meta.namespace)
        found = await applications_of(secret, known)
    except ClusterError as error:
        return (), (f"whether its tenant sees it is unknown to you: {error.message}",)
    definition = known.definition(found[0].kind) if found else None
    if definition is None:
        seen = _seen_by_tenant(secret)
        return (), (
            f"no application owns it, so its own label decides: {VISIBLE if seen else HIDDEN}",
        )
    one = Belonging(secret, found[0], definition)
    findings = judge(one)
    return (Part(secret.ref, findings, _told(one, findings)),), ()


def _seen_by_tenant(secret: Object) -> bool:
    """Whether a tenant reads it at this moment: what its view lists, whatever the verdict is."""
    return Selection().selects(secret)


def _told(one: Belonging, findings: tuple[Finding, ...]) -> Told:
    hidden = findings[-1] if len(findings) < len(RULES) or findings[-1].reason else None
    verdict = HIDDEN if hidden is not None else VISIBLE
    because = f"Because {hidden.message}" if hidden is not None else "Because every rule passes"
    notes = []
    carried = one.seen.labels.get(api.TENANT_RESOURCE)
    if one.seen.labels.get(api.MANAGED_BY) and _seen_by_tenant(one.seen) != (hidden is None):
        notes.append(f"carries the verdict `{carried}` of an earlier look; the refresher asks anew")
    return Told(
        state="Hidden" if hidden is not None else "Visible",
        headline=verdict,
        settled=True,
        because=f"{because}, the Secret is {verdict}.",
        notes=tuple(notes),
    )
