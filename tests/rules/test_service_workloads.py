"""Storage, workloads, routes, identity, updates. Source: contract 7.3 to 7.5, by their ids."""

from typing import Any

import pytest

from roadstead.capabilities.services.snapshot import Previous
from roadstead.cli.service import bundled
from service_changes import MINIMAL, body, container, examples, judged, names, objects, pod

LABELS = {
    "recurring-job-group.longhorn.io/daily-offcluster": "enabled",
    "recurring-job.longhorn.io/source": "enabled",
}
GUARD = "kustomize.toolkit.fluxcd.io/prune"


def test_sd_43_a_replicated_claim_is_guarded_and_backed_up() -> None:
    """Longhorn reads labels of a claim only where it is told to."""
    made = body(examples(), "jellyfin", "PersistentVolumeClaim/jellyfin/jellyfin-config")
    assert LABELS.items() <= made["metadata"]["labels"].items()
    assert "disabled" == made["metadata"]["annotations"][GUARD]
    spec = made["spec"]
    assert (["ReadWriteOnce"], "longhorn") == (spec["accessModes"], spec["storageClassName"])


def test_sd_44_and_45_a_bulk_volume_is_the_seeds() -> None:
    """Bound from both ends, never reclaimed, read-only only where that is said."""
    volume = body(examples(), "jellyfin", "PersistentVolume/jellyfin.media")["spec"]
    wanted: dict[str, Any] = {
        "capacity": {"storage": "24Ti"},
        "accessModes": ["ReadOnlyMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "volumeMode": "Filesystem",
        "mountOptions": ["nfsvers=4.1", "hard", "noatime", "timeo=600", "retrans=2"],
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": "jellyfin",
            "name": "jellyfin-media",
        },
        "nfs": {"server": "${BULK_NFS_SERVER}", "path": "/tank/media", "readOnly": True},
    }
    assert wanted == volume
    claim = body(examples(), "jellyfin", "PersistentVolumeClaim/jellyfin/jellyfin-media")["spec"]
    assert ("", "jellyfin.media") == (claim["storageClassName"], claim["volumeName"])
    mounts = {one["name"]: one for one in container(examples(), "jellyfin")["volumeMounts"]}
    assert True is mounts["media"]["readOnly"]
    text = bundled.tree(examples())
    both = text["qbittorrent/20-storage.yaml"] + text["qbittorrent/30-workload.yaml"]
    assert b"ReadWriteMany" in both
    assert b"readOnly:" not in both


def test_sd_46_and_48_mounts_are_where_they_are_put() -> None:
    """`/data/<name>` unless something else is written; two subtrees are two mounts."""
    entries = [
        {"name": name, "size": "1Ti", "class": "bulk", "export": "/tank", "subPath": name}
        for name in ("movies", "tv")
    ]
    mounts = container(judged({"minimal": {**MINIMAL, "storage": entries}}), "minimal")
    assert [
        {"name": "movies", "mountPath": "/data/movies", "subPath": "movies"},
        {"name": "tv", "mountPath": "/data/tv", "subPath": "tv"},
    ] == mounts["volumeMounts"]


def test_sd_49_a_group_for_files_is_passed_on() -> None:
    """The check warns; nothing is left out."""
    context = pod(examples(), "jellyfin")["spec"]["securityContext"]
    assert 1000 == context["fsGroup"]


