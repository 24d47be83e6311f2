"""Checks of the programs whose kinds we read and write.

A kind that one of our processes is not ready without makes an error of its absence; anything else
is told with what waits for it.
"""

from collections.abc import Callable, Iterable

from roadstead.capabilities.attachments.api.names import ADDRESS, CLAIM, CLASS
from roadstead.capabilities.gateways import api
from roadstead.capabilities.lineage.api import DEFINITION
from roadstead.explain.checks.check import ERROR, NEIGHBOURS, OK, WARNING, Check, Found
from roadstead.explain.checks.facts import Facts, Unasked
from roadstead.kube.refs import HELM_RELEASE, Kind

BUNDLE = "gateway.networking.k8s.io/bundle-version"
GATEWAY_KINDS = (api.GATEWAY, api.HTTP_ROUTE, api.GATEWAY_CLASS, api.REFERENCE_GRANT)
_TLS_ROUTE = api.TLS_ROUTES[0]


def _lacking(seen: Facts, kinds: Iterable[Kind]) -> list[Kind]:
    return [one for one in kinds if (one.api_version, one.kind) not in seen.served]


def _absent(seen: Facts, name: str, kinds: tuple[Kind, ...], without: str) -> Found | None:
    """What to say where a kind is not served; None where all are."""
    lacking = _lacking(seen, kinds)
    if not lacking:
        return None
    level = ERROR if seen.needed.intersection(lacking) else WARNING
    if len(lacking) == len(kinds):
        return Found(level, without, title=f"{name} not installed")
    named = ", ".join(f"{one.kind} {one.version}" for one in lacking)
    return Found(level, f"{named} not served; {without}")


def _served(name: str, kinds: tuple[Kind, ...], without: str) -> Callable[[Facts], Found]:
    def judge(seen: Facts) -> Found:
        versions = dict.fromkeys(f"{one.kind} {one.version}" for one in kinds)
        return _absent(seen, name, kinds, without) or Found(OK, ", ".join(versions))

    return judge


def gateway_api(seen: Facts) -> Found:
    """The kinds that routes are made of, the bundle they come from, and TLSRoute's versions."""
    without = "tenant gateways are not served"
    if absent := _absent(seen, "Gateway API CRDs", GATEWAY_KINDS, without):
        return absent
    group, _, _ = _TLS_ROUTE.api_version.partition("/")
    routes = [one for one in api.TLS_ROUTES if (one.api_version, one.kind) in seen.served]
    bundle = _bundle(seen, f"{api.HTTP_ROUTE.resource}")
    if not routes:
        said = f"TLSRoute is not served in {group}: hostnames of TLSRoutes are not published"
        return Found(WARNING, f"{bundle}; {said}")
    versions = " ".join(one.version for one in routes)
    return Found(OK, f"{bundle}, TLSRoute {versions}")


def _bundle(seen: Facts, name: str) -> str:
    if isinstance(seen.definitions, Unasked):
        return f"bundle not checked ({seen.definitions.why})"
    found = seen.definitions.get(name)
    stated = found.annotations.get(BUNDLE, "") if found is not None else ""
    return stated or "bundle version not stated"


def cert_manager(seen: Facts) -> Found:
    """Certificates are issued, and their Secrets outlive them. Source: tenant-gateway 3.5."""
    without = "no certificate is issued for a published hostname"
    if absent := _absent(seen, "cert-manager", (api.CERTIFICATE, api.ISSUER), without):
        return absent
    if isinstance(seen.owner_refs, Unasked):
        return Found(OK, f"enableCertificateOwnerRef not checked ({seen.owner_refs.why})")
    owning = sorted(name for name, owns in seen.owner_refs.items() if owns)
    if owning:
        return Found(
            WARNING,
            "enableCertificateOwnerRef=true: a Secret goes with its Certificate, at every change "
            "of a gateway's mode and when a hostname is withdrawn",
            tuple(f"Deployment {name}" for name in owning),
        )
    if None in seen.owner_refs.values():
        return Found(OK, "enableCertificateOwnerRef not known: a file of its own may state it")
    if not seen.owner_refs:
        return Found(OK, "enableCertificateOwnerRef not known: no Deployment of it was found")
    return Found(OK, "enableCertificateOwnerRef=false, as the anchors need")


NEIGHBOUR_CHECKS = (
    Check(
        "helm-releases",
        NEIGHBOURS,
        "Flux HelmReleases",
        (ERROR,),
        _served("Flux helm-controller", (HELM_RELEASE,), "no application is known without it"),
        "HelmReleases are served: they say which application an object belongs to.",
        "Flux's helm-controller is not installed, or serves another version.",
        "Install Flux, with helm-controller at v1 or newer.",
    ),
    Check(
        "application-definitions",
        NEIGHBOURS,
        "ApplicationDefinitions",
        (ERROR,),
        _served("ApplicationDefinition", (DEFINITION,), "no anchor and no verdict without it"),
        "The platform's ApplicationDefinitions are served.",
        "The platform is not installed. What Roadstead ships of that kind is for development.",
        "Install the platform's own definition.",
    ),
    Check(
        "gateway-api",
        NEIGHBOURS,
        "Gateway API CRDs",
        (ERROR, WARNING),
        gateway_api,
        "Gateways and routes are served; which bundle and which versions of TLSRoute is told.",
        "The CRDs of Gateway API are not installed, or only its standard bundle without TLSRoute.",
        "Install the experimental bundle, v1.5.1 or newer.",
    ),
    Check(
        "cert-manager",
        NEIGHBOURS,
        "cert-manager",
        (WARNING,),
        cert_manager,
        "Certificates and Issuers are served, and Secrets outlive their Certificates.",
        "cert-manager is not installed, or runs with `enableCertificateOwnerRef`.",
        "Install cert-manager, and leave `enableCertificateOwnerRef` at false.",
    ),
    Check(
        "address-substrate",
        NEIGHBOURS,
        "address substrate",
        (WARNING,),
        _served(
            "address substrate",
            (CLAIM, ADDRESS, CLASS),
            "attachments will wait in ClaimPending",
        ),
        "Address claims, addresses and their classes are served.",
        "The program that hands out addresses is not installed.",
        "Install it where attachments are to be given addresses.",
    ),
)
