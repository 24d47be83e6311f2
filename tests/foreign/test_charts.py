"""The charts and the kustomize folders, as Helm and Kustomize themselves read them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from roadstead.cli.inputs import given
from roadstead.deploy.bundle import parts
from roadstead.deploy.chart import CRDS, KEEP, MAIN
from roadstead.deploy.holes import filled
from roadstead.deploy.kustomize import CHOSEN
from roadstead.deploy.rbac import HOME
from roadstead.deploy.shipped import files_of
from roadstead.deploy.values import VALUES, Value
from roadstead.testbed.foreign import ask

pytestmark = pytest.mark.foreign

Json = dict[str, Any]
ROOT = Path(__file__).parent.parent.parent
CHARTS = ROOT / "deploy/chart"
FOLDERS = ROOT / "deploy/kustomize"
DIGEST = f"sha256:{'0' * 64}"
ALL_ON: Json = {
    "tenantTiers": True,
    "webhook": {"register": True},
    "monitoring": {"serviceMonitor": True, "rules": True, "dashboard": True},
}
OTHERS: dict[str, Any] = {
    "image.repository": "registry.example.net/ours",
    "image.digest": DIGEST,
    "image.pullPolicy": "Always",
    "settings": {"logLevel": "debug"},
    "caSources": {"engines": []},
    "webhook.issue": {"webhook.issue": False, "webhook.caBundle": "QUJD"},
    "webhook.caBundle": {"webhook.issue": False, "webhook.caBundle": "REVG"},
    "webhook.trafficDistribution": "PreferClose",
    "monitoring.interval": "15s",
}
"""Another value than the default, where the type alone does not give one."""


def rendered(
    *values: Mapping[str, Any], chart: str = MAIN, namespace: str = HOME
) -> list[list[Json]]:
    """What Helm makes of a chart with each of some values."""
    asked = [
        {
            "chart": str(CHARTS / chart),
            "release": "roadstead",
            "namespace": namespace,
            "values": one,
            "kubernetes": "v1.36.3",
        }
        for one in values
    ]
    answers = ask("helm", asked)
    assert [] == [one["error"] for one in answers if one.get("error")]
    return [objects(one["manifests"]) for one in answers]


def refused(values: Mapping[str, Any], **more: Any) -> str:
    """Why Helm makes nothing of the chart with some values."""
    asked = {"chart": str(CHARTS / MAIN), "release": "roadstead", "namespace": HOME}
    (answer,) = ask("helm", [{**asked, "values": values, "kubernetes": "v1.36.3", **more}])
    assert answer.get("error"), values
    return str(answer["error"])


def objects(text: str) -> list[Json]:
    """The objects of a text, in one order."""
    return in_order(one for one in yaml.safe_load_all(text) if one)


def in_order(found: Iterable[Json]) -> list[Json]:
    """Objects by kind and name."""
    return sorted(found, key=lambda one: (one["kind"], one["metadata"]["name"]))


def folder(*names: str) -> list[Json]:
    """What the files of some kustomize folders hold."""
    return in_order(
        one
        for name in names
        for file in sorted((FOLDERS / name).iterdir())
        if file.name != "kustomization.yaml"
        for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    )


def nested(path: str, value: Any) -> Json:
    """A value at its path."""
    for name in reversed(path.split(".")):
        value = {name: value}
    found: Json = value
    return found


def merged(*trees: Mapping[str, Any]) -> Json:
    """Values laid over each other."""
    found: Json = {}
    for tree in trees:
        for name, value in tree.items():
            both = isinstance(value, dict) and isinstance(found.get(name), dict)
            found[name] = merged(found[name], value) if both else value
    return found


def test_the_chart_is_the_plain_manifests() -> None:
    """Whichever way it is installed, the same runs. The Namespace is not a release's own."""
    (made,) = rendered({})

    plain = [one for one in folder("base") if one["kind"] != "Namespace"]
    assert plain == made
    asked = ("rbac", "policies", "workloads", "webhook")
    printed = [
        one for what in asked for one in yaml.safe_load_all("".join(files_of(what).values()))
    ]
    left_out = {"Namespace", "MutatingWebhookConfiguration"}
    assert in_order(one for one in printed if one["kind"] not in left_out) == made


