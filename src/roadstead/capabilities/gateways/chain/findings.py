"""How the chain says no, and how it remarks: findings as everywhere else."""

import json
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from roadstead.decision import Finding, Verdict
from roadstead.kube.refs import Ref

PLATFORM_REFUSED = "PlatformValuesRefused"
TENANT_REFUSED = "TenantRefused"
GATEWAY_REFUSED = "GatewayReleaseRefused"
ISSUER_REFUSED = "ClusterIssuerRefused"
CLASS_NOT_FOUND = "GatewayClassNotFound"
CLASS_UNUSED = "EdgeClassUnused"
CLEAR_TEXT = "EdgeClassTerminates"
UNPUBLISHED = "PassthroughUnpublished"
ROOT_WITHOUT_GATEWAY = "RootWithoutGateway"

MEANINGS = {
    PLATFORM_REFUSED: "the platform's values cannot be carried to the tenants",
    TENANT_REFUSED: "a Tenant cannot be placed in the chain of tenants",
    GATEWAY_REFUSED: "a tenant's own gateway release does not render",
    ISSUER_REFUSED: "the cluster's ACME issuers do not render",
    CLASS_NOT_FOUND: "no GatewayClass has a name that the platform's values state",
    CLASS_UNUSED: "an edge-terminated class that no tenant can be on",
    CLEAR_TEXT: "a class is listed as edge-terminated, and is known to end TLS itself",
    UNPUBLISHED: "platform services lose their TLS listeners",
    ROOT_WITHOUT_GATEWAY: "the platform publishes through a Gateway that nobody asks for",
}
"""What each word says, in short."""


def passed(rule: str) -> Finding:
    """A rule that holds."""
    return Finding(rule, Verdict.PASS)


def refused(rule: str, reason: str, message: str, *refs: Ref) -> Finding:
    """A rule that stops what it judges until a person acts."""
    return Finding(rule, Verdict.REFUSE, reason, message, refs)


def remarked(rule: str, reason: str, message: str, *refs: Ref) -> Finding:
    """A rule that holds and has something to say: nothing is stopped by it."""
    return Finding(rule, Verdict.PASS, reason, message, refs)


def yaml_of(value: Any) -> str:
    """A value as YAML prints it on one line: `0`, `false`, `["a"]`."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The nearest known name, letters of another size included; empty where none is near."""
    small = {one.lower(): one for one in sorted(known, reverse=True)}
    near = get_close_matches(name.lower(), sorted(small), n=1)
    return f"; did you mean `{small[near[0]]}`?" if near else ""
