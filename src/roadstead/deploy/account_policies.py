"""What our own accounts may not do, though RBAC lets them: ValidatingAdmissionPolicies.

RBAC grants a verb on a kind; it cannot say "only the Secrets that are ours". Each policy here is
asked about one account alone and says the rest in CEL, on the API server, so that it holds for
whoever has that account's token and not for our program only. They see an object as it is stored:
after defaulting, and after every mutating webhook. Nothing is read from a parameter object, and an
expression that fails refuses the write. Names are told in a refusal, never a value.

Source: issue 7, point 2; trust-anchors 7 and 8, wildcard-secrets 7, tenant-gateway 3.8, 4.8 and 5,
endpoint-attachments 3.2, 4 and 8.1, lineage 9.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.anchors import api as anchors
from roadstead.capabilities.attachments.api import names as attachments
from roadstead.capabilities.gateways import api as gateways
from roadstead.capabilities.gateways.chain.policies import BINDING, POLICY
from roadstead.capabilities.lineage import api as lineage
from roadstead.capabilities.wildcards import api as wildcards
from roadstead.deploy import cel
from roadstead.deploy.cel import CREATES, DELETES, NAMED, OLD, UPDATES
from roadstead.deploy.rbac import ACCOUNTS, ANCHORS, ATTACHMENTS, REFRESHER, Account, document
from roadstead.kube.cel import literal
from roadstead.kube.refs import HELM_RELEASE, NAMESPACE, SECRET, SERVICE, Kind

Json = dict[str, Any]
HEADER = "-----BEGIN CERTIFICATE-----"
PRIVATE = "PRIVATE KEY"


@dataclass(frozen=True, slots=True)
class Guard:
    """One policy about one account.

    name: what follows the account's in the policy's. resources: each with its subresource, empty
    for the objects themselves. variables: by name, each asked for only where it is used.
    holds: expressions, each with the words of its refusal, an expression as well.
    """

    account: Account
    name: str
    resources: tuple[tuple[Kind, str], ...]
    variables: tuple[tuple[str, str], ...]
    holds: tuple[tuple[str, str], ...]

    @property
    def policy(self) -> str:
        """The name of the policy and of its binding."""
        return f"{self.account.name}-{self.name}"


def account_policies(home: str, accounts: Iterable[Account] = ACCOUNTS) -> list[Json]:
    """Every policy with its binding, for accounts in a namespace."""
    chosen = tuple(accounts)
    made: list[Json] = []
    for guard in GUARDS:
        if guard.account in chosen:
            made += (_policy(guard, home), _binding(guard))
    return made


def _policy(guard: Guard, home: str) -> Json:
    user = f"system:serviceaccount:{home}:{guard.account.name}"
    asked = f"request.userInfo.username == {literal(user)}"
    spec: Json = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": list(_rules(guard))},
        "matchConditions": [{"name": "its-account", "expression": asked}],
        "validations": [
            {"expression": holds, "messageExpression": says, "reason": "Forbidden"}
            for holds, says in guard.holds
        ],
    }
    if guard.variables:
        spec["variables"] = [{"name": name, "expression": text} for name, text in guard.variables]
    return document(POLICY.kind, guard.policy, api=POLICY.api_version, spec=spec)


def _binding(guard: Guard) -> Json:
    spec = {"policyName": guard.policy, "validationActions": ["Deny"]}
    return document(BINDING.kind, guard.policy, api=BINDING.api_version, spec=spec)


def _rules(guard: Guard) -> Iterator[Json]:
    """One rule for each group, whatever version is written."""
    groups: dict[str, list[str]] = {}
    for kind, part in guard.resources:
        resource = f"{kind.plural}/{part}" if part else kind.plural
        groups.setdefault(kind.group, []).append(resource)
    for group, resources in groups.items():
        yield {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "resources": resources,
        }


_PLACED = "!(request.?namespace.orValue('') in ['', request.name])"
"""Whether an object is in a namespace; a Namespace says that it is in itself."""


def _says(account: Account, what: str, about: str, why: str) -> str:
    """The words of a refusal: the account, the object and the reason.

    about: an expression, the name of the object.
    """
    return (
        f"{literal(f'{account.name} {what} ')} + request.resource.resource + ' ' + "
        f"({_PLACED} ? request.namespace + '/' : '') + "
        f"{about} + {literal(f': {why}')}"
    )


def _of_release(thing: str) -> str:
    """Whether the owner `one` is the HelmRelease that the name of an anchor begins with."""
    named = f"{thing}.metadata.name == one.name + {literal(anchors.SUFFIX)}"
    return f"{cel.owner_is(HELM_RELEASE)} && {named}"


def _anchor() -> str:
    """An anchor as it is written: its certificates, its marks and its one owner."""
    marks, data = cel.labels("object"), cel.entries("object", "data")
    # The schema calls it bytes; what is there is the text in base64.
    stored = f"dyn(object).data[{literal(anchors.KEY)}]"
    return cel.both(
        f"object.metadata.name.endsWith({literal(anchors.SUFFIX)})",
        "object.type == 'Opaque'",
        f"{cel.value(marks, anchors.TENANT_CA)} == 'true'",
        f"{cel.value(marks, anchors.COPY)} == 'true'",
        f"{data}.size() == 1 && {literal(anchors.KEY)} in {data}",
        f"{stored}.startsWith({literal(b64encode(HEADER.encode()).decode())})",
        *(f"!{stored}.contains({literal(one)})" for one in cel.spellings(PRIVATE)),
        f"{cel.owners('object')}.size() == 1",
        f"{cel.owners('object')}.all(one, {_of_release('object')})",
    )


def _was_anchor() -> str:
    """What may be overwritten or withdrawn at an anchor's name. Source: trust-anchors 8.1."""
    owned = f"{cel.owners('oldObject')}.exists(one, {_of_release('oldObject')})"
    marked = cel.both(
        f"{cel.value(cel.labels('oldObject'), anchors.COPY)} == 'true'",
        f"{cel.entries('oldObject', 'data')}.all(k, k == {literal(anchors.KEY)})",
    )
    return cel.both(
        f"oldObject.metadata.name.endsWith({literal(anchors.SUFFIX)})",
        "oldObject.type == 'Opaque'",
        f"({owned}) || ({marked})",
    )


