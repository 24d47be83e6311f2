"""What the platform file must state because a service uses it. Source: contract, section 2."""

from collections.abc import Iterator

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.parts import FORWARD_AUTH, OIDC, VPN
from roadstead.capabilities.services.decide.saying import of_platform


def platform_has_what_is_used(catalog: Catalog) -> Iterator[Finding]:
    """S-03, once for each setting that is missing, with the first service that needs it."""
    yield from _identity(catalog)
    yield from _vpn(catalog)


def _identity(catalog: Catalog) -> Iterator[Finding]:
    logins = {OIDC, FORWARD_AUTH}
    user = next((one for one in catalog.everyone if one.auth.mode in logins), None)
    if user is None:
        return
    identity = catalog.platform.identity
    settings = {
        "realm": identity.realm,
        "realmRef": identity.realm_ref,
        "issuerURL": identity.issuer_url,
        "backchannelURL": identity.backchannel_url,
        "namespace": identity.namespace,
        "podLabels": identity.pod_labels,
        "port": identity.port,
    }
    for name, stated in settings.items():
        if not stated:
            message = (
                f"`identity.{name}` is required, since {user.name} uses auth.mode {user.auth.mode}"
            )
            yield of_platform(catalog.platform.origin, "S-03", ("identity", name), message)


def _vpn(catalog: Catalog) -> Iterator[Finding]:
    user = next((one for one in catalog.everyone if one.egress == VPN), None)
    vpn = catalog.platform.egress.vpn
    stated = catalog.platform.origin.value.get("egress", {}).get("vpn")
    if user is not None and not stated and vpn.mode == "egress-gateway":
        message = f"`egress.vpn.nodeSelector` is required, since {user.name} uses egress vpn"
        path = ("egress", "vpn", "nodeSelector")
        yield of_platform(catalog.platform.origin, "S-03", path, message)
