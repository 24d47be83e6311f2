"""What it takes to render a large catalog, and what others take for the same objects."""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

from bench import service_catalog
from bench.rows import Row, at_most, told
from roadstead.testbed.foreign import ask, tool

SIZE, HALF, DOUBLE = 1000, 500, 2000
ROUNDS = 3
KUSTOMIZED = (50, 100, 200)
"""Services in one kustomization. It grows with the square; more would not end in a sitting."""
HELMED = 200
PROGRAM = (sys.executable, "-m", "roadstead.cli.main")
PLATFORM = Path(__file__).parent.parent / "examples/platform.yaml"
_ENCRYPTED = "ENC[AES256_GCM,data:8Q==,iv:AAAA,tag:AAAA,type:str]"
_CODES = {0, 1}
_AS_INSTALLED = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
"""An installed program finds its bytecode; one that may not write it compiles itself every time."""


@dataclass(frozen=True)
class Run:
    """One process from its start to its end. cpu: seconds of it. peak: MiB."""

    seconds: float
    cpu: float
    peak: float


def run(arguments: list[str], folder: Path) -> Run:
    """Run a program to its end, its talk thrown away."""
    talk = folder / "talk"
    started = time.perf_counter()
    with talk.open("wb") as to:
        actions = [(os.POSIX_SPAWN_DUP2, to.fileno(), 1), (os.POSIX_SPAWN_DUP2, to.fileno(), 2)]
        process = os.posix_spawn(arguments[0], arguments, _AS_INSTALLED, file_actions=actions)
        _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    assert code in _CODES, f"{arguments} ended with {code}: {talk.read_text()[-2000:]}"
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def write(folder: Path, count: int) -> None:
    """Write `catalog/`, `platform.yaml` and `secrets/` below an empty folder."""
    (folder / "catalog").mkdir()
    shutil.copy(PLATFORM, folder / "platform.yaml")
    for name, text in service_catalog.catalog(count).items():
        (folder / "catalog" / name).write_bytes(text)
        if b"mode: oidc" in text or b"mode: forward-auth" in text:
            place = folder / "secrets" / Path(name).stem
            place.mkdir(parents=True)
            (place / "oidc.sops.yaml").write_text(_secret(place.name))


def _secret(service: str) -> str:
    """An encrypted Secret, as far as anybody without the key can tell."""
    keys = ("client-secret", "cookie-secret")
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{service}-oidc", "namespace": service},
        "stringData": dict.fromkeys(keys, _ENCRYPTED),
        "sops": {"mac": _ENCRYPTED, "encrypted_regex": "^(data|stringData)$"},
    }
    return json.dumps(body)


@contextmanager
def catalog(count: int) -> Iterator[Path]:
    """A folder with a catalog of this size."""
    with tempfile.TemporaryDirectory(prefix="roadstead-bench-") as place:
        write(Path(place), count)
        yield Path(place)


def command(folder: Path, verb: str, *more: str) -> list[str]:
    """One of our commands over the catalog."""
    files = ["-f", str(folder / "catalog"), "--platform", str(folder / "platform.yaml")]
    return [*PROGRAM, "service", verb, *(files if verb != "schema" else files[2:]), *more]


