"""The cluster that the tests share: booted once, put back between two tests.

It is our own control plane, or the one that ROADSTEAD_TEST_KUBECONFIG names; KUBECONFIG is never
looked at. A cluster that cannot be had is an error, never a reason to skip.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from live_admin import Admin, wait_for
from roadstead.capabilities.anchors.api import DEFINITION
from roadstead.capabilities.attachments.api.names import ADDRESS, ATTACHMENT, CLAIM, CLASS
from roadstead.capabilities.gateways import api
from roadstead.deploy.crds import crds
from roadstead.kube.refs import HELM_RELEASE, NAMESPACE, SECRET, Kind, Ref
from roadstead.testbed.build import build
from roadstead.testbed.crds import ADDRESSES, FLUX, GATEWAY_API, install_into, neighbours
from roadstead.testbed.server import ControlPlane, selected_cluster

OK = 200
ROLE = Kind("ClusterRole", "rbac.authorization.k8s.io", "v1", "clusterroles", namespaced=False)
BINDING = Kind(
    "ClusterRoleBinding",
    "rbac.authorization.k8s.io",
    "v1",
    "clusterrolebindings",
    namespaced=False,
)
NEIGHBOURS = (FLUX, ADDRESSES, GATEWAY_API, "cert-manager")
SERVED = (
    DEFINITION,
    HELM_RELEASE,
    ATTACHMENT,
    CLAIM,
    ADDRESS,
    CLASS,
    api.TENANT_GATEWAY,
    api.GATEWAY,
    api.GATEWAY_CLASS,
    api.HTTP_ROUTE,
    *api.TLS_ROUTES,
    api.REFERENCE_GRANT,
    api.CERTIFICATE,
    api.ISSUER,
    api.CLUSTER_ISSUER,
)
"""The custom kinds that tests need."""
OLD = api.TLS_ROUTES[1:]
"""The versions that the standard bundle of Gateway API does not serve."""
HELD = (SECRET, HELM_RELEASE, CLAIM, api.TENANT_GATEWAY)
"""What tests put finalizers on."""
SWEPT = (NAMESPACE, DEFINITION, ROLE, BINDING, CLASS, ADDRESS, api.GATEWAY_CLASS)
"""What a test may leave on a cluster that cannot be reset."""


@dataclass
class Cluster:
    """One cluster for tests.

    folder: for files of the tests, removed at the end.
    plane: the control plane where it is ours; None for another cluster.
    tokens: a kubeconfig of each account of ours that the baseline has.
    """

    binary: Path
    kubeconfig: Path
    admin: Admin
    version: str
    folder: Path
    plane: ControlPlane | None = None
    kept: set[Ref] = field(default_factory=set)
    tokens: dict[str, Path] = field(default_factory=dict)

    @property
    def own(self) -> ControlPlane:
        """Our control plane, for what needs its audit log.

        Raises: RuntimeError on another cluster, whose audit log nobody here can read.
        """
        if self.plane is None:
            raise RuntimeError("this test reads the audit log; run it on our own control plane")
        return self.plane

    def baseline(self) -> None:
        """Remember what is there."""
        if self.plane is not None:
            self.plane.baseline()
        else:
            self.kept = self._swept()

    def reset(self) -> None:
        """Put everything back to the baseline."""
        self.admin.close()
        if self.plane is not None:
            self.plane.reset()
            return
        for ref in sorted(self._swept() - self.kept):
            self.admin.delete(ref)
        wait_for("an empty cluster", self._emptied)

    def _emptied(self) -> bool:
        """Tell whether all is swept; what only a finalizer of a test still holds is let go."""
        for kind in HELD:
            for meta in self.admin.metadata(kind):
                if meta.get("finalizers") and meta.get("deletionTimestamp"):
                    ref = kind.ref(meta["namespace"], meta["name"])
                    self.admin.patch(ref, {"metadata": {"finalizers": None}})
        return self._swept() <= self.kept

    def _swept(self) -> set[Ref]:
        return {kind.ref("", m["name"]) for kind in SWEPT for m in self.admin.metadata(kind)}


def needed(bundle: str = GATEWAY_API) -> Iterator[dict[str, Any]]:
    """The definitions of neighbours that tests need: a server spends time on every kind.

    bundle: which of Gateway API.
    """
    names = {kind.resource for kind in SERVED}
    for one in neighbours(bundle if name == GATEWAY_API else name for name in NEIGHBOURS):
        if one["metadata"]["name"] in names:
            yield one


@contextmanager
def cluster(bundle: str = GATEWAY_API) -> Iterator[Cluster]:
    """Boot or find the cluster, install the kinds it needs and take the baseline.

    bundle: which of Gateway API; another than the usual is for a server of our own alone.
    """
    binary = build()
    other = selected_cluster(binary) if bundle == GATEWAY_API else None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="roadstead-tests-")))
        plane = None if other else stack.enter_context(ControlPlane.start(binary))
        kubeconfig = plane.kubeconfig if plane else other
        assert kubeconfig is not None
        install_into(binary, kubeconfig, [*crds().values(), *needed(bundle)])
        admin = Admin(kubeconfig)
        stack.callback(admin.close)
        for kind in (one for one in SERVED if bundle == GATEWAY_API or one not in OLD):
            path = kind.path()
            wait_for(f"{path} served", lambda: admin.call("GET", path).code == OK)  # noqa: B023 - asked at once
        found = Cluster(binary, kubeconfig, admin, admin.version(), folder, plane)
        found.baseline()
        yield found
