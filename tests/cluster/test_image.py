"""The image that ships: what is in it, and that it runs as a Pod's container would.

Source: issue 7, point 3. It runs in namespaces of its own, as user 65532 with a read-only root; a
machine that allows no user namespaces is named as the reason where these tests are skipped.
"""

import base64
import io
import json
import os
import re
import signal
import stat
import tarfile
import tempfile
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from live_admin import wait_for
from live_cluster import Cluster
from live_image import REFUSED, Container, Image, read, readable_folder
from live_run import free_port, grant
from live_scene import ANCHOR, define, published, release, source
from release import debian
from release.debian import STATED
from release.image import LABEL, asked_tool, build, digest_of, inputs
from roadstead import __version__
from roadstead.cache import cache_folder
from roadstead.deploy.rbac import HOME

pytestmark = [pytest.mark.cluster, pytest.mark.foreign]

MOMENT = 1_700_000_000
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PROGRAMS = {"usr/bin/roadstead", f"usr/bin/python{STATED['python']}"}
FORBIDDEN = re.compile(
    r"(^|/)(sh|bash|dash|ash|zsh|busybox|toybox|apt|apt-get|dpkg|pip[0-9.]*|uv|perl|gcc|ldconfig|"
    r"su|sudo|mount|curl|wget|ensurepip|go)$"
)
# What the image's own Python imports: every extension module, and every module of ours.
IMPORTS = """
import importlib, importlib.util, pathlib, pkgutil, sys, roadstead
count = 0
for place in map(pathlib.Path, sys.path):
    for path in sorted(place.rglob("*.so")):
        name = ".".join(path.relative_to(place).with_name(path.name.split(".")[0]).parts)
        importlib.import_module(name)
        count += 1
for found in pkgutil.walk_packages(roadstead.__path__, "roadstead."):
    importlib.import_module(found.name)
print(count)
"""


@pytest.fixture(scope="module")
def built() -> Iterator[Path]:
    """The layout, built once."""
    shelf = cache_folder() / "debian"
    shelf.mkdir(exist_ok=True)
    with readable_folder() as folder:
        build(folder / "layout", debian.fetched(shelf), MOMENT)
        yield folder / "layout"


@pytest.fixture(scope="module")
def image(built: Path) -> Image:
    """What stands in the layout."""
    return read(built)


@pytest.fixture(scope="module")
def container(image: Image, built: Path) -> Container:
    """The image unpacked; a machine that cannot start it skips, and says why."""
    found = Container(image, built.parent)
    code, said = found.run("version")
    if code == REFUSED and (why := re.search(r"^jail: (.*)$", said, re.MULTILINE)):
        pytest.skip(f"the image is not started here, this machine refuses: {why[1]}")
    assert (0, f"roadstead {__version__}\n") == (code, said)
    return found


def test_the_layout_says_what_it_is(image: Image, built: Path) -> None:
    """Two readers agree on every digest, and whoever inspects it learns version and user."""
    said = asked_tool({"do": "check", "from": str(built)})
    assert image.digest == said["digest"] == digest_of(built)
    assert said["size"] == sum(layer["size"] for layer in image.manifest["layers"])
    config = image.config["config"]
    assert ["roadstead"] == config["Entrypoint"]
    assert "65532:65532" == config["User"]
    assert (__version__, "Apache-2.0", "2023-11-14T22:13:20Z") == tuple(
        config["Labels"][f"{LABEL}.{name}"] for name in ("version", "licenses", "created")
    )
    assert config["Labels"] == image.manifest["annotations"]
    assert "application/vnd.oci.image.manifest.v1+json" == image.manifest["mediaType"]


def test_nothing_is_in_it_that_an_intruder_would_use(image: Image) -> None:
    """No shell, no package manager, nothing setuid, nothing that anyone but root may write."""
    entries = image.entries
    assert not [n for n, entry in entries.items() if not entry.isdir() and FORBIDDEN.search(n)]
    folders = {"bin", "sbin", "libexec"}
    assert PROGRAMS == {
        name
        for name, entry in entries.items()
        if entry.isfile()
        and (folders & set(Path(name).parts) or entry.mode & 0o111)
        and not Path(name).name.startswith("ld-linux")
    }
    for name, entry in entries.items():
        assert entry.isfile() or entry.isdir() or entry.issym(), name
        assert (0, 0, MOMENT) == (entry.uid, entry.gid, entry.mtime), name
        assert not entry.mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX), name
        assert entry.issym() or not entry.mode & (stat.S_IWGRP | stat.S_IWOTH), name


