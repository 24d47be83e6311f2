"""The objects around a tenant gateway: Gateway, Issuer, Certificates, the redirect.

What a server would fill in is written out, so that an unchanged object is equal to its rendering.
Source: tenant-gateway 3.2, 3.5, 3.6 and 3.7.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from roadstead.capabilities.gateways import api
from roadstead.capabilities.gateways.fields import (
    CLOUDFLARE,
    DEFAULT_ALGORITHM,
    DIGITALOCEAN,
    DNS01,
    HTTP01,
    PRODUCTION,
    RFC2136,
    ROUTE53,
    STAGING,
)
from roadstead.capabilities.gateways.render.listeners import children
from roadstead.capabilities.gateways.render.spec import budget, fault
from roadstead.capabilities.gateways.snapshot import Asked, Snapshot
from roadstead.kube.hostnames import WILDCARD
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind

Json = dict[str, Any]

SERVERS = {
    PRODUCTION: "https://acme-v02.api.letsencrypt.org/directory",
    STAGING: "https://acme-staging-v02.api.letsencrypt.org/directory",
}


class UnrenderableError(ValueError):
    """A spec from which an object cannot be made; the text names the field. Source: 7.2, P13."""


def gateway(seen: Snapshot, rendered: list[Json]) -> Json:
    """The Gateway with these listeners, laid over the one that stands.

    Raises: UnrenderableError for a spec that was not judged, or was refused. Source: 7.2.
    """
    said = fault(seen.asked) or budget(len(rendered))
    if said:
        raise UnrenderableError(said)
    labels = {api.GATEWAY_LABEL: seen.namespace, api.MANAGED_LABEL: api.MANAGER}
    spec = {"gatewayClassName": seen.asked.class_name, "listeners": rendered}
    return _laid_over(seen, api.GATEWAY, seen.name, labels, spec, seen.gateway)


def issuer(seen: Snapshot) -> Json:
    """The Issuer of modes http01 and dns01.

    Raises: UnrenderableError.
    """
    acme = {
        "server": server_of(seen.asked.issuer),
        "privateKeySecretRef": {"name": f"{seen.name}-acme-account"},
        "solvers": [solver(seen)],
    }
    labels = {api.MANAGED_LABEL: api.MANAGER}
    name = f"{seen.name}-gateway"
    return _laid_over(seen, api.ISSUER, name, labels, {"acme": acme}, seen.issuer)


def server_of(name: str) -> str:
    """The ACME server of an issuer name.

    Raises: UnrenderableError naming the value and what is supported.
    """
    try:
        return SERVERS[name or PRODUCTION]
    except KeyError:
        known = ", ".join(SERVERS)
        raise UnrenderableError(f"issuerName `{name}` is not supported; use {known}") from None


def solver(seen: Snapshot) -> Json:
    """How names are proven.

    Raises: UnrenderableError naming the mode, or what of `spec.dns01` is missing.
    """
    asked = seen.asked
    if asked.mode == HTTP01:
        parent = {
            "group": api.GATEWAY_API,
            "kind": api.GATEWAY.kind,
            "name": seen.name,
            "namespace": seen.namespace,
            "sectionName": api.PLAIN,
        }
        return {"http01": {"gatewayHTTPRoute": {"parentRefs": [parent]}}}
    if asked.mode == DNS01:
        return {"dns01": _dns01(asked)}
    raise UnrenderableError(f"mode {asked.mode} has no solver")


def _dns01(asked: Asked) -> Json:
    if not asked.dns01:
        raise UnrenderableError("spec.dns01 is missing; mode dns01 needs it")
    provider = str(asked.dns01.get("provider") or CLOUDFLARE)
    if provider not in {CLOUDFLARE, ROUTE53, DIGITALOCEAN, RFC2136}:
        raise UnrenderableError(f"dns01.provider `{provider}` is not supported")
    stated = asked.dns01.get(provider)
    if not isinstance(stated, Mapping):
        raise UnrenderableError(f"spec.dns01: the block dns01.{provider} is missing")
    block = {key: value for key, value in stated.items() if value not in (None, "")}
    if provider == RFC2136:
        block.setdefault("tsigAlgorithm", DEFAULT_ALGORITHM)
    return {provider: {key: _reference(value) for key, value in block.items()}}


def _reference(value: Any) -> Any:
    """A reference to a Secret's key, without what cert-manager's schema does not have."""
    if not isinstance(value, Mapping):
        return value
    return {key: value[key] for key in ("name", "key") if key in value}


def certificate(seen: Snapshot, name: str, names: Iterable[str], *, one_listener: bool) -> Json:
    """A Certificate for these names, into the Secret of its own name."""
    labels = {api.MANAGED_LABEL: api.MANAGER}
    if one_listener:
        labels |= {api.TENANT_GATEWAY_LABEL: seen.name, api.PER_LISTENER_LABEL: "true"}
    spec = {
        "dnsNames": list(names),
        "issuerRef": {"kind": api.ISSUER.kind, "name": f"{seen.name}-gateway"},
        "secretName": name,
    }
    live = seen.certificates.get(name)
    return _laid_over(seen, api.CERTIFICATE, name, labels, spec, live)


def wildcard_names(seen: Snapshot) -> tuple[str, ...]:
    """The names of the wildcard certificate, each once, children after the apex. 3.5."""
    names: list[str] = []
    for apex in (seen.asked.apex, *children(seen)[0]):
        names += [apex, f"{WILDCARD}{apex}"]
    return tuple(dict.fromkeys(names))


def redirect(seen: Snapshot) -> Json:
    """The route that sends plain requests to HTTPS."""
    apex = seen.asked.apex
    labels = {api.MANAGED_LABEL: api.MANAGER, api.TENANT_GATEWAY_LABEL: seen.name}
    parent = {
        "group": api.GATEWAY_API,
        "kind": api.GATEWAY.kind,
        "name": seen.name,
        "sectionName": api.PLAIN,
    }
    to_https = {
        "type": "RequestRedirect",
        "requestRedirect": {"scheme": "https", "statusCode": 301},
    }
    rule = {
        "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
        "filters": [to_https],
    }
    spec = {
        "parentRefs": [parent],
        "hostnames": [apex, f"{WILDCARD}{apex}"],
        "rules": [rule],
    }
    name = f"{seen.name}-http-redirect"
    return _laid_over(seen, api.HTTP_ROUTE, name, labels, spec, seen.redirect)


def _laid_over(  # noqa: PLR0917 - the parts of an object, in its own order
    seen: Snapshot, kind: Kind, name: str, labels: dict[str, str], spec: Json, live: Object | None
) -> Json:
    """An object with our spec and labels; foreign labels and everything else of it stay."""
    owner = {
        "apiVersion": api.TENANT_GATEWAY.api_version,
        "kind": api.TENANT_GATEWAY.kind,
        "name": seen.name,
        "uid": seen.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    if live is None:
        return {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {
                "name": name,
                "namespace": seen.namespace,
                "labels": labels,
                "ownerReferences": [owner],
            },
            "spec": spec,
        }
    body = deepcopy(live.body)
    body["metadata"]["labels"] = {**live.labels, **labels}
    if body.get("spec") != spec:
        body["spec"] = spec
    return body
