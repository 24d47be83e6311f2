"""Start a program of an unpacked image as a container runtime would, without root or Docker.

    python tests/jail.py '{"root": FOLDER, "user": 65532, "environment": {...}, "mounts": {...},
                           "folder": "/", "argv": [...]}'

It stands in namespaces of its own (user, mount, process, IPC, host name), as process 1, with a user
id that owns nothing, no capability and no way to gain one, and a root that nobody can write. The
network stays this machine's. `mounts` are folders of this machine shown read-only, by their place
inside, which must exist there. Exits with the program's code, or 128 and its signal; 125 and a line
that begins with `jail:` where this machine does not allow such a thing.
"""

import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

REFUSED = 125
_NEW = 0x00020000 | 0x10000000 | 0x20000000 | 0x08000000 | 0x04000000  # mount user pid ipc uts
_READ_ONLY, _NO_SUID, _NO_DEVICES, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = (
    0x1, 0x2, 0x4, 0x20, 0x1000, 0x4000, 0x40000,
)  # fmt: skip
_DETACH = 2
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 24, 38
_LAST_CAPABILITY = 40
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]  # glibc has no name for it
_DEVICES = ("null", "zero", "urandom")
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    """Start it and give its exit code."""
    asked = json.loads(sys.argv[1])
    try:
        _enter(asked["user"])
    except OSError as error:
        return _refuse(f"no user namespace: {error}")
    child = os.fork()  # the first in the new process namespace is process 1 there
    if child == 0:
        try:
            _settle(asked)
            os.execvpe(asked["argv"][0], asked["argv"], asked["environment"])  # noqa: S606 - that is it
        except OSError as error:
            os._exit(_refuse(f"{error}"))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda sent, _: os.kill(child, sent))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _refuse(why: str) -> int:
    sys.stderr.write(f"jail: {why}\n")
    sys.stderr.flush()
    return REFUSED


def _enter(user: int) -> None:
    """Leave root if we have it, and enter namespaces where we are that user."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        _call("prctl", _PR_SET_DUMPABLE, 1, 0, 0, 0)  # else /proc/self stays root's
    outside = os.geteuid(), os.getegid()
    _call("unshare", _NEW)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {outside[0]} 1")
    Path("/proc/self/gid_map").write_text(f"{user} {outside[1]} 1")


def _settle(asked: dict[str, Any]) -> None:
    """Make the unpacked image the root, read-only, and give up every capability."""
    root = asked["root"]
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _mount(root, root, "", _BIND | _RECURSIVE)
    for inside, outside in asked["mounts"].items():
        _mount(outside, root + inside, "", _BIND)
        _mount("none", root + inside, "", _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEVICES)
    for name in _DEVICES:
        _mount(f"/dev/{name}", f"{root}/dev/{name}", "", _BIND)
    _mount("proc", f"{root}/proc", "proc", _NO_SUID | _NO_DEVICES)
    _mount("none", root, "", _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEVICES)
    os.chdir(root)
    _call("pivot_root", b".", b".", number=_PIVOT_ROOT)
    _call("umount2", b".", _DETACH)
    os.chdir(asked["folder"])
    _call("sethostname", b"jail", 4)
    for capability in range(_LAST_CAPABILITY + 1):
        _call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _mount(what: str, where: str, kind: str, flags: int) -> None:
    _call("mount", what.encode(), where.encode(), kind.encode() or None, flags, None, about=where)


def _call(name: str, *arguments: object, number: int | None = None, about: str = "") -> None:
    if number is None:
        failed = getattr(_libc, name)(*arguments)
    else:
        failed = _libc.syscall(number, *arguments)
    if failed:
        code = ctypes.get_errno()
        raise OSError(code, f"{name} {about}: {os.strerror(code)}")


if __name__ == "__main__":
    sys.exit(main())