def test_everything_that_can_be_chosen_is_the_plain_manifests_as_well() -> None:
    """The registration, what monitoring reads, and what tenants may do."""
    (made,) = rendered(ALL_ON)

    everything = folder("base", *CHOSEN)
    assert [one for one in everything if one["kind"] != "Namespace"] == made


def test_another_namespace_is_another_namespace_everywhere() -> None:
    """In names of certificates and in subjects, not in metadata alone."""
    (made,) = rendered(ALL_ON, namespace="cozy-system")

    assert in_order(body for part in parts("cozy-system") for body in filled(part.objects)) == made
    assert HOME not in json.dumps(made)


def test_the_definitions_of_the_chart_are_those_that_ship() -> None:
    """But for the annotation by which Helm leaves them when the release goes."""
    kept, given_up, with_platforms = rendered(
        {}, {"keep": False}, {"applicationDefinition": True}, chart=CRDS
    )

    assert folder("crds") == given_up
    assert {"keep"} == {one["metadata"]["annotations"].pop(KEEP) for one in kept}
    assert given_up == kept
    assert "applicationdefinitions.cozystack.io" == with_platforms[0]["metadata"]["name"]
    shipped = [yaml.safe_load(text) for text in files_of("crds").values()]
    for one in with_platforms:
        del one["metadata"]["annotations"][KEEP]
    assert in_order(shipped) == with_platforms