def test_sd_51_and_52_a_volume_decides_how_pods_are_replaced() -> None:
    """One at a time where it can follow only then; a set claims for each of its pods."""
    spec = body(examples(), "jellyfin", "Deployment/jellyfin/jellyfin")["spec"]
    assert {"type": "Recreate"} == spec["strategy"]
    spec = body(examples(), "wiki", "Deployment/wiki/wiki")["spec"]
    rolling = {"maxSurge": 1, "maxUnavailable": 0}
    assert {"type": "RollingUpdate", "rollingUpdate": rolling} == spec["strategy"]
    result = judged({"gitea": {"workload": "StatefulSet", "replicas": 2}})
    spec = body(result, "gitea", "StatefulSet/gitea/gitea")["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    assert ("data", LABELS) == (claim["metadata"]["name"], claim["metadata"]["labels"])
    retained = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert retained == spec["persistentVolumeClaimRetentionPolicy"]
    assert "gitea-headless" == spec["serviceName"]
    headless = body(result, "gitea", "Service/gitea/gitea-headless")["spec"]
    assert "None" == headless["clusterIP"]
    assert [] == names(result, "gitea", "PersistentVolumeClaim")


def test_sd_53_health_is_asked_by_default() -> None:
    """On the route's port, unless it is switched off."""
    wanted = {"tcpSocket": {"port": 3000}, "periodSeconds": 10, "failureThreshold": 6}
    assert wanted == container(examples(), "wiki")["readinessProbe"]
    off = judged({"wiki": {"probes": {"readiness": False}}})
    assert "readinessProbe" not in container(off, "wiki")


def test_sd_54_a_secret_is_named_never_held() -> None:
    """By its own Secret and key."""
    variables = {one["name"]: one for one in container(examples(), "wiki")["env"]}
    reference = {"secretKeyRef": {"name": "wiki-db", "key": "password"}}
    assert reference == variables["DB_PASS"]["valueFrom"]
    assert sorted(variables) == [one["name"] for one in container(examples(), "wiki")["env"]]


def test_sd_56_configuration_travels_with_the_workload() -> None:
    """And another content replaces the pods."""
    hashes = []
    for content in ("a: 1\n", "a: 2\n"):
        config = [{"path": "/etc/app.yaml", "content": content}]
        result = judged({"minimal": {**MINIMAL, "config": config}})
        release = body(result, "minimal", "HelmRelease/flux-system/minimal")["spec"]
        kinds = [one["kind"] for one in release["values"]["manifests"]]
        assert ["ConfigMap", "Deployment"] == kinds
        mount = {"name": "config-files", "mountPath": "/etc/app.yaml", "subPath": "etc-app.yaml"}
        assert [mount] == container(result, "minimal")["volumeMounts"]
        hashes.append(pod(result, "minimal")["metadata"]["annotations"])
    assert hashes[0] != hashes[1]


def test_sd_57_a_level_of_its_own_is_the_namespaces() -> None:
    """Only what is enforced changes."""
    result = judged({"minimal": {**MINIMAL, "podSecurity": "privileged"}})
    labels = body(result, "minimal", "Namespace/minimal")["metadata"]["labels"]
    level = "pod-security.kubernetes.io"
    assert ("privileged", "restricted") == (labels[f"{level}/enforce"], labels[f"{level}/warn"])


def test_sd_60_and_61_a_route_states_its_defaults() -> None:
    """So that tools without them see no difference; an internal one can be held back."""
    spec = body(examples(), "jellyfin", "HTTPRoute/jellyfin/jellyfin")["spec"]
    parent = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": "shared",
        "namespace": "gateway-system",
    }
    listeners = [{**parent, "sectionName": name} for name in ("https", "https-public")]
    assert listeners == spec["parentRefs"]
    backend = {"group": "", "kind": "Service", "name": "jellyfin", "port": 8096, "weight": 1}
    assert [backend] == spec["rules"][0]["backendRefs"]
    held = judged(settings={"dns": {"publicGuardPrefixes": ["external-dns.kubernetes.io/"]}})
    key = "external-dns.kubernetes.io/controller"
    internal = body(held, "wiki", "HTTPRoute/wiki/wiki")["metadata"]["annotations"]
    public = body(held, "jellyfin", "HTTPRoute/jellyfin/jellyfin")["metadata"]["annotations"]
    assert ("roadstead-internal", False) == (internal[key], key in public)


