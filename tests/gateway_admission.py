"""Every row of TenantGateway's admission matrix: what is sent, and what is said of it.

Both the API server and the offline world are held to it, and so will be the controller's own
repetition of the rules. Source: tenant-gateway 1.3, TG-001 to TG-013.
"""

from dataclasses import dataclass
from typing import Any

from roadstead.capabilities.gateways.api import GROUP, TENANT_GATEWAY

Problem = tuple[str, str]
"""A field as the server names it, and a part of what it says of it."""

APEX = "foo.example.com"
LISTENERS = "spec.tlsPassthroughListeners"
V3 = ("spec", "must be apex or end with `.` and apex")
V4 = ("spec", "must be none of tlsPassthroughServices")
V5 = ("spec", "must be empty or absent unless certMode is http01")
V2 = (LISTENERS, "port must be a different one")
REQUIRED = "Required value"
UNSUPPORTED = "Unsupported value"


@dataclass(frozen=True)
class Row:
    """One create, or one update from `old`. problems: none where it is admitted.

    stored: fields of the spec as they are afterwards.
    """

    id: str
    new: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    old: dict[str, Any] | None = None
    stored: tuple[tuple[str, Any], ...] = ()


def gateway(**spec: Any) -> dict[str, Any]:
    """A TenantGateway with these fields, under the apex where none is stated; None leaves out."""
    parts = {"apex": APEX, **spec}
    return {
        "apiVersion": TENANT_GATEWAY.api_version,
        "kind": TENANT_GATEWAY.kind,
        "metadata": {"name": "cozystack", "namespace": "tenant-foo"},
        "spec": {name: part for name, part in parts.items() if part is not None},
    }


def listener(name: str, port: int, hostname: str | None = None) -> dict[str, Any]:
    """One listener on a port of its own."""
    return {"name": name, "port": port, "hostname": hostname or f"{name}.{APEX}"}


def row(id_: str, *problems: Problem, **spec: Any) -> Row:
    """A create."""
    return Row(id_, gateway(**spec), problems)


def listening(id_: str, listeners: list[dict[str, Any]], *problems: Problem, **spec: Any) -> Row:
    """A create with these listeners."""
    return row(id_, *problems, tlsPassthroughListeners=listeners, **spec)


def at(number: int, field: str, says: str) -> Problem:
    """What is said of a field of one listener."""
    return (f"{LISTENERS}[{number}].{field}", says)


def named(id_: str, hostname: str, *problems: Problem) -> Row:
    """A create with one listener of a hostname."""
    return listening(id_, [listener("pg", 5432, hostname)], *problems)


SERVERS_OWN = "must be neither 80 nor 443"
POSTGRES = listener("postgres", 5432)
MYSQL = listener("mysql", 3306)
MALFORMED = at(0, "hostname", "should match")
LONGEST = ".".join(["a" * 63] * 3 + ["a" * 61])
DEFAULTS = (
    ("certMode", "http01"),
    ("issuerName", "letsencrypt-prod"),
    ("gatewayClassName", "cilium"),
)
SERVICES = "spec.tlsPassthroughServices"


def token(**more: Any) -> dict[str, Any]:
    """A DNS-01 block of Cloudflare."""
    return {"cloudflare": {"apiTokenSecretRef": {"key": "api-token", **more}}}


