"""Secrets that hold a canary in every form a value may have, and how a canary may turn up."""

import base64
from pathlib import Path

import yaml

CANARY = b"canary-4f1d-secret-value"


def write_canaries(folder: Path) -> None:
    """Put a canary into every Secret of the example, in every form a value may have."""
    bodies = []
    for file in sorted((folder / "world").glob("*.yaml")):
        for body in yaml.safe_load_all(file.read_text()):
            if body["kind"] == "Secret":
                body["stringData"]["password"] = CANARY.decode()
                body["data"] = {"more": base64.b64encode(b"x" + CANARY).decode()}
                body["metadata"]["annotations"] = {
                    "kubectl.kubernetes.io/last-applied-configuration": CANARY.decode()
                }
            bodies.append(body)
    (folder / "canary.yaml").write_text(yaml.safe_dump_all(bodies))


def spellings(value: bytes) -> list[str]:
    """A value as it may turn up: plain, and encoded at any offset."""
    found = [value.decode()]
    for offset in range(3):
        encoded = base64.b64encode(b"x" * offset + value).decode()
        found.append(encoded[4 if offset else 0 : -4])
    return found
