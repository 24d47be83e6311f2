"""Read kubeconfig files the way kubectl does, and choose between them and the pod's account.

Opens no socket and runs nothing. A problem is told with file and line; what stands on that line
is not shown, since it may be a token.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from roadstead.errors import InputError
from roadstead.kube.documents import Document, parse
from roadstead.kube.nearest import did_you_mean
from roadstead.runtime.access import ACCOUNT, Config, Material, Plugin, in_cluster

EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"
_MODES = ("Never", "IfAvailable", "Always")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One named cluster, user or context, and the document that states it first."""

    what: str
    value: Mapping[str, Any] = field(repr=False)
    document: Document = field(repr=False)
    path: tuple[str | int, ...]
    folder: Path

    def refuse(self, message: str, *, key: str = "", hint: str = "") -> InputError:
        """Make the error that names this entry and its line."""
        path = (*self.path, key) if key in self.value else self.path
        return InputError(
            f"{message} in {self.what}", place=str(self.document.place_of(*path)), hint=hint
        )

    def text(self, key: str) -> str:
        """Give one text; empty when it is not stated."""
        value = self.value.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.refuse(f"`{key}` is no text", key=key, hint="put it in quotes")
        return value

    def flag(self, key: str) -> bool:
        """Give one boolean; false when it is not stated."""
        value = self.value.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.refuse(f"`{key}` is neither true nor false", key=key)
        return bool(value)

    def material(self, data_key: str, file_key: str) -> Material | None:
        """Give inline data, else the file beside the kubeconfig, else None."""
        if inline := self.text(data_key):
            try:
                content = b64decode("".join(inline.split()), validate=True)
            except (Base64Error, ValueError):
                raise self.refuse(f"`{data_key}` is no base64", key=data_key) from None
            return Material(f"`{data_key}` of {self.what}", content)
        if name := self.text(file_key):
            return Material(f"`{file_key}` of {self.what}", path=self.folder / name)
        return None


@dataclass(slots=True)
class _Merged:
    """What several files say together: the first to state a name wins, as with kubectl."""

    files: list[str] = field(default_factory=list)
    current: str = ""
    entries: dict[tuple[str, str], _Entry] = field(default_factory=dict)

    def find(self, room: str, name: str, wanted_by: str) -> _Entry:
        """Give a cluster, user or context by name.

        Raises: InputError with the nearest name there is.
        """
        if entry := self.entries.get((room, name)):
            return entry
        names = sorted(known for kind, known in self.entries if kind == room)
        known = f"known {room}s: {', '.join(names)}"
        hint = did_you_mean(name, names, known if names else f"the kubeconfig states no {room}s")
        raise InputError(
            f"{wanted_by}unknown {room} `{name}`", place=", ".join(self.files), hint=hint
        )


def find(kubeconfig: str, context: str, environ: Mapping[str, str]) -> Config:
    """Say which cluster is meant, as kubectl and controller-runtime do.

    Order: `--kubeconfig`, then KUBECONFIG, then the account of the pod we run in, then
    ~/.kube/config. `--context` asks for a kubeconfig.
    Raises: InputError.
    """
    named = kubeconfig or context or environ.get("KUBECONFIG")
    if not named and environ.get("KUBERNETES_SERVICE_HOST") and (ACCOUNT / "token").exists():
        return in_cluster(environ)
    return load(kubeconfig, context, environ)


def load(kubeconfig: str, context: str, environ: Mapping[str, str]) -> Config:
    """Read kubeconfig files and follow one context.

    kubeconfig: one file that must exist; empty for KUBECONFIG's list, else ~/.kube/config.
    context: empty for the files' current one.
    Raises: InputError naming file, context or user.
    """
    merged = _merge(*_paths(kubeconfig, environ))
    name = context or merged.current
    if not name:
        names = sorted(known for room, known in merged.entries if room == "context")
        raise InputError(
            "no context is chosen and the kubeconfig has no `current-context`",
            place=", ".join(merged.files),
            hint=f"give --context: {', '.join(names)}" if names else "it states no contexts",
        )
    chosen = merged.find("context", name, "")
    cluster = merged.find("cluster", chosen.text("cluster"), f"context `{name}` names the ")
    user_name = chosen.text("user")
    user = merged.find("user", user_name, f"context `{name}` names the ") if user_name else None
    server, ca = _server(cluster), None
    if cluster.flag("insecure-skip-tls-verify"):
        if cluster.material("certificate-authority-data", "certificate-authority"):
            raise cluster.refuse(
                "`insecure-skip-tls-verify` stands beside a CA",
                key="insecure-skip-tls-verify",
                hint="keep one of the two",
            )
    else:
        ca = cluster.material("certificate-authority-data", "certificate-authority")
    return Config(
        server=server,
        source=f"context `{name}` of {', '.join(merged.files)}",
        namespace=chosen.text("namespace") or "default",
        ca=ca,
        insecure=cluster.flag("insecure-skip-tls-verify"),
        server_name=cluster.text("tls-server-name"),
        proxy=_proxy(cluster),
        **(_identity(user, cluster, server, ca) if user else {}),
    )


