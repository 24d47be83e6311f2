"""What the self-test asserts, one function a line. Source: contract 5.6.

Each gives its faults, empty when it holds; the bundled examples are all it looks at.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from roadstead.capabilities.services.api import kinds
from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.previous import previous
from roadstead.capabilities.services.reading.texts import Text
from roadstead.capabilities.services.render.part import STORAGE_FILE, WORKLOAD_FILE, Rendered
from roadstead.capabilities.services.render.roles import REQUIREMENTS
from roadstead.cli.service import bundled
from roadstead.cli.service.check_cases import base_of, cases, found
from roadstead.cli.service.judged import Judged
from roadstead.cli.service.shapes import violation
from roadstead.kube.documents import dump, parse

Fault = Iterator[str]

_SETS = (
    ("dependencies",),
    ("inClusterClients",),
    ("storage",),
    ("ingressRoutes",),
    ("ports",),
    ("directPorts",),
    ("lanEgress",),
    ("secrets",),
    ("auth", "groups"),
    ("observability", "slis"),
)
"""Lists whose order must never show. Source: contract 5.1, rule 2."""
_PROXY = {
    "mode": "proxy",
    "nodeSelector": None,
    "interface": None,
    "ipPool": None,
    "proxy": {
        "namespace": "vpn",
        "podLabels": {"app": "gluetun"},
        "port": 8888,
        "url": "http://gluetun.vpn.svc.cluster.local:8888",
    },
}
_BOTH_FAMILIES = {"cluster": {"ipFamilies": ["IPv4", "IPv6"]}}


def plain() -> Judged:
    """The examples as they are."""
    return bundled.judged(bundled.texts(), bundled.platform())


def st_1(result: Judged) -> Fault:
    """The examples validate, render, and match the bundled digests."""
    source = files("roadstead").joinpath("selftest", "digests.json")
    wanted: dict[str, str] = json.loads(source.read_text("utf-8"))
    came = bundled.digests(bundled.tree(result))
    for path in sorted({*wanted, *came}):
        if wanted.get(path) != came.get(path):
            yield f"{path} is not as bundled"


def st_2(result: Judged) -> Fault:
    """Rendered twice, and with every set turned around, the bytes are the same."""
    first = bundled.tree(result)
    if first != bundled.tree(plain()):
        yield "a second render gives other bytes"
    turned = tuple(
        Text(one.name, dump([_turned(parse(one.data, "", decimal=True))]).encode())
        for one in reversed(bundled.texts())
    )
    other = bundled.tree(bundled.judged(turned, bundled.platform()))
    for path, data in first.items():
        # The trace tells lines, and those of the turned files are others.
        if not path.startswith("_trace/") and other.get(path) != data:
            yield f"{path} depends on the order of a set"


def _turned(parsed: Any) -> Any:
    value = parsed.documents[0].value
    for *around, last in _SETS:
        inner = value
        for step in around:
            inner = inner.get(step) or {}
        if isinstance(inner.get(last), list):
            inner[last].reverse()
    return value


def st_3(result: Judged) -> Fault:
    """Every rendered object passes the bundled schema of its kind."""
    for one in bundled.objects(result):
        place = violation(one.kind, one.body)
        if place is not None:
            yield f"{one.path} does not fit at `{place}`"


def st_4a(result: Judged) -> Fault:
    """Every namespace has the baseline, both lists written out, both policy types."""
    made = bundled.tree(result)
    for name in result.outputs:
        found = [
            one.body["spec"]
            for one in result.outputs[name].effective
            if one.kind == kinds.NETWORK_POLICY and one.name == "default-deny"
        ]
        wanted = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
        if found != [{**wanted, "ingress": [], "egress": []}]:
            yield f"the baseline of {name} is missing or changed"
        text = made[f"{name}/10-policy.yaml"].decode()
        if "\n  ingress: []\n" not in text or "\n  egress: []\n" not in text:
            yield f"the empty lists of {name}'s baseline are not written out"


def st_4b(result: Judged) -> Fault:
    """No policy names everything, holds an empty rule, or a rule without a peer."""
    for one in bundled.objects(result):
        if one.kind != kinds.CILIUM_POLICY:
            continue
        spec = one.body["spec"]
        for direction in ("ingress", "egress"):
            if direction in spec and not spec[direction]:
                yield f"{one.path} has an empty list"
            for rule in spec.get(direction, ()):
                yield from _rule_faults(one, rule)


def _rule_faults(one: Rendered, rule: Mapping[str, Any]) -> Fault:
    peers = [value for key, value in rule.items() if key != "toPorts"]
    if not peers or not all(peers):
        yield f"{one.path} has a rule without a peer"
    entities = {*rule.get("fromEntities", ()), *rule.get("toEntities", ())}
    if entities & {"all", "cluster"}:
        yield f"{one.path} names every endpoint"


def st_4c(result: Judged) -> Fault:
    """A direct client opens one port to one namespace, and nothing else changes."""
    before = _by_path(result)
    name = "CiliumNetworkPolicy/gitea/gitea-allow-flux-system-ingress"
    peer = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": "flux-system"}}
    port = {"port": "3000", "protocol": "TCP"}
    wanted = {
        "endpointSelector": {
            "matchLabels": {
                "roadstead.dev/component": "main",
                "roadstead.dev/service": "gitea",
            }
        },
        "ingress": [{"fromEndpoints": [peer], "toPorts": [{"ports": [port]}]}],
    }
    if name not in before or before[name].body["spec"] != wanted:
        yield "the policy of a direct client has another shape"
        return
    named = _with_clients([{"namespace": "flux-system", "port": 3000, "name": "source"}])
    moved = named.get("CiliumNetworkPolicy/gitea/gitea-allow-source-ingress")
    if moved is None or moved.body["spec"] != wanted:
        yield "a given name changes more than the name"
    none = _with_clients([])
    for path in ("NetworkPolicy/gitea/default-deny", _GATEWAY):
        if none[path].body != before[path].body:
            yield f"{path} depends on a direct client"
    absent = _with_clients(None)
    if {path: one.body for path, one in none.items()} != {
        path: one.body for path, one in absent.items()
    }:
        yield "an empty list of clients is not the same as none"
    if name in none:
        yield "no client, and yet a policy"


_GATEWAY = "CiliumNetworkPolicy/gitea/gitea-allow-gateway-ingress"


def _with_clients(clients: list[Any] | None) -> dict[str, Rendered]:
    made = bundled.changed({"gitea": {"inClusterClients": clients}})
    return _by_path(bundled.judged(*made))


def _by_path(result: Judged) -> dict[str, Rendered]:
    return {one.path: one for one in bundled.objects(result)}


def st_5(result: Judged) -> Fault:
    """The VPN class holds in both modes and both IP families: I-4 says nothing of it."""
    modes: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({}, {}),
        (_BOTH_FAMILIES, {}),
        (_BOTH_FAMILIES, {"ipv6": True}),
        ({}, _PROXY),
        (_BOTH_FAMILIES, _PROXY),
    )
    for families, vpn in modes:
        settings = {**families, "egress": {"vpn": vpn}}
        found = _by_path(bundled.judged(*bundled.changed(settings=settings)))
        policy = found["CiliumNetworkPolicy/qbittorrent/qbittorrent-allow-vpn-egress"]
        text = json.dumps(policy.body["spec"])
        if ("::/0" in text) != bool(vpn.get("ipv6")):
            yield f"IPv6 goes {'around' if '::/0' in text else 'not through'} the tunnel"
        steered = "CiliumEgressGatewayPolicy/qbittorrent-vpn" in found
        proxied = vpn is _PROXY
        if proxied in {steered, "toCIDRSet" in text}:
            yield "the tunnel's mode is not what the platform states"
    pods = _by_path(result)["Deployment/qbittorrent/qbittorrent"].body["spec"]["template"]["spec"]
    if len(pods["containers"]) != 1 or "initContainers" in pods or pods.get("hostNetwork"):
        yield "a sidecar or the host's network is in the pod"


def st_6(result: Judged) -> Fault:
    """Bulk volumes and their claims name each other, and nothing reclaims them."""
    found = _by_path(result)
    for name, entry in (("jellyfin", "media"), ("qbittorrent", "tank")):
        volume = found[f"PersistentVolume/{name}.{entry}"].body["spec"]
        claim = found[f"PersistentVolumeClaim/{name}/{name}-{entry}"].body["spec"]
        if volume["storageClassName"] != "" or claim["storageClassName"] != "":
            yield f"a class of {name}.{entry} is not written out empty"
        reference = volume["claimRef"]
        if (reference["namespace"], reference["name"]) != (name, f"{name}-{entry}"):
            yield f"{name}.{entry} is bound to another claim"
        if claim["volumeName"] != f"{name}.{entry}" or "uid" in reference:
            yield f"the claim {name}-{entry} is bound to another volume"
        if volume["persistentVolumeReclaimPolicy"] != "Retain":
            yield f"{name}.{entry} can be reclaimed"
        modes = {*volume["accessModes"], *claim["accessModes"]}
        if len(modes) != 1 or not modes <= {"ReadOnlyMany", "ReadWriteMany"}:
            yield f"{name}.{entry} has another access mode"
        if volume["nfs"]["server"] != "${BULK_NFS_SERVER}":
            yield f"the server of {name}.{entry} is not the variable"


def st_7(result: Judged) -> Fault:
    """With forward-auth the Gateway reaches the proxy and never the service."""
    main = {"roadstead.dev/component": "main", "roadstead.dev/service": "qbittorrent"}
    for one in result.outputs["qbittorrent"].effective:
        if one.kind != kinds.CILIUM_POLICY:
            continue
        selects = one.body["spec"]["endpointSelector"].get("matchLabels", {})
        reaches_main = all(main.get(key) == value for key, value in selects.items())
        for rule in one.body["spec"].get("ingress", ()):
            if reaches_main and "fromEntities" in rule:
                yield f"{one.path} lets the Gateway reach the service"


def st_8(result: Judged) -> Fault:
    """No Secret is composed."""
    yield from (
        f"{one.path} is one" for one in bundled.objects(result) if one.kind.kind == "Secret"
    )


def st_9(result: Judged) -> Fault:
    """Automation's mark survives writing and reading, and what it wrote is carried over."""
    mark = ' # {"$imagepolicy": "flux-system:jellyfin"}\n'
    made = bundled.tree(result)[f"jellyfin/{WORKLOAD_FILE}"].decode()
    if f"jellyfin:10.10.7{mark}" not in made:
        yield "the mark does not stand behind the image"
        return
    moved = made.replace(f":10.10.7{mark}", f":10.10.9{mark}").encode()
    storage = bundled.tree(result)[f"jellyfin/{STORAGE_FILE}"]
    settings = result.snapshots["jellyfin"].platform
    before = previous(settings, "jellyfin", moved, storage)
    again = bundled.judged(
        bundled.texts(),
        bundled.platform(),
        lambda name: before if name == "jellyfin" else None,
    )
    if bundled.tree(again)[f"jellyfin/{WORKLOAD_FILE}"] != moved:
        yield "the image that automation chose is put back"


