"""What an earlier output tree says of one service: the running image, the volumes, the timer.

Two files of a folder are looked through as text, since a render of a thousand services reads them
all; a form that automation or a person has changed beyond that is read as YAML.
Source: contract 3.10, carry-over; 4.2, checks with a previous tree.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.capabilities.services.api.kinds import CLAIM, DATA_VOLUME
from roadstead.capabilities.services.api.parts import BULK, LONGHORN
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.snapshot import Previous
from roadstead.kube.documents import parse

_TEMPLATES = "volumeClaimTemplates:"
_VOLUMES = frozenset({CLAIM.kind, DATA_VOLUME.kind})
_KIND = re.compile(r"^kind: (\S+)$", re.MULTILINE)
_NAME = re.compile(r"^ +name: (\S+)$", re.MULTILINE)
_SIZE = re.compile(r"^ +storage: (\S+)$", re.MULTILINE)
_CLASS = re.compile(r"^ +storageClassName: (\S+)$", re.MULTILINE)
_TIMER = re.compile(r"OnUnitActiveSec=([0-9]+)")
_MARKED = re.compile(
    r'^ +(?:- +)?image: (\S+) +# *\{"\$imagepolicy": "([^"\n]+)"\} *$', re.MULTILINE
)
_AUTHORED = re.compile(r"^ +(\S+/authored-image): (\S+)$", re.MULTILINE)
_DOCUMENT = re.compile(r"^---$", re.MULTILINE)


def previous(platform: Platform, name: str, workload: bytes, storage: bytes) -> Previous:
    """Read the two files of a service's folder; an empty one is one that is not there.

    Raises: nothing; what cannot be read says nothing.
    """
    text = workload.decode("utf-8", "replace")
    image, authored = _marked(platform, name, text)
    sizes, classes = _volumes(name, storage.decode("utf-8", "replace"))
    if not (image and authored) or _TEMPLATES in text:
        for one in _workloads(text):
            image, authored = _running(platform, one, image, authored)
            _templates(one, sizes, classes)
    timer = _TIMER.search(text)
    return Previous(image, authored, sizes, classes, int(timer[1]) if timer else None)


def _marked(platform: Platform, name: str, text: str) -> tuple[str, str]:
    """The image with automation's mark, and the image it was rendered from."""
    policy = f"{platform.flux.namespace}:{name}"
    key = f"{platform.label_prefix}/authored-image"
    image = next((one[1] for one in _MARKED.finditer(text) if one[2] == policy), "")
    authored = next((one[2] for one in _AUTHORED.finditer(text) if one[1] == key), "")
    return _bare(image), _bare(authored)


def _bare(text: str) -> str:
    return text.strip("\"'")


def _volumes(name: str, text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Size and class of each volume by its storage name."""
    sizes: dict[str, str] = {}
    classes: dict[str, str] = {}
    for document in _DOCUMENT.split(text):
        kind, named = _KIND.search(document), _NAME.search(document)
        size, held = _SIZE.search(document), _CLASS.search(document)
        if not (kind and named and size and held) or kind[1] not in _VOLUMES:
            continue
        entry = _bare(named[1]).removeprefix(f"{name}-")
        if kind[1] == DATA_VOLUME.kind and entry == "root":
            continue  # the machine's own disk is no storage entry
        sizes[entry] = _bare(size[1])
        classes[entry] = LONGHORN if _bare(held[1]) else BULK
    return sizes, classes


def _workloads(text: str) -> Iterator[Mapping[str, Any]]:
    """Every Deployment and StatefulSet of a workload file, packaged or not."""
    for document in parse(text, "").documents:
        body = document.value
        if not isinstance(body, dict):
            continue
        values = _at(body, "spec", "values", "manifests")
        for one in values if isinstance(values, list) else [body]:
            if isinstance(one, dict) and one.get("kind") in {"Deployment", "StatefulSet"}:
                yield one


def _running(
    platform: Platform, workload: Mapping[str, Any], image: str, authored: str
) -> tuple[str, str]:
    containers = _at(workload, "spec", "template", "spec", "containers")
    first = containers[0] if isinstance(containers, list) and containers else None
    key = f"{platform.label_prefix}/authored-image"
    found = _at(first, "image")
    stated = _at(workload, "metadata", "annotations", key)
    return (
        image or (found if isinstance(found, str) else ""),
        authored or (stated if isinstance(stated, str) else ""),
    )


def _templates(workload: Mapping[str, Any], sizes: dict[str, str], classes: dict[str, str]) -> None:
    """Add the volumes that a StatefulSet makes itself."""
    for claim in _at(workload, "spec", "volumeClaimTemplates") or ():
        entry = _at(claim, "metadata", "name")
        size = _at(claim, "spec", "resources", "requests", "storage")
        if isinstance(entry, str) and isinstance(size, str):
            sizes[entry] = size
            classes[entry] = LONGHORN


def _at(value: Any, *path: str) -> Any:
    """What stands at a path; None where any part of it is missing."""
    for step in path:
        if not isinstance(value, Mapping) or step not in value:
            return None
        value = value[step]
    return value