def _paths(kubeconfig: str, environ: Mapping[str, str]) -> tuple[list[Path], bool]:
    """List the files to read, and whether each must exist."""
    if kubeconfig:
        return [Path(kubeconfig)], True
    if listed := environ.get("KUBECONFIG"):
        return [Path(name) for name in dict.fromkeys(listed.split(":")) if name], False
    home = environ.get("HOME")
    return [(Path(home) if home else Path.home()) / ".kube" / "config"], False


def _merge(paths: Iterable[Path], must_exist: bool) -> _Merged:
    merged, missing = _Merged(), []
    for path in paths:
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            missing.append(str(path))
            continue
        except OSError as error:
            raise InputError(
                f"kubeconfig cannot be read: {error.strerror}",
                place=str(path),
                hint="check its permissions, or name another file with --kubeconfig",
            ) from None
        merged.files.append(str(path))
        _add(merged, path, text)
    if not merged.files or (must_exist and missing):
        raise InputError(
            "kubeconfig does not exist",
            place=", ".join(missing),
            hint="give --kubeconfig FILE, or set KUBECONFIG",
        )
    return merged


def _add(merged: _Merged, path: Path, text: bytes) -> None:
    parsed = parse(text, str(path))
    if parsed.problems:
        first = parsed.problems[0]
        raise InputError(
            f"kubeconfig cannot be read: {first.message}",
            place=first.place or str(path),
            hint=first.hint or "`kubectl config view` reads the same file",
        )
    if not parsed.documents:
        return
    document = parsed.documents[0]
    if len(parsed.documents) > 1 or not isinstance(document.value, dict):
        raise InputError("a kubeconfig is one YAML object", place=str(document.place))
    current = document.value.get("current-context")
    if not merged.current and isinstance(current, str):
        merged.current = current
    for room in ("cluster", "user", "context"):
        seen: set[str] = set()
        for entry, name in _entries(document, room, path.absolute().parent):
            if name in seen:
                raise entry.refuse(f"{room} `{name}` stands twice", hint="keep one of them")
            seen.add(name)
            merged.entries.setdefault((room, name), entry)


def _entries(document: Document, room: str, folder: Path) -> Iterator[tuple[_Entry, str]]:
    """Walk one list of a file: each entry with its name."""
    listed = document.value.get(f"{room}s") or []
    if not isinstance(listed, list):
        place = str(document.place_of(f"{room}s"))
        raise InputError(f"`{room}s` of the kubeconfig is no list", place=place)
    for number, item in enumerate(listed):
        path = (f"{room}s", number)
        name = item.get("name") if isinstance(item, dict) else None
        value = (item.get(room) or {}) if isinstance(item, dict) else None
        if not isinstance(name, str) or not isinstance(value, dict):
            raise InputError(
                f"entry {number + 1} of `{room}s` has not the keys `name` (a text) and `{room}`",
                place=str(document.place_of(*path)),
            )
        yield _Entry(f"{room} `{name}`", value, document, (*path, room), folder), name


def _server(cluster: _Entry) -> str:
    server = cluster.text("server").rstrip("/")
    parts = _split(server)
    if parts is None or parts.scheme not in {"http", "https"} or parts.username is not None:
        raise cluster.refuse(
            "`server` is no http or https address",
            key="server",
            hint="write it as https://host:6443, without a user",
        )
    return server


def _proxy(cluster: _Entry) -> str:
    proxy = cluster.text("proxy-url")
    parts = _split(proxy)
    if proxy and (parts is None or parts.scheme not in {"http", "https"}):
        raise cluster.refuse(
            "`proxy-url` is no http or https proxy",
            key="proxy-url",
            hint="SOCKS is not spoken; an HTTP proxy with CONNECT is",
        )
    return proxy


