"""What lineage looks at, in the smallest form: a definition, releases, and objects of a tenant."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.capabilities.lineage import api
from roadstead.kube.refs import HELM_RELEASE, SECRET, SERVICE, Kind

NS = "tenant-demo"
DEPLOYMENT = Kind("Deployment", "apps", "v1", "deployments")
REPLICA_SET = Kind("ReplicaSet", "apps", "v1", "replicasets")
CONFIG = Kind("ConfigMap", "", "v1", "configmaps")

Json = dict[str, Any]
HELM = {api.HELM_NAME: "harbor-demo", api.HELM_NAMESPACE: NS}
"""What Flux stamps on all that the release of Harbor/demo renders."""
IMAGE = "registry.example.org/app:1"


def body(kind: Kind, name: str, **more: Any) -> Json:
    """One object of the tenant. more: its labels, owners, annotations, and what is no metadata."""
    meta: Json = {"name": name}
    if kind.namespaced:
        meta["namespace"] = more.pop("namespace", NS)
    for key in ("labels", "annotations"):
        if key in more:
            meta[key] = dict(more.pop(key))
    if "owners" in more:
        meta["ownerReferences"] = list(more.pop("owners"))
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **more}


def owner(kind: Kind, name: str, uid: str = "", version: str = "") -> Json:
    """A reference. uid: stated; else it is looked up where the object is made."""
    return {
        "apiVersion": f"{kind.group}/{version}" if version else kind.api_version,
        "kind": kind.kind,
        "name": name,
        "uid": uid or f"uid:{kind.kind}/{name}",
    }


def triple(kind: str = "Harbor", name: str = "demo", group: str = api.APPLICATION_GROUP) -> Json:
    """The three labels of an application."""
    return dict(zip(api.TRIPLE, (group, kind, name), strict=True))


def given(verdict: str, kind: str = "Harbor", name: str = "demo") -> Json:
    """The five labels of an object of an application."""
    return {**triple(kind, name), api.TENANT_RESOURCE: verdict, api.MANAGED_BY: "true"}


def definition(
    kind: str = "Harbor", prefix: str = "harbor-", name: str = "", **blocks: Any
) -> Json:
    """An ApplicationDefinition; blocks: `secrets`, `services`, `ingresses`."""
    spec = {"application": {"kind": kind}, "release": {"prefix": prefix}, **blocks}
    return body(api.DEFINITION, name or kind.lower(), spec=spec)


def release(
    name: str = "harbor-demo", labels: Mapping[str, str] | None = None, **more: Any
) -> Json:
    """A HelmRelease; by default the one of Harbor/demo."""
    spec = {"interval": "5m", "chartRef": {"kind": "OCIRepository", "name": "chart"}}
    stated = triple() if labels is None else labels
    return body(HELM_RELEASE, name, labels=stated, spec=spec, **more)


def secret(name: str = "s", **more: Any) -> Json:
    """A Secret of the application, by its Helm label, unless other labels are given."""
    return body(SECRET, name, **{"labels": HELM, "type": "Opaque", **more})


def data(**values: bytes | str) -> Json:
    """Values of a Secret, packed; `_` in a key stands for a dot."""
    raw = {
        k.replace("_", "."): v if isinstance(v, bytes) else v.encode() for k, v in values.items()
    }
    return {key: b64encode(value).decode() for key, value in raw.items()}


def service(name: str = "s", **more: Any) -> Json:
    """A Service of the application."""
    spec = {"ports": [{"port": 80}], "selector": {"app": "x"}}
    return body(SERVICE, name, **{"labels": HELM, "spec": spec, **more})


def ingress(name: str = "s", **more: Any) -> Json:
    """An Ingress of the application."""
    spec = {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    return body(api.INGRESS, name, **{"labels": HELM, "spec": spec, **more})


def claim(name: str = "s", **more: Any) -> Json:
    """A PersistentVolumeClaim of the application."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return body(api.CLAIM, name, **{"labels": HELM, "spec": spec, **more})


def monitor(name: str = "s", **more: Any) -> Json:
    """A WorkloadMonitor of the application."""
    return body(api.MONITOR, name, **{"labels": HELM, "spec": {}, **more})


def pod(name: str = "p", spec: Mapping[str, Any] | None = None, **more: Any) -> Json:
    """A Pod of the application, by its Helm label, unless other labels are given."""
    stated = {"containers": [{"name": "c", "image": IMAGE}], **(spec or {})}
    return body(api.POD, name, **{"labels": HELM, "spec": stated, **more})


def replica_set(name: str = "web", **more: Any) -> Json:
    """A ReplicaSet, owned by the Deployment of its name."""
    stated = {"owners": [owner(DEPLOYMENT, name)], "spec": _workload(), **more}
    return body(REPLICA_SET, name, **stated)


def deployment(name: str = "web", **more: Any) -> Json:
    """A Deployment of the application."""
    return body(DEPLOYMENT, name, **{"labels": HELM, "spec": _workload(), **more})


def _workload() -> Json:
    template = {"containers": [{"name": "c", "image": IMAGE}]}
    return {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": template},
    }


def namespace(name: str = NS, **labels: str) -> Json:
    """A namespace; `_` in a label's key stands for what no keyword may hold."""
    found = {"scheduling": api.SCHEDULING, "system": api.SYSTEM}
    stated = {found[key]: value for key, value in labels.items()}
    return {
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": stated}
    }  # fmt: skip


def with_uids(value: Any, uid: Mapping[str, str]) -> Any:
    """A body with each `uid:Kind/name` put in. uid: of the objects that are there."""
    if isinstance(value, dict):
        return {key: with_uids(one, uid) for key, one in value.items()}
    if isinstance(value, list):
        return [with_uids(one, uid) for one in value]
    if isinstance(value, str) and value.startswith("uid:"):
        return uid[value.removeprefix("uid:")]
    return value


def named(one: Mapping[str, Any]) -> str:
    """How `uid:` speaks of an object."""
    return f"{one['kind']}/{one['metadata']['name']}"


def blocks(**lists: Any) -> Iterator[tuple[str, Json]]:
    """The same selectors for every kind that has some."""
    for name in api.BLOCKS.values():
        yield name, dict(lists)