def test_scanners_find_what_it_is_made_of(image: Image, built: Path) -> None:
    """A scanner of images reads Debian's packages and Python's, and every licence is there."""
    lines = inputs(built).read_text().splitlines()
    assert sorted(STATED["packages"]) == [line.split()[0] for line in lines]
    for package in STATED["packages"]:
        assert f"var/lib/dpkg/status.d/{package}" in image.entries
        assert any(
            f"usr/share/doc/{name}/copyright" in image.entries
            for name in (package, _linked(image, package))
        ), package
    assert any(
        name.endswith(f"roadstead-{__version__}.dist-info/METADATA") for name in image.entries
    )


def test_nothing_of_this_machine_is_in_it(image: Image) -> None:
    """No path and no name of the machine that built it."""
    home = str(Path.home()).encode()
    here = str(Path(__file__).parent.parent).encode()
    for layer in image.layers:
        with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
            for entry in archive:
                if entry.isfile() and (file := archive.extractfile(entry)):
                    content = file.read()
                    assert here not in content, entry.name
                    if entry.name.endswith("/RECORD"):
                        assert not re.search(rb"^[./]*bin/", content, re.MULTILINE), entry.name
                    assert b"roadstead-image-" not in content or "release" in entry.name, entry.name
                    assert len(home) < 6 or home not in content, entry.name


@pytest.mark.soak
def test_the_same_inputs_give_the_same_image(image: Image, built: Path, tmp_path: Path) -> None:
    """Whoever builds a release again, from the packages that were kept, finds its digest."""
    kept = tmp_path / "debs"
    kept.mkdir()
    for package in debian.fetched(cache_folder() / "debian"):
        (kept / package.file.name).write_bytes(package.file.read_bytes())
    assert image.digest == build(tmp_path / "again", debian.kept(kept), MOMENT)
    assert inputs(built).read_text() == inputs(tmp_path / "again").read_text()


def test_every_module_imports(container: Container) -> None:
    """No library is missing that an extension module is linked against."""
    code, said = container.run("-I", "-c", IMPORTS, entrypoint=(f"python{STATED['python']}",))
    assert 0 == code, said
    assert int(said) > 30


def test_it_cannot_write_nor_be_more_than_it_is(container: Container) -> None:
    """As process 1 it is user 65532, without a capability, and its root is read-only."""
    ask = (
        "import os, json\n"
        "status = dict(line.split(':\\t', 1) for line in open('/proc/self/status') if ':\\t' in line)\n"
        "places = ('/', '/usr/bin', '/home/roadstead', '/etc')\n"
        "print(json.dumps([os.getpid(), os.getuid(), status['CapEff'].strip(),\n"
        "    status['CapBnd'].strip(), status['NoNewPrivs'].strip(),\n"
        "    [p for p in places if os.access(p, os.W_OK)]]))"
    )
    code, said = container.run("-I", "-c", ask, entrypoint=(f"python{STATED['python']}",))
    assert (0, [1, 65532, "0" * 16, "0" * 16, "1", []]) == (code, json.loads(said))


def test_it_serves_in_a_pod_and_ends_cleanly(
    server: Cluster, container: Container, built: Path
) -> None:
    """Ready with the mounted account, an anchor published, and exit code 0 on SIGTERM."""
    define(server.admin)
    release(server.admin)
    source(server.admin)
    port = free_port()
    account, environment = mounted_account(server, built.parent)
    arguments = [
        "run",
        "--only=anchors",
        "--log-format=json",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{port}",
    ]
    with tempfile.TemporaryFile() as log:
        child = container.start(arguments, log, environment, {ACCOUNT: account})
        try:
            wait_for("readiness", lambda: _ready(port, log))
            assert published(server.admin, ANCHOR)
            child.send_signal(signal.SIGTERM)
            assert 0 == child.wait(40), _text(log)
        finally:
            child.kill()
            child.wait()
        assert "lease acquired" in _text(log)


def mounted_account(server: Cluster, folder: Path) -> tuple[Path, dict[str, str]]:
    """What the kubelet gives a container: a folder with the account, and where the server is."""
    stated = yaml.safe_load(grant(server).read_text())
    place = stated["clusters"][0]["cluster"]
    account = folder / "account"
    account.mkdir(exist_ok=True)
    (account / "token").write_text(stated["users"][0]["user"]["token"])
    (account / "namespace").write_text(HOME)
    (account / "ca.crt").write_bytes(base64.b64decode(place["certificate-authority-data"]))
    address = urlsplit(place["server"])
    return account, {
        "KUBERNETES_SERVICE_HOST": address.hostname or "",
        "KUBERNETES_SERVICE_PORT": str(address.port),
    }


def _linked(image: Image, package: str) -> str:
    """Where the folder of a package's documents leads, for those that share one."""
    found = image.entries.get(f"usr/share/doc/{package}")
    return found.linkname if found else ""


def _ready(port: int, log: Any) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except OSError:
        assert "Traceback" not in _text(log), _text(log)
        return False


def _text(log: Any) -> str:
    return os.pread(log.fileno(), 1 << 20, 0).decode(errors="replace")
