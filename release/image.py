"""An OCI image layout of Debian packages, the locked dependencies and our wheel.

    python -m release.image [--to dist/image] [--debs FOLDER]

No base image, no root, no daemon. The same packages, lock, sources and SOURCE_DATE_EPOCH give the
same digest. Beside the layout, at its name with `-debian.txt`, stands what went in from Debian;
`--debs` builds from kept package files instead of today's archive.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from release import debian
from release.debian import STATED, Package
from release.fault import ReleaseError, reported, run
from release.lock import uv
from release.moment import epoch, instant, revision
from release.tree import prune, remove, write_layer
from roadstead import __version__
from roadstead.cache import cache_folder
from roadstead.testbed.foreign import ask

ROOT = Path(__file__).parent.parent
USER = 65532
LABEL = "org.opencontainers.image"
PYTHON = f"usr/bin/python{STATED['python']}"
SITE = f"usr/local/lib/python{STATED['python']}/dist-packages"
ENTRYPOINT = f"""#!/{PYTHON} -I
import sys

from roadstead.cli.main import main

sys.exit(main())
"""
_LINKS = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64"}  # as base-files has them
_PLATFORMS = {"amd64": "x86_64-manylinux_2_36", "arm64": "aarch64-manylinux_2_36"}
_TOOL = "oci"


def build(to: Path, packages: tuple[Package, ...], moment: int) -> str:
    """Write the image's layout in place of what stands there; give the image's digest.

    moment: seconds since the epoch; the time of all files and of the image.
    """
    with tempfile.TemporaryDirectory(prefix="roadstead-image-") as place:
        work = Path(place)
        layers = []
        parts = {"debian": _debian, "dependencies": _dependencies, "roadstead": _ours}
        for name, fill in parts.items():
            root = work / name
            root.mkdir()
            fill(root, packages, work)
            _compile(root, work / "debian")
            layers.append(work / f"{name}.tar")
            write_layer(root, layers[-1], moment)
        labels = _labels(moment)
        asked = {
            "do": "write",
            "layers": [str(path) for path in layers],
            "config": _config(labels, moment),
            "annotations": labels,
            "name": __version__,
            "to": str(work / "layout"),
        }
        said = asked_tool(asked)
        digest = str(said["digest"])
        to.parent.mkdir(parents=True, exist_ok=True)
        if to.exists():
            shutil.rmtree(to)
        inputs(to).write_text("".join(f"{p.line}\n" for p in packages), encoding="utf-8")
        shutil.move(work / "layout", to)
        return digest


def inputs(layout: Path) -> Path:
    """Where the list of Debian packages of a layout stands, a line each."""
    return layout.with_name(f"{layout.name}-debian.txt")


def digest_of(layout: Path) -> str:
    """The digest of a layout's image.

    Raises: ReleaseError where there is none.
    """
    try:
        index = json.loads((layout / "index.json").read_text(encoding="utf-8"))
    except OSError:
        raise ReleaseError(f"{layout} holds no image", "make image") from None
    return str(index["manifests"][0]["digest"])


def asked_tool(request: dict[str, Any]) -> dict[str, Any]:
    """Ask `tools/oci`.

    Raises: ReleaseError with what it says is wrong.
    """
    said = ask(_TOOL, [request])[0]
    if "error" in said:
        raise ReleaseError(f"{request['do']}: {said['error']}")
    return said


def _debian(root: Path, packages: tuple[Package, ...], _: Path) -> None:
    """Lay out Debian's part, and what scanners read of it; no script of a package runs."""
    for name, target in _LINKS.items():
        (root / target).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    for package in packages:
        debian.extract(package, root)
    prune(root, list(STATED["without"]))
    for path in list(root.glob("usr/share/doc/*/*")):
        if path.name != "copyright" and not path.parent.is_symlink():
            remove(path)
    status = root / "var/lib/dpkg/status.d"
    status.mkdir(parents=True)
    for package in packages:
        (status / package.name).write_text(debian.control(package), encoding="utf-8")
    etc = root / "etc"
    home = "/home/roadstead"
    (root / home.lstrip("/")).mkdir(parents=True)
    files = {
        "passwd": f"root:x:0:0:root:/:/none\nroadstead:x:{USER}:{USER}:roadstead:{home}:/none\n",
        "group": f"root:x:0:\nroadstead:x:{USER}:\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "os-release": _release(packages),
    }
    for name, text in files.items():
        (etc / name).write_text(text, encoding="utf-8")


