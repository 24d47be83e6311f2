"""What a tenant's accounts, viewers, users and admins may do, in either of two forms.

*Roles*: rules to merge into the platform's ClusterRoles of these names, whose other rules are
written in its chart `cozystack-basics` and are not known here. *Tiers*: ClusterRoles of our own,
which the platform's roles take up by the aggregation labels that they select, and Kubernetes' own
`view`, `edit` and `admin` by theirs. A cluster needs one form; both together grant no more.

Never `endpointattachments/status` and never `*` as the resource: whoever writes a status publishes
false addresses. Nothing on addresses, classes or claims, on TenantGateways or Namespaces, or on
core Secrets: a tenant reads `tenantsecrets`, and writes none. Source: endpoint-attachments 8.2,
lineage 8, trust-anchors 10, wildcard-secrets 10, tenant-gateway 11 (TG-196).
"""

from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.capabilities.lineage.tenantsecrets import TENANT_SECRET
from roadstead.deploy.rbac import API_GROUP, VIEW, document, rule
from roadstead.kube.refs import Kind

Json = dict[str, Any]
PLATFORM = "rbac.cozystack.io/aggregate-to-tenant"
KUBERNETES = f"{API_GROUP}/aggregate-to-"


@dataclass(frozen=True, slots=True)
class Tier:
    """What one kind of tenant's user may do beyond the tier below.

    role: of the platform, which has the rules merged in; empty where there is nothing to merge.
    builtin: Kubernetes' own role of the same rank; empty for none.
    """

    name: str
    who: str
    role: str
    builtin: str
    attachments: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, str]:
        """By which it is taken up."""
        tail = self.name.removeprefix("roadstead:tenant").replace(":", "-")
        builtin = {f"{KUBERNETES}{self.builtin}": "true"} if self.builtin else {}
        return {f"{PLATFORM}{tail}": "true"} | builtin

    @property
    def rules(self) -> list[Json]:
        """As they are granted."""
        held: tuple[tuple[Kind, tuple[str, ...]], ...] = (
            (ATTACHMENT, self.attachments),
            (TENANT_SECRET, self.secrets),
        )
        return [rule(kind.group, kind.plural, verbs) for kind, verbs in held if verbs]


TIERS = (
    Tier("roadstead:tenant", "ServiceAccounts", "cozy:tenant:base", "", ("*",), VIEW),
    Tier("roadstead:tenant:view", "viewers", "cozy:tenant:view:base", "view", VIEW),
    # Who may not have a password may not read it: as with Kubernetes' own view and edit.
    Tier("roadstead:tenant:use", "users", "", "edit", secrets=VIEW),
    Tier(
        "roadstead:tenant:admin",
        "admins",
        "cozy:tenant:admin:base",
        "admin",
        ("create", "update", "patch", "delete"),
    ),
)
"""A user may do what a viewer may, an admin what both may; the platform's roles see to that."""

NOTE = """\
# Merge each rule into the platform's ClusterRole of the same name. Applied as it stands, this file
# takes away what those roles hold beside it.
"""


def tenant_rules() -> dict[str, list[Json]]:
    """The rules to merge, by the name of the role; the platform grants `tenantsecrets` itself."""
    return {
        tier.role: [rule(ATTACHMENT.group, ATTACHMENT.plural, tier.attachments)]
        for tier in TIERS
        if tier.role
    }


def tenant_roles() -> tuple[Json, ...]:
    """The platform's roles with these rules and nothing else, for a cluster without it."""
    return tuple(
        {
            "apiVersion": f"{API_GROUP}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        }
        for name, rules in tenant_rules().items()
    )


def tenant_tiers() -> tuple[Json, ...]:
    """Roles of our own, with the labels by which others take them up."""
    made = []
    for tier in TIERS:
        body = document("ClusterRole", tier.name, api=f"{API_GROUP}/v1", rules=tier.rules)
        body["metadata"]["labels"] |= tier.labels
        made.append(body)
    return tuple(made)
