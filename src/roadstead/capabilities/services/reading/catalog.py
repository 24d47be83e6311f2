"""Files to a catalog: definitions and the platform they stand on, and what is wrong with each."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from roadstead.capabilities.services.api.catalog import Catalog, place_order
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.model import Service
from roadstead.capabilities.services.api.platform import Platform
from roadstead.capabilities.services.reading.build import service_of
from roadstead.capabilities.services.reading.defaults import materialised
from roadstead.capabilities.services.reading.definitions import Definitions, read_definitions
from roadstead.capabilities.services.reading.platform import read_platform
from roadstead.capabilities.services.reading.texts import Text


@dataclass(frozen=True, slots=True)
class CatalogRead:
    """What files gave.

    catalog: the services that fit; None where the platform file does not.
    """

    catalog: Catalog | None = field(repr=False)
    findings: tuple[Finding, ...]
    files: int


def read_catalog(texts: Iterable[Text], platform: Text, *, core: bool = False) -> CatalogRead:
    """Read everything and say all that is wrong with it as it is written."""
    definitions = read_definitions(texts, core=core)
    read = read_platform(platform)
    findings = (*definitions.findings, *read.findings)
    if read.platform is None:
        return CatalogRead(None, findings, definitions.files)
    catalog = catalog_of(definitions, read.platform)
    return CatalogRead(catalog, findings, definitions.files)


def catalog_of(definitions: Definitions, platform: Platform) -> Catalog:
    """The catalog of the definitions that fit their schema."""
    services = [
        service_of(materialised(one.written, platform), one.origin) for one in definitions.fitting
    ]
    return Catalog(*_split(services), platform, definitions.broken)


def _split(services: list[Service]) -> tuple[tuple[Service, ...], tuple[Service, ...]]:
    """The first definition of each name in the order of files, by name, and the others."""
    services.sort(key=lambda one: place_order(one.origin.place()))
    first: dict[str, Service] = {}
    repeated = [one for one in services if first.setdefault(one.name, one) is not one]
    return tuple(first[name] for name in sorted(first)), tuple(repeated)
