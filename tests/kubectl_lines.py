"""Runs the command lines that `why` prints, as kubectl would, on an offline world.

It knows the few forms that are ever printed, and fails on any other: a hint that cannot be read
here is a hint that nobody should be given.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from roadstead.kube.refs import SECRET, Ref
from roadstead.sim.requests import By
from roadstead.sim.world import World


class UnknownLineError(AssertionError):
    """A line of a form that this reader does not know."""


def run(world: World, line: str, files: Mapping[str, str]) -> None:
    """Run one line. files: what the reader of the line supplies, by name."""
    piped = ""
    for part in line.split(" | "):
        piped = _run(world, shlex.split(part), files, piped)


def _run(world: World, words: Sequence[str], files: Mapping[str, str], piped: str) -> str:
    program, verb, *rest = words
    if program != "kubectl":
        raise UnknownLineError(" ".join(words))
    if verb == "apply" and rest[0] == "-f":
        text = piped if rest[1] == "-" else files[rest[1]]
        for body in yaml.safe_load_all(text):
            _apply(world, body)
        return ""
    if verb == "create" and rest[:2] == ["secret", "generic"]:
        return _create(world, rest[2:], files)
    if verb == "create" and rest[:2] == ["secret", "tls"]:
        return _create(world, rest[2:], files, "kubernetes.io/tls")
    target, rest = _target(world, rest)
    if verb == "delete" and not rest:
        world.delete(target, By.OTHER)
    elif verb in {"label", "annotate"}:
        changed = {"metadata": {f"{verb}s" if verb == "label" else "annotations": _pairs(rest)}}
        world.merge(target, changed, By.OTHER)
    elif verb == "patch" and rest[:3] == ["--type", "merge", "-p"]:
        world.merge(target, json.loads(rest[3]), By.OTHER)
    else:
        raise UnknownLineError(" ".join(words))
    return ""


def _target(world: World, words: list[str]) -> tuple[Ref, list[str]]:
    """Read `KIND NAME [-n NAMESPACE]`."""
    plain, name, *rest = words
    namespace = ""
    if rest[:1] == ["-n"]:
        namespace, rest = rest[1], rest[2:]
    known = {seen.kind.kind.lower(): seen.kind for seen in world.store.all()}
    return known[plain].ref(namespace, name), rest


def _pairs(words: Sequence[str]) -> dict[str, str | None]:
    """Read `key=value` and `key-`; a key that is there already asks for --overwrite."""
    found: dict[str, str | None] = {}
    for word in words:
        if word == "--overwrite":
            continue
        key, equals, value = word.partition("=")
        if equals:
            found[key] = value
        elif word.endswith("-"):
            found[word[:-1]] = None
        else:
            raise UnknownLineError(word)
    return found


def _create(world: World, words: list[str], files: Mapping[str, str], type_: str = "Opaque") -> str:
    name, flag, namespace, *rest = words
    data: dict[str, str] = {}
    dry = False
    for word in rest:
        if word.startswith("--from-file="):
            key, _, file = word.removeprefix("--from-file=").partition("=")
            data[key] = files[file]
        elif word.startswith(("--cert=", "--key=")):
            flag_name, _, file = word.partition("=")
            data["tls.crt" if flag_name == "--cert" else "tls.key"] = files[file]
        elif word == "--dry-run=client":
            dry = True
        elif word not in {"-o", "yaml"}:
            raise UnknownLineError(word)
    if flag != "-n":
        raise UnknownLineError(flag)
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "type": type_,
        "stringData": data,
    }
    if dry:
        return yaml.safe_dump(body)
    world.create(SECRET, body, By.OTHER)
    return ""


def _apply(world: World, body: dict[str, Any]) -> None:
    """Create an object, or merge what is stated into it; keys of others stay."""
    meta = body["metadata"]
    kind = world.kinds.of(body["apiVersion"], body["kind"], meta.get("namespace", ""))
    ref = kind.ref(meta.get("namespace", ""), meta["name"])
    if world.store.get(ref) is None:
        world.create(kind, body, By.OTHER)
    else:
        world.merge(ref, body, By.OTHER)
