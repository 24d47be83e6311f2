"""An installation on the tests' cluster: what Helm renders, applied as Helm would, and its Pods.

There are no nodes, so each Deployment's Pod is a process: with the container's own arguments, the
files of its volumes in a folder, and a token of its ServiceAccount. What only a Pod has is added:
ports of its own, the namespace, and that it is to elect a leader.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml

from live_cluster import Cluster
from live_run import Run, logged_in, running
from roadstead.deploy.chart import MAIN
from roadstead.deploy.rbac import HOME
from roadstead.testbed.foreign import ask
from roadstead.testbed.server import kubectl

Json = dict[str, Any]
ROOT = Path(__file__).parent.parent
CHARTS = ROOT / "deploy/chart"


class NotRenderedError(Exception):
    """Helm refused; its words."""


def rendered(
    cluster: Cluster, values: Mapping[str, Any] | None = None, chart: str = MAIN
) -> list[Json]:
    """What Helm makes of a chart when it may look at the cluster, in the order of applying.

    Raises: NotRenderedError.
    """
    (answer,) = ask(
        "helm",
        [
            {
                "chart": str(CHARTS / chart),
                "release": chart,
                "namespace": HOME,
                "values": dict(values or {}),
                "kubernetes": cluster.version,
                "kubeconfig": str(cluster.kubeconfig),
            }
        ],
    )
    if answer.get("error"):
        raise NotRenderedError(answer["error"])
    return [one for one in yaml.safe_load_all(answer["manifests"]) if one]


def applied(cluster: Cluster, objects: Sequence[Json], *more: str) -> str:
    """Apply objects as Helm does server-side; give what was said beside it: the warnings.

    A field that the server does not know is refused.
    """
    arguments = ("apply", "--server-side", "--field-manager=helm", "--validate=strict", *more)
    text = yaml.safe_dump_all(objects)
    done = kubectl(cluster.binary, cluster.kubeconfig, *arguments, "-f", "-", input=text)
    assert done.returncode == 0, done.stderr
    return done.stderr


def deleted(cluster: Cluster, objects: Sequence[Json]) -> None:
    """Delete objects as an uninstallation does: the last first."""
    text = yaml.safe_dump_all(list(reversed(objects)))
    arguments = ("delete", "--ignore-not-found", "--timeout=60s", "-f", "-")
    done = kubectl(cluster.binary, cluster.kubeconfig, *arguments, input=text)
    assert done.returncode == 0, done.stderr


def standing(cluster: Cluster, objects: Sequence[Json]) -> list[str]:
    """Which of some objects are there, as `kind/name`; a name of two namespaces twice."""
    text = yaml.safe_dump_all(objects)
    arguments = ("get", "--ignore-not-found", "-o", "name", "-f", "-")
    done = kubectl(cluster.binary, cluster.kubeconfig, *arguments, input=text)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@contextmanager
def pods(
    cluster: Cluster, objects: Sequence[Json], folders: Mapping[str, Path], *more: str
) -> Iterator[dict[str, Run]]:
    """One process for each Deployment, by its name, until the block ends.

    folders: what stands in for each volume, by its name. more: flags of every process.
    """
    found: dict[str, Run] = {}
    with ExitStack() as stack:
        for one in objects:
            if one["kind"] != "Deployment":
                continue
            name, pod = one["metadata"]["name"], one["spec"]["template"]["spec"]
            token = logged_in(cluster, pod["serviceAccountName"])
            arguments = started_with(pod, folders)
            found[name] = stack.enter_context(
                running(token, *arguments, f"--leader-election-namespace={HOME}", *more)
            )
        yield found


def started_with(pod: Json, folders: Mapping[str, Path]) -> list[str]:
    """The arguments of a Pod's container, its mounts in the places they have here."""
    (container,) = pod["containers"]
    arguments: list[str] = list(container["args"])
    command = arguments.pop(0)
    assert command == "run"
    for mount in container["volumeMounts"]:
        there = str(folders[mount["name"]])
        arguments = [one.replace(mount["mountPath"], there) for one in arguments]
    return arguments


def written(config: Json, folder: Path) -> Path:
    """Write the files of a ConfigMap, as the kubelet mounts them."""
    folder.mkdir(exist_ok=True)
    for name, text in config["data"].items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
