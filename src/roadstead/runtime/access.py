"""Where a cluster is and what was said of our credentials there, before any of it is used.

No message and no repr here ever shows a token, a password or a key: a credential is named by its
field and its user, a file by its path.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roadstead.errors import InputError

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Material:
    """One credential: what it holds, or the file that is read again while we run.

    what: its field and its owner, for messages.
    """

    what: str
    content: bytes = field(default=b"", repr=False)
    path: Path | None = None

    def read(self) -> bytes:
        """Give its bytes.

        Raises: InputError when its file cannot be read.
        """
        if self.path is None:
            return self.content
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise InputError(
                f"{self.what} cannot be read: {error.strerror}",
                place=str(self.path),
                hint="check that the file is there and that this user may read it",
            ) from None


@dataclass(frozen=True, slots=True)
class Plugin:
    """A program that prints credentials.

    user: whose credentials. env: added to our own environment.
    mode: `Never`, `IfAvailable` or `Always`: what it may do with the terminal.
    cluster: what it is told of the cluster; None when it is told nothing.
    hint: how to install it.
    """

    user: str
    command: str
    api_version: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    mode: str = "IfAvailable"
    cluster: Mapping[str, Any] | None = field(default=None, repr=False)
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """One server, and how to prove to it who we are.

    server: its address, with a path when it stands behind one, no slash at the end.
    source: where this comes from, for messages. namespace: the context's.
    impersonate: the headers that ask to act as somebody else.
    """

    server: str
    source: str = ""
    namespace: str = "default"
    ca: Material | None = None
    insecure: bool = False
    server_name: str = ""
    proxy: str = field(default="", repr=False)
    token: Material | None = None
    certificate: Material | None = None
    key: Material | None = None
    username: str = ""
    password: str = field(default="", repr=False)
    impersonate: tuple[tuple[str, str], ...] = ()
    plugin: Plugin | None = None


def in_cluster(environ: Mapping[str, str], account: Path = ACCOUNT) -> Config:
    """Describe the cluster whose pod we run in.

    account: the folder of the mounted account.
    Raises: InputError outside a pod.
    """
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    if not host:
        raise InputError(
            "KUBERNETES_SERVICE_HOST is not set, so this is no pod", hint="give --kubeconfig FILE"
        )
    port = environ.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        namespace = (account / "namespace").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        namespace = ""
    return Config(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        source="the pod's account",
        namespace=namespace or "default",
        ca=Material("the pod's CA", path=account / "ca.crt"),
        token=Material("the pod's token", path=account / "token"),
    )


def proxy_of(config: Config, environ: Mapping[str, str]) -> str:
    """Say which proxy leads to the server; empty for none.

    The kubeconfig's own comes first, then HTTPS_PROXY or HTTP_PROXY unless NO_PROXY or a
    loopback address excludes the server, as in Go's programs.
    """
    if config.proxy:
        return config.proxy
    parts = urlsplit(config.server)
    name = f"{parts.scheme}_proxy"
    proxy = environ.get(name.upper()) or environ.get(name) or ""
    skip = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    host = (parts.hostname or "").lower()
    if not proxy or _skips(skip, host, str(parts.port or "")):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _skips(skip: str, host: str, port: str) -> bool:
    """Tell whether NO_PROXY names a host: a name, a domain, an address or a network."""
    try:
        address = ip_address(host)
    except ValueError:
        address = None
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    entries = (part.strip().lower() for part in skip.split(","))
    return any(_covers(entry, host, port) for entry in entries)


def _covers(entry: str, host: str, port: str) -> bool:
    """One entry of NO_PROXY: `*`, a host, a domain with all below, `.domain` for those alone."""
    name, _, only = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
    if not name or (only and only != port):
        return False
    if name in {"*", host}:
        return True
    if "/" in name:
        return _in_network(host, name)
    return host.endswith(f".{name.removeprefix('*').lstrip('.')}")


def _in_network(address: str, network: str) -> bool:
    try:
        return ip_address(address) in ip_network(network, strict=False)
    except ValueError:
        return False
