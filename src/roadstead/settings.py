"""What the flags of `run` set for the decisions, as one frozen value.

Each field is documented in docs/reference/settings.md under its camelCase name; a case's
settings.yaml and the file of `--settings` use that name too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from roadstead.errors import InputError
from roadstead.kube.documents import Document, parse


@dataclass(frozen=True, slots=True)
class CaSource:
    """One engine's declaration: the template of the source's name and the key to lift.

    kind: the application kind it is for; empty in a definition's own declaration.
    Source: trust-anchors 4.2.
    """

    kind: str
    source_secret_name: str
    source_key: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a decision may know of how the process was started.

    ca_sources: the engine table by kind; None when no `--ca-sources-file` was given, empty when
        the file says `engines: []`.
    allow_withdrawals: kinds whose mass withdrawal a person has allowed.
    cozy_proxy_contract_implemented: the platform runs cozy-proxy, so that a `method` is served.
    endpoint_attachment_allocate_node_ports: rendered Services get node ports.
    attachment_tenant_classes: the address classes a minted claim may name; empty offers all.
    kstatus_conditions: whether `Reconciling` and `Stalled` are written beside `Ready`.
    """

    ca_sources: tuple[CaSource, ...] | None = None
    allow_withdrawals: frozenset[str] = field(default_factory=frozenset)
    cozy_proxy_contract_implemented: bool = False
    endpoint_attachment_allocate_node_ports: bool = False
    attachment_tenant_classes: frozenset[str] = field(default_factory=frozenset)
    kstatus_conditions: bool = True

    def ca_source(self, kind: str) -> CaSource | None:
        """The engine table's entry for an application kind."""
        return next((entry for entry in self.ca_sources or () if entry.kind == kind), None)


def parse_ca_sources(text: bytes, name: str) -> tuple[CaSource, ...]:
    """Read the engine table of `--ca-sources-file`.

    name: the file's name, for messages.
    Raises: InputError for anything but the shape `engines: [{kind, sourceSecretName,
        sourceKey}]`, and for a kind named twice: an empty table read by mistake would withdraw
        every declared anchor in the cluster.
    Source: trust-anchors 4.2, item 2.
    """
    parsed = parse(text, name)
    if parsed.problems:
        raise parsed.problems[0]
    if len(parsed.documents) != 1:
        raise InputError(
            f"{len(parsed.documents)} documents where one engine table belongs",
            place=name,
            hint="write `engines: []` for an empty table",
        )
    document = parsed.documents[0]
    engines = document.value.get("engines") if isinstance(document.value, dict) else None
    if not isinstance(engines, list) or set(document.value) != {"engines"}:
        raise InputError(
            "an engine table holds the one key `engines`, a list",
            place=str(document.place),
            hint="write `engines: []` for an empty table",
        )
    entries = tuple(_entry(document, number, entry) for number, entry in enumerate(engines))
    _refuse_repeats(document, entries)
    return entries


def _entry(document: Document, number: int, entry: object) -> CaSource:
    place = str(document.place_of("engines", number))
    known = {"kind", "sourceSecretName", "sourceKey"}
    if not isinstance(entry, dict) or not set(entry) <= known:
        raise InputError(
            "an engine has the keys `kind`, `sourceSecretName` and, optional, `sourceKey`",
            place=place,
        )
    for required in ("kind", "sourceSecretName"):
        if not isinstance(entry.get(required), str) or not entry[required].strip():
            raise InputError(f"`{required}` of an engine is missing or no text", place=place)
    key = entry.get("sourceKey")
    if not isinstance(key, str | None):
        raise InputError("`sourceKey` of an engine is no text", place=place)
    return CaSource(entry["kind"].strip(), entry["sourceSecretName"], key or "")


def _refuse_repeats(document: Document, entries: Iterable[CaSource]) -> None:
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        if entry.kind in seen:
            raise InputError(
                f"kind `{entry.kind}` is named twice",
                place=str(document.place_of("engines", number)),
                hint="keep one entry for each kind",
            )
        seen.add(entry.kind)