def st_10(_: Judged) -> Fault:
    """Every check of rules and of output has a case that shows it and one that does not."""
    base = base_of([one.data for one in bundled.texts()], bundled.platform())
    untouched = found(base, ())
    shown: set[str] = set()
    silent: set[str] = set()
    for one in cases():
        if one.check not in shown and one.shown_by(one.positive(base)):
            shown.add(one.check)
        if one.check not in silent:
            put_right = untouched if one.without is None else one.negative(base)
            silent |= set() if one.shown_by(put_right) else {one.check}
    for name in CHECKS:
        if name.startswith("S-"):
            continue  # of the schema: the reader's own tests have them
        if name not in shown:
            yield f"{name} is never found"
        elif name not in silent:
            yield f"{name} is always found"


def st_11(result: Judged) -> Fault:
    """Every requirement is carried by an object of the examples."""
    carried = {name for one in bundled.objects(result) for name in one.role.requirements}
    yield from (f"{name} is carried by none" for name in sorted(set(REQUIREMENTS) - carried))


TESTS: Mapping[str, Callable[[Judged], Fault]] = {
    "ST-1": st_1,
    "ST-2": st_2,
    "ST-3": st_3,
    "ST-4a": st_4a,
    "ST-4b": st_4b,
    "ST-4c": st_4c,
    "ST-5": st_5,
    "ST-6": st_6,
    "ST-7": st_7,
    "ST-8": st_8,
    "ST-9": st_9,
    "ST-10": st_10,
    "ST-11": st_11,
}
"""Every line of the self-test, in its order."""
