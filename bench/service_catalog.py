"""A catalog of service definitions from a seed: what a platform of that many services looks like.

Every third one depends on another, in chains of up to fifty; the rest of the mix follows the five
examples. Source: contract, section 9.
"""

import random
from collections.abc import Iterator

_CHAIN = 50
_KINDS = ("web", "web", "sso", "proxied", "bulk", "stateful", "worker", "vm")


def catalog(count: int, seed: int = 1) -> dict[str, bytes]:
    """Definitions by file name, sorted; the same for the same count and seed."""
    rng = random.Random(seed)  # noqa: S311 - a mix, no secret
    return {f"svc-{number:05}.yaml": _definition(rng, number).encode() for number in range(count)}


def _definition(rng: random.Random, number: int) -> str:
    kind = rng.choice(_KINDS)
    return "".join(f"{line}\n" for line in _lines(rng, number, kind))


def _lines(rng: random.Random, number: int, kind: str) -> Iterator[str]:
    name = f"svc-{number:05}"
    yield 'schemaVersion: "1.5.0"'
    yield f"name: {name}"
    if kind == "vm":
        yield from ("kind: vm", "source: {vmTemplate: debian-12}")
    else:
        version = f"{rng.randint(1, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"
        yield f"source: {{image: registry.example.net/apps/{name}:{version}}}"
    yield f"exposure: {'public' if kind in {'web', 'sso'} and rng.random() < 0.3 else 'internal'}"
    if number % 3 == 2 and number % (3 * _CHAIN) > 3:
        yield from ("dependencies:", f"- {{to: svc-{number - 3:05}, port: 8080}}")
    elif rng.random() < 0.2:
        yield from ("dependencies:", "- {to: postgres-main, port: 5432}")
    if kind in {"web", "sso", "proxied", "bulk"}:
        yield from ("ingressRoutes:", f"- {{host: {name}.home.example.net, port: 8080}}")
    if rng.random() < 0.1:
        yield from ("inClusterClients:", "- {namespace: flux-system, port: 8080}")
    yield from _storage(kind)
    yield from _auth(kind)
    yield "observability: {metrics: true, port: 9090, slis: [up, restarts]}"
    if kind != "vm":
        yield "env:"
        yield from (f'  SETTING_{one}: "{rng.randint(0, 9999)}"' for one in range(4))


def _storage(kind: str) -> Iterator[str]:
    if kind in {"bulk", "stateful", "vm"}:
        yield from ("storage:", "- {name: data, size: 20Gi, mountPath: /data}")
    if kind == "bulk":
        yield "- {name: media, size: 4Ti, class: bulk, export: /tank/media, mountPath: /media}"


def _auth(kind: str) -> Iterator[str]:
    if kind == "sso":
        yield "auth: {mode: oidc, groups: [staff], redirectPaths: [/callback]}"
    elif kind in {"web", "proxied", "bulk"}:
        yield "auth: {mode: forward-auth, groups: [admins, staff]}"
    else:
        yield "auth: {mode: none}"
