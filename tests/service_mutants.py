"""Broken places of the services' rules and builders, and who is likely to notice each.

A case of a check fails when the check is silent where it should speak, or speaks where it should
be silent; a case of the renderer when one byte of its tree differs.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import service_cases
from attachment_mutants import Mutant, Patch, always
from roadstead.capabilities.services import decide, package
from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.decide import edges, needs, output, secrets, tunnel, waivers
from roadstead.capabilities.services.render import (
    backup,
    effective,
    identity,
    images,
    observe,
    openings,
    part,
    peers,
    pod,
    policies,
    proxy,
    routes,
    storage,
    workload,
)
from roadstead.capabilities.services.snapshot import Previous
from roadstead.cli.service.check_cases import CheckCase, cases
from services_base import BASE

AREA = "services"
# These packages give a function the name of the module it lives in.
judged = sys.modules["roadstead.cli.service.judged"]
MATRIX = "tests/rules/test_services_matrix.py"
NEEDS = "tests/rules/test_services_needs.py"
WORKLOADS = "tests/rules/test_service_workloads.py"
BY = {
    "lan_hosts_are_of_the_lan": "tests/rules/test_services_lan.py",
    "ports_are_named_apart": "tests/rules/test_services_checks.py",
}
"""Rules whose findings are of the schema, which have no bundled case."""
_CHECK = re.compile(r'"((?:[PS]-(?:[A-Z]+-)?[0-9]+)|(?:I-[0-9]))"')
_ALWAYS = ("examples", "every-extension")


@dataclass(frozen=True)
class CheckHolds:
    """One bundled case of a check, both ways."""

    case: CheckCase
    number: int

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"check {self.case.check} #{self.number}"

    def fails(self) -> bool:
        """Whether its finding is missing, or there when it should not be."""
        shown = self.case.shown_by(self.case.positive(BASE))
        said = " ".join(f"{one.message} {one.hint}" for one in shown)
        right = shown and all(word in said for word in self.case.says)
        return not right or bool(self.case.shown_by(self.case.negative(BASE)))


@dataclass(frozen=True)
class TreeHolds:
    """One case of the renderer."""

    folder: Path

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"tree {self.folder.name}"

    def fails(self) -> bool:
        """Whether anything came out differently."""
        want = service_cases.wanted(self.folder)
        with TemporaryDirectory() as place:
            came = service_cases.rendered(self.folder, Path(place) / "out")
        if want.code:
            return (want.code, want.said, want.tree) != (came.code, came.said, came.tree)
        return (want.code, want.tree) != (came.code, came.tree)


def known() -> list[CheckHolds | TreeHolds]:
    """Every case, the quick ones first."""
    found: list[CheckHolds | TreeHolds] = [TreeHolds(one) for one in service_cases.folders()]
    return [*(CheckHolds(one, number) for number, one in enumerate(cases(), 1)), *found]


def checks_of(rule: Callable[..., Any]) -> tuple[str, ...]:
    """The checks that a rule, or a function beside it that it calls, can name."""
    module = sys.modules[rule.__module__]
    texts = [inspect.getsource(rule)]
    called = {name for name in vars(module) if re.search(rf"\b{name}\(", texts[0])}
    texts += [
        inspect.getsource(one)
        for name in sorted(called)
        if inspect.isfunction(one := vars(module)[name]) and one.__module__ == rule.__module__
    ]
    return tuple(dict.fromkeys(_CHECK.findall("\n".join(texts))))


def inverted(rule: Callable[[Any], Iterator[Finding]]) -> Callable[[Any], list[Finding]]:
    """A rule that speaks when it should be silent, and the other way round."""
    checks = checks_of(rule)

    @wraps(rule)
    def contrary(seen: Any) -> list[Finding]:
        if any(True for _ in rule(seen)):
            return []
        place, name = seen.service.origin.place(), seen.service.name
        return [Finding(CHECKS[one].severity, one, name, "broken", place, "") for one in checks]

    return contrary


def broken_rules() -> Iterator[Mutant]:
    """Each rule, silent and contrary."""
    for rule in decide.RULES:
        checks = tuple(f"check {one} " for one in checks_of(rule))
        by = BY.get(rule.__name__, "")
        for way, change in (("lets all pass", always(())), ("inverted", inverted(rule))):
            told = tuple(change if one is rule else one for one in decide.RULES)
            name = f"services: rule {rule.__name__}: {way}"
            yield Mutant(name, ((decide, "RULES", told),), by, AREA, checks)


def dropped_builders() -> Iterator[Mutant]:
    """Each heading of the contract, not rendered."""
    for build in effective.BUILDERS:
        left = tuple(one for one in effective.BUILDERS if one is not build)
        where = f"{build.__module__.rpartition('.')[2]}.{build.__name__}"
        yield guard(f"{where} is not rendered", (effective, "BUILDERS", left), likely=_ALWAYS)


def guard(name: str, *patches: Patch, by: str = "", likely: tuple[str, ...] = ()) -> Mutant:
    """One guard of services that is dropped."""
    return Mutant(f"services: {name}", patches, by, AREA, likely)


def anywhere(_namespace: str, labels: Any = None) -> list[dict[str, Any]]:
    """Peers without their namespace."""
    keyed = {f"k8s:{key}": value for key, value in (labels or {}).items()}
    return [{"matchLabels": part.in_order(keyed)}]


def whole_namespace(namespace: str, _labels: Any = None) -> list[dict[str, Any]]:
    """Peers without their labels."""
    return real_pods(namespace)


def any_component(platform: Any, name: str, _component: str = part.MAIN) -> dict[str, str]:
    """A selector of everything of a service."""
    return {f"{platform.label_prefix}/service": name}


def whole_internet(_platform: Any, *, ipv6: bool) -> dict[str, Any]:
    """The LAN, too."""
    return {"toCIDRSet": [{"cidr": "0.0.0.0/0"}, *([{"cidr": "::/0"}] if ipv6 else [])]}


def both_families(platform: Any, **_families: bool) -> dict[str, Any]:
    """IPv6 whether it is asked for or not."""
    return real_internet(platform, ipv6=True)


def world(_platform: Any) -> dict[str, Any]:
    """The Gateway's port open to everybody."""
    return {"fromEntities": ["world"]}


