"""What is rendered of a definition's openings. Source: contract 7.2, by the ids of its rows."""

from typing import Any

import pytest

from roadstead.cli.service import bundled
from service_changes import MINIMAL, body, container, examples, judged, names, objects, policy

MAIN = {"roadstead.dev/component": "main", "roadstead.dev/service": "gitea"}
FLUX = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": "flux-system"}}
PROXY: dict[str, Any] = {
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
EXAMPLES = ("actions-runner", "gitea", "jellyfin", "qbittorrent", "wiki")


def ports(*numbers: int) -> list[dict[str, Any]]:
    """The `toPorts` of TCP ports."""
    return [{"ports": [{"port": str(one), "protocol": "TCP"} for one in numbers]}]


def test_sd_16_a_minimal_definition_is_closed() -> None:
    """Nothing is opened that was not asked for."""
    result = judged({"minimal": MINIMAL})
    found = objects(result, "minimal")
    namespace = found["Namespace/minimal"].body["metadata"]
    assert not {"roadstead.dev/routable", "kustomize.toolkit.fluxcd.io/prune"} & {
        *namespace["labels"],
        *namespace["annotations"],
    }
    assert [
        "Alert/flux-system/minimal",
        "CiliumNetworkPolicy/minimal/allow-dns",
        "CiliumNetworkPolicy/minimal/minimal-allow-internet-egress",
        "Deployment/minimal/minimal",
        "HelmRelease/flux-system/minimal",
        "ImagePolicy/flux-system/minimal",
        "ImageRepository/flux-system/minimal",
        "Namespace/minimal",
        "NetworkPolicy/minimal/default-deny",
    ] == sorted(found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_sd_17_the_baseline_is_written_out(name: str) -> None:
    """An empty list that is left out would mean something else."""
    text = bundled.tree(examples())[f"{name}/10-policy.yaml"].decode()
    assert "  policyTypes:\n  - Ingress\n  - Egress\n  ingress: []\n  egress: []\n" in text


@pytest.mark.parametrize("name", EXAMPLES)
def test_sd_18_names_are_asked_of_the_resolver_alone(name: str) -> None:
    """Both protocols, ports as strings, keys with their source."""
    spec = policy(examples(), name, "allow-dns")
    labels = {"k8s:io.kubernetes.pod.namespace": "kube-system", "k8s:k8s-app": "kube-dns"}
    both = [{"port": "53", "protocol": "UDP"}, {"port": "53", "protocol": "TCP"}]
    rule = {"toEndpoints": [{"matchLabels": labels}], "toPorts": [{"ports": both}]}
    assert {"endpointSelector": {}, "egress": [rule]} == spec


def test_sd_19_and_20_scraping_is_opened_on_the_metrics_port() -> None:
    """And closed with the metrics; the monitor goes with it."""
    spec = policy(examples(), "gitea", "allow-monitoring-scrape")
    peer = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": "monitoring"}}
    assert [{"fromEndpoints": [peer], "toPorts": ports(3000)}] == spec["ingress"]
    silent = objects(judged({"gitea": {"observability": {"metrics": False}}}), "gitea")
    assert not {
        "CiliumNetworkPolicy/gitea/allow-monitoring-scrape",
        "ServiceMonitor/gitea/gitea",
        "PodMonitor/gitea/gitea",
    } & set(silent)


def test_sd_21_and_22_the_gateway_reaches_the_routes_port() -> None:
    """By its identity, or by its pods where the data plane is made of them."""
    spec = policy(examples(), "jellyfin", "jellyfin-allow-gateway-ingress")
    assert [{"fromEntities": ["ingress"], "toPorts": ports(8096)}] == spec["ingress"]
    settings = {"gateway": {"dataplane": "pods", "podLabels": {"app": "envoy"}}}
    spec = policy(judged(settings=settings), "jellyfin", "jellyfin-allow-gateway-ingress")
    labels = {"k8s:app": "envoy", "k8s:io.kubernetes.pod.namespace": "gateway-system"}
    rule = {"fromEndpoints": [{"matchLabels": labels}], "toPorts": ports(8096)}
    assert [rule] == spec["ingress"]


def test_sd_23_two_routes_are_one_allowance() -> None:
    """Ports ascending, each once."""
    routes = [
        {"host": f"{name}.home.example.net", "port": port}
        for name, port in (("gitea", 3000), ("ssh", 2222), ("again", 3000))
    ]
    spec = policy(
        judged({"gitea": {"ingressRoutes": routes}}), "gitea", "gitea-allow-gateway-ingress"
    )
    assert ports(2222, 3000) == spec["ingress"][0]["toPorts"]


def test_sd_24_an_edge_has_two_halves() -> None:
    """The callee's own baseline would drop the call otherwise."""
    caller = policy(examples(), "wiki", "wiki-allow-gitea-3000-tcp-egress")
    callee = policy(examples(), "gitea", "gitea-allow-from-wiki-3000-tcp")
    peers = [
        {
            "matchLabels": {
                "k8s:io.kubernetes.pod.namespace": name,
                "k8s:roadstead.dev/component": "main",
                "k8s:roadstead.dev/service": name,
            }
        }
        for name in ("gitea", "wiki")
    ]
    assert [{"toEndpoints": peers[:1], "toPorts": ports(3000)}] == caller["egress"]
    assert [{"fromEndpoints": peers[1:], "toPorts": ports(3000)}] == callee["ingress"]
    service = body(examples(), "gitea", "Service/gitea/gitea")["spec"]
    entry = {"name": "tcp-3000", "port": 3000, "protocol": "TCP", "targetPort": 3000}
    assert [entry] == service["ports"]


def test_sd_25_a_platform_service_gets_the_callers_half() -> None:
    """Its own policies are the platform's."""
    spec = policy(examples(), "wiki", "wiki-allow-postgres-main-5432-tcp-egress")
    labels = {"k8s:cnpg.io/cluster": "main", "k8s:io.kubernetes.pod.namespace": "databases"}
    rule = {"toEndpoints": [{"matchLabels": labels}], "toPorts": ports(5432)}
    assert [rule] == spec["egress"]


def test_sd_29_a_direct_client_is_the_object_of_the_contract() -> None:
    """The example at the top of the contract, and labels and annotations beside it."""
    made = body(examples(), "gitea", "CiliumNetworkPolicy/gitea/gitea-allow-flux-system-ingress")
    meta = made["metadata"]
    assert ("cilium.io/v2", "gitea") == (made["apiVersion"], meta["namespace"])
    assert {
        "endpointSelector": {"matchLabels": MAIN},
        "ingress": [{"fromEndpoints": [FLUX], "toPorts": ports(3000)}],
    } == made["spec"]
    assert "inClusterClients[flux-system]" == meta["annotations"]["roadstead.dev/field"]


def test_sd_30_and_31_a_name_names_and_a_protocol_is_kept() -> None:
    """The name changes nothing else; the Service serves what was admitted."""
    named = [{"namespace": "flux-system", "port": 3000, "name": "source-controller"}]
    result = judged({"gitea": {"inClusterClients": named}})
    spec = policy(result, "gitea", "gitea-allow-source-controller-ingress")
    assert policy(examples(), "gitea", "gitea-allow-flux-system-ingress") == spec
    udp = [{"namespace": "flux-system", "port": 3000, "protocol": "UDP"}]
    result = judged({"gitea": {"inClusterClients": udp}})
    spec = policy(result, "gitea", "gitea-allow-flux-system-ingress")
    assert "UDP" == spec["ingress"][0]["toPorts"][0]["ports"][0]["protocol"]
    served = body(result, "gitea", "Service/gitea/gitea")["spec"]["ports"]
    assert ["tcp-3000", "udp-3000"] == [one["name"] for one in served]


def test_sd_32_and_33_clients_add_and_change_nothing_else() -> None:
    """Two are two; none is none however it is written."""
    both = [{"namespace": name, "port": 3000} for name in ("flux-system", "monitoring")]
    two, none, empty = (
        judged({"gitea": {"inClusterClients": clients}}) for clients in (both, None, [])
    )
    added = set(objects(two, "gitea")) - set(objects(none, "gitea"))
    assert 2 == len(added)
    for path in ("NetworkPolicy/gitea/default-deny", _GATEWAY):
        assert body(two, "gitea", path) == body(none, "gitea", path)
    texts = [bundled.tree(one)["gitea/10-policy.yaml"] for one in (none, empty)]
    assert texts[0] == texts[1]


_GATEWAY = "CiliumNetworkPolicy/gitea/gitea-allow-gateway-ingress"


def test_sd_34_a_client_orders_nothing() -> None:
    """It is a platform controller, no catalog service."""
    text = bundled.tree(examples())["_flux/gitea.yaml"].decode()
    assert "  dependsOn:\n  - name: infrastructure\n  decryption:" in text


def test_sd_36_and_38_the_vpn_class_is_enforced_outside_the_workload() -> None:
    """No internet policy, no sidecar, and a pool that has no way back."""
    made = body(examples(), "qbittorrent", "CiliumEgressGatewayPolicy/qbittorrent-vpn")
    gateway = made["spec"]["egressGateway"]
    assert "namespace" not in made["metadata"]
    assert ("tun0", False) == (gateway["interface"], "egressIP" in gateway)
    assert "qbittorrent-allow-internet-egress" not in names(
        examples(), "qbittorrent", "CiliumNetworkPolicy"
    )
    pod = body(examples(), "qbittorrent", "Deployment/qbittorrent/qbittorrent")["spec"]["template"]
    assert {"ipam.cilium.io/ip-pool": "vpn"} == pod["metadata"]["annotations"]
    assert 1 == len(pod["spec"]["containers"])
    bare = judged(settings={"egress": {"vpn": {"ipPool": None}}})
    pod = body(bare, "qbittorrent", "Deployment/qbittorrent/qbittorrent")["spec"]["template"]
    assert "annotations" not in pod["metadata"]


def test_sd_39_a_vpn_behind_a_proxy_has_no_other_way() -> None:
    """Its pods on its port, and six variables that lead there."""
    result = judged(settings={"egress": {"vpn": PROXY}})
    spec = policy(result, "qbittorrent", "qbittorrent-allow-vpn-egress")
    labels = {"k8s:app": "gluetun", "k8s:io.kubernetes.pod.namespace": "vpn"}
    rule = {"toEndpoints": [{"matchLabels": labels}], "toPorts": ports(8888)}
    assert [rule] == spec["egress"]
    assert [] == names(result, "qbittorrent", "CiliumEgressGatewayPolicy")
    variables = {one["name"] for one in container(result, "qbittorrent")["env"]}
    wanted = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
    assert wanted <= variables


def test_a_vpn_service_logs_in_without_a_way_around_the_tunnel() -> None:
    """The Gateway would be a peer entity, which I-4 refuses; Keycloak's own pods are none."""
    auth = {"mode": "oidc", "redirectPaths": ["/callback"]}
    spec = policy(
        judged({"qbittorrent": {"auth": auth}}), "qbittorrent", "qbittorrent-allow-idp-egress"
    )
    assert ["toEndpoints"] == [key for rule in spec["egress"] for key in rule if key != "toPorts"]


def test_sd_41_a_direct_port_is_published_and_reported() -> None:
    """A balancer of its own, the world on that port alone, a line for the edge router."""
    result = judged({"plex": {**MINIMAL, "directPorts": [{"port": 32400}]}})
    service = body(result, "plex", "Service/plex/plex-direct")["spec"]
    assert ("LoadBalancer", "Local", False) == (
        service["type"],
        service["externalTrafficPolicy"],
        service["allocateLoadBalancerNodePorts"],
    )
    spec = policy(result, "plex", "plex-allow-direct-ingress")
    assert [{"fromEntities": ["world"], "toPorts": ports(32400)}] == spec["ingress"]
    assert "plex 32400/TCP " in bundled.tree(result)["_platform/edge.txt"].decode()


def test_sd_42_the_api_server_is_reached_by_who_asks_for_it() -> None:
    """With an account of its own; nobody else holds a token."""
    result = judged({"minimal": {**MINIMAL, "clusterApi": True}})
    spec = policy(result, "minimal", "minimal-allow-apiserver-egress")
    assert [{"toEntities": ["kube-apiserver"]}] == spec["egress"]
    pod = body(result, "minimal", "Deployment/minimal/minimal")["spec"]["template"]["spec"]
    assert ("minimal", True) == (pod["serviceAccountName"], pod["automountServiceAccountToken"])
    assert ["minimal"] == names(result, "minimal", "ServiceAccount")
    other = body(result, "gitea", "Deployment/gitea/gitea")["spec"]["template"]["spec"]
    assert (False, False) == (other["automountServiceAccountToken"], "serviceAccountName" in other)
