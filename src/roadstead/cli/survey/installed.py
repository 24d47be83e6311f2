"""Reads what there is to see of an installation."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from roadstead.capabilities import CONTROLLERS
from roadstead.capabilities.anchors.api import DEFINITION
from roadstead.capabilities.gateways.api import GATEWAY, TENANT_GATEWAY
from roadstead.cli.survey.asking import asked
from roadstead.cli.survey.policies import survey_policies
from roadstead.cli.survey.stored import survey_stored
from roadstead.cli.survey.webhook import survey_webhook
from roadstead.deploy.crds import crds, revision_of
from roadstead.deploy.owners import owner_rules
from roadstead.deploy.rbac import ACCOUNTS, LABELS, LINEAGE, Account
from roadstead.explain.checks.facts import Facts, Granted, Held, Installed, Known, Pod, Unasked
from roadstead.kube.objects import Object
from roadstead.kube.refs import LEASE, Kind, Ref
from roadstead.kube.shapes import part
from roadstead.kube.times import parse_time
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.permission import Access
from roadstead.runtime.wire import collection_of

ACCOUNT_KIND = Kind("ServiceAccount", "", "v1", "serviceaccounts")
NAME = "app.kubernetes.io/name"
PODS = View("our-pods", Kind("Pod", "", "v1", "pods"), labels=f"{NAME}={LABELS[NAME]}")
RENEWAL_SECONDS = 4.0
"""Within so long a live leader renews; its Terms say every 2 s."""


def ours() -> dict[str, dict[str, Any]]:
    """The definitions that are ours to be current, by name: not the platform's own."""
    found = {body["metadata"]["name"]: body for body in crds().values()}
    return {name: body for name, body in found.items() if name != DEFINITION.resource}


async def survey_installed(
    client: Client, facts: Facts, spaces: Known[tuple[Object, ...]]
) -> Facts:
    """Add what is installed to a look at a cluster.

    Raises: ClusterError where it does not answer.
    """
    there = await _accounts(client, facts.home)
    names = tuple(one.name for one in ACCOUNTS) if isinstance(there, Unasked) else there
    accounts = [one for one in ACCOUNTS if one.name in names]
    webhook = await survey_webhook(client, facts.home, spaces)
    answering = LINEAGE.name in names or webhook.registration is not None
    installed = Installed(
        accounts=there,
        expected=tuple(one.name for one in ACCOUNTS),
        shipped={name: revision_of(body) for name, body in ours().items()},
        served=_revisions(facts),
        changed=_changed(facts),
        rights=await _rights(client, facts.home, accounts),
        policies=await survey_policies(client, facts.home, accounts),
        leases=await _leases(client, facts, accounts),
        pods=await _pods(client, facts.home),
        webhook=webhook if answering else None,
        stored=await survey_stored(client, facts.served),
        listeners=await _listeners(client, facts),
    )
    return replace(facts, installed=installed)


async def _accounts(client: Client, home: str) -> Known[tuple[str, ...]]:
    question = client.list_metadata(ACCOUNT_KIND, home)
    found = await asked(f"list {collection_of(ACCOUNT_KIND, home)}", question)
    if isinstance(found, Unasked):
        return found
    there = {one.meta.name for one in found}
    return tuple(one.name for one in ACCOUNTS if one.name in there)


def _revisions(facts: Facts) -> Known[Mapping[str, int | None]]:
    if isinstance(facts.definitions, Unasked):
        return facts.definitions
    there = facts.definitions
    return {name: revision_of(there[name].body) if name in there else None for name in ours()}


def _changed(facts: Facts) -> dict[str, str]:
    """Definitions of our own revision that are not what we ship, with the first difference."""
    if isinstance(facts.definitions, Unasked):
        return {}
    found: dict[str, str] = {}
    for name, shipped in ours().items():
        there = facts.definitions.get(name)
        if there is not None and revision_of(there.body) == revision_of(shipped):
            lacking = next(_lacking(shipped, there.body), "")
            found |= {name: lacking} if lacking else {}
    return found


