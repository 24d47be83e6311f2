"""Examples of the renderer with small changes, and what they are rendered to."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from roadstead.capabilities.services.render.part import Rendered
from roadstead.capabilities.services.snapshot import Previous
from roadstead.cli.service import bundled
from roadstead.cli.service.judged import Judged

Body = Mapping[str, Any]
MINIMAL: dict[str, Any] = {"source": {"image": "docker.io/library/nginx:1.27.0"}}


def judged(
    services: bundled.Changes | None = None,
    settings: Body | None = None,
    previous: Mapping[str, Previous] | None = None,
) -> Judged:
    """The examples with merges laid over them, a None taking a key or a definition away."""
    gone = {name for name, change in (services or {}).items() if change is None}
    kept = {name: one for name, one in (services or {}).items() if name not in gone}
    texts, platform = bundled.changed(kept, settings)
    texts = tuple(one for one in texts if one.name.removesuffix(".yaml") not in gone)
    return bundled.judged(texts, platform, (previous or {}).get)


@cache
def examples() -> Judged:
    """The examples as they are."""
    return judged()


def objects(result: Judged, service: str) -> dict[str, Rendered]:
    """Every object of a service by `Kind/namespace/name`, packaged ones among them."""
    output = result.outputs[service]
    return {one.path: one for one in (*output.effective, *output.folder)}


def body(result: Judged, service: str, path: str) -> dict[str, Any]:
    """One object."""
    return objects(result, service)[path].body


def names(result: Judged, service: str, kind: str) -> list[str]:
    """The names of a service's objects of one kind, sorted."""
    return sorted(one.name for one in objects(result, service).values() if one.kind.kind == kind)


def pod(result: Judged, service: str, kind: str = "Deployment") -> dict[str, Any]:
    """The pod of a service's workload."""
    found: dict[str, Any] = body(result, service, f"{kind}/{service}/{service}")["spec"]["template"]
    return found


def container(result: Judged, service: str, kind: str = "Deployment") -> dict[str, Any]:
    """Its one container."""
    one: dict[str, Any]
    (one,) = pod(result, service, kind)["spec"]["containers"]
    return one


def policy(result: Judged, service: str, name: str) -> dict[str, Any]:
    """The specification of one Cilium policy."""
    found: dict[str, Any] = body(result, service, f"CiliumNetworkPolicy/{service}/{name}")["spec"]
    return found
