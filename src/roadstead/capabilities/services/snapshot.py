"""What one definition is judged and rendered on: itself, its catalog, the files beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.neighbours import Neighbours
from roadstead.capabilities.services.api.platform import Platform


@dataclass(frozen=True, slots=True)
class SecretFile:
    """One file of the secrets folder.

    path: as it is told to people. text: its bytes, which are copied unchanged.
    """

    path: str
    text: bytes = field(repr=False)


class Volume(NamedTuple):
    """One volume. storage_class: `longhorn` or `bulk`. size: a quantity; empty where unknown."""

    name: str
    storage_class: str
    size: str


class Before(Protocol):
    """What a rule or a builder may ask of an earlier output tree: what is different in it."""

    def moved(self, authored: str) -> str:
        """The image that automation moved a workload to, away from this authored one."""

    def changes(self, now: tuple[Volume, ...]) -> tuple[Volume, ...]:
        """Its volumes that are not among those of now, by name."""

    def other_cadence(self, seconds: int) -> int | None:
        """The cadence of its update timer in seconds where it is another one."""


@dataclass(frozen=True, slots=True)
class Previous:
    """What an earlier output tree says of one service.

    image, authored: the image line of its workload, and the one it was rendered from.
    sizes, classes: of its volumes by storage name; a size is a quantity, a class `longhorn` or
        `bulk`.
    cadence: of a virtual machine's update timer in seconds; None where there is none.
    """

    image: str = ""
    authored: str = ""
    sizes: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    cadence: int | None = None

    def moved(self, authored: str) -> str:
        """The image that runs instead of an authored one; empty where it is that one.

        What was rendered from another authored image says nothing.
        """
        return self.image if self.authored == authored != self.image else ""

    def changes(self, now: tuple[Volume, ...]) -> tuple[Volume, ...]:
        """The volumes of the tree that are not among those of now, by name."""
        stated = set(now)
        found = (
            Volume(name, was, self.sizes.get(name, ""))
            for name, was in sorted(self.classes.items())
        )
        return tuple(one for one in found if one not in stated)

    def other_cadence(self, seconds: int) -> int | None:
        """The cadence where it is another one; None where it is not, or there is no timer."""
        return None if self.cadence == seconds else self.cadence


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One service, with all it may look at.

    secrets: the files of its folder below the secrets folder, by the declared name (`db`); None
        where no such folder was looked at, and then nothing is said about Secrets.
    secrets_folder: as it is told to people.
    previous: None without an earlier tree; with `--fresh` its images are empty.
    """

    service: Service
    catalog: Neighbours
    secrets: Mapping[str, SecretFile] | None = None
    secrets_folder: str = "secrets"
    previous: Before | None = None

    @property
    def platform(self) -> Platform:
        """The platform file."""
        return self.catalog.platform
