"""Which image a workload runs: the authored one, a pinned one, or the one automation chose.

Source: contract 3.10, carry-over and `pin`; R-UPD-02.
"""

from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.kube.documents import Noted
from roadstead.kube.images import parse_image

_DIGEST = "sha256:"


def image(seen: Snapshot) -> str:
    """The image line, with the mark that automation looks for where it may move it."""
    running = chosen(seen)
    if seen.service.update.pinned:
        return running
    policy = f"{seen.platform.flux.namespace}:{seen.service.name}"
    return Noted(running, f'{{"$imagepolicy": "{policy}"}}')


def chosen(seen: Snapshot) -> str:
    """The image alone."""
    authored, pin = seen.service.source.image, seen.service.update.pin
    if isinstance(pin, str):
        repository = parse_image(authored).repository
        return f"{repository}@{pin}" if pin.startswith(_DIGEST) else f"{repository}:{pin}"
    return _carried(seen) or authored


def _carried(seen: Snapshot) -> str:
    """What automation wrote into the earlier tree, while the authored image is the same."""
    authored = seen.service.source.image
    moved = seen.previous.moved(authored) if seen.previous is not None else ""
    if not moved:
        return ""
    try:
        same = parse_image(moved).repository == parse_image(authored).repository
    except ValueError:  # somebody wrote something else there by hand
        return ""
    return moved if same else ""
