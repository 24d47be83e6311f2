"""What a rule or a builder may ask of the catalog around one service: these questions, no others.

Each has an answer that can be written down, so that a later run can ask again and tell whether
anything a service was rendered on has changed.
"""

from typing import Protocol

from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.parts import Dependency, Route
from roadstead.capabilities.services.api.platform import Platform, ServedPort


class Neighbours(Protocol):
    """The catalog, as one service may look at it. `Catalog` says what each answer means."""

    @property
    def platform(self) -> Platform:
        """The platform file."""

    @property
    def has_variables(self) -> bool:
        """Whether the platform file holds what Flux would replace."""

    def get(self, name: str) -> Service | None:
        """One service."""

    def knows(self, name: str) -> bool:
        """Tell whether a definition has this name."""

    def callers_of(self, name: str) -> tuple[tuple[Service, Dependency], ...]:
        """Who depends on a name, with what it declares."""

    def needs(self, name: str) -> tuple[str, ...]:
        """The distinct catalog services one depends on."""

    def served(self, name: str) -> tuple[ServedPort, ...]:
        """The ports of a service's Service."""

    def first_of_host(self, host: str) -> tuple[Service, Route]:
        """Who has a host first."""

    def first_of_name(self, name: str) -> Service | None:
        """Who has a name first."""

    def cycle_of(self, name: str) -> tuple[str, ...]:
        """The circle of dependencies that begins with a service."""

    def nearest_target(self, name: str) -> str:
        """The dependency target that a name was probably meant to be."""
