"""Checks of an installation: its accounts and rights, definitions, leaders, Pods and objects."""

from collections.abc import Callable
from datetime import timedelta

from roadstead.capabilities.gateways.api import MOST_LISTENERS, MUCH
from roadstead.explain.checks.check import (
    AFTER,
    ERROR,
    OK,
    ROADSTEAD,
    WARNING,
    Check,
    Found,
    unasked,
)
from roadstead.explain.checks.facts import Facts, Held, Installed, Unasked
from roadstead.kube.times import format_age

_CRDS = "roadstead manifests crds | kubectl apply --server-side -f -"
_RBAC = "roadstead manifests rbac | kubectl apply -f -"
_POLICIES = "roadstead manifests policies | kubectl apply -f -"


def _of(judge: Callable[[Facts, Installed], Found | None]) -> Callable[[Facts], Found | None]:
    """A check of what is installed; before that, no question."""
    return lambda seen: None if seen.installed is None else judge(seen, seen.installed)


def accounts(seen: Facts, has: Installed) -> Found:
    """The ServiceAccounts of our processes are there."""
    if isinstance(has.accounts, Unasked):
        return unasked(has.accounts)
    if not has.accounts:
        return Found(
            ERROR,
            f"none of {', '.join(has.expected)} is in {seen.home}",
            ("name the namespace of the installation with -n, or install it: " + _RBAC,),
        )
    lacking = [name for name in has.expected if name not in has.accounts]
    there = ", ".join(has.accounts)
    return Found(OK, f"{there}; without {', '.join(lacking)}" if lacking else there)


def rights(_seen: Facts, has: Installed) -> Found | None:
    """Each account may do what its process asks of the API server."""
    if isinstance(has.rights, Unasked):
        return unasked(has.rights)
    lacking = tuple(f"{one.account}: {one.what}" for one in has.rights if not one.allowed)
    if lacking:
        return Found(ERROR, f"{len(lacking)} of {len(has.rights)} are missing", lacking)
    return Found(OK, f"{len(has.rights)} asked for") if has.rights else None


def policies(_seen: Facts, has: Installed) -> Found | None:
    """Each account is held to its own objects, which RBAC cannot say."""
    if isinstance(has.policies, Unasked):
        return unasked(has.policies)
    wrong = tuple(f"{name} {said}" for name, said in has.policies.items() if said)
    if wrong:
        return Found(WARNING, "a stolen token is held by its roles alone", wrong)
    return Found(OK, f"{len(has.policies)} as they ship") if has.policies else None


def definitions(_seen: Facts, has: Installed) -> Found:
    """The definitions that are served are those the program was built with."""
    if isinstance(has.served, Unasked):
        return unasked(has.served)
    wrong = []
    for name, revision in has.served.items():
        ours = has.shipped[name]
        if revision is None:
            wrong.append(f"{name} is not served")
        elif revision < ours:
            wrong.append(f"{name} is older: revision {revision}, this program has {ours}")
        elif revision > ours:
            wrong.append(f"{name} is newer: revision {revision}, this program has {ours}")
        elif name in has.changed:
            wrong.append(f"{name} is of this revision and lacks {has.changed[name]}")
    if not wrong:
        return Found(OK, f"revision {max(has.shipped.values(), default=0)}")
    lost = any(" is newer" not in one for one in wrong)
    return Found(
        ERROR if lost else WARNING,
        "what an older definition does not know is lost in silence"
        if lost
        else "a newer definition may hold objects that this program does not understand",
        tuple(wrong),
    )


def leaders(seen: Facts, has: Installed) -> Found | None:
    """Each process that writes has a leader that renews its Lease."""
    if isinstance(has.leases, Unasked):
        return unasked(has.leases)
    wrong = [said for name, held in has.leases.items() if (said := _stale(name, held, seen))]
    if wrong:
        return Found(ERROR, "nobody writes what this process decides", tuple(wrong))
    return Found(OK, ", ".join(has.leases)) if has.leases else None


def _stale(name: str, held: Held | None, seen: Facts) -> str:
    """Why a Lease is nobody's; a renewal before our eyes counts whatever the clocks say."""
    if held is None:
        return f"{name}: there is no such Lease, so nobody has ever led"
    if held.moves:
        return ""
    if not held.holder or held.renewed is None:
        return f"{name}: was given up, and nobody has taken it"
    late = seen.now - held.renewed
    if timedelta(0) <= late <= held.lasts:
        return ""
    if late < timedelta(0):
        return f"{name}: {held.holder} renewed it in the future, and not while this looked on"
    return f"{name}: {held.holder} renewed it {format_age(late)} ago"


