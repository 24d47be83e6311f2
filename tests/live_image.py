"""An image layout, read without the program that wrote it, and run as a container would be."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

_FILTER = getattr(tarfile, "tar_filter", lambda member, _: member)  # since Python 3.11.4
JAIL = Path(__file__).with_name("jail.py")
REFUSED = 125
_POINTS = ("dev", "proc", "etc/roadstead", "var/run/secrets/kubernetes.io/serviceaccount")
_DEVICES = ("null", "zero", "urandom")


@dataclass(frozen=True)
class Image:
    """A layout's one image, each blob held against its digest.

    config: its config file. entries: what each path is in the end, by its name.
    """

    digest: str
    manifest: dict[str, Any]
    config: dict[str, Any]
    layers: tuple[bytes, ...] = field(repr=False)
    entries: Mapping[str, tarfile.TarInfo] = field(repr=False)


def read(layout: Path) -> Image:
    """Read a layout by the specification of OCI images, by hand."""
    assert {"imageLayoutVersion": "1.0.0"} == json.loads((layout / "oci-layout").read_text())
    index = json.loads((layout / "index.json").read_text())
    (named,) = index["manifests"]
    manifest = json.loads(_blob(layout, named))
    config = json.loads(_blob(layout, manifest["config"]))
    layers = tuple(gzip.decompress(_blob(layout, layer)) for layer in manifest["layers"])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{sha256(one).hexdigest()}" for one in layers]
    entries = {}
    for layer in layers:
        with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
            entries.update({entry.name: entry for entry in archive})
    return Image(named["digest"], manifest, config, layers, entries)


def _blob(layout: Path, named: Mapping[str, Any]) -> bytes:
    algorithm, _, digest = str(named["digest"]).partition(":")
    content = (layout / "blobs" / algorithm / digest).read_bytes()
    assert (digest, named["size"]) == (sha256(content).hexdigest(), len(content))
    return content


class Container:
    """An unpacked image: each `start` is one container of it."""

    def __init__(self, image: Image, folder: Path) -> None:
        """Unpack it into a folder that every user may read, with the places that a runtime adds."""
        self._config = image.config["config"]
        self.root = folder / "root"
        self.root.mkdir()
        for layer in image.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                archive.extraction_filter = _FILTER
                archive.extractall(self.root)  # noqa: S202 - we built it
        for point in _POINTS:
            (self.root / point).mkdir(parents=True, exist_ok=True)
        for device in _DEVICES:
            (self.root / "dev" / device).touch()

    def start(
        self,
        arguments: Sequence[str],
        log: Any,
        environment: Mapping[str, str] | None = None,
        mounts: Mapping[str, Path] | None = None,
        entrypoint: Sequence[str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start the image's entrypoint with arguments; SIGTERM to what is given reaches it.

        mounts: folders of this machine that it sees, by their place inside.
        """
        asked = {
            "root": str(self.root),
            "user": int(self._config["User"].partition(":")[0]),
            "environment": {
                **dict(one.split("=", 1) for one in self._config["Env"]),
                **(environment or {}),
            },
            "mounts": {inside: str(outside) for inside, outside in (mounts or {}).items()},
            "folder": self._config["WorkingDir"],
            "argv": [*(entrypoint or self._config["Entrypoint"]), *arguments],
        }
        command = [sys.executable, str(JAIL), json.dumps(asked)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603 - our own program

    def run(self, *arguments: str, entrypoint: Sequence[str] | None = None) -> tuple[int, str]:
        """Start it, wait for its end; give its exit code and all it said."""
        with tempfile.TemporaryFile() as log:
            code = self.start(arguments, log, entrypoint=entrypoint).wait(120)
            log.seek(0)
            return code, log.read().decode(errors="replace")


@contextmanager
def readable_folder() -> Iterator[Path]:
    """A folder that other users than ours may read, as pytest's own may not be."""
    with tempfile.TemporaryDirectory(prefix="roadstead-image-") as name:
        os.chmod(name, 0o755)  # noqa: PTH101, S103 - it holds a public image
        yield Path(name)