def test_sd_62_an_application_is_registered() -> None:
    """With its own secret by name, and who may read the token."""
    spec = body(examples(), "wiki", "KeycloakClient/wiki/wiki")["spec"]
    assert "$wiki-oidc:client-secret" == spec["secret"]
    assert ["https://wiki.home.example.net/login/oidc/callback"] == spec["redirectUris"]
    assert "wiki" == spec["protocolMappers"][0]["config"]["included.client.audience"]
    egress = body(examples(), "wiki", "CiliumNetworkPolicy/wiki/wiki-allow-idp-egress")["spec"]
    assert "main" == egress["endpointSelector"]["matchLabels"]["roadstead.dev/component"]
    assert ["ingress"] == egress["egress"][1]["toEntities"]


def test_sd_67_the_proxy_is_started_as_the_contract_says() -> None:
    """In this order, groups sorted, and no secret among it."""
    auth = {"auth": {"groups": ["zeta", "alpha"], "skipPaths": ["^/health$"]}}
    (one,) = body(
        judged({"qbittorrent": auth}),
        "qbittorrent",
        "Deployment/qbittorrent/qbittorrent-auth-8080",
    )["spec"]["template"]["spec"]["containers"]
    issuer = "https://keycloak.home.example.net/realms/home"
    inside = "http://keycloak.keycloak.svc.cluster.local:8080/realms/home"
    assert [
        "--provider=keycloak-oidc",
        "--client-id=qbittorrent",
        f"--oidc-issuer-url={issuer}",
        "--skip-oidc-discovery=true",
        f"--login-url={issuer}/protocol/openid-connect/auth",
        f"--redeem-url={inside}/protocol/openid-connect/token",
        f"--oidc-jwks-url={inside}/protocol/openid-connect/certs",
        "--code-challenge-method=S256",
        "--scope=openid email profile groups",
        "--email-domain=*",
        "--allowed-group=alpha",
        "--allowed-group=zeta",
        "--http-address=0.0.0.0:4180",
        "--reverse-proxy=true",
        "--skip-provider-button=true",
        "--cookie-secure=true",
        "--skip-auth-route=^/health$",
        "--upstream=http://qbittorrent.qbittorrent.svc.cluster.local:8080/",
    ] == one["args"]


@pytest.mark.parametrize(
    ("provider", "kind"),
    [("keycloak-operator", "KeycloakOIDCClient"), ("config-cli", "ConfigMap")],
)
def test_sd_68_a_client_in_the_providers_form(provider: str, kind: str) -> None:
    """Never a realm import, which would be read once."""
    found = objects(judged(settings={"identity": {"provider": provider}}), "wiki")
    assert "wiki" in {one.name for one in found.values() if one.kind.kind == kind}
    assert not {"KeycloakClient", "KeycloakRealmImport"} & {one.kind.kind for one in found.values()}


def test_sd_71_and_73_automation_is_told_what_to_choose() -> None:
    """Scan, range or order, and the mark on the line of the image."""
    repository = body(examples(), "jellyfin", "ImageRepository/flux-system/jellyfin")["spec"]
    assert {"image": "docker.io/jellyfin/jellyfin", "interval": "24h"} == repository
    policy = body(examples(), "jellyfin", "ImagePolicy/flux-system/jellyfin")["spec"]
    assert {"semver": {"range": "~10.10"}} == policy["policy"]
    text = bundled.tree(examples())["jellyfin/30-workload.yaml"].decode()
    line = 'image: docker.io/jellyfin/jellyfin:10.10.7 # {"$imagepolicy": "flux-system:jellyfin"}'
    assert f"              {line}\n" in text
    changed = {
        "source": {"image": "docker.io/a/b:2024"},
        "update": {"order": "numerical", "filter": {"pattern": "^(?P<n>[0-9]+)$", "extract": "$n"}},
    }
    spec = body(judged({"minimal": changed}), "minimal", "ImagePolicy/flux-system/minimal")["spec"]
    assert {"numerical": {"order": "asc"}} == spec["policy"]
    assert {"pattern": "^(?P<n>[0-9]+)$", "extract": "$n"} == spec["filterTags"]


