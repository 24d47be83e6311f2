"""Run Kubernetes' own control plane as a child, for as long as this process lives.

The child ends at end-of-file of the pipe it inherits and removes its folder itself, so a parent
that is killed leaves no process, no port and no folder. KUBECONFIG is never read here.
"""

import contextlib
import fcntl
import json
import os
import secrets
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from roadstead.cache import cache_folder
from roadstead.errors import TestbedError
from roadstead.testbed.build import build

OTHER_CLUSTER = "ROADSTEAD_TEST_KUBECONFIG"
PERMISSION = ("kube-system", "roadstead-test-ok")  # the ConfigMap that allows tests on a cluster

BOOT_SECONDS = 120.0
ANSWER_SECONDS = 60.0
STOP_SECONDS = 5.0
STALE_SECONDS = 60.0  # a folder younger than this may not have its lock yet

_PREFIX = "roadstead-plane-"


class ControlPlane:
    """A running control plane; `start` makes one, `stop` or the end of a `with` ends it.

    url: where it listens, on loopback.
    kubeconfig: the administrator's, mode 0600.
    audit: the audit log, one JSON event a line, complete once a request was answered.
    version: as the server's /version says, for example v1.36.3.
    folder: everything it wrote; gone when it ends.
    pid: its process.
    ready_seconds: how long it took to boot.
    """

    def __init__(
        self, child: subprocess.Popen[bytes], binary: Path, folder: Path, log: IO[bytes]
    ) -> None:
        """Wait until the child is ready; `start` is the way in."""
        self.binary = binary
        self.folder = folder
        self.pid = child.pid
        self._child = child
        self._log = log
        ready = self._answer("boot", BOOT_SECONDS)
        self.url = str(ready["url"])
        self.kubeconfig = Path(ready["kubeconfig"])
        self.audit = Path(ready["audit"])
        self.version = str(ready["version"])
        self.ready_seconds = float(ready["ready_seconds"])

    @classmethod
    def start(
        cls, binary: Path | None = None, folder: Path | None = None, port: int = 0
    ) -> "ControlPlane":
        """Boot a control plane and return when it answers.

        binary: built when None.
        folder: must be absent, empty, or left behind by a run that was killed; one of our own in
            the temporary folder when None.
        port: on 127.0.0.1; 0 takes a free one.
        Raises: TestbedError with step `folder` or `boot` and the child's log.
        Cost: about 4 s and 350 MB.
        """
        binary = binary or build()
        _sweep(Path(tempfile.gettempdir()))
        if folder is None:
            folder = Path(tempfile.gettempdir()) / f"{_PREFIX}{secrets.token_hex(6)}"
        folder = folder.absolute()
        _make_way(folder)
        log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        child = subprocess.Popen(  # noqa: S603 - our own program
            [str(binary), "--data", str(folder), "--port", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=_environment(),
        )
        return cls(child, binary, folder, log)

    def baseline(self) -> int:
        """Remember all that is stored, as what `reset` goes back to; gives the number of keys."""
        return int(self._ask("baseline")["kept"])

    def reset(self) -> dict[str, int]:
        """Put everything back to the baseline and wait until the API server shows it.

        Gives: `removed` and `restored`, numbers of keys, and `millis`.
        """
        return {name: int(value) for name, value in self._ask("reset").items()}

    def stop(self) -> None:
        """End the child and remove its folder; a second call does nothing."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._log.close()

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002 - as subprocess calls it
    ) -> subprocess.CompletedProcess[str]:
        """Run the control plane's own kubectl as the administrator; the caller judges the result.

        A later `--kubeconfig` or `--token` among the arguments wins.
        """
        return kubectl(self.binary, self.kubeconfig, *arguments, input=input)

    def login(self, account: str, namespace: str = "default") -> Path:
        """Write a kubeconfig of a ServiceAccount with a fresh token, and only that.

        Raises: TestbedError with step `login` when there is no such account.
        """
        made = self.kubectl("create", "token", account, "-n", namespace)
        if made.returncode != 0:
            raise TestbedError(f"no token for {namespace}/{account}: {made.stderr}", step="login")
        raw = self.kubectl("config", "view", "--raw", "-o", "json")
        config = json.loads(raw.stdout)
        config["users"] = [{**config["users"][0], "user": {"token": made.stdout.strip()}}]
        path = self.folder / f"{namespace}.{account}.kubeconfig"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(config, file)
        return path

    def audit_mark(self) -> int:
        """Give the place in the audit log that `audit_entries` can start from later."""
        return self.audit.stat().st_size

    def audit_entries(self, since: int = 0) -> list[dict[str, Any]]:
        """Read the audit events from a mark on, in the order of their ends.

        Each has `user.username`, `verb`, `objectRef`, `responseStatus.code`, `stage` and both
        `requestReceivedTimestamp` and `stageTimestamp`. Writes carry their body, Secrets never.
        """
        with self.audit.open("rb") as file:
            file.seek(since)
            whole, _, _ = file.read().rpartition(b"\n")  # the last line may be half written
        return [json.loads(line) for line in whole.splitlines()]

    def log(self) -> str:
        """Read all that the child said so far."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    def __enter__(self) -> Self:
        """Give itself; it runs already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, whatever happened."""
        self.stop()

    def _ask(self, line: str) -> dict[str, Any]:
        stdin = self._child.stdin
        if stdin is None or stdin.closed:
            raise TestbedError("the control plane was stopped already", step=line)
        with contextlib.suppress(BrokenPipeError):  # the answer will tell
            stdin.write(f"{line}\n".encode())
            stdin.flush()
        return self._answer(line, ANSWER_SECONDS)

    def _answer(self, step: str, limit: float) -> dict[str, Any]:
        stdout = self._child.stdout
        if stdout is None:
            raise TestbedError("the control plane has no pipe to answer on", step=step)
        waiting, _, _ = select.select([stdout], [], [], limit)
        line = stdout.readline() if waiting else b""
        if not line:
            why = "ended" if waiting else f"gave no answer for {limit:.0f} s"
            raise self._failure(f"the control plane {why}", step)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise TestbedError(f"the control plane refused: {answer['error']}", step=step)
        return answer

    def _failure(self, message: str, step: str) -> TestbedError:
        """Keep the child's log where it can be read, and end what is left of it."""
        self._child.kill()
        self._child.wait()
        kept = cache_folder() / "logs" / f"controlplane-{self.pid}.log"
        kept.parent.mkdir(exist_ok=True)
        said = self.log()
        kept.write_text(said, encoding="utf-8")
        cause = [line for line in said.splitlines() if line.startswith("panic:")]
        self.stop()
        return TestbedError(
            ": ".join([message, *cause[:1]]), step=step, log=str(kept), hint="read the log"
        )


def kubectl(
    binary: Path,
    kubeconfig: Path,
    *arguments: str,
    input: str | None = None,  # noqa: A002 - the name that subprocess has
) -> subprocess.CompletedProcess[str]:
    """Run the kubectl inside a control plane's program against any kubeconfig."""
    with tempfile.TemporaryDirectory(prefix="roadstead-kubectl-") as cache:
        # Its cache of kinds is keyed by host and port, and ports come back with other kinds.
        return subprocess.run(  # noqa: S603 - our own program
            [
                str(binary),
                "kubectl",
                f"--kubeconfig={kubeconfig}",
                f"--cache-dir={cache}",
                *arguments,
            ],
            input=input,
            capture_output=True,
            text=True,
            check=False,
            env=_environment(),
        )


def selected_cluster(binary: Path | None = None) -> Path | None:
    """Give the kubeconfig of the cluster a person selected for tests; None when none was.

    Raises: TestbedError with step `select` when the file is absent or the cluster does not carry
        the ConfigMap that allows tests on it.
    """
    given = os.environ.get(OTHER_CLUSTER, "")
    if not given:
        return None
    path = Path(given)
    if not path.is_file():
        raise TestbedError(f"{OTHER_CLUSTER} names {path}, which is no file", step="select")
    namespace, name = PERMISSION
    asked = ("get", "configmap", name, "-n", namespace, "-o", "name", "--request-timeout=10s")
    found = kubectl(binary or build(), path, *asked)
    if found.returncode != 0:
        why = (found.stderr.strip().splitlines() or ["no answer"])[-1]
        raise TestbedError(
            f"the cluster of {path} does not carry the ConfigMap {namespace}/{name}, "
            f"so no test touches it ({why})",
            step="select",
            hint=f"kubectl create configmap {name} -n {namespace}, on a cluster made for tests",
        )
    return path


def _environment() -> dict[str, str]:
    """Give our environment without what would point a tool at a person's cluster."""
    env = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return {**env, "KUBERC": "off"}


def _make_way(folder: Path) -> None:
    """See that nothing stands at the folder's place; only what is ours is removed.

    Raises: TestbedError with step `folder` where something else stands there.
    """
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        return
    if (folder / "lock").is_file():
        if not _remove_stale(folder):
            raise TestbedError(f"{folder} is in use by another control plane", step="folder")
        return
    try:
        folder.rmdir()
    except OSError as error:
        raise TestbedError(
            f"{folder} is not an empty folder ({error.strerror})",
            step="folder",
            hint="name a folder that does not exist; it is removed at the end",
        ) from None


def _sweep(parent: Path) -> None:
    """Remove the folders that killed children of ours left in the temporary folder."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > STALE_SECONDS:
                _remove_stale(folder)


def _remove_stale(folder: Path) -> bool:
    """Remove a folder whose lock nobody holds; tell whether it is gone."""
    with (folder / "lock").open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        shutil.rmtree(folder)
    return True
