"""Checks of the cluster itself: its version, the caller's rights, the platform's namespaces."""

import re

from roadstead.capabilities.lineage.api import SYSTEM
from roadstead.explain.checks.check import (
    BEFORE,
    CLUSTER,
    ERROR,
    OK,
    WARNING,
    Check,
    Found,
    unasked,
)
from roadstead.explain.checks.facts import Facts, Unasked

OLDEST = (1, 32)
_VERSION = re.compile(r"v(\d+)\.(\d+)\.")


def version(seen: Facts) -> Found:
    """The server is one that this program was made for. Source: runtime.md, 1."""
    plain = seen.version.removeprefix("v")
    found = _VERSION.match(seen.version)
    if found is None:
        return Found(ERROR, f"its version `{plain}` cannot be read")
    if (int(found[1]), int(found[2])) < OLDEST:
        return Found(ERROR, f"it is {plain}")
    return Found(OK, plain)


def may_install(seen: Facts) -> Found:
    """Whoever asks may create what an installation consists of."""
    lacking = tuple(what for what, allowed in seen.may.items() if not allowed)
    if lacking:
        return Found(ERROR, "you may not", tuple(f"kubectl auth can-i {one}" for one in lacking))
    return Found(OK)


def systems(seen: Facts) -> Found | None:
    """The webhook keeps away from the platform's own namespaces. Source: lineage 3 and 13."""
    if isinstance(seen.systems, Unasked):
        return unasked(seen.systems)
    lacking = sorted(name for name, outside in seen.systems.items() if not outside)
    if lacking:
        return Found(
            WARNING,
            "while the webhook is away, nothing starts in these",
            tuple(f"kubectl label namespace {name} {SYSTEM}=true" for name in lacking),
        )
    return Found(OK, ", ".join(sorted(seen.systems))) if seen.systems else None


CLUSTER_CHECKS = (
    Check(
        "kubernetes-version",
        CLUSTER,
        "Kubernetes 1.32 or newer",
        (ERROR,),
        version,
        "The API server is one that the program was made for.",
        "Older servers lack what is relied on, such as lists as the first events of a watch.",
        "Upgrade the cluster.",
    ),
    Check(
        "may-install",
        CLUSTER,
        "may create CustomResourceDefinitions, ClusterRoles, webhooks",
        (ERROR,),
        may_install,
        "You may create everything that an installation consists of.",
        "An access review denies you one of them; it is named.",
        "Install with an account that may, such as one bound to `cluster-admin`.",
        (BEFORE,),
    ),
    Check(
        "system-namespaces",
        CLUSTER,
        "system namespaces are outside the webhook's reach",
        (WARNING,),
        systems,
        "Namespaces of the platform carry the label `cozystack.io/system=true`.",
        "A namespace named `cozy-...`, or that of Roadstead, lacks it. The webhook is registered "
        "with `failurePolicy: Fail`: while it is away no Pod starts there, its own included.",
        "Label the namespace before the registration is applied.",
    ),
)
