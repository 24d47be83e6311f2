"""What proves to the API server who we are, kept fresh: headers, TLS and the proxy.

Files are read again every minute and after a 401, plugins run again before what they gave
expires, beside the requests: what works is used until it does not, however long a plugin takes.
Nothing here shows a token or a key, and no key is ever written to a disk: Python's TLS takes keys
from files only, so a memory file it is.
"""

import asyncio
import os
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from roadstead.errors import InputError
from roadstead.runtime.access import Config, Material, Plugin, proxy_of
from roadstead.runtime.exec_plugin import Granted, ask

REREAD_SECONDS = 60.0
RENEW_EARLY_SECONDS = 60.0
RETRY_SECONDS = 10.0
"""How long a failed renewal waits, and how often a refusal may make a plugin run."""


@dataclass(frozen=True, slots=True, eq=False)
class Auth:
    """What one request carries.

    tls: None for plain HTTP.
    """

    headers: tuple[tuple[str, str], ...] = field(repr=False)
    tls: ssl.SSLContext | None


@dataclass(frozen=True, slots=True)
class _Read:
    """The bytes an Auth was made from; equal bytes make no new one."""

    ca: bytes = field(repr=False)
    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)
    token: bytes = field(repr=False)


class Credentials:
    """The credentials of one Config.

    clock: seconds since 1970, for expiries. monotonic: for what is read again.
    interactive: whether a plugin may use our terminal.
    """

    def __init__(
        self,
        config: Config,
        *,
        environ: Mapping[str, str] | None = None,
        interactive: bool = False,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read nothing yet."""
        self.config = config
        self._environ = os.environ if environ is None else environ
        self.proxy = proxy_of(config, self._environ)
        self._interactive = interactive
        self._clock = clock
        self._monotonic = monotonic
        self._renewal: asyncio.Task[Auth] | None = None
        self._failure: InputError | None = None
        self._auth: Auth | None = None
        self._read: _Read | None = None
        self._granted: Granted | None = None
        self._asked_at = float("-inf")
        self._reread_at = float("-inf")
        self._renew_at = float("inf")
        sources = (config.ca, config.token, config.certificate, config.key)
        self._rereads = any(source and source.path for source in sources)

    def __repr__(self) -> str:
        """Show where they come from."""
        return f"<credentials of {self.config.source}>"

    def fresh(self) -> Auth | None:
        """Give what the next request carries; None when `refresh` has to be awaited first."""
        if self._monotonic() >= self._reread_at or self._clock() >= self._renew_at:
            return None
        return self._auth

    async def refresh(self, refused: Auth | None = None) -> Auth:
        """Read files again and run a plugin where that is due.

        refused: what the server answered 401 to; None before a request.
        Raises: InputError when there is nothing that works yet.
        """
        if refused is None:
            if auth := self.fresh():
                return auth
        elif self._auth is not None and self._auth is not refused:
            return self._auth  # another request has renewed it meanwhile
        plugin = self._due_plugin(forced=refused is not None)
        if plugin is None:
            return self._renewed()
        working = self._working()
        if self._renewal is None:
            if working is None and self._failure and self._pausing():
                raise self._failure
            self._renewal = asyncio.create_task(self._renew(plugin), name="credential plugin")
            self._renewal.add_done_callback(self._ended)
        if refused is None and working is not None:
            return working
        # One run for everybody who waits, and whoever gives up waiting does not end it.
        return await asyncio.shield(self._renewal)

    async def close(self) -> None:
        """End a plugin that runs."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)

    def _due_plugin(self, *, forced: bool) -> Plugin | None:
        """The plugin, where nothing it gave is good for long enough."""
        plugin = self.config.plugin
        if plugin is None or self.config.token or self.config.username:
            self._renew_at = float("inf")
            return None
        due = self._granted is None or self._clock() >= self._renew_at
        return plugin if due or (forced and not self._pausing()) else None

    def _pausing(self) -> bool:
        """Whether the plugin ran a moment ago."""
        return self._monotonic() < self._asked_at + RETRY_SECONDS

    def _working(self) -> Auth | None:
        """What has worked and is not known to have expired."""
        expires = self._granted.expires_at() if self._granted else None
        expired = expires is not None and self._clock() >= expires
        return None if expired else self._auth

    def _renewed(self) -> Auth:
        """Build anew of what can be read now; what has worked is kept while that fails."""
        try:
            auth = self._build()
        except InputError:
            if (working := self._working()) is None:
                raise
            self._renew_at = self._clock() + RETRY_SECONDS
            self._reread_at = self._monotonic() + RETRY_SECONDS
            return working
        self._auth = auth
        self._reread_at = self._monotonic() + REREAD_SECONDS if self._rereads else float("inf")
        return auth

    async def _renew(self, plugin: Plugin) -> Auth:
        self._asked_at = self._monotonic()
        try:
            await self._ask(plugin)
        except InputError as failure:
            self._failure, self._asked_at = failure, self._monotonic()
            if (working := self._working()) is None:
                raise
            self._renew_at = self._clock() + RETRY_SECONDS
            return working
        self._failure = None
        return self._renewed()

    def _ended(self, renewal: asyncio.Task[Auth]) -> None:
        self._renewal = None
        if not renewal.cancelled():
            renewal.exception()  # whoever waited has heard of it; perhaps nobody did

    async def _ask(self, plugin: Plugin) -> None:
        """Run the plugin."""
        granted = await ask(plugin, self._environ, interactive=self._interactive)
        expires, now = granted.expires_at(), self._clock()
        self._granted = granted
        self._renew_at = float("inf")
        if expires is not None:
            early = min(RENEW_EARLY_SECONDS, max(0.0, expires - now) / 5)
            # one that is born expired is used once, as kubectl does, and asked for again
            self._renew_at = max(expires - early, now + 1.0)

    def _build(self) -> Auth:
        """Make headers and a TLS context of what can be read now."""
        config, granted = self.config, self._granted
        read = _Read(
            ca=_bytes_of(config.ca),
            certificate=_bytes_of(config.certificate),
            key=_bytes_of(config.key),
            token=_bytes_of(config.token).strip(),
        )
        if granted is not None:
            read = _Read(
                ca=read.ca,
                certificate=granted.client_certificate_data.encode() or read.certificate,
                key=granted.client_key_data.encode() or read.key,
                token=granted.token.strip().encode(),
            )
        if config.token and not read.token:
            raise InputError(f"{config.token.what} is empty", place=str(config.token.path or ""))
        if self._auth is not None and read == self._read:
            return self._auth
        headers = list(config.impersonate)
        if read.token:
            headers.append(("Authorization", f"Bearer {_header(config, read.token)}"))
        elif config.username:
            pair = f"{config.username}:{config.password}".encode()
            headers.append(("Authorization", f"Basic {b64encode(pair).decode()}"))
        tls = None
        if config.server.startswith("https:"):
            tls = self._auth.tls if self._auth and self._same_tls(read) else _context(config, read)
        self._read = read
        return Auth(tuple(headers), tls)

    def _same_tls(self, read: _Read) -> bool:
        """Tell whether only the token differs; connections are kept then."""
        old = self._read
        return old is not None and (old.ca, old.certificate, old.key) == (
            read.ca,
            read.certificate,
            read.key,
        )


def _bytes_of(material: Material | None) -> bytes:
    return material.read() if material else b""


def _header(config: Config, token: bytes) -> str:
    """Give a token as a header takes it; a line break in it would make two headers."""
    text = token.decode("latin-1")
    if not text.isascii() or not text.isprintable() or " " in text:
        what = config.token.what if config.token else "the plugin's token"
        raise InputError(f"{what} holds a blank, a line break or what is no ASCII")
    return text


def _context(config: Config, read: _Read) -> ssl.SSLContext:
    """Make the TLS context of API connections.

    Raises: InputError when a certificate or key cannot be used.
    """
    try:
        # a CA file may hold comments in any language
        text = read.ca.decode("ascii", "ignore") if config.ca else None
        context = ssl.create_default_context(cadata=text)
        if config.ca and not context.cert_store_stats()["x509"]:
            raise ssl.SSLError  # noqa: TRY301 - the same fault as one that OpenSSL finds
    except (ssl.SSLError, ValueError):
        what = config.ca.what if config.ca else "the system's CA bundle"
        raise InputError(f"{what} holds no certificate in PEM") from None
    # Python 3.13 turns this on; it refuses the CAs without key identifiers that clusters have
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if read.certificate:
        try:
            with _as_file(read.certificate) as certificate, _as_file(read.key) as key:
                # an encrypted key must fail here, not ask on the terminal
                context.load_cert_chain(certificate, key, password=lambda: b"")
        except (ssl.SSLError, ValueError, OSError):
            what = config.key.what if config.key else "the plugin's key"
            raise InputError(
                f"{what} does not fit its certificate, is encrypted, or is no PEM"
            ) from None
    return context


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Give a path under which bytes can be read, without a file on any disk."""
    number = os.memfd_create("roadstead", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(number), "wb") as file:
            file.write(content)
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)
