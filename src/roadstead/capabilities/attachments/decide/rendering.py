"""Can the endpoint be mirrored, and does the Service say so? Source: endpoint-attachments 3.4."""

from roadstead.capabilities.attachments.render import is_dark, is_replaced
from roadstead.capabilities.attachments.render.ports import choose
from roadstead.capabilities.attachments.snapshot import Snapshot, family_of
from roadstead.decision import Finding, Verdict
from roadstead.kube.refs import SERVICE, Ref
from roadstead.kube.shapes import part, text


def endpoint_is_mirrorable(seen: Snapshot) -> Finding:
    """Refuse an endpoint with nothing to mirror. P10."""
    rule, endpoint = "endpoint-mirrorable", seen.endpoint
    problem = _unmirrorable(seen) if endpoint is not None else ""
    if problem:
        message = f"{seen.endpoint_ref} {problem}; name another Service in spec.endpoint"
        refs = (seen.endpoint_ref,)
        return Finding(rule, Verdict.REFUSE, "EndpointNotMirrorable", message, refs)
    return Finding(rule, Verdict.PASS, refs=(seen.endpoint_ref,))


def _unmirrorable(seen: Snapshot) -> str:
    spec = part(seen.endpoint.body, "spec") if seen.endpoint is not None else {}
    if text(spec, "type") == "ExternalName":
        return "is an ExternalName, which has no backends of its own"
    if not part(spec, "selector"):
        return "has no selector, so there is nothing to mirror"
    sentinel = seen.asked.method == "WholeIP" and not seen.asked.ports
    if not spec.get("ports") and not sentinel:
        return "has no ports"
    return ""


def some_port_exists(seen: Snapshot) -> Finding:
    """Refuse to render without a port: a load balancer needs one. P11."""
    rule = "ports-found"
    if seen.endpoint is not None and not choose(seen.asked, seen.endpoint).ports:
        return Finding(rule, Verdict.REFUSE, "PortsNotFound", _missing(seen), (seen.endpoint_ref,))
    return Finding(rule, Verdict.PASS, refs=(seen.endpoint_ref,))


def service_stands(seen: Snapshot) -> Finding:
    """Wait for the Service that this pass makes, or for the one before it to go. P12."""
    rule, service = "service-stands", seen.service
    others = [one.ref for one in seen.owned if one is not service]
    if service is not None and not is_replaced(seen, service) and not others:
        return Finding(rule, Verdict.PASS, refs=(service.ref,))
    if service is not None and is_replaced(seen, service):
        message = f"{service.ref} cannot be put right in place and is replaced"
    elif service is not None:
        message = f"{others[0]} has to go first; {service.ref} is kept"
    elif others:
        message = f"{others[0]} is being deleted; another one is made once it is gone"
    else:
        message = f"the load balancer Service of {seen.endpoint_ref} is being made"
    return Finding(rule, Verdict.WAIT, "ServicePending", message, (_service_ref(seen),))


def backend_is_one(seen: Snapshot) -> Finding:
    """Hold the address dark while a whole IP would have several backends. P13."""
    rule = "one-backend"
    if is_dark(seen):
        message = (
            f"{seen.endpoint_ref} has {seen.ready} ready backends and method WholeIP serves one; "
            "the address is held and serves nobody until one is left"
        )
        return Finding(rule, Verdict.WAIT, "MultipleBackends", message, (seen.endpoint_ref,))
    return Finding(rule, Verdict.PASS, refs=(seen.endpoint_ref,))


def every_port_exists(seen: Snapshot) -> Finding:
    """Name the ports that are asked for and are not there; the others are served. P15."""
    rule = "every-port-found"
    if seen.endpoint is not None and choose(seen.asked, seen.endpoint).missing:
        return Finding(rule, Verdict.REFUSE, "PortsNotFound", _missing(seen), (seen.endpoint_ref,))
    return Finding(rule, Verdict.PASS, refs=(seen.endpoint_ref,))


def _missing(seen: Snapshot) -> str:
    missing = choose(seen.asked, seen.endpoint).missing if seen.endpoint is not None else ()
    named = ", ".join(str(item) for item in missing)
    return f"{seen.endpoint_ref} has no port {named}; add it there or take it out of spec ports"


def _service_ref(seen: Snapshot) -> Ref:
    if seen.owned:
        return seen.owned[0].ref
    return SERVICE.ref(seen.namespace, seen.ref.name)


def oddities(seen: Snapshot) -> tuple[str, ...]:
    """What cozy-proxy will not carry as asked: told once, never refused. Source: 4.2, last part."""
    if not seen.asked.method or seen.endpoint is None:
        return ()
    chosen = choose(seen.asked, seen.endpoint).ports
    found = []
    family = seen.asked.family or (family_of(seen.claim) if seen.claim is not None else "")
    if family in {"IPv6", "Dual"}:
        found.append(f"the family {family} (it carries IPv4 alone)")
    sctp = [str(port["port"]) for port in chosen if port["protocol"] == "SCTP"]
    if sctp:
        found.append(f"SCTP port {', '.join(sctp)} (it carries TCP and UDP)")
    moved = [
        f"{port['port']} to {port['targetPort']}"
        for port in chosen
        if isinstance(port.get("targetPort"), int) and port["targetPort"] != port["port"]
    ]
    if moved:
        found.append(f"port {', '.join(moved)} (it filters by the Service's number)")
    return tuple(found)


RENDER = (
    endpoint_is_mirrorable,
    some_port_exists,
    service_stands,
    backend_is_one,
    every_port_exists,
)