CREATES = (
    Row("TG-001", gateway(), stored=DEFAULTS),
    row("TG-002-edge", certMode="edge"),
    row(
        "TG-002-selfsigned",
        ("spec.certMode", f'{UNSUPPORTED}: "selfsigned"'),
        certMode="selfsigned",
    ),
    row("TG-003-absent", ("spec.apex", REQUIRED), apex=None),
    row("TG-003-empty", ("spec.apex", "at least 1 chars"), apex=""),
    row("TG-003-long", ("spec.apex", "Too long"), apex="a" * 254),
    row("TG-003-longest", apex=LONGEST),
    row("TG-003-upper-case", apex="Foo.Example.com"),
    Row(
        "TG-003-no-spec", {k: v for k, v in gateway().items() if k != "spec"}, (("spec", REQUIRED),)
    ),
    listening("TG-004-postgres", [POSTGRES]),
    listening("TG-004-mysql-too", [POSTGRES, MYSQL]),
    named("TG-004-wildcard", f"*.kafka.{APEX}"),
    named("TG-004-apex", APEX),
    named("TG-004-wildcard-apex", f"*.{APEX}"),
    row("TG-004-dotted-service", tlsPassthroughServices=["s3.storage"]),
    listening(
        "TG-004-service-beside", [POSTGRES], tlsPassthroughServices=["api", "vm-exportproxy"]
    ),
    listening("TG-005-443", [listener("pg", 443)], at(0, "port", SERVERS_OWN)),
    listening("TG-005-80", [listener("pg", 80)], at(0, "port", SERVERS_OWN)),
    listening("TG-005-0", [listener("pg", 0)], at(0, "port", "greater than or equal to 1")),
    listening(
        "TG-005-65536", [listener("pg", 65536)], at(0, "port", "less than or equal to 65535")
    ),
    listening("TG-005-65535", [listener("pg", 65535)]),
    listening("TG-006-port-twice", [POSTGRES, listener("pg", 5432)], V2),
    listening(
        "TG-006-name-twice",
        [POSTGRES, listener("postgres", 5433)],
        (f"{LISTENERS}[1]", 'Duplicate value: {"name":"postgres"}'),
    ),
    named("TG-007-elsewhere", "pg.evil.example.com", V3),
    named("TG-007-suffix", "pg.evilfoo.example.com", V3),
    listening(
        "TG-007-letters",
        [listener("pg", 5432, "pg.foo.example.com")],
        V3,
        apex="Foo.example.com",
    ),
    listening(
        "TG-008", [listener("api", 6443, f"api2.{APEX}")], V4, tlsPassthroughServices=["api"]
    ),
    row("TG-009-letters", (f"{SERVICES}[0]", "should match"), tlsPassthroughServices=["API_X"]),
    row("TG-009-long", (f"{SERVICES}[0]", "Too long"), tlsPassthroughServices=["a" * 250]),
    row("TG-009-longest", tlsPassthroughServices=["a" * 249]),
    row("TG-009-empty", (f"{SERVICES}[0]", "should match"), tlsPassthroughServices=[""]),
    row("TG-009-twice", tlsPassthroughServices=["api", "api"]),
    row(
        "TG-009-many",
        (SERVICES, "Too many: 63"),
        tlsPassthroughServices=[f"s{number}" for number in range(63)],
    ),
    named("TG-010-underscore", f"pg_main.{APEX}", MALFORMED),
    named("TG-010-upper-case", f"PG.{APEX}", MALFORMED),
    named("TG-010-dash", f"-pg.{APEX}", MALFORMED),
    named("TG-010-two-stars", f"*.*.{APEX}", MALFORMED),
    named("TG-010-star-inside", f"a.*.{APEX}", MALFORMED),
    named("TG-010-line-end", f"pg.{APEX}\n", MALFORMED),
    *(
        listening(f"TG-011-{mode}-one", [POSTGRES], V5, certMode=mode)
        for mode in ("dns01", "existingSecret", "edge")
    ),
    *(
        listening(f"TG-011-{mode}-none", [], certMode=mode)
        for mode in ("dns01", "existingSecret", "edge")
    ),
    listening("TG-011-http01", [POSTGRES], certMode="http01"),
    listening("limits-many", [listener(f"l{n}", 1000 + n) for n in range(62)]),
    listening(
        "limits-too-many",
        [listener(f"l{n}", 1000 + n) for n in range(63)],
        (LISTENERS, "Too many: 63"),
    ),
    listening("limits-name", [listener("a.b", 5432, APEX)], at(0, "name", "should match")),
    listening("limits-no-port", [{"name": "a", "hostname": APEX}], at(0, "port", REQUIRED)),
    row("issuer", ("spec.issuerName", UNSUPPORTED), issuerName="zerossl"),
    row("provider", ("spec.dns01.provider", UNSUPPORTED), dns01={"provider": "akamai"}),
    Row(
        "provider-default",
        gateway(certMode="dns01", dns01=token()),
        stored=(("dns01", {"provider": "cloudflare", **token(name="")}),),
    ),
    row(
        "block-without-key",
        ("spec.dns01.digitalocean.tokenSecretRef.key", REQUIRED),
        dns01={"digitalocean": {"tokenSecretRef": {"name": "x"}}},
    ),
    row("block-of-another-provider", dns01={"provider": "route53", **token()}),
)


def changed(id_: str, old: dict[str, Any], new: dict[str, Any], *problems: Problem) -> Row:
    """An update."""
    return Row(id_, gateway(**new), problems, gateway(**old))


UPDATES = (
    changed("update-mode", {}, {"certMode": "edge"}),
    changed(
        "update-mode-with-listener",
        {"tlsPassthroughListeners": [POSTGRES]},
        {"tlsPassthroughListeners": [POSTGRES], "certMode": "edge"},
        V5,
    ),
    changed(
        "update-apex",
        {"tlsPassthroughListeners": [POSTGRES]},
        {"tlsPassthroughListeners": [POSTGRES], "apex": "bar.example.com"},
        V3,
    ),
    changed(
        "update-port",
        {"tlsPassthroughListeners": [POSTGRES, MYSQL]},
        {"tlsPassthroughListeners": [POSTGRES, {**MYSQL, "port": 443}]},
        at(1, "port", SERVERS_OWN),
    ),
)

ROWS = (*CREATES, *UPDATES)


def misread(message: str, problems: tuple[Problem, ...]) -> list[str]:
    """What a refusal's sentence lacks: its head, or one of the problems under its field."""
    head = f'{TENANT_GATEWAY.kind}.{GROUP} "cozystack" is invalid: '
    lacking = [] if message.startswith(head) else [head]
    for field, says in problems:
        # Each problem of the sentence begins with its field and ends where the next begins.
        parts = message.split(f"{field}: ")[1:]
        lacking += [] if any(says in part for part in parts) else [f"{field}: {says}"]
    return lacking