def cold(folder: Path) -> Run:
    """Render into nothing; what an index says of files that are gone counts for nothing."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    return run(command(folder, "render", "-q", "--out", str(folder / "out")), folder)


def changed(folder: Path, number: int) -> Run:
    """Render after one definition changed."""
    path = folder / "catalog" / f"svc-{number:05}.yaml"
    path.write_text(f"{path.read_text()}replicas: 0\n")
    return run(command(folder, "render", "-q", "--out", str(folder / "out")), folder)


def measure() -> list[Row]:
    """Everything, the peers last."""
    found: list[Row] = []
    with catalog(SIZE) as folder:
        renders = [cold(folder) for _ in range(ROUNDS)]
        found += _shape(folder)
        found += _of_one(folder)
        found.append(at_most("render, cold", [one.seconds for one in renders], "s", 6))
        found.append(told("render, cold, CPU", median(one.cpu for one in renders), "s"))
        found.append(at_most("render, peak memory", [one.peak for one in renders], "MiB", 400))
        found += _growth(median(one.seconds for one in renders))
        found += _peers(folder)
    return found


def _shape(folder: Path) -> list[Row]:
    """How large the tree is that all of this is about."""
    documents = size = 0
    for path in (folder / "out").rglob("*.yaml"):
        text = path.read_bytes()
        size += len(text)
        if path.name[0].isdigit():
            documents += text.count(b"\napiVersion: ")
    return [
        told(f"objects of {SIZE} definitions, in their files", documents, "objects"),
        told("their YAML", size / 2**20, "MiB"),
    ]


def _of_one(folder: Path) -> list[Row]:
    """Each command over the whole catalog."""
    again = [sys.executable, "-m", "bench.parsing", str(folder)]
    parsed = [run(again, folder).seconds for _ in range(ROUNDS)]
    floor = median(parsed)
    validated = [run(command(folder, "validate"), folder).seconds for _ in range(ROUNDS)]
    once = [changed(folder, number).seconds for number in _plain(folder)[:ROUNDS]]
    out = str(folder / "out")
    checks = [run(command(folder, "check", "--out", out), folder).seconds for _ in range(ROUNDS)]
    schema = [run(command(folder, "schema"), folder).seconds for _ in range(ROUNDS)]
    graph = [run(command(folder, "graph"), folder).seconds for _ in range(ROUNDS)]
    name = f"svc-{SIZE // 2:05}"
    explained = [run([*command(folder, "explain"), name], folder).seconds for _ in range(ROUNDS)]
    return [
        told("parsing alone, process included", floor, "s"),
        at_most("validate", validated, "s", 2),
        at_most(
            "render after one change, less parsing",
            [one - floor for one in once],
            "s",
            0.5,
            "a process that only parses",
        ),
        told("render after one change", median(once), "s"),
        at_most("check", checks, "s", 8),
        at_most("schema", schema, "s", 1),
        at_most("graph", graph, "s", 1),
        at_most("explain", explained, "s", 1),
    ]


def _plain(folder: Path) -> list[int]:
    """Services that are no virtual machines."""
    found = sorted((folder / "catalog").glob("*.yaml"))
    return [number for number, path in enumerate(found) if "kind: vm" not in path.read_text()]


def _growth(of_one: float) -> list[Row]:
    """Half and twice the catalog."""
    with catalog(HALF) as folder:
        half = median(cold(folder).seconds for _ in range(ROUNDS))
    with catalog(DOUBLE) as folder:
        double = [cold(folder) for _ in range(ROUNDS)]
    return [
        told(f"render of {HALF}, cold", half, "s"),
        told(f"render of {DOUBLE}, cold", median(one.seconds for one in double), "s"),
        told(f"render of {DOUBLE}, peak memory", median(one.peak for one in double), "MiB"),
        told(f"{SIZE} to {HALF}", of_one / half, "x"),
        at_most(f"{DOUBLE} to {SIZE}", [one.seconds / of_one for one in double], "x", 2.3),
    ]


def _peers(folder: Path) -> list[Row]:
    """The same objects through Kustomize, the same releases through Helm."""
    for name in ("helm", "kustomize"):
        tool(name)  # compiled before a clock runs
    found = [_kustomized(folder, count) for count in KUSTOMIZED]
    paths = sorted((folder / "out").glob("svc-*/30-workload.yaml"))
    bodies = [yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) for path in paths]
    requests = [
        {
            "chart": str(folder / "out/_platform/charts/manifests"),
            "release": body["spec"]["releaseName"],
            "namespace": body["spec"]["targetNamespace"],
            "values": body["spec"]["values"],
        }
        for body in bodies
        if body["kind"] == "HelmRelease"
    ][:HELMED]
    started = time.perf_counter()
    answers = ask("helm", requests)
    spent = time.perf_counter() - started
    assert not any(one.get("error") for one in answers)
    found.append(told(f"Helm's engine, {HELMED} releases", spent * 1000 / HELMED, "ms a service"))
    return found


def _kustomized(folder: Path, count: int) -> Row:
    """One kustomization over the folders of some services."""
    whole = folder / "out" / "kustomization.yaml"
    names = [f"svc-{number:05}" for number in range(count)]
    whole.write_text(json.dumps({"resources": names}))
    started = time.perf_counter()
    (answer,) = ask("kustomize", [{"folder": str(folder / "out")}])
    spent = time.perf_counter() - started
    whole.unlink()
    assert not answer.get("error"), answer
    return told(f"kustomize build, {count} services", spent, "s")
