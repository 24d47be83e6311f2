"""What a person may ask the holder of, and what an answer is made of."""

from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import ip_address

from roadstead.errors import InputError
from roadstead.kube.hostnames import WILDCARD
from roadstead.kube.names import is_subdomain
from roadstead.kube.refs import Ref
from roadstead.kube.times import format_age

HOSTNAME, ADDRESS, SECRET = "hostname", "address", "secret"
RULE = "cozy-* namespaces first, then by namespace/name"
"""Who comes first of those that claim one hostname. Source: tenant-gateway 4.5."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for. of: a hostname, an address or a Secret. name: in its plain form."""

    of: str
    name: str

    @classmethod
    def read(cls, text: str) -> "Asked":
        """Read an argument: an address, `secret/NAME`, a name with a dot, or that of a Secret.

        Raises: InputError where it can be none of them.
        """
        kind, slash, name = text.partition("/")
        if slash and kind.lower() in {SECRET, "secrets"} and is_subdomain(name):
            return cls(SECRET, name)
        try:
            return cls(ADDRESS, str(ip_address(text)))
        except ValueError:
            pass
        plain = text.lower().rstrip(".")
        if is_subdomain(plain.removeprefix(WILDCARD)):
            return cls(HOSTNAME if "." in plain else SECRET, plain)
        raise InputError(
            f"`{text}` is no hostname, no address and no Secret",
            hint="write shop.example.org, 203.0.113.7 or secret/NAME",
        )


@dataclass(frozen=True, slots=True)
class Holding:
    """One holder. since: when it came to hold it; None where nothing says so.

    gateway, listener, addresses, tls: through what it is served; empty where it is not.
    """

    holder: Ref
    since: datetime | None = None
    gateway: Ref | None = None
    listener: str = ""
    addresses: tuple[str, ...] = ()
    tls: str = ""

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self.holder.namespace

    def cells(self, now: datetime) -> tuple[str, ...]:
        """What stands beside the holder in a table: tenant, age, gateway, listener, addresses, TLS.

        now: to count the age from.
        """
        return (
            self.tenant,
            format_age(now - self.since) if self.since is not None else "-",
            self.gateway.key if self.gateway is not None else "-",
            self.listener or "-",
            ", ".join(self.addresses) or "-",
            self.tls or "-",
        )


@dataclass(frozen=True, slots=True)
class Waiting:
    """One that asks for it in vain. reason: why, in the words of its status."""

    about: Ref
    reason: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Who:
    """An answer. hidden: whether it is held by an object that the asker may not read.

    notes: facts beside it, and what could not be read.
    """

    asked: Asked
    holdings: tuple[Holding, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    hidden: bool = False
    notes: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether somebody holds it."""
        return bool(self.holdings) or self.hidden

    @property
    def rule(self) -> str:
        """Who comes first; empty where nobody competes."""
        return RULE if self.asked.of == HOSTNAME and (self.holdings or self.waiting) else ""

    def beside(self, other: "Who") -> "Who":
        """Both answers in one, each holder once."""
        holdings = tuple(dict.fromkeys((*self.holdings, *other.holdings)))
        return replace(
            self,
            holdings=tuple(sorted(holdings, key=lambda one: (one.holder, one.listener))),
            waiting=tuple(
                sorted({*self.waiting, *other.waiting}, key=lambda one: (one.about, one.reason))
            ),
            hidden=(self.hidden or other.hidden) and not holdings,
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
        )
