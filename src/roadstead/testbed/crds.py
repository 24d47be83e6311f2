"""The definitions of our neighbours' kinds, as their own projects publish them.

`tools/crds` names modules and versions; no text of theirs is kept in this repository. What was
fetched or generated stands in the user's cache under a hash of those names. Some publish no
module: `addresses.yaml` holds the least of the address controller's kinds, `documented.yaml` the
fields that we write of kinds whose documents alone we could read.
"""

import json
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from roadstead.cache import cache_folder
from roadstead.errors import TestbedError
from roadstead.testbed.build import (
    Progress,
    compiled,
    digest,
    find_toolchain,
    locked,
    run_go,
    run_tool,
    say,
    sources,
)
from roadstead.testbed.server import ControlPlane, kubectl

FLUX = "flux"
ADDRESSES = "addresses"
DOCUMENTED = "documented"
OURS = (ADDRESSES, DOCUMENTED)
GATEWAY_API = "gateway-api"
STANDARD = f"{GATEWAY_API}-standard"
"""The same kinds as most clusters have them: without the experimental fields and versions."""
NAMES = (
    FLUX,
    ADDRESSES,
    GATEWAY_API,
    STANDARD,
    "cert-manager",
    "cilium",
    DOCUMENTED,
    "envoy-gateway",
    "flux-services",
    "monitoring",
    "velero",
)

_GENERATOR = "sigs.k8s.io/controller-tools/cmd/controller-gen"


def neighbours(
    names: Iterable[str] = (FLUX, ADDRESSES), progress: Progress = say
) -> tuple[dict[str, Any], ...]:
    """Give the CustomResourceDefinitions of neighbours, sorted by name.

    names: of NAMES; only what is asked for is fetched, and OURS never are.
    Raises: TestbedError with step `fetch`, `compile` or `generate` and its log; `names` where a
        neighbour is unknown.
    Cost: the first that is generated about 2 minutes once, the others a download or some seconds
        each; milliseconds after.
    """
    wanted = sorted(set(names))
    if unknown := [name for name in wanted if name not in NAMES]:
        known = ", ".join(NAMES)
        raise TestbedError(f"no neighbour is called {unknown[0]}; there are {known}", step="names")
    found = [definition for name in wanted for definition in _kept(name, progress)]
    return tuple(sorted(found, key=lambda definition: str(definition["metadata"]["name"])))


def install(plane: ControlPlane, crds: Iterable[dict[str, Any]], *, limit: int = 60) -> None:
    """Apply definitions and wait until the API server serves them.

    limit: seconds to wait.
    Raises: TestbedError with step `install` and what the server said.
    """
    install_into(plane.binary, plane.kubeconfig, crds, limit=limit)


def install_into(
    binary: Path, kubeconfig: Path, crds: Iterable[dict[str, Any]], *, limit: int = 60
) -> None:
    """Apply definitions to the cluster of a kubeconfig, with a control plane's own kubectl."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(crds)})
    for arguments in (
        ("apply", "--server-side", "--force-conflicts", "-f", "-"),
        ("wait", "--for=condition=Established", f"--timeout={limit}s", "-f", "-"),
    ):
        done = kubectl(binary, kubeconfig, *arguments, input=text)
        if done.returncode != 0:
            raise TestbedError(
                f"kubectl {arguments[0]} failed: {done.stderr.strip()}", step="install"
            )


def _kept(name: str, progress: Progress) -> list[dict[str, Any]]:
    """Read one neighbour's definitions from the cache, making them where they are not there."""
    if name in OURS:
        ours = files("roadstead.testbed").joinpath(f"{name}.yaml")
        return _definitions(ours.read_bytes())
    module = sources("tools/crds")
    key = digest(module, name, find_toolchain().version)
    kept = cache_folder() / "crds" / f"{name}-{key}.json"
    with locked(kept.with_suffix(".lock"), f"another process fetches {name}", progress):
        if not kept.is_file():
            progress(f"fetching the definitions of {name}, once")
            log = kept.with_suffix(".log")
            pins = tomllib.loads((module / "neighbours.toml").read_text(encoding="utf-8"))
            pin = {**pins.get(pins[name].get("like"), {}), **pins[name]}
            shipped = "module" in pin
            made = [
                document
                for path in (
                    _published(pin, log)
                    if shipped
                    else _generated(pin["types"], module, log, progress)
                )
                for document in _definitions(path.read_bytes())
            ]
            if not made:
                raise TestbedError(
                    f"{name} holds no definitions any more", step="fetch", log=str(log)
                )
            partial = kept.with_suffix(".partial")
            partial.write_text(json.dumps(made), encoding="utf-8")
            partial.replace(kept)
    found: list[dict[str, Any]] = json.loads(kept.read_bytes())
    return found


def _definitions(text: bytes) -> list[dict[str, Any]]:
    documents = yaml.load_all(text, Loader=yaml.CSafeLoader)
    return [one for one in documents if (one or {}).get("kind") == "CustomResourceDefinition"]


def _published(pin: dict[str, str], log: Path) -> Iterator[Path]:
    """Give the files that a project's module ships, once Go has checked them against its sum."""
    with (
        tempfile.TemporaryDirectory() as nowhere
    ):  # outside any module, so any version may be named
        about = f"{pin['module']}@{pin['version']}"
        got = json.loads(run_go("fetch", ("mod", "download", "-json", about), Path(nowhere), log))
    if got["Sum"] != pin["sum"]:
        raise TestbedError(
            f"{about} has the sum {got['Sum']}, not {pin['sum']} of neighbours.toml",
            step="fetch",
            hint="do not use it before you know why",
        )
    yield from sorted(Path(got["Dir"]).glob(pin["files"]))


def _generated(types: Sequence[str], module: Path, log: Path, progress: Progress) -> Iterator[Path]:
    """Give what controller-gen makes of a project's types."""
    generator = compiled(module, _GENERATOR, "controller-gen", progress)
    with tempfile.TemporaryDirectory() as output:
        paths = [f"paths={package}" for package in types]
        command = [str(generator), "crd", *paths, f"output:crd:dir={output}"]
        run_tool("generate", command, module, log)
        yield from sorted(Path(output).glob("*.yaml"))