@pytest.mark.parametrize("chart", [MAIN, CRDS])
@pytest.mark.parametrize("values", [{}, ALL_ON], ids=["defaults", "all"])
def test_helm_finds_nothing_to_lint(chart: str, values: Json) -> None:
    """Neither an error nor a warning, and a linter that sees a fault."""
    values = values if chart == MAIN else {}
    asked = {"chart": str(CHARTS / chart), "namespace": HOME, "values": values, "lint": True}
    broken = {**asked, "values": {"nobody": 1}}

    said, faults = ask("helm", [asked, broken])

    assert [] == said.get("lint", [])
    assert any("nobody" in one for one in faults["lint"])


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"anchor": {}}, "anchor"),
        ({"anchors": {"replica": 2}}, "replica"),
        ({"anchors": {"replicas": "2"}}, "replicas"),
        ({"image": {"digest": "sha256:0"}}, "digest"),
        ({"image": {"repository": ""}}, "repository"),
        ({"settings": {"only": ["anchors"]}}, "only"),
        ({"settings": {"logLevel": "loud"}}, "logLevel"),
        ({"caSources": {}}, "engines"),
        ({"caSources": {"engines": [{"kind": "Postgres"}]}}, "sourceSecretName"),
        ({"webhook": {"register": "false"}}, "register"),
        ({"webhook": {"register": True, "issue": False}}, "webhook.caBundle"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_values_that_cannot_be_meant_are_refused(values: Json, word: str) -> None:
    """By the schema, or in words; text is no boolean: a template takes `"false"` for true."""
    assert word in refused(values)


def test_an_older_cluster_is_refused() -> None:
    """As `check` does."""
    assert "kubeVersion" in refused({}, kubernetes="v1.31.9")


def other(value: Value) -> Json:
    """Values in which one is not the default."""
    stated = OTHERS.get(value.path)
    if value.path.startswith("webhook.") and isinstance(stated, dict):
        return merged(*(nested(path, one) for path, one in stated.items()))
    if stated is None:
        kinds = value.schema["type"]
        stated = {
            # What is off by default is on in ALL_ON.
            "boolean": False,
            "string": f"{value.default}-other",
            "integer": 7,
            "array": [{"key": "other"}],
            "object": {"requests": {"cpu": "7"}}
            if value.path.endswith("resources")
            else {"other": "yes"},
        }[kinds]
    return nested(value.path, stated)


def test_no_value_is_without_effect() -> None:
    """Each one changes what is rendered: nobody sets a value that nothing reads."""
    base, *made = rendered(ALL_ON, *(merged(ALL_ON, other(value)) for value in VALUES))

    assert [] == [value.path for value, one in zip(VALUES, made, strict=True) if one == base]


def test_a_component_that_is_off_leaves_nothing() -> None:
    """No account and no right remains of it; the others are as they were."""
    base, without = rendered({}, {"lineage": {"enabled": False}})

    names = {(one["kind"], one["metadata"]["name"]) for one in base}
    left = {(one["kind"], one["metadata"]["name"]) for one in without}
    gone = names - left
    assert left < names
    assert {
        ("Deployment", "roadstead-lineage"),
        ("ServiceAccount", "roadstead-lineage"),
        ("ClusterRole", "roadstead-lineage"),
        ("ClusterRoleBinding", "roadstead-lineage-owners"),
        ("NetworkPolicy", "roadstead-webhook"),
        ("Service", "lineage-controller-webhook"),
    } <= gone
    assert ("ClusterRole", "roadstead-lineage-owners") in left
    (neither,) = rendered({"lineage": {"enabled": False}, "refresher": {"enabled": False}})
    assert "roadstead-lineage-owners" not in {one["metadata"]["name"] for one in neither}


def test_settings_are_read_as_they_were_stated(tmp_path: Path) -> None:
    """By `run` itself, from the files of the ConfigMap; changed ones start new Pods."""
    engine = {"kind": "Postgres", "sourceSecretName": "{{ .release }}-ca", "sourceKey": "ca.crt"}
    stated = {"attachmentTenantClasses": ["public"], "kstatusConditions": False}
    plain, made = rendered({}, {"settings": stated, "caSources": {"engines": [engine]}})

    (config,) = (one for one in made if one["metadata"]["name"] == "roadstead-settings")
    for name, text in config["data"].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    read = given(str(tmp_path / "settings.yaml"), "", (), offline=False).settings
    assert frozenset({"public"}) == read.attachment_tenant_classes
    assert read.kstatus_conditions is False
    assert read.ca_sources is not None
    assert ["{{ .release }}-ca"] == [one.source_secret_name for one in read.ca_sources]
    assert checksums(plain) != checksums(made)


def checksums(found: Sequence[Json]) -> set[str]:
    """What the Pods' templates say of the settings."""
    templates = [one["spec"]["template"] for one in found if one["kind"] == "Deployment"]
    return {one["metadata"]["annotations"]["roadstead.dev/settings"] for one in templates}


@pytest.mark.parametrize("name", ["base", "crds", *CHOSEN])
def test_kustomize_builds_each_folder(name: str) -> None:
    """With nothing changed but the order."""
    (answer,) = ask("kustomize", [{"folder": str(FOLDERS / name)}])

    assert not answer.get("error"), answer
    assert folder(name) == objects(answer["objects"])


def test_an_overlay_names_the_image(tmp_path: Path) -> None:
    """As the guide shows it."""
    for file in (FOLDERS / "base").iterdir():
        target = tmp_path / "base" / file.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes())
    overlay = {
        "resources": ["base"],
        "images": [
            {
                "name": "registry.example.org/roadstead",
                "newName": "registry.example.net/ours",
                "newTag": "v1",
            }
        ],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")

    (answer,) = ask("kustomize", [{"folder": str(tmp_path)}])

    assert not answer.get("error"), answer
    images = {
        container["image"]
        for one in objects(answer["objects"])
        if one["kind"] == "Deployment"
        for container in one["spec"]["template"]["spec"]["containers"]
    }
    assert {"registry.example.net/ours:v1"} == images
