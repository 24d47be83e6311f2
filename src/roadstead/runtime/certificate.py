"""The serving certificate: read from a folder, exchanged without a failed handshake.

A new pair is loaded into a context of its own, and only when certificate and key fit each other,
the name is ours and the time is right does it serve. Until then the old pair does: a half-replaced
pair in a live context would refuse every handshake. Source: lineage 3; runtime 1.
"""

import hashlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509

CERTIFICATE, KEY = "tls.crt", "tls.key"
PERIOD = 1.0
"""Seconds between two looks at the folder: two small files, so that polling is enough."""


class UnfitError(Exception):
    """A pair cannot serve; the words are our own and quote nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair that serves. not_after: when it expires, UTC."""

    context: ssl.SSLContext
    not_after: datetime


class Serving:
    """The pair of one folder, as it is now.

    context: for the listener; each handshake is given the pair that is current by then.
    reloaded: hears whether a pair that was found serves, and in words why not.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        wall: Callable[[], datetime],
        reloaded: Callable[[str], None] = lambda _why: None,
    ) -> None:
        """Read nothing yet. name: the DNS name that clients ask for."""
        self._folder, self._name, self._wall, self._reloaded = folder, name, wall, reloaded
        self._pair: Pair | None = None
        self._seen = b""
        self._why = "no certificate was read yet"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.sni_callback = self._choose

    @property
    def not_after(self) -> datetime | None:
        """When the pair that serves expires; None while none does."""
        return self._pair.not_after if self._pair is not None else None

    @property
    def wrong(self) -> str:
        """Why nobody can be served; empty while a certificate is good."""
        if self._pair is None:
            return f"no serving certificate: {self._why}"
        if self._wall() >= self._pair.not_after:
            return f"the serving certificate has expired: {self._why or 'none newer was found'}"
        return ""

    def look(self) -> None:
        """Read the folder, and take over a pair that is new and fit."""
        found = self._digest()
        if found == self._seen:
            return
        try:
            self._pair = self._loaded()
            if self._digest() != found:
                return  # it changed while it was read; the next look sees what it has become
            self._why = ""
        except UnfitError as error:
            self._why = str(error)
        self._seen = found
        self._reloaded(self._why)

    def _choose(
        self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _own: ssl.SSLContext
    ) -> None:
        """Give a handshake the current pair; without one it fails, which is the truth."""
        if self._pair is not None:
            connection.context = self._pair.context

    def _digest(self) -> bytes:
        """What stands in the folder, as a digest: the key itself is not kept here."""
        digest = hashlib.sha256()
        for name in (CERTIFICATE, KEY):
            try:
                text = (self._folder / name).read_bytes()
            except OSError:
                text = b""
            digest.update(hashlib.sha256(text).digest())
        return digest.digest()

    def _loaded(self) -> Pair:
        """Load the pair of the folder.

        Raises: UnfitError.
        """
        certificate = self._certificate()
        now, names = self._wall(), names_of(certificate)
        if not any(covers(name, self._name) for name in names):
            raise UnfitError(f"{CERTIFICATE} is not for {self._name}")
        if now >= certificate.not_valid_after_utc:
            raise UnfitError(f"{CERTIFICATE} has expired")
        if now < certificate.not_valid_before_utc:
            raise UnfitError(f"{CERTIFICATE} is not valid yet")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(
                self._folder / CERTIFICATE, self._folder / KEY, password=_no_password
            )
        except (ssl.SSLError, OSError, ValueError):
            raise UnfitError(f"{KEY} is missing, unreadable, or of another certificate") from None
        return Pair(context, certificate.not_valid_after_utc)

    def _certificate(self) -> x509.Certificate:
        try:
            text = (self._folder / CERTIFICATE).read_bytes()
        except OSError as error:
            raise UnfitError(f"{CERTIFICATE} cannot be read: {error.strerror}") from None
        try:
            return x509.load_pem_x509_certificate(text)
        except ValueError:
            raise UnfitError(f"{CERTIFICATE} is no certificate") from None


def _no_password() -> str:
    """Refuse a key that is encrypted, where OpenSSL would ask the terminal."""
    raise ValueError


def names_of(certificate: x509.Certificate) -> tuple[str, ...]:
    """The DNS names that a certificate is for; none where it states none."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (x509.ExtensionNotFound, ValueError):
        return ()
    return tuple(found.value.get_values_for_type(x509.DNSName))


def covers(pattern: str, name: str) -> bool:
    """Tell whether a name of a certificate is, or stands for, a host's. Source: RFC 6125."""
    pattern, name = pattern.lower().rstrip("."), name.lower()
    if pattern.startswith("*."):
        return name.partition(".")[2] == pattern[2:]
    return pattern == name
