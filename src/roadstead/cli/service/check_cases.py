"""The bundled cases of the checks: each is the smallest change that shows one finding.

The self-test and the project's own tests run the same table, `roadstead/selftest/checks.yaml`,
where its form is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import Finding, Severity
from roadstead.capabilities.services.reading.catalog import read_catalog
from roadstead.capabilities.services.reading.texts import Text
from roadstead.capabilities.services.render.effective import Output
from roadstead.capabilities.services.render.part import Rendered
from roadstead.capabilities.services.snapshot import Previous, SecretFile, Snapshot
from roadstead.cli.service.judged import judge_snapshots
from roadstead.kube.documents import dump, parse
from roadstead.sim.merge import merged

SEALED = "ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]"
"""What stands for an encrypted value; nothing is encrypted in it."""
_CHANGES = ("change", "platform", "secrets", "previous", "tamper")


@dataclass(frozen=True, slots=True)
class Base:
    """The unchanged examples. definitions: by the name of the service; all parsed."""

    definitions: Mapping[str, Mapping[str, Any]] = field(repr=False)
    platform: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CheckCase:
    """One case of one check.

    says: what must stand in the message or the hint. change: what is changed in the examples.
    without: what is changed beside it, so that the check is silent; None for the examples alone.
    """

    check: str
    service: str
    severity: Severity
    says: tuple[str, ...]
    change: Mapping[str, Any] = field(repr=False)
    without: Mapping[str, Any] | None = field(repr=False)

    def shown_by(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings that are this one."""
        wanted = (self.check, self.service, self.severity)
        return tuple(one for one in findings if (one.id, one.service, one.severity) == wanted)

    def positive(self, base: Base) -> tuple[Finding, ...]:
        """Everything that is found with the change."""
        return found(base, (self.change,))

    def negative(self, base: Base) -> tuple[Finding, ...]:
        """Everything that is found once it is put right."""
        return found(base, () if self.without is None else (self.change, self.without))


@cache
def cases() -> tuple[CheckCase, ...]:
    """Every bundled case, in the order of the table."""
    source = files("roadstead").joinpath("selftest", "checks.yaml")
    parsed = parse(source.read_bytes(), "checks.yaml")
    return tuple(_case(one) for one in parsed.documents[0].value)


def _case(stated: Mapping[str, Any]) -> CheckCase:
    severity = Severity(stated.get("severity", CHECKS[stated["check"]].severity))
    change = {key: stated[key] for key in _CHANGES if key in stated}
    says = tuple(stated.get("says", ()))
    return CheckCase(
        stated["check"], stated["service"], severity, says, change, stated.get("without")
    )


def base_of(texts: Sequence[bytes], platform: bytes) -> Base:
    """The examples, from their files."""
    read = [parse(text, "", decimal=True).documents[0].value for text in texts]
    written = parse(platform, "", decimal=True).documents[0].value
    return Base({one["name"]: one for one in read}, written)


def found(base: Base, changes: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Everything that is found after changes to the examples, one laid over the other."""
    platform: Any = base.platform
    definitions: dict[str, Any] = dict(base.definitions)
    secrets: Any = {
        "wiki": {"oidc": ["client-secret"], "db": ["password"]},
        "qbittorrent": {"oidc": ["client-secret", "cookie-secret"]},
    }
    previous: dict[str, Any] = {}
    tamper: list[Mapping[str, Any]] = []
    for change in changes:
        platform = merged(platform, change.get("platform", {}))
        secrets = merged(secrets, change.get("secrets", {}))
        previous |= change.get("previous", {})
        tamper = change.get("tamper", tamper)
        for name, patch in change.get("change", {}).items():
            start = definitions.get(name, {} if name.endswith(".yaml") else {"name": name})
            definitions[name] = merged(start, patch)
    texts = [
        Text(name if name.endswith(".yaml") else f"{name}.yaml", dump([one]).encode())
        for name, one in sorted(definitions.items())
    ]
    read = read_catalog(texts, Text("platform.yaml", dump([platform]).encode()))
    if read.catalog is None:
        return read.findings
    seen = [
        Snapshot(
            one,
            read.catalog,
            secrets=dict(_secrets(one.name, secrets.get(one.name, {}))),
            previous=Previous(**previous[one.name]) if one.name in previous else None,
        )
        for one in read.catalog.everyone
    ]
    broken = lambda output: _tampered(output, tamper)  # noqa: E731 - it closes over the case
    return judge_snapshots(read.catalog, seen, read.findings, broken).findings


def _secrets(service: str, stated: Mapping[str, Any]) -> Iterator[tuple[str, SecretFile]]:
    for name, one in stated.items():
        text = one if isinstance(one, str) else sealed(service, name, one)
        yield name, SecretFile(f"secrets/{service}/{name}.sops.yaml", text.encode())


def sealed(service: str, name: str, keys: Sequence[str]) -> str:
    """A Secret that looks encrypted as SOPS does it."""
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{service}-{name}", "namespace": service},
        "stringData": dict.fromkeys(keys, SEALED),
        "sops": {"mac": SEALED, "encrypted_regex": "^(data|stringData)$"},
    }
    return dump([body])


def _tampered(output: Output, tamper: Sequence[Mapping[str, Any]]) -> Output:
    """An output some of whose objects are changed or gone."""
    for one in tamper:
        effective = tuple(_changed(output.effective, one))
        output = Output(effective, tuple(_changed(output.folder, one)))
    return output


def _changed(objects: Sequence[Rendered], how: Mapping[str, Any]) -> Iterator[Rendered]:
    for one in objects:
        if one.path != how["of"]:
            yield one
        elif not how.get("drop"):
            yield replace(one, body=_plain(merged(_plain(one.body), how["merge"])))


def _plain(value: Any) -> Any:
    """A copy without notes, with a text of many characters where `{repeat: 1000001}` says so."""
    if isinstance(value, Mapping):
        if set(value) == {"repeat"}:
            return "x" * value["repeat"]
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, str) else value
