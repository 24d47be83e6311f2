"""What each rendered object is there for: the requirements it serves, the checks that look at it.

The one table behind the annotations, the trace and `service explain`. Source: contract 6 and 4.
"""

from collections.abc import Iterable
from typing import NamedTuple

REQUIREMENTS: dict[str, str] = {
    "R-PLAT-02": "container services",
    "R-PLAT-03": "virtual machine services",
    "R-DNS-01": "naming model",
    "R-DNS-02": "internal names",
    "R-DNS-03": "public names",
    "R-NET-01": "default-deny baseline",
    "R-NET-02": "explicit allow, undeclared denied",
    "R-NET-04": "exposure does not relax east-west",
    "R-NET-05": "egress class",
    "R-NET-06": "VPN kill-switch, central",
    "R-STATE-01": "rebuild survival",
    "R-STATE-02": "replicated state",
    "R-STATE-03": "off-cluster backup",
    "R-STATE-04": "bulk tier",
    "R-ENV-02": "one definition, many environments",
    "R-TLS-01": "trusted certificates",
    "R-TLS-02": "certificates renew by themselves",
    "R-TLS-03": "no step per service for TLS",
    "R-IDP-02": "protect OIDC and bare UIs",
    "R-IDP-06": "group authorisation",
    "R-UPD-01": "stable versions only",
    "R-UPD-02": "nobody edits a tag",
    "R-UPD-03": "health-gated rollback",
    "R-OBS-01": "SLIs and alerts",
    "R-GITOPS-02": "one reviewable object",
}
"""Every requirement that a service's own objects carry, and its meaning."""


class Role(NamedTuple):
    """Why an object is there.

    requirements: ids, sorted. checks: ids of the checks that judge it, sorted.
    """

    requirements: tuple[str, ...]
    checks: tuple[str, ...] = ()

    def also(self, more: Iterable[str]) -> "Role":
        """The same with further requirements."""
        return Role(tuple(sorted({*self.requirements, *more})), self.checks)


_OUT = ("P-CAT-04", "P-OUT-01", "P-SIZE-01", "P-SUB-01")
_POLICY = ("I-3", "P-NET-04", "P-NET-05")


def _role(requirements: str, *checks: str) -> Role:
    return Role(tuple(requirements.split()), tuple(sorted({*checks, *_OUT})))


NAMESPACE = _role("R-DNS-01 R-GITOPS-02", "P-CAT-01", "P-CAT-02", "P-CAT-05", "P-PSA-01")
BASELINE = _role("R-NET-01", "I-3", "P-NET-05")
RESOLVER = _role("R-NET-01", *_POLICY)
SCRAPING = _role("R-NET-01 R-OBS-01", "P-OBS-01", *_POLICY)
GATEWAY_ALLOW = _role("R-NET-04", "P-RTE-04", *_POLICY)
DIRECT_CLIENT = _role(
    "R-GITOPS-02 R-NET-01 R-NET-02",
    *(f"P-ICC-0{number}" for number in range(1, 5)),
    *_POLICY[1:],
)
DEPENDENCY = _role("R-NET-01 R-NET-02", *(f"P-DEP-0{number}" for number in range(1, 6)), *_POLICY)
INTERNET = _role("R-NET-05", "P-NET-01", *_POLICY)
VPN = _role("R-NET-05 R-NET-06", *(f"P-NET-0{n}" for n in range(1, 7)), "I-3", "I-4")
IDP_EGRESS = _role("R-IDP-02", *_POLICY)
IMPORTER = _role("R-PLAT-03", *_POLICY)
OPENING = _role("R-NET-02", "P-NET-03", *_POLICY)
CLAIM = _role("R-STATE-01 R-STATE-02", "P-STO-02", "P-STO-03", "P-STO-08", "P-STO-11", "P-STO-12")
BULK_VOLUME = _role("R-ENV-02 R-STATE-01 R-STATE-04", "P-STO-01", "P-STO-05", "P-STO-06")
BULK_CLAIM = _role("R-STATE-01 R-STATE-04", "P-STO-01", "P-STO-05", "P-STO-06")
ROOT_DISK = _role("R-PLAT-03 R-STATE-01 R-STATE-02", "P-VM-01")
DATA_DISK = _role("R-PLAT-03 R-STATE-01 R-STATE-02", "P-STO-11", "P-STO-12", "P-VM-05")
RELEASE = _role("R-PLAT-02 R-UPD-03", "P-UPD-05")
WORKLOAD = _role(
    "R-PLAT-02 R-UPD-02 R-UPD-03",
    "I-1",
    "I-4",
    "P-PSA-01",
    "P-SEC-04",
    "P-SEC-05",
    "P-UPD-01",
    "P-UPD-05",
)
CONFIG = _role("R-PLAT-02", "P-STO-03")
ACCOUNT = _role("R-PLAT-02")
MACHINE = _role("R-PLAT-03", "I-1", "I-4", *(f"P-VM-0{number}" for number in range(1, 6)))
SERVICE = _role("R-PLAT-02", "P-DEP-04")
DIRECT_SERVICE = _role("R-NET-02", "P-NET-03")
ROUTE = _role("R-DNS-01 R-TLS-01 R-TLS-02 R-TLS-03", "I-5", "P-CAT-03", "P-RTE-01", "P-RTE-02")
DEDICATED_TLS = _role("R-TLS-01 R-TLS-02 R-TLS-03", "I-5")
CLIENT = _role("R-IDP-02 R-IDP-06", "I-2", "P-IDP-03", "P-IDP-04", "P-IDP-05", "P-SEC-01")
PROXY = _role("R-IDP-02 R-IDP-06", "I-2", "P-IDP-04", "P-SEC-01")
PROXY_POLICY = _role("R-IDP-02 R-NET-02", *_POLICY)
IMAGES = _role("R-UPD-02", "P-UPD-01", "P-UPD-08")
VERSIONS = _role("R-UPD-01 R-UPD-02", "P-UPD-02", "P-UPD-03", "P-UPD-07")
ALERT = _role("R-UPD-03", "P-UPD-05")
MONITOR = _role("R-OBS-01", "P-OBS-01")
RULES = _role("R-OBS-01", "P-OBS-02")
DASHBOARD = _role("R-OBS-01", "P-OBS-02")
SCHEDULE = _role("R-STATE-03", "I-6", "P-BAK-01", "P-BAK-02")
SECRET = _role("R-IDP-02", "P-SEC-01", "P-SEC-02", "P-SEC-03")
LAYER = _role("R-GITOPS-02", "P-DEP-03")