def _release(packages: tuple[Package, ...]) -> str:
    suite = STATED["suites"][0]
    libc = next(package.version for package in packages if package.name == "libc6")
    number = libc.rpartition("+deb")[2].partition("u")[0]  # 2.41-12+deb13u5
    named = f'NAME="Debian GNU/Linux"\nID=debian\nVERSION_CODENAME={suite}\n'
    return named + (f'VERSION_ID="{number}"\n' if number.isdecimal() else "")


def _dependencies(root: Path, _: tuple[Package, ...], work: Path) -> None:
    """Install what the lock names for `roadstead` without any extra, by digest."""
    stated = work / "requirements.txt"
    uv("export", "--frozen", "--no-dev", "--no-emit-project", "--no-header", "-o", stated)
    site = root / SITE
    platform: tuple[str, ...] = ("--python-version", STATED["python"])
    if wanted := _PLATFORMS.get(debian.architecture()):
        platform += ("--python-platform", wanted)
    options = ("--no-deps", "--only-binary", ":all:", "--link-mode", "copy", "--no-config")
    source = ("--require-hashes", "--requirement", stated)
    uv("pip", "install", "--target", site, "--python", sys.executable, *platform, *options, *source)
    for left in ("bin", ".lock"):  # programs of an environment that is not this one
        if (site / left).exists():
            remove(site / left)
    for record in site.glob("*.dist-info/RECORD"):
        lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.removeprefix("../../").startswith("bin/")]
        record.write_text("".join(kept), encoding="utf-8")


def _ours(root: Path, _: tuple[Package, ...], work: Path) -> None:
    """Unpack our wheel, which holds Python alone, and write the program that starts it."""
    uv("build", "--wheel", "--out-dir", work / "wheels")
    (wheel,) = (work / "wheels").glob("*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:  # an installer would note when and from where
        archive.extractall(root / SITE)
    program = root / "usr/bin/roadstead"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(ENTRYPOINT, encoding="utf-8")
    program.chmod(0o755)


def _compile(root: Path, base: Path) -> None:
    """Compile all modules with the image's own Python, which runs from its folder."""
    libraries = list(base.glob("usr/lib/*-linux-gnu*"))
    loader = next(base.glob("usr/lib/*-linux-gnu*/ld-linux-*.so.*"))
    environment = {"PYTHONHOME": str(base / "usr"), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    path = ":".join(map(str, libraries))
    python: list[str | Path] = [loader, "--library-path", path, base / PYTHON, "-S", "-s", "-B"]
    rule: tuple[str | Path, ...] = ("-q", "-f", "--invalidation-mode", "unchecked-hash")
    run([*python, "-m", "compileall", *rule, "-s", root, "-p", "/", root], env=environment)


def _labels(moment: int) -> dict[str, str]:
    labels = {
        "title": "roadstead",
        "description": "A Kubernetes control plane for platforms that host many tenants",
        "version": __version__,
        "licenses": "Apache-2.0",
        "vendor": "The Roadstead contributors",
        "created": instant(moment),
        "revision": os.environ.get("IMAGE_REVISION") or revision(),
        "source": os.environ.get("IMAGE_SOURCE", ""),
    }
    return {f"{LABEL}.{name}": value for name, value in labels.items() if value}


def _config(labels: dict[str, str], moment: int) -> dict[str, Any]:
    return {
        "architecture": debian.architecture(),
        "os": "linux",
        "created": instant(moment),
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin", "HOME=/home/roadstead", "LANG=C.UTF-8"],
            "Entrypoint": ["roadstead"],
            "WorkingDir": "/home/roadstead",
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": []},
    }


def main() -> int:
    """Build it and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m release.image")
    parser.add_argument("--to", type=Path, default=ROOT / "dist/image")
    parser.add_argument("--debs", type=Path, help="a folder with the Debian packages to build from")
    asked = parser.parse_args()

    def work() -> None:
        shelf = cache_folder() / "debian"
        shelf.mkdir(exist_ok=True)
        packages = debian.kept(asked.debs) if asked.debs else debian.fetched(shelf)
        digest = build(asked.to, packages, epoch())
        sys.stdout.write(f"{asked.to} {digest}\n")

    return reported(work)


if __name__ == "__main__":
    sys.exit(main())
