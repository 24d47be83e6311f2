"""The reference of every right that is shipped, written from the same data as the roles."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from roadstead.deploy import owners
from roadstead.deploy.account_policies import GUARDS
from roadstead.deploy.rbac import ACCOUNTS, Account, Right
from roadstead.deploy.tenants import TIERS, tenant_rules

MARK = "<!-- Written by `make manifests`; edit the code instead. -->"


def generated() -> dict[str, str]:
    """The page, by its path below the repository's root."""
    parts = [
        MARK,
        "",
        "# Permissions",
        "",
        "One account for each process, printed by `roadstead manifests rbac`;",
        "`--account NAME` prints one of them. [Access](../concepts/access.md) says what follows.",
        "",
    ]
    for account in ACCOUNTS:
        parts += _section(account)
    parts += _policies()
    parts += _owner_kinds()
    parts += _tenants()
    return {"docs/reference/permissions.md": "\n".join(parts).rstrip() + "\n"}


def _section(account: Account) -> Iterator[str]:
    yield from (f"## {account.name}", "", f"For `roadstead run --only {_only(account)}`.", "")
    yield from ("| resource | verbs | what for |", "| --- | --- | --- |")
    for right in account.cluster:
        yield f"| `{_name(right)}`, all namespaces | {', '.join(right.verbs)} | {right.why} |"
    for right in account.home:
        yield f"| `{_name(right)}`, own namespace | {', '.join(right.verbs)} | {right.why} |"
    if account.owners:
        why = "owners of what is under review, metadata alone; see below"
        yield f"| the [owner kinds](#owner-kinds), all namespaces | get | {why} |"
    if not any(right.idle for right in (*account.cluster, *account.home)):
        yield ""
        return
    yield from ("", "Granted, and seldom or never used:", "")
    yield from ("| resource | verb | why it is granted |", "| --- | --- | --- |")
    yield from _idle((*account.cluster, *account.home))
    yield ""


def _only(account: Account) -> str:
    return ",".join(account.capabilities)


def _idle(rights: Iterable[Right]) -> Iterator[str]:
    for right in rights:
        for verb, reason in sorted(right.idle.items()):
            yield f"| `{_name(right)}` | {verb} | {reason} |"


def _name(right: Right) -> str:
    """As `kubectl auth can-i` and `kubectl get` name it."""
    return f"{right.kind.resource}/{right.part}" if right.part else right.kind.resource


def _owner_kinds() -> Iterator[str]:
    yield from (
        "## Owner kinds",
        "",
        f"What the ClusterRole `{owners.DEFAULT}` grants `get` on. `{owners.AGGREGATED}` gathers it",
        f'and every other ClusterRole with the label `{owners.LABEL}: "true"`, so that a kind of',
        "your own is one more such role. Secrets are never among them.",
        "",
        "| group | kinds |",
        "| --- | --- |",
    )
    for group, kinds in owners.CATALOG.items():
        yield f"| {f'`{group}`' if group else 'core'} | {', '.join(kinds)} |"
    yield ""


def _policies() -> Iterator[str]:
    yield from (
        "## Account policies",
        "",
        "What RBAC cannot say, printed by `roadstead manifests policies`: a",
        "ValidatingAdmissionPolicy with its binding for each row, asked about that account alone.",
        "[Access](../concepts/access.md#what-rbac-cannot-say) says what each of them holds.",
        "",
        "| policy | on |",
        "| --- | --- |",
    )
    for guard in GUARDS:
        on = ", ".join(
            f"`{kind.resource}{f'/{part}' if part else ''}`" for kind, part in guard.resources
        )
        yield f"| `{guard.policy}` | {on} |"
    yield ""


def _tenants() -> Iterator[str]:
    yield from (
        "## Tenant roles",
        "",
        "Each tier may do what is in its row and in those of the tiers it takes up: a user what a",
        "viewer may, an admin what both may. `roadstead manifests tenant-tiers` prints them as",
        "ClusterRoles that the platform's and Kubernetes' own take up by these labels.",
        "",
        "| tier | for | taken up by the label | may |",
        "| --- | --- | --- | --- |",
    )
    for tier in TIERS:
        labels = ", ".join(f"`{label}`" for label in tier.labels)
        yield f"| `{tier.name}` | {tier.who} | {labels} | {_may(tier.rules)} |"
    yield from (
        "",
        "`roadstead manifests tenant-roles` prints rules to merge into the platform's ClusterRoles",
        "of these names by hand instead. Never apply that output over the platform's roles:",
        "it holds nothing but these rules.",
        "",
        "| role | may |",
        "| --- | --- |",
    )
    for role, rules in tenant_rules().items():
        yield f"| `{role}` | {_may(rules)} |"


def _may(rules: Iterable[Mapping[str, Any]]) -> str:
    parts = []
    for one in rules:
        (group,), (resource,) = one["apiGroups"], one["resources"]
        verbs = ", ".join("`*`" if verb == "*" else verb for verb in one["verbs"])
        parts.append(f"{verbs} `{resource}.{group}`")
    return "; ".join(parts)
