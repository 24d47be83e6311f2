"""What the platform's tenant roles may do with attachments, for whoever packages the platform.

The ClusterRoles belong to the platform's chart `cozystack-basics`: their other rules, and the
labels by which each tier takes up the ones below it, are written there and are not known here. So
what is given are rules to merge into the roles of these names, and no labels: a role of our own
with a guessed label would reach nobody, or the wrong tier.

Never `endpointattachments/status` and never `*` as the resource: whoever writes a status publishes
false addresses. Nothing on addresses, classes or claims. Source: endpoint-attachments 8.2.
"""

from typing import Any

from roadstead.capabilities.attachments.api.names import ATTACHMENT
from roadstead.deploy.rbac import API_GROUP, VIEW, rule

TIERS: dict[str, tuple[str, ...]] = {
    "cozy:tenant:base": ("*",),
    "cozy:tenant:view:base": VIEW,
    "cozy:tenant:admin:base": ("create", "update", "patch", "delete"),
}
"""The verbs of each role; the first is that of tenants' ServiceAccounts."""

NOTE = """\
# Merge each rule into the platform's ClusterRole of the same name. Applied as it stands, this file
# takes away what those roles hold beside it.
"""


def tenant_rules() -> dict[str, list[dict[str, Any]]]:
    """The rules to merge, by the name of the role."""
    return {
        role: [rule(ATTACHMENT.group, ATTACHMENT.plural, verbs)] for role, verbs in TIERS.items()
    }


def tenant_roles() -> tuple[dict[str, Any], ...]:
    """The roles with these rules and nothing else, for a cluster without the platform."""
    return tuple(
        {
            "apiVersion": f"{API_GROUP}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        }
        for name, rules in tenant_rules().items()
    )