@pytest.mark.parametrize(
    ("tag", "wanted"), [("2.5.308", "^2.5.308"), ("v1.2.3", "^1.2.3")], ids=["plain", "with-v"]
)
def test_sd_72_a_range_follows_from_a_tag(tag: str, wanted: str) -> None:
    """The same major version."""
    result = judged({"minimal": {"source": {"image": f"docker.io/a/b:{tag}"}}})
    spec = body(result, "minimal", "ImagePolicy/flux-system/minimal")["spec"]
    assert wanted == spec["policy"]["semver"]["range"]


@pytest.mark.parametrize(("cadence", "wanted"), [("daily", "24h"), ("90m", "90m")])
def test_sd_74_a_cadence_is_a_duration(cadence: str, wanted: str) -> None:
    """Words are spelled out."""
    result = judged({"minimal": {**MINIMAL, "update": {"cadence": cadence}}})
    spec = body(result, "minimal", "ImageRepository/flux-system/minimal")["spec"]
    assert wanted == spec["interval"]


def test_sd_75_a_pin_stops_automation() -> None:
    """No scan, no mark; a failure is still told of."""
    result = judged({"jellyfin": {"update": {"pin": "10.10.6"}}})
    assert "docker.io/jellyfin/jellyfin:10.10.6" == container(result, "jellyfin")["image"]
    assert b"$imagepolicy" not in bundled.tree(result)["jellyfin/30-workload.yaml"]
    for kind, wanted in (("ImageRepository", []), ("ImagePolicy", []), ("Alert", ["jellyfin"])):
        assert wanted == names(result, "jellyfin", kind)
    digest = f"sha256:{'0' * 64}"
    result = judged({"jellyfin": {"update": {"pin": digest}}})
    assert f"docker.io/jellyfin/jellyfin@{digest}" == container(result, "jellyfin")["image"]


@pytest.mark.parametrize(
    ("image", "authored", "wanted"),
    [
        ("docker.io/jellyfin/jellyfin:10.10.9", "docker.io/jellyfin/jellyfin:10.10.7", "10.10.9"),
        ("docker.io/jellyfin/jellyfin:10.10.9", "docker.io/jellyfin/jellyfin:10.9.1", "10.10.7"),
        ("docker.io/other/jellyfin:10.10.9", "docker.io/jellyfin/jellyfin:10.10.7", "10.10.7"),
        ("what is this", "docker.io/jellyfin/jellyfin:10.10.7", "10.10.7"),
    ],
    ids=["moved", "authored-anew", "another-repository", "no-image"],
)
def test_carry_over_keeps_what_automation_chose(image: str, authored: str, wanted: str) -> None:
    """While the authored image is the same, and in no other case. Source: 3.10."""
    result = judged(previous={"jellyfin": Previous(image=image, authored=authored)})
    assert f"docker.io/jellyfin/jellyfin:{wanted}" == container(result, "jellyfin")["image"]


def test_sd_76_without_rollback_the_workload_stands_alone() -> None:
    """No release, no alert; Flux looks at the Deployment itself."""
    result = judged({"jellyfin": {"update": {"autoRollbackOnFailedHealth": False}}})
    assert [] == names(result, "jellyfin", "HelmRelease") + names(result, "jellyfin", "Alert")
    made = body(result, "jellyfin", "Deployment/jellyfin/jellyfin")
    assert "roadstead" == made["metadata"]["labels"]["app.kubernetes.io/managed-by"]
    tree = bundled.tree(result)
    assert b"$imagepolicy" in tree["jellyfin/30-workload.yaml"]
    assert b"kind: Deployment\n    name: jellyfin" in tree["_flux/jellyfin.yaml"]


