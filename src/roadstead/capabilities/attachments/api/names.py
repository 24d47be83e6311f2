"""Kinds, labels, annotations and figures of attachments. Source: endpoint-attachments 1 to 6."""

from datetime import timedelta

from roadstead.capabilities.lineage import api as lineage
from roadstead.kube.refs import Kind

APPLICATION_GROUP = lineage.APPLICATION_GROUP
GROUP_LABEL = lineage.GROUP_LABEL
KIND_LABEL = lineage.KIND_LABEL
NAME_LABEL = lineage.NAME_LABEL
TENANT_RESOURCE = lineage.TENANT_RESOURCE
TRIPLE = lineage.TRIPLE

GROUP = "local.sdn.cozystack.io"

ATTACHMENT = Kind("EndpointAttachment", GROUP, "v1alpha1", "endpointattachments")
CLAIM = Kind("IPAddressClaim", GROUP, "v1alpha1", "ipaddressclaims")
ADDRESS = Kind("IPAddress", GROUP, "v1alpha1", "ipaddresses", namespaced=False)
CLASS = Kind("IPAddressClass", GROUP, "v1alpha1", "ipaddressclasses", namespaced=False)

COMPONENT = "endpoint-attachment-controller"
"""The source of its events, and the manager of the fields it applies."""


ATTACHMENT_LABEL = f"{GROUP}/endpoint-attachment"
CLAIM_ANNOTATION = f"{GROUP}/ip-address-claim"
UID_ANNOTATION = f"{GROUP}/application-uid"
DARK_LABEL = f"{GROUP}/held-dark"
"""A pair with this key in a selector matches no pod: the Service is held and serves nobody."""

DEFAULT_ANNOTATION = f"ipaddressclass.{GROUP}/is-default-class"

PROXY_LABEL = "service.kubernetes.io/service-proxy-name"
PROXY = "cozy-proxy"
WHOLE_IP_ANNOTATION = "networking.cozystack.io/wholeIP"
ALLOW_ICMP_ANNOTATION = "networking.cozystack.io/allowICMP"
SENTINEL_PORT = 65535
"""What the VM chart gives a headless Service, which must have a port."""

SLICE_OF = "kubernetes.io/service-name"

RESYNC = timedelta(minutes=10)
"""Every attachment is looked at again after this. Source: 6.2, safety net."""
RECHECK = timedelta(seconds=30)
"""While a kind that would tell cannot be watched. Source: 6.2 and 6.3."""
