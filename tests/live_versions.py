"""At which versions the real server serves a kind, and at which another writer speaks of it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from live_admin import Admin, wait_for
from roadstead.kube.refs import CRD, Kind
from roadstead.sim.world import Serving

_OK, _NOT_FOUND = 200, 404


def stated_in(kind: Kind, body: Mapping[str, Any]) -> Kind:
    """A kind at the version that an object of a file has: another may not allow the object."""
    version = str(body.get("apiVersion", "")).rpartition("/")[2]
    return kind._replace(version=version or kind.version)


def versions_of(kind: Kind, known: Iterable[Kind]) -> tuple[Kind, ...]:
    """A kind, and the other versions of it that somebody speaks."""
    others = sorted(one for one in set(known) if one.resource == kind.resource and one != kind)
    return (kind, *others)


def readable(kind: Kind, known: Iterable[Kind], unserved: Collection[Kind]) -> Kind | None:
    """The version to read a kind at; None where none that somebody speaks is served."""
    return next((one for one in versions_of(kind, known) if one not in unserved), None)


def is_served(kind: Kind, serving: Serving) -> bool:
    """Tell whether a kind is served at its version."""
    return serving.now and (serving.versions is None or kind.version in serving.versions)


def set_served(admin: Admin, kind: Kind, versions: Iterable[Kind], serving: Serving) -> None:
    """Have the server serve these versions of a kind, and no other; wait until it does."""
    ref = CRD.ref("", kind.resource)
    crd = admin.get(ref)
    assert crd is not None
    for version in crd["spec"]["versions"]:
        version["served"] = is_served(kind._replace(version=version["name"]), serving)
    admin.patched(ref, {"spec": {"versions": crd["spec"]["versions"]}})
    for one in versions:
        code = _OK if is_served(one, serving) else _NOT_FOUND
        what = f"{one.resource} {one.version} {'served' if code == _OK else 'gone'}"
        wait_for(what, lambda: admin.call("GET", one.path()).code == code)  # noqa: B023 - asked at once
