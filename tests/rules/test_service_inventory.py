"""What the five examples are rendered to, by count and by name. Source: contract, section 8.

An accepted golden cannot lose an object unnoticed.
"""

import pytest

from roadstead.cli.service import bundled
from roadstead.cli.service.rendering import tree_of
from roadstead.kube.documents import parse
from service_catalogs import EXAMPLES
from service_changes import examples

CNP = "CiliumNetworkPolicy"
COMMON = ("allow-dns",)
OF_IMAGES = ("ImagePolicy/flux-system", "ImageRepository/flux-system", "Alert/flux-system")


def inventory(name: str, *, policies: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """Every object of a service's folder, as paths."""
    found = [f"Namespace/{name}", f"NetworkPolicy/{name}/default-deny", *others]
    found += [f"{CNP}/{name}/{one}" for one in (*COMMON, *policies)]
    return sorted([*found, f"ConfigMap/{name}/{name}-dashboard", f"PrometheusRule/{name}/{name}"])


def released(name: str) -> tuple[str, ...]:
    """What every container with automation and rollback has."""
    return (
        f"HelmRelease/flux-system/{name}",
        f"Service/{name}/{name}",
        f"HTTPRoute/{name}/{name}",
        *(f"{one}/{name}" for one in OF_IMAGES),
    )


INVENTORY = {
    "jellyfin": inventory(
        "jellyfin",
        policies=(
            "allow-monitoring-scrape",
            "jellyfin-allow-gateway-ingress",
            "jellyfin-allow-internet-egress",
        ),
        others=(
            *released("jellyfin"),
            "PersistentVolume/jellyfin.media",
            "PersistentVolumeClaim/jellyfin/jellyfin-config",
            "PersistentVolumeClaim/jellyfin/jellyfin-media",
            "ServiceMonitor/jellyfin/jellyfin",
            "Schedule/velero/jellyfin",
        ),
    ),
    "qbittorrent": inventory(
        "qbittorrent",
        policies=(
            "qbittorrent-allow-auth-egress",
            "qbittorrent-allow-auth-ingress",
            "qbittorrent-allow-gateway-ingress",
            "qbittorrent-allow-idp-egress",
            "qbittorrent-allow-vpn-egress",
        ),
        others=(
            *released("qbittorrent"),
            "CiliumEgressGatewayPolicy/qbittorrent-vpn",
            "PersistentVolume/qbittorrent.tank",
            "PersistentVolumeClaim/qbittorrent/qbittorrent-config",
            "PersistentVolumeClaim/qbittorrent/qbittorrent-tank",
            "KeycloakClient/qbittorrent/qbittorrent",
            "Deployment/qbittorrent/qbittorrent-auth-8080",
            "Service/qbittorrent/qbittorrent-auth-8080",
            "Schedule/velero/qbittorrent",
        ),
    ),
    "gitea": inventory(
        "gitea",
        policies=(
            "allow-monitoring-scrape",
            "gitea-allow-flux-system-ingress",
            "gitea-allow-from-actions-runner-3000-tcp",
            "gitea-allow-from-wiki-3000-tcp",
            "gitea-allow-gateway-ingress",
            "gitea-allow-internet-egress",
        ),
        others=(
            *released("gitea"),
            "PersistentVolumeClaim/gitea/gitea-data",
            "ServiceMonitor/gitea/gitea",
            "Schedule/velero/gitea",
        ),
    ),
    "wiki": inventory(
        "wiki",
        policies=(
            "wiki-allow-gateway-ingress",
            "wiki-allow-gitea-3000-tcp-egress",
            "wiki-allow-idp-egress",
            "wiki-allow-internet-egress",
            "wiki-allow-postgres-main-5432-tcp-egress",
        ),
        others=(*released("wiki"), "KeycloakClient/wiki/wiki"),
    ),
    "actions-runner": inventory(
        "actions-runner",
        policies=(
            "actions-runner-allow-gitea-3000-tcp-egress",
            "actions-runner-allow-importer-egress",
            "actions-runner-allow-internet-egress",
            "allow-monitoring-scrape",
        ),
        others=(
            "DataVolume/actions-runner/actions-runner-cache",
            "DataVolume/actions-runner/actions-runner-root",
            "VirtualMachine/actions-runner/actions-runner",
            "Service/actions-runner/actions-runner",
            "ServiceMonitor/actions-runner/actions-runner",
            "Schedule/velero/actions-runner",
        ),
    ),
}
COUNTS = {"jellyfin": 19, "qbittorrent": 24, "gitea": 20, "wiki": 17, "actions-runner": 15}
WAVES = {"jellyfin": 0, "qbittorrent": 0, "gitea": 0, "wiki": 1, "actions-runner": 1}


@pytest.mark.parametrize("name", INVENTORY)
def test_an_example_holds_what_the_contract_lists(name: str) -> None:
    """By name, by count, and in the files as a reader finds them."""
    folder = examples().outputs[name].folder
    assert INVENTORY[name] == sorted(one.path for one in folder)
    assert COUNTS[name] == len(folder)
    files = tree_of(examples(), str, [name])
    documents = [
        document.value
        for path, text in files.items()
        if path.startswith(f"{name}/") and not path.endswith("kustomization.yaml")
        for document in parse(text, path).documents
    ]
    assert COUNTS[name] == len(documents)


@pytest.mark.parametrize("name", COUNTS)
def test_sd_89_waves_follow_the_dependencies(name: str) -> None:
    """Informative; Flux goes by `dependsOn`."""
    result = examples()
    assert result.catalog is not None
    assert WAVES[name] == result.catalog.wave(name)
    packaged = [one for one in result.outputs[name].effective if one.packaged]
    assert (0 if name == "actions-runner" else 1) == len(packaged)


def test_the_bundled_examples_are_the_shipped_ones() -> None:
    """The self-test speaks of what people see."""
    assert (EXAMPLES / "platform.yaml").read_bytes() == bundled.platform()
    shipped = {path.name: path.read_bytes() for path in (EXAMPLES / "services").glob("*.yaml")}
    assert shipped == {one.name: one.data for one in bundled.texts()}
