"""What one definition is judged and rendered on: itself, its catalog, the files beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.platform import Platform


@dataclass(frozen=True, slots=True)
class SecretFile:
    """One file of the secrets folder.

    path: as it is told to people. text: its bytes, which are copied unchanged.
    """

    path: str
    text: bytes = field(repr=False)


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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One service, with all it may look at.

    secrets: the files of its folder below the secrets folder, by the declared name (`db`); None
        where no such folder was looked at, and then nothing is said about Secrets.
    secrets_folder: as it is told to people.
    previous: None without an earlier tree; with `--fresh` its images are empty.
    """

    service: Service
    catalog: Catalog
    secrets: Mapping[str, SecretFile] | None = None
    secrets_folder: str = "secrets"
    previous: Previous | None = None

    @property
    def platform(self) -> Platform:
        """The platform file."""
        return self.catalog.platform