def _split(address: str) -> Any:
    """Split an address; None when it has no host or is none at all."""
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _identity(user: _Entry, cluster: _Entry, server: str, ca: Material | None) -> dict[str, Any]:
    """Give the fields of Config that say who we are."""
    if "auth-provider" in user.value:
        raise user.refuse(
            "`auth-provider` is no longer supported by Kubernetes",
            key="auth-provider",
            hint="use the provider's exec plugin",
        )
    token = Material(f"`token` of {user.what}", user.text("token").strip().encode())
    if name := user.text("tokenFile"):
        token = Material(f"`tokenFile` of {user.what}", path=user.folder / name)
    has_token = bool(token.content or token.path)
    if has_token and user.text("username"):
        raise user.refuse("a token and a password stand side by side", hint="keep one of them")
    certificate = user.material("client-certificate-data", "client-certificate")
    key = user.material("client-key-data", "client-key")
    if (certificate is None) is not (key is None):
        stated, other = ("key", "certificate") if key else ("certificate", "key")
        raise user.refuse(
            f"a client {stated} without its {other}", hint=f"add `client-{other}` or its `-data`"
        )
    return {
        "token": token if has_token else None,
        "certificate": certificate,
        "key": key,
        "username": user.text("username"),
        "password": user.text("password"),
        "impersonate": tuple(_impersonation(user)),
        "plugin": _plugin(user, cluster, server, ca),
    }


def _impersonation(user: _Entry) -> Iterator[tuple[str, str]]:
    """Give the headers of `as`, `as-uid`, `as-groups` and `as-user-extra`."""
    rest = [key for key in ("as-groups", "as-uid", "as-user-extra") if user.value.get(key)]
    if not (name := user.text("as")):
        if rest:
            raise user.refuse(f"`{rest[0]}` without `as`", key=rest[0])
        return
    yield "Impersonate-User", name
    if uid := user.text("as-uid"):
        yield "Impersonate-Uid", uid
    for group in _texts(user, "as-groups", user.value.get("as-groups")):
        yield "Impersonate-Group", group
    extra = user.value.get("as-user-extra") or {}
    if not isinstance(extra, dict):
        raise user.refuse("`as-user-extra` is no map of lists", key="as-user-extra")
    for key, values in extra.items():
        for value in _texts(user, "as-user-extra", values):
            yield f"Impersonate-Extra-{quote(str(key), safe='')}", value


def _texts(entry: _Entry, key: str, listed: object) -> tuple[str, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise entry.refuse(f"`{key}` is no list of texts", key=key, hint="put each in quotes")
    return tuple(listed)


def _plugin(user: _Entry, cluster: _Entry, server: str, ca: Material | None) -> Plugin | None:
    stated = user.value.get("exec")
    if stated is None:
        return None
    entry = replace(
        user, value=stated if isinstance(stated, dict) else {}, path=(*user.path, "exec")
    )
    if entry.text("apiVersion") not in EXEC_VERSIONS:
        raise entry.refuse(
            "`exec.apiVersion` is none that we speak",
            key="apiVersion",
            hint=f"use {EXEC_VERSIONS[0]}",
        )
    if not (command := entry.text("command")):
        raise entry.refuse("`exec.command` is missing")
    mode = entry.text("interactiveMode") or "IfAvailable"
    if mode not in _MODES:
        raise entry.refuse(
            "`exec.interactiveMode` is unknown",
            key="interactiveMode",
            hint=f"use {', '.join(_MODES)}",
        )
    pairs = stated.get("env") or []
    if not isinstance(pairs, list) or not all(
        isinstance(pair, dict) and isinstance(pair.get("name"), str) for pair in pairs
    ):
        raise entry.refuse("`exec.env` is no list of `name` and `value`", key="env")
    return Plugin(
        user=user.what,
        command=str(user.folder / command) if "/" in command else command,
        api_version=entry.text("apiVersion"),
        args=_texts(entry, "args", stated.get("args")),
        env={pair["name"]: str(pair.get("value") or "") for pair in pairs},
        mode=mode,
        cluster=_told(cluster, server, ca) if entry.flag("provideClusterInfo") else None,
        hint=entry.text("installHint").strip(),
    )


def _told(cluster: _Entry, server: str, ca: Material | None) -> dict[str, Any]:
    """Give what a plugin that asks for it is told of the cluster."""
    told: dict[str, Any] = {"server": server}
    for key in ("tls-server-name", "proxy-url"):
        if value := cluster.text(key):
            told[key] = value
    if cluster.flag("insecure-skip-tls-verify"):
        told["insecure-skip-tls-verify"] = True
    if ca:
        told["certificate-authority-data"] = b64encode(ca.read()).decode()
    for extension in cluster.value.get("extensions") or []:
        if isinstance(extension, dict) and extension.get("name") == _EXEC_EXTENSION:
            told["config"] = extension.get("extension")
    return told
