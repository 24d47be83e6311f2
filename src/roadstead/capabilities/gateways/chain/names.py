"""What the chain's values and objects are called, each spelled once. Source: tenant-gateway 2."""

from roadstead.kube.refs import Kind

SOLVER, ISSUER = "solver", "issuer-name"
WILDCARD, WILDCARD_ISSUE = "wildcard-secret-name", "wildcard-issue"
PROVIDER = "dns01-provider"
ROOT_HOST = "root-host"
EXPOSED = "expose-services"
PUBLISHING, PUBLISHING_ADMIN = "expose-ingress", "expose-ingress-admin"
ENABLED = "gateway-enabled"
ATTACHED = "gateway-attached-namespaces"
CLASS, TENANT_CLASSES, EDGE_CLASSES = (
    "gateway-class-name",
    "gateway-tenant-classes",
    "gateway-edge-classes",
)
"""Keys of `_cluster`, the channel from the platform's values to each tenant's charts."""

YES, NO = "true", "false"
"""Values of `_cluster` are texts: `false` is one as well."""

ROOT = "tenant-root"
TENANT_PREFIX = "tenant-"
GATEWAY_NAME = "cozystack"
VALUES_NAMESPACE, VALUES_SECRET, VALUES_KEY = "cozy-system", "cozystack-values", "values.yaml"
RELEASE = "gateway"
ACCOUNT_SECRET = "cozystack-acme-account"  # noqa: S105 - a name

PASSTHROUGH = ("api", "vm-exportproxy", "cdi-uploadproxy")
"""Platform services whose TLS ends at their backend: the chart's default."""

TENANT = Kind("Tenant", "apps.cozystack.io", "v1alpha1", "tenants")