def pods(seen: Facts, has: Installed) -> Found:
    """Each Pod has read all it needs: its readiness is that its caches are synced."""
    if isinstance(has.pods, Unasked):
        return unasked(has.pods)
    if not has.pods:
        return Found(WARNING, f"no Pod in {seen.home} is labelled app.kubernetes.io/name=roadstead")
    late = tuple(
        f"{one.name}: {one.said}" if one.said else one.name for one in has.pods if not one.ready
    )
    if late:
        return Found(ERROR, f"{len(late)} of {len(has.pods)} Pods are not ready", late)
    return Found(OK, f"{len(has.pods)} ready")


def stored(_seen: Facts, has: Installed) -> Found:
    """Every object that a process reads is one that it can read."""
    if has.stored.unreadable:
        wrong = tuple(f"{one.about}: {one.why}" for one in has.stored.unreadable)
        return Found(ERROR, "what is stored there is not judged, or not as it says", wrong)
    if has.stored.unread:
        return unasked(*has.stored.unread)
    return Found(OK, f"{has.stored.objects} objects of {has.stored.kinds} kinds")


def listeners(_seen: Facts, has: Installed) -> Found:
    """No Gateway comes near what Gateway API allows. Source: tenant-gateway 10 and 10b."""
    if isinstance(has.listeners, Unasked):
        return unasked(has.listeners)
    much = tuple(
        f"{ref}: {count} of {MOST_LISTENERS}"
        for ref, count in sorted(has.listeners.items())
        if count > MUCH
    )
    if much:
        return Found(WARNING, "the Gateway stays as it is once they do not suffice", much)
    most = max(has.listeners.values(), default=0)
    return Found(OK, f"{most} of {MOST_LISTENERS} at most" if has.listeners else "no Gateway yet")


INSTALLED_CHECKS = (
    Check(
        "accounts",
        ROADSTEAD,
        "accounts are there",
        (ERROR,),
        _of(accounts),
        "The ServiceAccounts of Roadstead's processes are in the namespace that is looked at.",
        "Nothing is installed, or it is in another namespace.",
        f"Name the namespace with `-n`, or install: `{_RBAC}`.",
        (AFTER,),
    ),
    Check(
        "rights",
        ROADSTEAD,
        "accounts may do what they need",
        (ERROR,),
        _of(rights),
        "The API server's authorizers allow each account every right that its process uses.",
        "A role or a binding is missing, older, or was narrowed; account, verb and resource are "
        "named.",
        f"Apply the roles again: `{_RBAC}`.",
        (AFTER,),
    ),
    Check(
        "account-policies",
        ROADSTEAD,
        "accounts are held to their own objects",
        (WARNING,),
        _of(policies),
        "The ValidatingAdmissionPolicies about each account, and their bindings, are there as they "
        "ship.",
        "They were not applied, are of another version, or were edited. Every process works without "
        "them, and whoever has its token may do whatever its roles allow.",
        f"Apply them: `{_POLICIES}`.",
        (AFTER,),
    ),
    Check(
        "definitions",
        ROADSTEAD,
        "definitions are current",
        (ERROR, WARNING),
        _of(definitions),
        "Each CustomResourceDefinition of ours is served with the revision of this program.",
        "Definitions are upgraded by hand or by a chart of their own, and one was left behind or "
        "is ahead. An older one, or one that was changed by hand, drops fields that are written.",
        f"Apply them: `{_CRDS}`; where they are newer, use the newer program.",
        (AFTER,),
    ),
    Check(
        "leaders",
        ROADSTEAD,
        "leaders hold their Leases",
        (ERROR,),
        _of(leaders),
        "The Lease of each process that writes is held and renewed.",
        "No replica runs, or none reaches the API server. Where processes run with another `--only` "
        "than ships, their Leases have other names.",
        "Look at the Pods of that Deployment, and at their logs for `lease not ours`.",
        (AFTER,),
    ),
    Check(
        "pods-ready",
        ROADSTEAD,
        "caches are synced",
        (ERROR, WARNING),
        _of(pods),
        "Every Pod is ready: each has listed all it needs, and nothing waits for a person's word.",
        "A kind is not served or may not be read, a certificate is missing, or it does not start.",
        "`rights` and `definitions` name most causes; the Pod's own `/readyz` names the rest.",
        (AFTER,),
    ),
    Check(
        "stored-objects",
        ROADSTEAD,
        "stored objects are readable",
        (ERROR,),
        _of(stored),
        "Every stored object that a process reads can be decoded, and those of our own kinds fit "
        "their schema.",
        "An object was stored while another schema was served, or what is stored is damaged.",
        "Write the object again as its schema asks, or delete it.",
        (AFTER,),
    ),
    Check(
        "listener-budget",
        ROADSTEAD,
        "listener budgets",
        (WARNING,),
        _of(listeners),
        f"No Gateway has more than {MUCH} of the {MOST_LISTENERS} listeners that Gateway API "
        "allows.",
        "Each published hostname, child or passed-through service takes one.",
        "Give a child tenant a Gateway of its own, or prove names by dns01: one listener serves "
        "them all.",
        (AFTER,),
    ),
)
