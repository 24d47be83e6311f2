"""A live object against a rendered one. Source: contract 5.4, rule by rule."""

from typing import Any

import pytest

from roadstead.capabilities.services.changes.drift import drift
from roadstead.capabilities.services.changes.objects import Held, key_of, objects_of
from roadstead.cli.service import bundled
from roadstead.sim.merge import merged
from service_changes import examples

TREE = bundled.tree(examples())
OBJECTS = {key.path: held for key, held in objects_of(TREE).items()}
POLICY = "CiliumNetworkPolicy/gitea/allow-dns"
BASELINE = "NetworkPolicy/gitea/default-deny"
CLAIM = "PersistentVolumeClaim/gitea/gitea-data"
VOLUME = "PersistentVolume/jellyfin.media"
WORKLOAD = "Deployment/gitea/gitea"
RELEASE = "HelmRelease/flux-system/gitea"


def live(path: str, change: Any = None) -> dict[str, Any]:
    """An object as a server would give it: what was rendered, defaults beside it, a change."""
    added = {
        "metadata": {"uid": "u", "resourceVersion": "7", "annotations": {"other/writer": "x"}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    return dict(merged(merged(OBJECTS[path].body, added), change or {}))


@pytest.mark.parametrize("path", sorted(OBJECTS))
def test_what_the_server_adds_is_no_difference(path: str) -> None:
    """Uid, status, and what other writers annotate, on every rendered object."""
    assert () == drift(OBJECTS[path], live(path))


@pytest.mark.parametrize(
    ("path", "change", "told"),
    [
        pytest.param(BASELINE, {"spec": {"ingress": None, "egress": None}}, [], id="empty-absent"),
        pytest.param(
            BASELINE,
            {"spec": {"ingress": [{"from": []}]}},
            ["spec.ingress"],
            id="empty-filled",
        ),
        pytest.param(
            BASELINE,
            {"spec": {"policyTypes": ["Ingress"]}},
            ["spec.policyTypes"],
            id="egress-no-longer-policed",
        ),
        pytest.param(
            POLICY,
            {"status": {"conditions": [{"type": "Valid", "status": "False"}]}},
            ["status.conditions[Valid]"],
            id="policy-refused-by-the-agent",
        ),
        pytest.param(
            CLAIM,
            {"spec": {"resources": {"requests": {"storage": "51200Mi"}}, "volumeName": "pvc-1"}},
            [],
            id="quantity-by-value",
        ),
        pytest.param(
            CLAIM,
            {"spec": {"resources": {"requests": {"storage": "40Gi"}}}},
            ["spec.resources.requests.storage"],
            id="quantity-differs",
        ),
        pytest.param(RELEASE, {"spec": {"timeout": "600s", "interval": "0h30m0s"}}, [], id="span"),
        pytest.param(RELEASE, {"spec": {"timeout": "9m"}}, ["spec.timeout"], id="span-differs"),
        pytest.param(
            VOLUME,
            {"spec": {"nfs": {"server": "10.0.0.5"}, "claimRef": {"uid": "u"}}},
            [],
            id="variable-replaced",
        ),
        pytest.param(
            VOLUME, {"spec": {"nfs": {"path": "/tank"}}}, ["spec.nfs.path"], id="path-differs"
        ),
        pytest.param(VOLUME, {"spec": {"storageClassName": None}}, [], id="no-class-of-a-volume"),
        pytest.param(
            "PersistentVolumeClaim/jellyfin/jellyfin-media",
            {"spec": {"storageClassName": None}},
            ["spec.storageClassName"],
            id="no-class-of-a-claim",
        ),
        pytest.param(
            WORKLOAD,
            {"metadata": {"labels": {"app.kubernetes.io/managed-by": "other"}}},
            ["metadata.labels.app.kubernetes.io/managed-by"],
            id="label-differs",
        ),
        pytest.param(
            "DataVolume/actions-runner/actions-runner-cache",
            {"spec": {"storage": {"resources": {"requests": {"storage": "1Gi"}}}}},
            [],
            id="disk-for-existence-only",
        ),
    ],
)
def test_a_difference_is_of_what_was_rendered(path: str, change: Any, told: list[str]) -> None:
    """Each row is one rule."""
    assert told == [one.path for one in drift(OBJECTS[path], live(path, change))]


def test_lists_are_matched_by_their_key() -> None:
    """Another order is none; an entry of another writer is one."""
    body = live(WORKLOAD)
    (container,) = body["spec"]["template"]["spec"]["containers"]
    variables = [*reversed(container["env"])]
    changed = merged(body, {})
    changed["spec"]["template"]["spec"]["containers"] = [{**container, "env": variables}]
    assert () == drift(OBJECTS[WORKLOAD], changed)
    more = [*variables, {"name": "ADDED", "value": "by hand"}]
    changed["spec"]["template"]["spec"]["containers"] = [{**container, "env": more}]
    (found,) = drift(OBJECTS[WORKLOAD], changed)
    where = "spec.template.spec.containers[gitea].env"
    assert (where, ["ADDED"]) == (found.path, found.new)


def test_a_packaged_object_is_compared_as_it_runs() -> None:
    """What Helm applies is the object, not the release that carries it."""
    held = OBJECTS[WORKLOAD]
    assert (True, "gitea/30-workload.yaml") == (held.packaged, held.file)
    assert "values" not in OBJECTS[RELEASE].body["spec"]
    assert isinstance(held, Held)
    assert held.key == key_of(held.body)
