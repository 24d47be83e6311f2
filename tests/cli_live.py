"""Runs one command line against a control plane, with anybody's rights, and sees what it asks."""

from cli_command import Ran, run
from roadstead.testbed.server import ControlPlane


def look(namespace: str, plane: ControlPlane, *words: str, account: str = "") -> Ran:
    """Run a command against the server; nothing may be written by it.

    account: a ServiceAccount of the namespace; the administrator when empty.
    """
    kubeconfig = plane.login(account, namespace) if account else plane.kubeconfig
    mark = plane.audit_mark()
    ran = run(*words, "--kubeconfig", str(kubeconfig))
    verbs = {
        entry["verb"]
        for entry in plane.audit_entries(mark)
        if entry.get("userAgent", "").startswith("roadstead")
    }
    assert verbs <= {"get", "list"}
    return ran