def _replica() -> str:
    """A replica as it is written: nothing that shows it to a tenant or gives it a lineage."""
    marks, notes = cel.labels("object"), cel.annotations("object")
    foreign = " || ".join(f"k.startsWith({literal(one)})" for one in wildcards.FOREIGN_PREFIXES)
    last = f"k == {literal(wildcards.LAST_APPLIED)}"
    return cel.both(
        f"object.type == {literal(wildcards.TLS)}",
        f"{cel.value(marks, wildcards.COPY)} == 'true'",
        f"{cel.value(notes, wildcards.COPY_SOURCE)}.endsWith('/' + object.metadata.name)",
        f"{cel.entries('object', 'data')}.all(k, k in {cel.texts(wildcards.COPIED)})",
        f"{marks}.all(k, !({foreign}))",
        f"{notes}.all(k, !({foreign} || {last}))",
        f"{cel.owners('object')}.size() == 0",
    )


def _secrets() -> Guard:
    """Anchors and replicas; none is turned into the other, and nothing else into either."""
    held = "metadata.?finalizers.orValue([])"
    theirs = "somebody else made it, and it is left as it is"
    neither = (
        f"it is neither a trust anchor (type Opaque, certificates alone under `{anchors.KEY}`, both "
        "marks, owned by the HelmRelease that its name begins with) nor a wildcard replica (type "
        f"{wildcards.TLS}, its marks, no owner, nothing that shows it to a tenant)"
    )
    as_anchor = f"variables.anchor && ({CREATES} || variables.wasAnchor)"
    as_replica = f"variables.replica && ({CREATES} || variables.wasReplica)"
    return Guard(
        ANCHORS,
        "secrets",
        ((SECRET, ""),),
        (
            ("anchor", _anchor()),
            ("replica", _replica()),
            ("wasAnchor", _was_anchor()),
            ("wasReplica", f"{cel.value(cel.labels('oldObject'), wildcards.COPY)} == 'true'"),
            ("held", f"object.{held} == ({CREATES} ? [] : oldObject.{held})"),
        ),
        (
            (
                f"{CREATES} || variables.wasAnchor || variables.wasReplica",
                _says(ANCHORS, "may not change or delete", OLD, theirs),
            ),
            (
                f"{DELETES} || (variables.held && (({as_anchor}) || ({as_replica})))",
                _says(ANCHORS, "may not write", NAMED, neither),
            ),
        ),
    )


def _owned(name: str, owner: Kind, kinds: tuple[Kind, ...]) -> Guard:
    """Only what an object of ours controls is made, changed and deleted."""
    why = f"it writes only what has an object of kind {owner.kind} as its controller"
    return Guard(
        ATTACHMENTS,
        name,
        tuple((kind, "") for kind in kinds),
        (
            ("ours", cel.controlled_by("object", owner)),
            ("wasOurs", cel.controlled_by("oldObject", owner)),
        ),
        (
            (
                f"{CREATES} || variables.wasOurs",
                _says(ATTACHMENTS, "may not change or delete", OLD, why),
            ),
            (f"{DELETES} || variables.ours", _says(ATTACHMENTS, "may not write", NAMED, why)),
        ),
    )


