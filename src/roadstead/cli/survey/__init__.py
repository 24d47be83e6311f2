"""Reads what `roadstead check` asks about: `explain.checks.Facts` of a live cluster.

Everything goes to the API server, with the caller's own rights. The only requests that are no
reads are access reviews and one dry run; neither stores anything.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from roadstead.capabilities import CONTROLLERS
from roadstead.capabilities.attachments.api.names import CLASS
from roadstead.capabilities.gateways.api import GATEWAY_CLASS, HTTP_ROUTE
from roadstead.capabilities.lineage.api import EXEMPT, SYSTEM
from roadstead.cli.survey.asking import asked
from roadstead.cli.survey.installed import ours, survey_installed
from roadstead.deploy.admission import REGISTRATION
from roadstead.deploy.rbac import API_GROUP
from roadstead.explain.checks.facts import Facts, Known, Stated, Unasked
from roadstead.kube.objects import Object
from roadstead.kube.refs import CRD, NAMESPACE, Kind
from roadstead.kube.views import View
from roadstead.runtime.client import Client
from roadstead.runtime.clock import LiveClock
from roadstead.runtime.permission import Access
from roadstead.runtime.wire import collection_of

PLATFORM = "cozy-"
"""What the names of the platform's own namespaces begin with."""
DEPLOYMENT = Kind("Deployment", "apps", "v1", "deployments")
CERT_MANAGER = View("cert-managers", DEPLOYMENT, labels="app.kubernetes.io/name=cert-manager")
_OWNER_REF, _CONFIG = "--enable-certificate-owner-ref", "--config"
_INSTALLED = (
    (CRD.group, CRD.plural),
    (API_GROUP, "clusterroles"),
    (API_GROUP, "clusterrolebindings"),
    (REGISTRATION.group, REGISTRATION.plural),
    ("", "namespaces"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants looked at. home: of the installation. before: nothing is installed."""

    home: str
    before: bool
    stated: Stated = field(default_factory=Stated)


async def survey(client: Client, wanted: Asked) -> Facts:
    """Look at a cluster.

    Raises: ClusterError where it does not answer; what the caller may not read is in the facts.
    """
    served = await client.kinds()
    definitions = await _definitions(client)
    spaces = await asked("list namespaces", client.list_metadata(NAMESPACE))
    facts = Facts(
        now=_now(),
        home=wanted.home,
        version=await client.version(),
        served=served,
        definitions=definitions,
        needed=frozenset(
            view.kind for one in CONTROLLERS.values() for view in set(one.views) - one.optional
        ),
        may=await _may(client) if wanted.before else {},
        systems=_systems(spaces, wanted.home),
        owner_refs=await _owner_refs(client),
        classes=await _names(client, served, GATEWAY_CLASS),
        address_classes=await _names(client, served, CLASS),
        stated=wanted.stated,
        installed=None,
    )
    if wanted.before:
        return facts
    return await survey_installed(client, facts, spaces)


def _now() -> datetime:
    return LiveClock().wall()


async def _definitions(client: Client) -> Known[Mapping[str, Object]]:
    """The definitions that are looked at, as far as they are there."""
    names = (HTTP_ROUTE.resource, *ours())
    found: dict[str, Object] = {}
    for name in names:
        there = await asked("get customresourcedefinitions", client.get(CRD.ref("", name)))
        if isinstance(there, Unasked):
            return there
        if there is not None:
            found[name] = there
    return found


async def _may(client: Client) -> dict[str, bool]:
    every = [Access("create", group, resource) for group, resource in _INSTALLED]
    return {str(one): await client.may(one) for one in every}


def _systems(spaces: Known[tuple[Object, ...]], home: str) -> Known[Mapping[str, bool]]:
    """Namespaces of the platform, and ours where it is there already."""
    if isinstance(spaces, Unasked):
        return spaces
    return {
        one.meta.name: one.labels.get(SYSTEM) == "true"
        for one in spaces
        if one.meta.name not in EXEMPT
        and (one.meta.name == home or one.meta.name.startswith(PLATFORM))
    }


async def _owner_refs(client: Client) -> Known[Mapping[str, bool | None]]:
    found = await asked(f"list {DEPLOYMENT.resource}", client.list_view(CERT_MANAGER))
    if isinstance(found, Unasked):
        return found
    return {one.ref.key: _owns(_arguments(one.body)) for one in found}


def _arguments(body: Mapping[str, Any]) -> list[str]:
    pod = body["spec"]["template"]["spec"]
    containers = pod.get("containers") or ()
    return [str(word) for one in containers for word in (one.get("args") or ())]


def _owns(arguments: Iterable[str]) -> bool | None:
    """Whether Certificates own their Secrets; None where a file may say it."""
    stated = None
    config = False
    for word in arguments:
        flag, _, value = word.partition("=")
        if flag == _OWNER_REF:
            stated = value.lower() in {"", "true", "1", "t"}
        config = config or flag == _CONFIG
    return stated if stated is not None or config else False


async def _names(
    client: Client, served: Mapping[tuple[str, str], Kind], kind: Kind
) -> Known[frozenset[str]]:
    if (kind.api_version, kind.kind) not in served:
        return frozenset()
    found = await asked(f"list {collection_of(kind)}", client.list_metadata(kind))
    return found if isinstance(found, Unasked) else frozenset(one.meta.name for one in found)
