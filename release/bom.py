"""Bills of materials, CycloneDX 1.5: one of the package, one of the image.

    python -m release.bom [--to dist] [--image dist/image]

The package's names what the lock brings, the two extras as `optional`, and the Go modules that
`roadstead up` compiles on the user's machine as `excluded`: their names ship, their code does not.
The image's names Debian's packages and what the lock brings without extras; no Go is in the image.
The same lock, image and SOURCE_DATE_EPOCH give the same bytes.
"""

import argparse
import json
import re
import sys
import uuid
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from release.debian import STATED, Package
from release.fault import ReleaseError, reported
from release.image import digest_of, inputs
from release.licences import licences
from release.lock import EXTRAS, ROOT, Locked, locked, uv
from release.moment import epoch, instant
from roadstead import __version__

Bom = dict[str, Any]
MODULES = ("controlplane", "tools/crds")
"""The Go modules that ship as names: their folders are in the wheel."""
_NAMES = uuid.UUID("6b0f2a52-0a7e-5f0e-9a5c-6f3a5f0d9d11")
_REQUIRED = re.compile(r"^(?:require )?\s*([\w.~/-]+\.[\w.~/-]+) (v\S+)(?: // indirect)?$")


def package_bom(moment: int) -> Bom:
    """The bill of the wheel and the source archive. moment: seconds since the epoch."""
    always = locked(())
    components, edges = _python(locked(EXTRAS), always)
    about = {
        "type": "application",
        "name": "roadstead",
        "version": __version__,
        "purl": f"pkg:pypi/roadstead@{__version__}",
    }
    return _bom(about, [*components, *_modules()], edges, moment)


def image_bom(layout: Path, moment: int) -> Bom:
    """The bill of an image that `release.image` wrote.

    Raises: ReleaseError where there is none.
    """
    digest = digest_of(layout)
    always = locked(())
    components, edges = _python(always, always)
    about = {
        "type": "container",
        "name": "roadstead",
        "version": __version__,
        "purl": f"pkg:oci/roadstead@{quote(digest, safe='')}?tag={__version__}",
    }
    lines = inputs(layout).read_text(encoding="utf-8").splitlines()
    packages = [Package.of_line(line) for line in lines]
    return _bom(about, [*map(_debian, packages), *components], edges, moment)


def text(bom: Bom) -> str:
    """A bill as a file holds it."""
    return json.dumps(bom, indent=1, sort_keys=True) + "\n"


def _bom(about: Bom, components: Iterable[Bom], edges: Sequence[Bom], moment: int) -> Bom:
    named = sorted(components, key=lambda one: str(one["bom-ref"]))
    root = {**about, "bom-ref": about["purl"], "licenses": _licence("Apache-2.0")}
    linked = {edge["ref"] for edge in edges}
    direct = [one["bom-ref"] for one in named if one["bom-ref"] not in linked]
    whole = [
        *({**edge, "ref": root["bom-ref"]} if edge["ref"] == _ROOT else edge for edge in edges),
        *({"ref": ref} for ref in direct),
    ]
    bom: Bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": instant(moment), "component": root},
        "components": named,
        "dependencies": sorted(whole, key=lambda one: str(one["ref"])),
    }
    bom["serialNumber"] = f"urn:uuid:{uuid.uuid5(_NAMES, sha256(text(bom).encode()).hexdigest())}"
    return bom


_ROOT = "roadstead"


def _python(wanted: Iterable[Locked], always: Iterable[Locked]) -> tuple[list[Bom], list[Bom]]:
    """What uv says of the locked packages, with licences, and who depends on whom."""
    said = licences(wanted)
    names = {package.name: package for package in said}
    required = {package.name for package in always}
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    told = json.loads(uv("export", "--frozen", "--format", "cyclonedx1.5", "--no-dev", *extras))
    refs = {told["metadata"]["component"]["bom-ref"]: _ROOT}
    components = []
    for one in told["components"]:
        if (package := names.get(one["name"])) is None:
            continue  # for another system, or of an extra
        if one["version"] != package.version:
            raise ReleaseError(f"the lock names {package.name} twice: {one['version']}")
        refs[one["bom-ref"]] = one["purl"]
        kept = {name: one[name] for name in ("type", "name", "version", "purl")}
        kept["bom-ref"] = one["purl"]
        kept["externalReferences"] = one.get("externalReferences", [])
        kept["licenses"] = _licence(said[package])
        kept["scope"] = "required" if package.name in required else "optional"
        components.append(kept)
    if len(components) != len(names):
        raise ReleaseError(f"uv names {len(components)} components, the lock {len(names)}")
    return components, list(_edges(told["dependencies"], refs))


def _edges(told: Iterable[Bom], refs: dict[str, str]) -> Iterable[Bom]:
    for edge in told:
        if edge["ref"] in refs:
            on = sorted(refs[ref] for ref in edge.get("dependsOn", ()) if ref in refs)
            yield {"ref": refs[edge["ref"]], **({"dependsOn": on} if on else {})}


def _modules() -> list[Bom]:
    """The Go modules that are named in what ships, once each version."""
    found: dict[str, Bom] = {}
    for folder in MODULES:
        for name, version in _required(ROOT / folder / "go.mod"):
            purl = f"pkg:golang/{name}@{version}"
            found[purl] = {
                "type": "library",
                "name": name,
                "version": version,
                "purl": purl,
                "bom-ref": purl,
                "scope": "excluded",
                "properties": [
                    {"name": "roadstead:compiled", "value": "by `roadstead up`, never shipped"}
                ],
            }
    return list(found.values())


def _required(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [(m[1], m[2]) for line in lines if (m := _REQUIRED.match(line.strip()))]
    if not found:
        raise ReleaseError(f"{path} requires no module")
    return found


def _debian(package: Package) -> Bom:
    purl = (
        f"pkg:deb/debian/{quote(package.name, safe='')}@{quote(package.version, safe='')}"
        f"?arch={package.architecture}&distro={STATED['suites'][0]}"
    )
    return {
        "type": "library",
        "name": package.name,
        "version": package.version,
        "purl": purl,
        "bom-ref": purl,
        "scope": "required",
        "hashes": [{"alg": "SHA-256", "content": package.digest}],
    }


def _licence(expression: str) -> list[Bom]:
    return [{"expression": expression}]


def main() -> int:
    """Write them and say where."""
    parser = argparse.ArgumentParser(prog="python -m release.bom")
    parser.add_argument("--to", type=Path, default=ROOT / "dist")
    parser.add_argument("--image", type=Path, default=ROOT / "dist/image")
    asked = parser.parse_args()

    def work() -> None:
        bills = {f"roadstead-{__version__}.cdx.json": package_bom(epoch())}
        if asked.image.exists():
            bills[f"roadstead-{__version__}-image.cdx.json"] = image_bom(asked.image, epoch())
        asked.to.mkdir(parents=True, exist_ok=True)
        for name, bom in bills.items():
            (asked.to / name).write_text(text(bom), encoding="utf-8")
            sys.stdout.write(f"{asked.to / name}: {len(bom['components'])} components\n")
        if not asked.image.exists():
            sys.stdout.write(f"none of the image: {asked.image} is not there (make image)\n")

    return reported(work)


if __name__ == "__main__":
    sys.exit(main())