def _attachments() -> Guard:
    """`delete` is granted for an admission plug-in alone, and never used."""
    why = "it sets the owner, the lineage labels and the status of an attachment, and nothing else"
    changes = cel.only_metadata(
        attachments.TRIPLE, (attachments.UID_ANNOTATION,), ("ownerReferences",), ("status",)
    )
    return Guard(
        ATTACHMENTS,
        "attachments",
        ((attachments.ATTACHMENT, ""),),
        (),
        (
            (UPDATES, _says(ATTACHMENTS, "may not create or delete", NAMED, why)),
            (f"!({UPDATES}) || ({changes})", _says(ATTACHMENTS, "may not change", NAMED, why)),
        ),
    )


def _namespaces() -> Guard:
    """The label and the annotation go together, and what a chart has labelled is left alone."""
    label, by = gateways.ATTACH_LABEL, gateways.ATTACHED_BY
    free = (
        "variables.wasBy != '' || variables.wasLabel in ['', variables.by] || "
        "object.metadata.name == variables.by"
    )
    begins = cel.both("variables.by != ''", "variables.label == variables.by", free)
    ends = cel.both(
        "variables.by == ''", "variables.wasBy != ''", "variables.label in ['', variables.wasLabel]"
    )
    rests = cel.both("variables.by == variables.wasBy", "variables.label == variables.wasLabel")
    only = f"of a Namespace the label {label} and the annotation {by} are its to change, no more"
    where = f"it sets the label {label} with its annotation {by}, and where nobody else holds it"
    return Guard(
        ATTACHMENTS,
        "namespaces",
        ((NAMESPACE, ""), (NAMESPACE, "*")),
        (
            ("label", cel.value(cel.labels("object"), label)),
            ("by", cel.value(cel.annotations("object"), by)),
            ("wasLabel", cel.value(cel.labels("oldObject"), label)),
            ("wasBy", cel.value(cel.annotations("oldObject"), by)),
        ),
        (
            (UPDATES, _says(ATTACHMENTS, "may not create or delete", NAMED, only)),
            (
                f"!({UPDATES}) || ({cel.only_metadata((label,), (by,))})",
                _says(ATTACHMENTS, "may not change", NAMED, only),
            ),
            (
                f"!({UPDATES}) || ({begins}) || ({ends}) || ({rests})",
                _says(ATTACHMENTS, "may not attach", NAMED, where),
            ),
        ),
    )


def _routes() -> Guard:
    """A route's status has an entry for each controller; the others' are not ours."""
    theirs = f"one.controllerName != {literal(gateways.COMPONENT)}"
    new, old = (
        f"{thing}.?status.?parents.orValue([]).filter(one, {theirs})"
        for thing in ("object", "oldObject")
    )
    why = f"only the entries of {gateways.COMPONENT} are its to write"
    return Guard(
        ATTACHMENTS,
        "route-status",
        ((gateways.HTTP_ROUTE, "status"), (gateways.TLS_ROUTES[0], "status")),
        (),
        ((f"{new} == {old}", _says(ATTACHMENTS, "may not change the status of", NAMED, why)),),
    )


def _refresher() -> Guard:
    """What it takes off, the webhook writes anew in the same request, and this sees the outcome.

    So all five lineage labels may differ; an object without the managed label is none that it
    asks about.
    """
    label = lineage.MANAGED_BY
    changes = cel.only_metadata((*lineage.TRIPLE, lineage.TENANT_RESOURCE, label))
    why = f"it takes the label {label} off what carries it, and changes nothing else"
    return Guard(
        REFRESHER,
        "labels",
        ((SECRET, ""), (SERVICE, ""), (lineage.INGRESS, "")),
        (),
        (
            (UPDATES, _says(REFRESHER, "may not create or delete", NAMED, why)),
            (
                f"!({UPDATES}) || ({literal(label)} in {cel.labels('oldObject')} && {changes})",
                _says(REFRESHER, "may not change", NAMED, why),
            ),
        ),
    )


GUARDS = (
    _secrets(),
    _owned("delegations", attachments.ATTACHMENT, (SERVICE, attachments.CLAIM)),
    _attachments(),
    _namespaces(),
    _owned(
        "gateways",
        gateways.TENANT_GATEWAY,
        (gateways.GATEWAY, gateways.HTTP_ROUTE, gateways.CERTIFICATE, gateways.ISSUER),
    ),
    _routes(),
    _refresher(),
)
"""Every policy. The webhook's account writes nothing and needs none."""
