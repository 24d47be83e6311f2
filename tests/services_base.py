"""The five examples and their platform, as the tests of the services start from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roadstead.capabilities.services.api.findings import Finding
from roadstead.cli.service.check_cases import Base, base_of, found
from roadstead.kube.documents import parse

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NAMES = ("actions-runner", "gitea", "jellyfin", "qbittorrent", "wiki")
PLATFORM = EXAMPLES / "platform.yaml"
DEFINITIONS = tuple(EXAMPLES / "services" / f"{name}.yaml" for name in NAMES)


def base() -> Base:
    """The examples as they are."""
    return base_of([path.read_bytes() for path in DEFINITIONS], PLATFORM.read_bytes())


BASE = base()


def findings(**changes: Any) -> tuple[Finding, ...]:
    """Everything that is found with changes in the form of the bundled cases."""
    return found(BASE, (changes,))


def ids(found_ones: Sequence[Finding], service: str = "") -> list[str]:
    """The ids of findings, of one service alone where it is named, in order."""
    return [one.id for one in found_ones if service in {"", one.service}]


def errors(found_ones: Sequence[Finding]) -> list[str]:
    """The ids of the errors among findings, in order."""
    return [one.id for one in found_ones if one.severity == "error"]


def yaml(text: str) -> Mapping[str, Any]:
    """A mapping written as YAML."""
    value: Mapping[str, Any] = parse(text, "", decimal=True).documents[0].value
    return value