def _lacking(shipped: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[str]:
    """What our versions state and those that are served do not."""
    versions = {one["name"]: one for one in there["spec"]["versions"] if one.get("served")}
    for one in shipped["spec"]["versions"]:
        other = versions.get(one["name"])
        if other is None:
            yield f"version {one['name']}"
            continue
        schemas = (one["schema"]["openAPIV3Schema"], part(other, "schema", "openAPIV3Schema"))
        yield from _missing(*schemas, one["name"])


def _missing(ours_: Mapping[str, Any], theirs: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, below in (ours_.get("properties") or {}).items():
        other = (theirs.get("properties") or {}).get(name)
        if other is None:
            yield f"{path}.{name}"
        else:
            yield from _missing(below, other, f"{path}.{name}")
    if "items" in ours_:
        yield from _missing(ours_["items"], theirs.get("items") or {}, f"{path}[]")
    for word in ("type", "enum", "pattern", "default", "x-kubernetes-validations"):
        if word in ours_ and not _same(word, ours_[word], theirs.get(word)):
            yield f"the `{word}` of {path}"


def _same(word: str, one: Any, other: Any) -> bool:
    if word != "x-kubernetes-validations":
        return bool(one == other)
    return {rule["rule"] for rule in one} <= {rule.get("rule") for rule in other or ()}


async def _rights(client: Client, home: str, accounts: list[Account]) -> Known[tuple[Granted, ...]]:
    wanted = [(one.name, access) for one in accounts for access in _needed(one, home)]
    if not wanted:
        return ()
    # The first alone: where the caller may not ask, one refusal is enough.
    first = await asked("create subjectaccessreviews", client.may(wanted[0][1]))
    if isinstance(first, Unasked):
        return first
    rest = await asyncio.gather(*(client.may(access) for _, access in wanted[1:]))
    answers = zip(wanted, (first, *rest), strict=True)
    return tuple(Granted(name, str(access), allowed) for (name, access), allowed in answers)


def _needed(account: Account, home: str) -> Iterator[Access]:
    """Everything that ships for an account."""
    who = f"{home}/{account.name}"
    for rights, namespace in ((account.cluster, ""), (account.home, home)):
        for right in rights:
            for verb in right.verbs:
                yield Access(verb, right.kind.group, right.resource, namespace, who)
    if account.owners:
        for rule in owner_rules():
            for resource in rule["resources"]:
                yield Access("get", rule["apiGroups"][0], resource, "", who)


async def _leases(
    client: Client, facts: Facts, accounts: list[Account]
) -> Known[Mapping[str, Held | None]]:
    """The Lease of each process that has one; what seems stale is looked at a second time."""
    refs = [
        LEASE.ref(facts.home, f"roadstead-{'-'.join(_controllers(one))}")
        for one in accounts
        if any(right.kind == LEASE for right in one.home)
    ]
    found: dict[str, Held | None] = {}
    doubtful: dict[Ref, str] = {}
    for ref in refs:
        there = await asked(f"get {collection_of(LEASE, facts.home)}", client.get(ref))
        if isinstance(there, Unasked):
            return there
        found[ref.name] = held = _held(there) if there is not None else None
        if there is not None and held is not None and held.holder and not _fresh(held, facts):
            doubtful[ref] = there.meta.resource_version
    if doubtful:
        # The clocks may differ; a renewal is a renewal.
        await asyncio.sleep(RENEWAL_SECONDS)
    for ref, version in doubtful.items():
        again = await client.get(ref)
        if again is not None and again.meta.resource_version != version:
            found[ref.name] = replace(_held(again), moves=True)
    return found


def _controllers(account: Account) -> list[str]:
    return sorted(name for name in account.capabilities if name in CONTROLLERS)


def _fresh(held: Held, facts: Facts) -> bool:
    return held.renewed is not None and (timedelta(0) <= facts.now - held.renewed <= held.lasts)


def _held(lease: Object) -> Held:
    spec = part(lease.body, "spec")
    renewed = spec.get("renewTime")
    return Held(
        spec.get("holderIdentity") or "",
        parse_time(renewed) if renewed else None,
        timedelta(seconds=spec.get("leaseDurationSeconds") or 0),
    )


async def _pods(client: Client, home: str) -> Known[tuple[Pod, ...]]:
    found = await asked(f"list {collection_of(PODS.kind, home)}", client.list_view(PODS, home))
    return found if isinstance(found, Unasked) else tuple(_pod(one) for one in found)


def _pod(seen: Object) -> Pod:
    status = part(seen.body, "status")
    conditions = {one["type"]: one for one in status.get("conditions") or ()}
    ready = conditions.get("Ready") or {}
    waiting = [
        f"{one['name']} waits: {reason}"
        for one in status.get("containerStatuses") or ()
        if (reason := part(one, "state", "waiting").get("reason"))
    ]
    said = "; ".join([*waiting, *([ready["message"]] if ready.get("message") else [])])
    return Pod(seen.meta.name, ready.get("status") == "True", said)


async def _listeners(client: Client, facts: Facts) -> Known[Mapping[Ref, int]]:
    if (GATEWAY.api_version, GATEWAY.kind) not in facts.served:
        return {}
    found = await asked(
        f"list {collection_of(GATEWAY)}", client.list_view(View("gateways", GATEWAY))
    )
    if isinstance(found, Unasked):
        return found
    return {
        one.ref: len(part(one.body, "spec").get("listeners") or ())
        for one in found
        if any(owner.is_a(TENANT_GATEWAY) for owner in one.owners)
    }
