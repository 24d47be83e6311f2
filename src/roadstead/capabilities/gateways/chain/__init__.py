"""From the platform's values to each tenant's Gateway, as pure functions.

Platform values -> `_cluster` (`values`) -> each tenant's place (`tenants`) -> its release and
TenantGateway (`release`, `gateway`); beside them the cluster's issuers and the admission policies.
`resolve` does it all. A refusal is a finding; what it refuses is not rendered.
"""

from roadstead.capabilities.gateways.chain.classes import class_of, mode_of
from roadstead.capabilities.gateways.chain.gateway import Release, Rendered, render
from roadstead.capabilities.gateways.chain.issuers import issuers
from roadstead.capabilities.gateways.chain.policies import policies
from roadstead.capabilities.gateways.chain.release import cleanup, release
from roadstead.capabilities.gateways.chain.remarks import remarks
from roadstead.capabilities.gateways.chain.resolve import Chain, Row, resolve
from roadstead.capabilities.gateways.chain.tenants import Place, Tenant, place_all, tenant_of
from roadstead.capabilities.gateways.chain.values import (
    Platform,
    cilium_values,
    cluster_of,
    values_secret,
)

__all__ = [
    "Chain",
    "Place",
    "Platform",
    "Release",
    "Rendered",
    "Row",
    "Tenant",
    "cilium_values",
    "class_of",
    "cleanup",
    "cluster_of",
    "issuers",
    "mode_of",
    "place_all",
    "policies",
    "release",
    "remarks",
    "render",
    "resolve",
    "tenant_of",
    "values_secret",
]
