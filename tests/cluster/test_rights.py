"""No right of our accounts is missing, and none is spare.

Each account's process runs through its whole life once, and the audit log says that every right
was used and nothing was forbidden. Then each right is taken away alone, and the process says what
it may not: the verb, the resource and the account. Every one of them in `make soak`; the sample in
`make test`. Source: issue 7, point 2; tenant-gateway 10b.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from lineage_objects import HELM, owner, secret
from live_admin import Admin, wait_for
from live_cluster import ROLE, Cluster
from live_run import kind_of, server_context, through, user_of
from live_summary import NOTES
from live_tap import Tap
from right_scenes import SCENES, At, Until, at_work, judged
from roadstead.capabilities.lineage import api as lineage
from roadstead.deploy import owners
from roadstead.deploy.rbac import ACCOUNTS, HOME, LINEAGE, Account, Right
from roadstead.kube.refs import CRD, Kind, Ref

pytestmark = pytest.mark.cluster

FORBIDDEN = 403
BEGINS = "sendInitialEvents"
PLUGIN = "OwnerReferencesPermissionEnforcement"


@dataclass(frozen=True)
class Grant:
    """One verb on one resource. role: where it is granted."""

    account: str
    role: Ref
    group: str
    resource: str
    verb: str
    why: str = ""

    @property
    def id(self) -> str:
        """As a person reads it."""
        return f"{self.account.removeprefix('roadstead-')}-{self.verb}-{self.resource}"

    @property
    def words(self) -> str:
        """What the server says of one who has it not."""
        if PLUGIN in self.why:
            return "cannot set "
        return f'User "{user_of(self.account)}" cannot {self.verb} resource "{self.resource}"'


def grants(account: Account) -> Iterator[Grant]:
    """Every right of an account, one by one."""
    everywhere, home = ROLE.ref("", account.name), kind_of("Role").ref(HOME, account.name)
    for role, rights in ((everywhere, account.cluster), (home, account.home)):
        for right in rights:
            yield from _verbs(account, role, right)


def _verbs(account: Account, role: Ref, right: Right) -> Iterator[Grant]:
    for verb in right.verbs:
        why = right.idle.get(verb, "")
        yield Grant(account.name, role, right.kind.group, right.resource, verb, why)


GRANTS = {one.id: one for account in ACCOUNTS for one in grants(account)}
SAMPLE = (
    "anchors-update-secrets",
    "anchors-list-helmreleases",
    "attachments-create-ipaddressclaims",
    "attachments-update-tenantgateways/finalizers",
    "refresher-patch-ingresses",
    "lineage-get-schedulingclasses",
)
"""A write, a list for an older server, a mint, what a plug-in asks for, a patch and a get."""

BORNE = {
    "attachments-get-ipaddresses": "that addresses cannot be read is no fault: attachments 3.3",
}
"""What a contract has the process do without, and say nothing: then it is the server that says."""


def test_the_sample_is_of_rights_that_exist(request: pytest.FixtureRequest) -> None:
    """A right that goes does not drop out of it unseen, and who reads a run sees what was tried."""
    request.config.stash[NOTES].append(
        f"rights: {len(SAMPLE)} of {len(GRANTS)} taken away in this run: {', '.join(SAMPLE)}"
    )

    assert [] == sorted({*SAMPLE, *BORNE} - set(GRANTS))
    assert len(GRANTS) == sum(1 for account in ACCOUNTS for _ in grants(account))


@pytest.mark.parametrize("account", ACCOUNTS, ids=[one.name for one in ACCOUNTS])
def test_the_rights_that_ship_are_enough_and_are_used(server: Cluster, account: Account) -> None:
    """From the first write to the last nothing is forbidden; what is not used says why."""
    mark = server.own.audit_mark()
    with at_work(server, account, server.tokens[account.name]) as at:
        for until in SCENES[account.name](at):
            wait_for(f"a step of {account.name}: {at.run.text()[-1500:]}", until)
        assert at.run.stop() == 0

    used = asked(server, account, mark)
    every = {(one.group, one.resource, one.verb): one for one in grants(account)}
    owned = {(lineage_group, kind, "get") for lineage_group, kind in OWNERS if account.owners}
    assert {} == {verb: codes for verb, codes in used.items() if FORBIDDEN in codes}
    assert set() == set(used) - set(every) - owned
    assert [] == sorted(one.id for key, one in every.items() if key not in used and not one.why)
    if account.owners:
        assert ("", "configmaps", "get") in used


def asked(server: Cluster, account: Account, since: int) -> dict[tuple[str, str, str], set[int]]:
    """What an account has asked for, with the codes of the answers."""
    found: dict[tuple[str, str, str], set[int]] = {}
    for entry in server.own.audit_entries(since):
        ref: Mapping[str, Any] = entry.get("objectRef") or {}
        if entry["user"]["username"] != user_of(account.name) or "resource" not in ref:
            continue
        part = f"/{ref['subresource']}" if "subresource" in ref else ""
        key = (ref.get("apiGroup", ""), ref["resource"] + part, entry["verb"])
        found.setdefault(key, set()).add(entry["responseStatus"]["code"])
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SAMPLE else (pytest.mark.soak,)) for name in GRANTS],
)
def test_without_a_right_the_process_says_which(server: Cluster, name: str) -> None:
    """Taken away alone, each is missed: by its verb, its resource and its account."""
    grant = GRANTS[name]
    account = next(one for one in ACCOUNTS if one.name == grant.account)
    without(server.admin, grant)
    with ExitStack() as stack:
        kubeconfig = server.tokens[account.name]
        if grant.verb == "list":
            tap = stack.enter_context(Tap(server.admin.server, server_context(server)))
            tap.refuse = lambda one: 400 if BEGINS in one.query else 0
            kubeconfig = through(server, kubeconfig, tap.address)
        at = stack.enter_context(at_work(server, account, kubeconfig))
        said = missed(server, at, grant)

    assert grant.words in said


def missed(server: Cluster, at: At, grant: Grant) -> str:
    """Go through the scene until the process says what it may not; give the words."""
    mark = server.own.audit_mark()

    def told() -> str:
        lines = [str(line.get("said", "")) for line in at.run.lines]
        if found := next((said for said in lines if grant.words in said), ""):
            return found
        # Nothing the server says of a Secret is logged; a webhook tells it to who asks it.
        silent = grant.resource == "secrets" and any("403 Forbidden" in said for said in lines)
        silent |= grant.account == LINEAGE.name or grant.id in BORNE
        return _refused(server, grant, mark) if silent else ""

    for until in SCENES[grant.account](at):
        wait_for(f"{grant.id}: {at.run.text()[-1500:]}", lambda: told() or _came(until))  # noqa: B023 - asked at once
        if said := told():
            return said
    found: str = wait_for(f"{grant.id} missed: {at.run.text()[-1500:]}", told, patience=20)
    return found


def _came(until: Until) -> bool:
    return bool(until())


def _refused(server: Cluster, grant: Grant, since: int) -> str:
    """The account, verb and resource of a request that the authorizer has refused; else nothing."""
    for entry in server.own.audit_entries(since):
        ref: Mapping[str, Any] = entry.get("objectRef") or {}
        decision = (entry.get("annotations") or {}).get("authorization.k8s.io/decision")
        part = f"/{ref['subresource']}" if "subresource" in ref else ""
        said = (
            f'User "{entry["user"]["username"]}" cannot {entry["verb"]} '
            f'resource "{ref.get("resource")}{part}"'
        )
        if decision == "forbid" and said == grant.words:
            return said
    return ""


def without(admin: Admin, grant: Grant) -> None:
    """Take one verb on one resource out of a role, and wait until the authorizer has heard."""
    role = admin.get(grant.role)
    assert role is not None
    rules = role["rules"]
    for rule in rules:
        if rule["apiGroups"] == [grant.group] and rule["resources"] == [grant.resource]:
            rule["verbs"].remove(grant.verb)
    admin.patched(grant.role, {"rules": [rule for rule in rules if rule["verbs"]]})
    wait_for(f"the loss of {grant.id}", lambda: not may(admin, grant))


def may(admin: Admin, grant: Grant) -> bool:
    """What the authorizer says of a right."""
    plural, _, part = grant.resource.partition("/")
    asked = {"group": grant.group, "resource": plural, "subresource": part, "verb": grant.verb}
    spec = {
        "user": user_of(grant.account),
        "groups": ["system:authenticated"],
        "resourceAttributes": {**asked, "namespace": grant.role.namespace or "any"},
    }
    head = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(admin.call("POST", path, {**head, "spec": spec}).body["status"]["allowed"])


# Owner kinds: one role for the webhook and the refresher

OWNERS = tuple((group, kind) for group, kinds in owners.CATALOG.items() for kind in kinds)
BUILT_IN = frozenset({"", "apps", "batch", "networking.k8s.io"})
"""Groups that every server has; the kinds of the others are defined here, all of them open."""


def served(server: Cluster) -> dict[tuple[str, str], Kind]:
    """Each owner kind as the server knows it, those of neighbours defined for the occasion."""
    found: dict[tuple[str, str], Kind] = {}
    known = {body["metadata"]["name"] for body in server.admin.objects(CRD)}
    for group, plural in OWNERS:
        if group in BUILT_IN or f"{plural}.{group}" in known:
            continue
        name = f"{plural}.{group}"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True}
        spec = {
            "group": group,
            "names": {"kind": _kind(plural), "plural": plural, "singular": _kind(plural).lower()},
            "scope": "Namespaced",
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        }
        head = {"apiVersion": CRD.api_version, "kind": CRD.kind, "metadata": {"name": name}}
        server.admin.made(CRD, {**head, "spec": spec})
    for group, plural in OWNERS:
        found[group, plural] = wait_for(
            f"{plural}.{group} served",
            lambda: discovered(server.admin, group, plural),  # noqa: B023 - asked at once
        )
    return found


def _kind(plural: str) -> str:
    """A kind for a plural, for what is defined here."""
    return plural.removesuffix("s").capitalize()


def discovered(admin: Admin, group: str, plural: str) -> Kind | None:
    """A kind as discovery has it."""
    versions = ["v1"]
    if group:
        reply = admin.call("GET", f"/apis/{group}")
        versions = [one["version"] for one in reply.body.get("versions", ())]
    for version in versions:
        place = f"/apis/{group}/{version}" if group else f"/api/{version}"
        for one in admin.call("GET", place).body.get("resources", ()):
            if one["name"] == plural:
                return Kind(one["kind"], group, version, plural, one["namespaced"])
    return None


@pytest.mark.soak
def test_without_the_right_to_an_owner_kind_it_is_named(server: Cluster) -> None:
    """One process, and each kind of the catalog taken away in turn: said once in the log."""
    admin = server.admin
    role = ROLE.ref("", owners.DEFAULT)
    with at_work(server, LINEAGE, server.tokens[LINEAGE.name]) as at:
        kinds = served(server)
        for until in SCENES[LINEAGE.name](at):
            wait_for(f"a step of the webhook: {at.run.text()[-1500:]}", until)
        for (group, plural), kind in kinds.items():
            grant = Grant(LINEAGE.name, role, group, plural, "get")
            rules = (admin.get(role) or {})["rules"]
            kept = [
                {**rule, "resources": [r for r in rule["resources"] if r != plural]}
                if rule["apiGroups"] == [group]
                else rule
                for rule in rules
            ]
            admin.patched(role, {"rules": [rule for rule in kept if rule["resources"]]})
            wait_for(f"the loss of {grant.id}", lambda: not may(admin, grant))  # noqa: B023 - asked at once
            mark = server.own.audit_mark()
            by = {**owner(kind, "nobody", "u"), "kind": kind.kind}

            assert lineage.MANAGED_BY not in judged(at, secret(labels=HELM, owners=[by]))
            said = wait_for(f"{grant.id} missed", lambda: _refused(server, grant, mark))  # noqa: B023 - asked at once
            assert grant.words in said
            at.run.said("owners may not be read", kind=kind.resource)
            admin.patched(role, {"rules": rules})
        assert at.run.alive()


def test_without_the_owners_role_the_refresher_reads_none(server: Cluster) -> None:
    """The binding is the refresher's way to the same rights."""
    account = next(one for one in ACCOUNTS if one.owners and one is not LINEAGE)
    binding = kind_of("ClusterRoleBinding").ref("", f"{account.name}-owners")
    grant = Grant(account.name, ROLE.ref("", owners.AGGREGATED), "", "configmaps", "get")
    server.admin.delete(binding)
    wait_for("the loss", lambda: not may(server.admin, grant))
    mark = server.own.audit_mark()
    with at_work(server, account, server.tokens[account.name]) as at:
        for until in SCENES[account.name](at):
            wait_for("the refusal", lambda: _refused(server, grant, mark) or until())  # noqa: B023 - asked at once
            if _refused(server, grant, mark):
                break
        at.run.said("owners may not be read", kind="configmaps")