def test_sd_78_indicators_are_alerts_and_a_dashboard() -> None:
    """Sorted by their names; a bulk volume is nobody's alert."""
    (group,) = body(examples(), "gitea", "PrometheusRule/gitea/gitea")["spec"]["groups"]
    alerts = [one["alert"] for one in group["rules"]]
    assert ["ServiceSliSlowHttp", "ServiceStorageFull", "ServiceDown"] == alerts
    assert 'persistentvolumeclaim="gitea-data"' in group["rules"][1]["expr"]
    board = body(examples(), "gitea", "ConfigMap/gitea/gitea-dashboard")["data"]["gitea.json"]
    assert '\n "uid": "gitea"\n' in board


def test_sd_80_a_port_nobody_calls_is_scraped_from_the_pod() -> None:
    """No Service; the container declares the port."""
    result = judged({"minimal": {**MINIMAL, "observability": {"port": 9100}}})
    assert [] == names(result, "minimal", "Service") + names(result, "minimal", "ServiceMonitor")
    spec = body(result, "minimal", "PodMonitor/minimal/minimal")["spec"]
    assert "tcp-9100" == spec["podMetricsEndpoints"][0]["port"]
    port = {"name": "tcp-9100", "containerPort": 9100, "protocol": "TCP"}
    assert [port] == container(result, "minimal")["ports"]


def test_sd_81_and_83_volumes_are_backed_up_once() -> None:
    """By the schedule of the platform, at a minute of the service's own."""
    made = body(examples(), "gitea", "Schedule/velero/gitea")["spec"]
    assert "14 3 * * *" == made["schedule"]
    assert (
        "18 3 * * *" == body(examples(), "jellyfin", "Schedule/velero/jellyfin")["spec"]["schedule"]
    )
    moved = judged(settings={"backup": {"mechanism": "velero-data-mover"}})
    template = body(moved, "qbittorrent", "Schedule/velero/qbittorrent")["spec"]["template"]
    assert (True, True) == (template["snapshotVolumes"], template["snapshotMoveData"])
    claim = "PersistentVolumeClaim/qbittorrent/qbittorrent-config"
    assert not LABELS.keys() & body(moved, "qbittorrent", claim)["metadata"]["labels"].keys()
    notes = pod(moved, "qbittorrent")["metadata"]["annotations"]
    assert "tank" == notes["backup.velero.io/backup-volumes-excludes"]


def test_sd_82_what_can_be_had_again_is_not_backed_up() -> None:
    """No schedule, no labels."""
    media = {"name": "media", "size": "1Ti", "class": "bulk", "export": "/tank/media"}
    changed = {"storage": [media], "backup": {"policy": "reacquirable"}}
    result = judged({"minimal": {**MINIMAL, **changed}})
    assert [] == names(result, "minimal", "Schedule")
    (claim,) = names(result, "minimal", "PersistentVolumeClaim")
    labels = body(result, "minimal", f"PersistentVolumeClaim/minimal/{claim}")["metadata"]["labels"]
    assert not LABELS.keys() & labels.keys()


def test_sd_84_a_machine_and_its_disks() -> None:
    """Disks outlive it, and its guest updates itself."""
    found = objects(examples(), "actions-runner")
    for name in ("cache", "root"):
        notes = found[f"DataVolume/actions-runner/actions-runner-{name}"].body["metadata"]
        assert "IfNotPresent" == notes["annotations"]["kustomize.toolkit.fluxcd.io/ssa"]
        assert "disabled" == notes["annotations"][GUARD]
    spec = found["VirtualMachine/actions-runner/actions-runner"].body["spec"]
    assert ({"runStrategy", "template"}, "Always") == (set(spec), spec["runStrategy"])
    machine = spec["template"]["spec"]
    assert "cache" == machine["domain"]["devices"]["disks"][1]["serial"]
    text = machine["volumes"][2]["cloudInitNoCloud"]["userData"]
    assert "OnUnitActiveSec=86400\n" in text
    assert 2048 >= len(text.encode())
    assert not {"HelmRelease", "ImagePolicy"} & {one.kind.kind for one in found.values()}
    importer = "CiliumNetworkPolicy/actions-runner/actions-runner-allow-importer-egress"
    assert importer in found
