"""Rules of Secrets: those that must be there encrypted, and those that must not be written out.

No message holds a value, nor a part of one. Source: contract 3.9, 4.2.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.api.parts import Secret
from roadstead.capabilities.services.decide.saying import said
from roadstead.capabilities.services.snapshot import SecretFile, Snapshot
from roadstead.kube.documents import Document, Place, parse

_WORDS = re.compile(
    r"(?:^|[^a-z]|(?<=[a-z])(?=[A-Z]))"
    r"(?i:pass(?:word)?|secret|token|api_?key|private_key|credential)s?"
    r"(?=$|[^a-z])"
)
_ENCRYPTED = re.compile(r"ENC\[AES256_GCM,data:[A-Za-z0-9+/=]+,iv:[^,\]]+,tag:[^,\]]+,type:\w+\]")
_VALUES = ("data", "stringData")


def looks_secret(name: str) -> bool:
    """Tell whether a variable's name has a word of a secret. Source: contract, P-SEC-04."""
    folded = name.lower() if name.isupper() or name.islower() else name
    return _WORDS.search(folded) is not None


def values_are_not_written_out(seen: Snapshot) -> Iterator[Finding]:
    """P-SEC-04."""
    for one in seen.service.env:
        if one.value and looks_secret(one.name):
            message = f"variable {one.name} looks like a secret and has its value written out"
            hint = "declare it under `secrets` and refer to it with {secret, key}"
            yield said(seen, "P-SEC-04", ("env", one.name), message, hint=hint)


def references_are_declared(seen: Snapshot) -> Iterator[Finding]:
    """P-SEC-05."""
    declared = {one.name: one.keys for one in seen.service.secrets}
    for one in seen.service.env:
        if not one.secret and one.value is not None:
            continue
        if one.secret not in declared:
            message = f"variable {one.name} names secret {one.secret}, which is not declared"
            yield said(seen, "P-SEC-05", ("env", one.name, "secret"), message)
        elif one.secret_key not in declared[one.secret]:
            message = (
                f"variable {one.name} names key {one.secret_key} of secret {one.secret}, which"
                " is not declared"
            )
            yield said(seen, "P-SEC-05", ("env", one.name, "key"), message)


def secrets_are_there(seen: Snapshot) -> Iterator[Finding]:
    """P-SEC-01, P-SEC-02 and P-SEC-03, for every Secret the service needs."""
    if seen.secrets is None:
        return
    for one in seen.service.required_secrets:
        file = seen.secrets.get(one.name)
        if file is None:
            yield _missing(seen, one)
        else:
            yield from faults_of(file, seen.service.name, one)


def _missing(seen: Snapshot, secret: Secret) -> Finding:
    name = seen.service.name
    declared = next((one for one in seen.service.secrets if one.name == secret.name), None)
    path: tuple[str | int, ...] = ("auth", "mode")
    if declared is not None:
        path = ("secrets", declared.index, "name")
    file = f"{seen.secrets_folder}/{name}/{secret.name}.sops.yaml"
    keys = ", ".join(f"`{key}`" for key in secret.keys)
    return said(
        seen,
        "P-SEC-01",
        path,
        f"{file} is missing, with key {keys}",
        hint=f"roadstead service secret template {name} {secret.name}, for {file} with {keys}",
    )


def faults_of(file: SecretFile, service: str, secret: Secret) -> Iterator[Finding]:
    """What is wrong with one file: first whether it is encrypted, then whether it is the one."""
    parsed = parse(file.text, file.path)
    if parsed.problems or len(parsed.documents) != 1:
        place = Place(file.path, 1, 1)
        yield _finding("P-SEC-03", service, "the file is not one YAML document", place)
        return
    document = parsed.documents[0]
    if not isinstance(document.value, dict):
        yield _finding("P-SEC-03", service, "the file is not a Secret", document.place)
        return
    yield from _unencrypted(document, service)
    yield from _another(document, service, secret)


def _unencrypted(document: Document, service: str) -> Iterator[Finding]:
    body = document.value
    sops = body.get("sops")
    if not isinstance(sops, dict) or not sops.get("mac"):
        message = "the file has no `sops` part with a `mac`: it is not encrypted"
        yield _finding("P-SEC-02", service, message, document.place)
    for part in _VALUES:
        for path, leaf in _leaves(body.get(part), (part,)):
            if not isinstance(leaf, str) or _ENCRYPTED.fullmatch(leaf) is None:
                shown = ".".join(str(step) for step in path)
                message = f"`{shown}` is not encrypted"
                yield _finding("P-SEC-02", service, message, document.place_of(*path))


def _leaves(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _leaves(one, (*path, number))
    elif value is not None or len(path) > 1:
        yield path, value


def _another(document: Document, service: str, secret: Secret) -> Iterator[Finding]:
    body = document.value
    meta = body.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    wanted = (
        (("apiVersion",), body.get("apiVersion"), "v1"),
        (("kind",), body.get("kind"), "Secret"),
        (("metadata", "name"), meta.get("name"), f"{service}-{secret.name}"),
        (("metadata", "namespace"), meta.get("namespace"), service),
    )
    for path, found, expected in wanted:
        shown = ".".join(path)
        if found == expected:
            continue
        message = f"`{shown}` is not {expected}"
        if isinstance(found, str) and found.startswith("ENC["):
            message = f"`{shown}` is encrypted; Flux needs it in clear"
        yield _finding("P-SEC-03", service, message, document.place_of(*path))
    held = {key for part in _VALUES if isinstance(body.get(part), dict) for key in body[part]}
    for key in secret.keys:
        if key not in held:
            yield _finding("P-SEC-03", service, f"key `{key}` is missing", document.place)


def _finding(check: str, service: str, message: str, place: Place) -> Finding:
    return Finding(CHECKS[check].severity, check, service, message, place)