def open_peers(_platform: Any) -> dict[str, Any]:
    """The Gateway's port without any peer."""
    return {}


def first_group(seen: Any) -> list[str]:
    """One group where there are several."""
    return real_groups(seen)[:1]


def whatever_runs(before: Previous, _authored: str) -> str:
    """What automation wrote stays, whatever the definition says now."""
    return before.image


def unmarked(seen: Any) -> str:
    """An image line that automation does not find."""
    return str(images.chosen(seen))


real_pods, real_internet = peers.pods, peers.internet
real_groups = proxy.groups

GUARDS = (
    # Of what is rendered, whatever its definition is.
    guard("a changed baseline is not seen", (output, "baseline_faults", always(()))),
    guard("a broken tunnel is not seen", (output, "vpn_is_enforced", always(()))),
    guard("tunnel: rules are not looked at", (tunnel, "_egress", always(()))),
    guard("tunnel: pods are not looked at", (tunnel, "_pod", always(()))),
    guard("tunnel: the gateway policy is not looked at", (tunnel, "_gateway", always(()))),
    guard("tunnel: everything is allowed", (tunnel, "_allowed", always(True))),
    guard("self-made certificates are not seen", (output, "_tls", always(()))),
    guard("every parent is attached", (output, "_attached", always(True))),
    guard("entities are not looked at", (output, "_entities", always(()))),
    guard("entities: none is everything", (output, "_EVERYTHING", frozenset())),
    guard("entities: none is a node", (output, "_NODES", frozenset())),
    guard("rules are not looked at", (output, "_rules", always(()))),
    guard("substitution is not looked at", (output, "_substitution", always(()))),
    guard("nothing is too large", (output, "LARGEST", sys.maxsize)),
    guard("two objects may be one", (judged, "repeated_objects", always(()))),
    guard("schemas are not asked", (judged, "unfit", always(()))),
    # Of definitions, the platform file and Secrets.
    guard("the platform may leave out what is used", (decide, "platform_has_what_is_used", always(())),
          by=NEEDS),
    guard("needs: no login", (needs, "_identity", always(())), by=NEEDS),
    guard("needs: no tunnel", (needs, "_vpn", always(())), by=NEEDS),
    guard("waivers: unknown ones are not told", (waivers, "_fault", always(()))),
    guard("no name of a client is taken", (edges, "_TAKEN", frozenset())),
    guard("no port is closed", (edges, "_closed_ports", always(None))),
    guard("no variable looks secret", (secrets, "looks_secret", always(False))),
    guard("every variable looks secret", (secrets, "looks_secret", always(True))),
    guard("clear text is not seen", (secrets, "_unencrypted", always(()))),
    guard("clear text: everything is encrypted", (secrets, "_ENCRYPTED", re.compile(""))),
    guard("clear text: only in data", (secrets, "_VALUES", ("data",))),
    guard("another Secret is not seen", (secrets, "_another", always(()))),
    # Of policies.
    guard("peers in any namespace", (peers, "pods", anywhere), by=MATRIX),
    guard("peers with any labels", (peers, "pods", whole_namespace), by=MATRIX),
    guard("components are one", *((place, "pair", any_component) for place in (part, peers)),
          by=MATRIX),
    guard("the internet holds the LAN", (peers, "internet", whole_internet), by=MATRIX),
    guard("the internet holds IPv6", (peers, "internet", both_families), by=MATRIX),
    guard("the Gateway is the world", (peers, "from_gateway", world), by=MATRIX),
    guard("the Gateway is everybody", (peers, "from_gateway", open_peers), by=MATRIX),
    guard("no proxy stands in the way",
          *((place, "proxied", always(False)) for place in (policies, openings)), by=MATRIX),
    guard("proxy and service are not connected", (openings, "_proxy_halves", always(())),
          by=MATRIX),
    guard("Envoy's proxies are Cilium's", (openings, "_to_gateway",
          always({"toEntities": ["ingress"], "toPorts": peers.tcp([443])})), likely=("envoy",)),
    guard("the tunnel has no proxy mode", (policies, "VPN_PROXY", "never"), likely=("vpn",)),
    # Of the rest that is rendered.
    guard("carry-over: never", (images, "_carried", always("")), likely=("automation",)),
    guard("carry-over: always", (Previous, "moved", whatever_runs), by=WORKLOADS),
    guard("images carry no mark", (pod, "image", unmarked), likely=_ALWAYS),
    guard("nothing travels in a HelmRelease", (workload, "released", always(False)),
          likely=_ALWAYS),
    guard("everything travels in a HelmRelease", (workload, "released", always(True)),
          likely=("no-rollback",)),
    guard("updates roll", (workload, "rolling", always({"type": "Recreate"})), likely=_ALWAYS),
    guard("volumes are pruned", (storage, "_GUARD", {}), likely=_ALWAYS),
    guard("disks are written again", (storage, "_FLUX_ONCE", {}), likely=_ALWAYS),
    guard("volumes are not backed up", (storage, "backup_labels", always({})), likely=_ALWAYS),
    guard("every schedule runs at once", (backup, "own_minute", lambda _name, cron: cron),
          likely=_ALWAYS),
    guard("redirects are left out", (identity, "redirects", always([])), likely=_ALWAYS),
    guard("one group is enough", (proxy, "groups", first_group), likely=_ALWAYS),
    guard("routes attach to every listener", (routes, "_parents", always([])), likely=_ALWAYS),
    guard("pods are not looked after", (pod, "default_probe_port", always(None)), likely=_ALWAYS),
    guard("pods get no annotations", (pod, "_annotations", always({})), likely=_ALWAYS),
    guard("files of one name are one", (pod, "_told_apart", pod._slug),
          by=WORKLOADS),
    guard("no dashboard", (observe, "_dashboard", observe._rules), likely=_ALWAYS),
    guard("Secrets are not copied", (package, "secret_files", always({})), likely=("secrets-",)),
    guard("folders list no files", (package, "kustomization", always(b"")), likely=_ALWAYS),
)  # fmt: skip

MUTANTS = (*broken_rules(), *dropped_builders(), *GUARDS)
