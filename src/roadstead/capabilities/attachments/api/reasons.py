"""Every word an attachment's conditions and events use. Source: endpoint-attachments 3.8."""

from roadstead.kube.reasons import Reason

_ABOUT = "EndpointAttachment"


def _resolved(name: str, meaning: str, cause: str, remedy: str) -> Reason:
    return Reason(name, "Resolved", _ABOUT, meaning, cause, remedy)


def _provisioned(name: str, meaning: str, cause: str, remedy: str) -> Reason:
    return Reason(name, "Provisioned", _ABOUT, meaning, cause, remedy)


def _assigned(name: str, meaning: str, cause: str, remedy: str, about: str = "") -> Reason:
    return Reason(name, "AddressAssigned", about, meaning, cause, remedy)


REASONS: tuple[Reason, ...] = (
    _resolved(
        "Resolved",
        "The endpoint belongs to the application and is offered to its tenant.",
        "Owner, lineage labels and verdict are as they should be.",
        "Nothing is owed.",
    ),
    _resolved(
        "ApplicationNotFound",
        "No HelmRelease of the application is in this namespace, or it is being deleted.",
        "The application is not created yet, is gone, or its name or kind is misspelt.",
        "Create the application, or recreate the attachment with its name.",
    ),
    _resolved(
        "ApplicationAmbiguous",
        "Several HelmReleases carry the application's labels; none is chosen.",
        "A second release was labelled as the same application.",
        "Delete all HelmReleases of the application but one.",
    ),
    _resolved(
        "ApplicationIncarnationChanged",
        "The application was deleted and created anew; an address is never handed to the new one.",
        "The attachment belongs to the HelmRelease that is gone.",
        "Delete the attachment and create it again.",
    ),
    _resolved(
        "EndpointNotFound",
        "The Service to mirror does not exist, or it is being deleted.",
        "The application was scaled down, or spec.endpoint.serviceName is misspelt.",
        "Create the Service, or name another one in spec.endpoint.serviceName.",
    ),
    _resolved(
        "EndpointLineageMismatch",
        "The Service to mirror belongs to another application.",
        "One of its three lineage labels is missing or another.",
        "Name a Service of the application in spec.endpoint.serviceName.",
    ),
    _resolved(
        "EndpointNotTenantFacing",
        "The Service to mirror is internal to its application, or was rendered by an attachment.",
        "The application's definition does not offer it to tenants.",
        "Name a Service whose label internal.cozystack.io/tenantresource is true.",
    ),
    _provisioned(
        "Provisioned",
        "The address is bound and the Service wired; reachability is not asserted.",
        "Everything Roadstead does for the attachment is done.",
        "Where nothing answers, look at the network policies and at the backends.",
    ),
    _provisioned(
        "NotResolved",
        "Nothing is made before the endpoint resolves.",
        "Resolved is not True.",
        "Clear the reason of the condition Resolved.",
    ),
    _provisioned(
        "Detached",
        "The Service is withdrawn, and the claim keeps the address for when the endpoint is back.",
        "Resolved was True and is not any more.",
        "Clear the reason of the condition Resolved; the same address returns.",
    ),
    _provisioned(
        "DatapathContractUnavailable",
        "A method is asked for that this platform does not carry.",
        "The platform does not declare the cozy-proxy contract.",
        "Leave spec.loadBalancer.method out, or have the platform run cozy-proxy.",
    ),
    _provisioned(
        "BackendAlreadyDelegated",
        "An older Service delegates the same backend; it keeps it.",
        "A chart with external: true, another attachment or a Service made by hand holds the pod.",
        "Delete the other Service, or name an endpoint with other backends.",
    ),
    _provisioned(
        "ClaimPending",
        "There is no bound address yet.",
        "The claim is missing, not bound, refused, or of a class that is not known or not offered.",
        "The message names what is missing; the substrate binds the claim once it is there.",
    ),
    _provisioned(
        "ClaimInUse",
        "Another Service holds the address; it is not fought over.",
        "The claim is named by something else that came first.",
        "Delete the holder, or recreate the attachment with another claim.",
    ),
    _provisioned(
        "FamilyConflict",
        "The claim is of another address family than is asked for.",
        "spec.loadBalancer.family and the family of the claim differ; IPv4 and Dual differ, too.",
        "Recreate the attachment with the family of the claim, or without one.",
    ),
    _provisioned(
        "MultipleBackends",
        "The address is held and serves nobody while a whole IP would have several backends.",
        "A rolling update or a migration is under way, or the endpoint has replicas.",
        "Wait, scale the endpoint to one backend, or use the method PortList.",
    ),
    _provisioned(
        "EndpointNotMirrorable",
        "The endpoint has nothing that a load balancer could mirror.",
        "It is an ExternalName, or has no selector or no ports.",
        "Name another Service in spec.endpoint.serviceName.",
    ),
    _provisioned(
        "PortsNotFound",
        "The endpoint lacks ports that spec.loadBalancer.ports names.",
        "A port was renumbered, or its number or protocol is misspelt.",
        "Name ports of the endpoint; without the field all of them are taken.",
    ),
    _provisioned(
        "ServicePending",
        "The load balancer Service is being made, or the one before it is going.",
        "The claim has just been bound, or a field had to change that cannot.",
        "Nothing is owed; where it stays, a finalizer holds the old Service.",
    ),
    _provisioned(
        "ServiceRejected",
        "The API server refused the Service.",
        "A quota is used up, a policy objects, a family is not served, or a permission is missing.",
        "The message quotes the refusal; raise the quota or change what is refused.",
    ),
    _assigned(
        "AddressAssigned",
        "The load balancer announces the claim's addresses and no other.",
        "The driver has pinned the Service.",
        "Nothing is owed.",
    ),
    _assigned(
        "AddressNotAssigned",
        "The load balancer does not announce the claim's addresses yet.",
        "Its driver has not come to it, or is not installed.",
        "Wait for the driver; look at the events of the Service.",
    ),
    _assigned(
        "AddressMismatch",
        "The load balancer announces an address that is not the claim's.",
        "It was given one before the driver pinned it, or the pin is not obeyed.",
        "Wait for the driver to move it; where it stays, look at the driver's configuration.",
        _ABOUT,
    ),
    _assigned(
        "NoService",
        "There is no Service that could have an address.",
        "Provisioned is not True.",
        "Clear the reason of the condition Provisioned.",
    ),
    Reason(
        "Attached", "Ready", "",
        "The attachment has its address and its Service.",
        "Resolved and Provisioned are True.",
        "Nothing is owed.",
    ),
    Reason(
        "DatapathLimited", "", _ABOUT,
        "cozy-proxy does not carry everything that is asked for.",
        "It serves IPv4, TCP and UDP, and filters by the number of the Service's port.",
        "Ask for IPv4, TCP or UDP, and ports whose target has the same number.",
    ),
    Reason(
        "BackendContended", "", _ABOUT,
        "A younger Service delegates the same backend; the proxy lets the last writer win.",
        "Somebody made a second Service with the label of cozy-proxy.",
        "Delete the younger Service.",
    ),
    Reason(
        "ReadFailed", "", "",
        "Something the decision needs could not be read; nothing was changed.",
        "The API server answered with an error, or a view is not synced.",
        "Wait; it is tried again with growing pauses. `/readyz` names the view.",
    ),
)  # fmt: skip

BY_NAME = {reason.name: reason for reason in REASONS}
