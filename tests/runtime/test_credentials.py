"""Own credentials: kubeconfig files as kubectl reads them, plugins, pods, TLS and proxies."""

import asyncio
import contextlib
import ssl
import sys
import time
import traceback
from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from faults import Faults, refuse, stream
from parts import SECRETS
from roadstead.errors import ClusterError, InputError
from roadstead.kube.refs import SECRET
from roadstead.runtime import exec_plugin
from roadstead.runtime.access import Config, Material, in_cluster, proxy_of
from roadstead.runtime.credentials import Auth, Credentials
from roadstead.runtime.kubeconfig import find, load

CANARY = "c4n4ry-token"
V1 = "client.authentication.k8s.io/v1"
START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        """Start at the start."""
        self.now = START.timestamp()

    def __call__(self) -> float:
        """Tell it."""
        return self.now


def kubeconfig(**changes: Any) -> dict[str, Any]:
    """Write a kubeconfig with one context `dev`."""
    return {
        "current-context": changes.get("current", "dev"),
        "clusters": [
            {"name": "c", "cluster": {"server": "https://h:6443", **changes.get("c", {})}}
        ],
        "users": [{"name": "u", "user": changes.get("u", {"token": CANARY})}],
        "contexts": [
            {"name": "dev", "context": {"cluster": "c", "user": "u", **changes.get("x", {})}}
        ],
    }


def written(path: Path, content: object) -> str:
    """Put YAML into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return str(path)


def loaded(folder: Path, **changes: Any) -> Config:
    """Read one kubeconfig."""
    return load(written(folder / "config", kubeconfig(**changes)), "", {})


def refused(path: str, context: str = "", **environ: str) -> InputError:
    """Give the error a kubeconfig ends in."""
    with pytest.raises(InputError) as caught:
        load(path, context, environ)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    return caught.value


def runs(told: Path) -> bool:
    """Tell whether the process whose number stands in a file still runs."""
    try:
        state = Path(f"/proc/{told.read_text(encoding='utf-8')}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return " Z " not in state


def header(credentials: Credentials, auth: Auth) -> str:
    """Give the Authorization header."""
    assert CANARY not in repr(credentials) + repr(auth) + repr(credentials.config)
    return dict(auth.headers).get("Authorization", "")


def plugin(folder: Path, script: str, **more: Any) -> Config:
    """Describe a user whose plugin is a Python program."""
    program = {"apiVersion": V1, "command": sys.executable, "args": ["-c", script], **more}
    return loaded(folder, u={"exec": {"interactiveMode": "Never", **program}}, c=more.get("c", {}))


def prints(token: str = CANARY, expires: str = "", version: str = V1) -> str:
    """Write a plugin that prints a token."""
    stated: dict[str, str] = {"token": token}
    if expires:
        stated["expirationTimestamp"] = expires
    answer = {"apiVersion": version, "kind": "ExecCredential", "status": stated}
    return f"import json; print(json.dumps({answer!r}))"


def certificate(name: str, *, plain: bool = False, ca: Any = None) -> tuple[bytes, bytes, Any]:
    """Make a certificate and key in PEM; plain: a CA without key identifiers."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.fromtimestamp(time.time(), UTC)
    made = (
        x509.CertificateBuilder().subject_name(subject).serial_number(x509.random_serial_number())
    )
    made = made.issuer_name(ca[0].subject if ca else subject).public_key(key.public_key())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.BasicConstraints(ca is None, None), critical=True)
    if ca:
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    if not plain:
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        made = made.add_extension(identifier, critical=False)
    signed = made.sign(ca[1] if ca else key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return signed.public_bytes(serialization.Encoding.PEM), private, (signed, key)


def test_the_first_file_to_state_a_name_wins(tmp_path: Path) -> None:
    """As with kubectl: later files add, they never override; absent ones are passed over."""
    second = kubeconfig(current="other", u={"token": "second"})
    second["contexts"].append({"name": "other", "context": {"cluster": "c", "user": "v"}})
    second["users"].append({"name": "v", "user": {"token": "third"}})
    files = [
        written(tmp_path / "a", kubeconfig()),
        str(tmp_path / "absent"),
        written(tmp_path / "b", second),
    ]
    environ = {"KUBECONFIG": ":".join([*files, "", files[0]])}
    current, other = load("", "", environ), load("", "other", environ)

    assert current.token is not None
    assert current.token.read() == CANARY.encode()
    assert other.token is not None
    assert other.token.read() == b"third"


def test_an_explicit_file_is_the_only_one(tmp_path: Path) -> None:
    """`--kubeconfig` is an answer, not a suggestion."""
    path = written(tmp_path / "a", kubeconfig(x={"namespace": "mine"}))

    assert find(path, "", {"KUBECONFIG": "/absent"}).namespace == "mine"


def test_the_default_file_is_in_the_home_folder(tmp_path: Path) -> None:
    """What works with kubectl works here."""
    written(tmp_path / ".kube" / "config", kubeconfig())

    assert find("", "", {"HOME": str(tmp_path)}).server == "https://h:6443"


def test_files_are_beside_the_kubeconfig_and_inline_data_wins(tmp_path: Path) -> None:
    """Relative paths are the file's, whatever folder we run in."""
    (tmp_path / "ca.crt").write_bytes(b"from-file")
    inline = b64encode(b"inline").decode()
    files = {"client-certificate": "ca.crt", "client-key": "x", "client-key-data": inline}
    config = loaded(tmp_path, c={"certificate-authority": "ca.crt"}, u=files)

    assert config.ca is not None
    assert config.ca.read() == b"from-file"
    assert config.key is not None
    assert config.key.read() == b"inline"


def test_the_rest_of_a_kubeconfig_is_obeyed(tmp_path: Path) -> None:
    """Proxy, server name, insecure and impersonation change where and as whom we write."""
    extra = {"as-uid": "7", "as-groups": ["g", "h"], "as-user-extra": {"Scope/x": ["s"]}}
    cluster = {"proxy-url": "http://p:1", "tls-server-name": "n", "insecure-skip-tls-verify": True}
    config = loaded(tmp_path, c=cluster, u={"token": "t", "as": "jane", **extra})

    assert (config.proxy, config.server_name, config.insecure) == ("http://p:1", "n", True)
    assert config.impersonate == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "g"),
        ("Impersonate-Group", "h"),
        ("Impersonate-Extra-Scope%2Fx", "s"),
    )


async def test_a_token_file_goes_before_a_token(tmp_path: Path) -> None:
    """The file is what gets rotated."""
    (tmp_path / "t").write_text("fresh\n", encoding="utf-8")
    credentials = Credentials(loaded(tmp_path, u={"token": "old", "tokenFile": "t"}), environ={})

    assert header(credentials, await credentials.refresh()) == "Bearer fresh"


async def test_basic_authentication(tmp_path: Path) -> None:
    """Some proxies in front of API servers still ask for it."""
    credentials = Credentials(loaded(tmp_path, u={"username": "a", "password": "b"}), environ={})
    scheme, _, pair = header(credentials, await credentials.refresh()).partition(" ")

    assert (scheme, b64decode(pair)) == ("Basic", b"a:b")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"x": {"cluster": "d"}}, "context `dev` names the unknown cluster `d`"),
        ({"x": {"user": "v"}}, "context `dev` names the unknown user `v`"),
        ({"current": ""}, "no context is chosen"),
        ({"c": {"server": "h:6443"}}, "`server` is no http or https address"),
        ({"c": {"server": f"https://u:{CANARY}@h"}}, "`server` is no http or https address"),
        ({"c": {"server": "https://h:99999"}}, "`server` is no http or https address"),
        ({"c": {"proxy-url": "socks5://p"}}, "`proxy-url` is no http or https proxy"),
        ({"c": {"certificate-authority-data": "%"}}, "`certificate-authority-data` is no base64"),
        ({"c": {"insecure-skip-tls-verify": "yes"}}, "neither true nor false"),
        (
            {"c": {"insecure-skip-tls-verify": True, "certificate-authority": "x"}},
            "stands beside a CA",
        ),
        ({"u": {"token": 12}}, "`token` is no text"),
        ({"u": {"token": CANARY, "username": "u"}}, "a token and a password"),
        ({"u": {"client-key": "x"}}, "a client key without its certificate"),
        ({"u": {"client-key-data": f"{CANARY}!"}}, "`client-key-data` is no base64"),
        ({"u": {"as-groups": ["g"]}}, "`as-groups` without `as`"),
        ({"u": {"as": "u", "as-groups": "g"}}, "`as-groups` is no list"),
        ({"u": {"auth-provider": {"name": "gcp"}}}, "no longer supported"),
        ({"u": {"exec": {"apiVersion": "v1alpha1", "command": "x"}}}, "none that we speak"),
        ({"u": {"exec": {"apiVersion": V1}}}, "`exec.command` is missing"),
        (
            {"u": {"exec": {"apiVersion": V1, "command": "x", "interactiveMode": "no"}}},
            "`exec.interactiveMode` is unknown",
        ),
        ({"u": {"exec": {"apiVersion": V1, "command": "x", "env": [1]}}}, "`exec.env` is no list"),
        ({"u": {"exec": {"apiVersion": V1, "command": "x", "args": [1]}}}, "`args` is no list"),
    ],
)
def test_a_mistake_is_told_with_its_file(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    """Each names the entry and the line, and none shows what stands there."""
    path = written(tmp_path / "config", kubeconfig(**changes))
    error = refused(path)

    assert said in error.message
    assert path in error.place


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"users: [ {{token: {CANARY}", "kubeconfig cannot be read"),
        ("a: 1\n---\nb: 2\n", "a kubeconfig is one YAML object"),
        ("- a\n", "a kubeconfig is one YAML object"),
        ("users: 3\n", "`users` of the kubeconfig is no list"),
        (f"users: [{CANARY}]\n", "entry 1 of `users`"),
        ("users: [{name: u}, {name: u}]\n", "user `u` stands twice"),
        ("", "no context is chosen"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_told(tmp_path: Path, text: str, said: str) -> None:
    """A broken file gives file and line, no traceback and none of its words."""
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")
    error = refused(str(path))

    assert said in error.message
    assert str(path) in error.place


def test_an_unknown_context_names_the_nearest(tmp_path: Path) -> None:
    """A slip of the finger is the usual cause."""
    path = written(tmp_path / "config", kubeconfig())

    assert refused(path, "dve").hint == "did you mean `dev`?"
    assert refused(path, "production").hint == "known contexts: dev"


def test_an_absent_kubeconfig_names_every_file_tried(tmp_path: Path) -> None:
    """The user sees where we looked and what to give instead."""
    absent = str(tmp_path / "a")

    assert refused(absent).place == absent
    assert refused("", KUBECONFIG=f"{absent}:{absent}2").place == f"{absent}, {absent}2"
    assert "--kubeconfig" in refused("", HOME=absent).hint


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that every user may look into; pytest's own is shut."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("locked", ["config", "token"])
async def test_a_file_that_may_not_be_read_is_told(open_folder: Path, locked: str) -> None:
    """Permissions are tried by a child that is not root, for whom every file opens."""
    (open_folder / "token").write_text(CANARY, encoding="utf-8")
    path = written(open_folder / "config", kubeconfig(u={"tokenFile": "token"}))
    (open_folder / locked).chmod(0)
    script = (
        "import os, sys, asyncio\n"
        "from roadstead.errors import InputError\n"
        "from roadstead.runtime.credentials import Credentials\n"
        "from roadstead.runtime.kubeconfig import load\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: asyncio.run(Credentials(load(sys.argv[1], '', {}), environ={}).refresh())\n"
        "except InputError as error: print(error)\n"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, path, stdout=asyncio.subprocess.PIPE
    )
    said = (await child.communicate())[0].decode()

    assert "cannot be read: Permission denied" in said
    assert said.startswith(str(open_folder / locked))


async def test_a_pods_account_is_read_again(tmp_path: Path) -> None:
    """Tokens of pods live an hour; the file changes under us, and sooner than a 401 tells."""
    pem, _, _ = certificate("ca")
    for name, text in (("token", "one"), ("ca.crt", pem.decode()), ("namespace", "mine\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    config = in_cluster({"KUBERNETES_SERVICE_HOST": "fd00::1"}, tmp_path)
    clock = Clock()
    credentials = Credentials(config, environ={}, monotonic=clock)
    first = await credentials.refresh()
    (tmp_path / "token").write_text("two", encoding="utf-8")
    clock.now += 59
    still = credentials.fresh()
    clock.now += 1
    due = credentials.fresh()
    second = await credentials.refresh()
    (tmp_path / "token").write_text("three", encoding="utf-8")
    third = await credentials.refresh(second)

    assert (config.server, config.namespace) == ("https://[fd00::1]:443", "mine")
    assert (still, due) == (first, None)
    assert [dict(auth.headers)["Authorization"] for auth in (first, second, third)] == [
        "Bearer one",
        "Bearer two",
        "Bearer three",
    ]
    assert first.tls is second.tls  # connections survive a new token


async def test_a_new_ca_file_makes_a_new_context(tmp_path: Path) -> None:
    """A rotated CA must be trusted without a restart."""
    path = tmp_path / "ca.crt"
    path.write_bytes(certificate("one")[0])
    config = Config(server="https://h", ca=Material("ca", path=path))
    credentials = Credentials(config, environ={})
    first = await credentials.refresh()
    path.write_bytes(certificate("two")[0])
    second = await credentials.refresh(first)

    assert first.tls is not second.tls


async def test_what_worked_is_kept_while_a_file_is_away(tmp_path: Path) -> None:
    """A mount that is swapped just now must not fail a request."""
    path = tmp_path / "token"
    path.write_text("one", encoding="utf-8")
    config = Config(server="http://h", token=Material("t", path=path))
    credentials = Credentials(config, environ={})
    first = await credentials.refresh()
    path.write_text("", encoding="utf-8")
    emptied = await credentials.refresh(first)
    path.unlink()

    assert emptied is first
    assert await credentials.refresh(first) is first


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX-Evil: 1", "tökén"])
async def test_a_token_that_is_no_header_is_refused(token: str) -> None:
    """A line break in a token would make a second header, an empty one an anonymous request."""
    config = Config(server="http://h", token=Material("the token", token.encode()))
    with pytest.raises(InputError, match="the token"):
        await Credentials(config, environ={}).refresh()


def test_outside_a_pod_there_is_no_account() -> None:
    """The error says what to give instead."""
    with pytest.raises(InputError) as caught:
        in_cluster({})

    assert "--kubeconfig" in caught.value.hint


@pytest.mark.parametrize("version", [V1, f"{V1}beta1"])
async def test_a_plugin_gives_a_token(tmp_path: Path, version: str) -> None:
    """Both versions of the protocol are in use."""
    config = plugin(tmp_path, prints(version=version), apiVersion=version)
    credentials = Credentials(config, environ={})

    assert header(credentials, await credentials.refresh()) == f"Bearer {CANARY}"


async def test_a_plugin_is_told_what_the_kubeconfig_says(tmp_path: Path) -> None:
    """Environment, arguments and cluster reach it; our terminal does not."""
    script = (
        "import json, os, sys\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "assert sys.stdin.read() == '' and os.environ['A'] == 'b' and os.environ['OURS'] == '1'\n"
        "assert info['spec']['interactive'] is False\n"
        "assert info['spec']['cluster']['server'] == 'https://h:6443'\n"
        "assert info['spec']['cluster']['config'] == {'audience': 'x'}\n"
    ) + prints()
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    config = plugin(
        tmp_path,
        script,
        env=[{"name": "A", "value": "b"}],
        provideClusterInfo=True,
        c={"extensions": [extension], "insecure-skip-tls-verify": True},
    )
    credentials = Credentials(config, environ={"OURS": "1"})

    assert header(credentials, await credentials.refresh()) == f"Bearer {CANARY}"


async def test_a_plugin_gives_a_certificate(tmp_path: Path) -> None:
    """A certificate goes into the TLS context, never onto a disk."""
    pem, key, _ = certificate("me")
    stated = {"clientCertificateData": pem.decode(), "clientKeyData": key.decode()}
    answer = {"apiVersion": V1, "kind": "ExecCredential", "status": stated}
    config = plugin(tmp_path, f"import json; print(json.dumps({answer!r}))")
    auth = await Credentials(config, environ={}).refresh()

    assert auth.tls is not None
    assert auth.headers == ()


async def test_a_plugin_is_asked_again_before_its_answer_expires(tmp_path: Path) -> None:
    """A request under way must not carry a token that dies on the wire."""
    script = (
        "import os; n = len(os.listdir('.')); open(f'run{n}', 'w').close()\n"
        "import json; print(json.dumps({'apiVersion': '" + V1 + "', 'kind': 'ExecCredential',"
        "'status': {'token': f'n{n}', 'expirationTimestamp': '2026-01-01T01:00:00Z'}}))"
    )
    runs = tmp_path / "runs"
    runs.mkdir()
    script = f"import os; os.chdir({str(runs)!r})\n{script}"
    wall, ticks = Clock(), Clock()
    credentials = Credentials(plugin(tmp_path, script), environ={}, clock=wall, monotonic=ticks)
    first = await credentials.refresh()
    wall.now += 3539
    assert credentials.fresh() is first
    wall.now += 1
    assert credentials.fresh() is None
    second = first
    while second is first:
        second = await credentials.refresh()
        await asyncio.sleep(0.01)
    wall.now -= 3500
    ticks.now += 100
    third = await credentials.refresh(second)
    fourth = await credentials.refresh(third)
    ticks.now += 100
    late = await credentials.refresh(first)

    found = [header(credentials, auth) for auth in (first, second, third)]
    assert found == ["Bearer n0", "Bearer n1", "Bearer n2"]
    assert late is third  # refused before it was renewed: no reason to renew it again
    assert fourth is third  # a server that refuses everybody does not make us run it each time


async def test_what_a_plugin_gave_is_kept_until_it_expires(tmp_path: Path) -> None:
    """A plugin that fails early leaves the time it was asked early for."""
    flag = tmp_path / "broken"
    script = f"import os, sys\nif os.path.exists({str(flag)!r}): sys.exit(3)\n"
    script += prints(expires="2026-01-01T01:00:00Z")
    wall = Clock()
    credentials = Credentials(plugin(tmp_path, script), environ={}, clock=wall)
    first = await credentials.refresh()
    flag.touch()
    wall.now += 3550
    kept = await credentials.refresh()
    wall.now += 60
    with pytest.raises(InputError, match="ended with code 3"):
        await credentials.refresh()

    assert kept is first


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (f"import sys; sys.stderr.write('{CANARY}'); sys.exit(1)", "ended with code 1"),
        (f"print('{CANARY}')", "printed no ExecCredential"),
        (prints(version="x/v1"), "printed no ExecCredential of"),
        (prints(token=""), "printed neither a token nor a certificate"),
        (prints(expires="soon"), "printed no ExecCredential"),
        (prints().replace("token", "clientKeyData"), "printed half of a certificate"),
        ("import sys\nwhile True: sys.stdout.write('x' * 65536)", "printed more than 1 MiB"),
    ],
)
async def test_a_plugin_that_fails_is_named_and_not_quoted(
    tmp_path: Path, script: str, said: str
) -> None:
    """What it prints, to either side, may be the token itself."""
    config = plugin(tmp_path, script, installHint="install it")
    with pytest.raises(InputError, match=said) as caught:
        await Credentials(config, environ={}).refresh()

    assert "user `u`" in caught.value.message
    assert caught.value.hint == "install it"
    assert CANARY not in "".join(traceback.format_exception(caught.value))


async def test_a_plugin_that_is_not_installed_is_told(tmp_path: Path) -> None:
    """The most common failure of all has a sentence of its own."""
    config = loaded(tmp_path, u={"exec": {"apiVersion": V1, "command": "no-such-plugin"}})
    with pytest.raises(InputError, match="`no-such-plugin` of user `u` is not installed"):
        await Credentials(config, environ={}).refresh()


async def test_a_plugin_that_needs_a_terminal_is_refused_without_one(tmp_path: Path) -> None:
    """A controller has nobody to ask."""
    config = plugin(tmp_path, prints(), interactiveMode="Always")
    with pytest.raises(InputError, match="asks for a terminal"):
        await Credentials(config, environ={}).refresh()


async def test_a_plugin_that_floods_stderr_does_not_block(tmp_path: Path) -> None:
    """A full pipe stops a program that writes to it, and us with it."""
    script = "import sys; sys.stderr.write('x' * 4_000_000); sys.stderr.flush()\n" + prints()
    credentials = Credentials(plugin(tmp_path, script), environ={})

    assert header(credentials, await credentials.refresh()) == f"Bearer {CANARY}"


@pytest.mark.slow
async def test_a_plugin_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    """A child that keeps the pipe open must not outlive the plugin."""
    told = tmp_path / "child"
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(told)!r}, 'w').write(str(child.pid)); time.sleep(600)"
    )
    described = plugin(tmp_path, script).plugin
    assert described is not None
    with pytest.raises(InputError, match=r"did not answer within 1\.5 s and was ended"):
        await exec_plugin.ask(described, {}, limit_seconds=1.5)
    while runs(told):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("hangs", [True, False])
async def test_a_renewal_delays_no_request(tmp_path: Path, *, hangs: bool) -> None:
    """What a plugin gave is good for another minute, which must not go by in waiting.

    The first to notice may be the renewal of the lease, and it has five seconds.
    """
    flag, runs = tmp_path / "slow", tmp_path / "runs"
    runs.mkdir()
    script = (
        f"import os, time; n = len(os.listdir({str(runs)!r})); open({str(runs)!r} + f'/{{n}}', 'w')\n"
        f"if os.path.exists({str(flag)!r}): time.sleep({600 if hangs else 0.3})\n"
        "import json; print(json.dumps({'apiVersion': '" + V1 + "', 'kind': 'ExecCredential',"
        "'status': {'token': f'n{n}', 'expirationTimestamp': '2026-01-01T01:00:00Z'}}))"
    )
    wall = Clock()
    credentials = Credentials(plugin(tmp_path, script), environ={}, clock=wall)
    first = await credentials.refresh()
    flag.touch()
    wall.now += 3545
    async with asyncio.timeout(0.2):
        found = await asyncio.gather(*(credentials.refresh() for _ in range(20)))
    if not hangs:
        while await credentials.refresh() is first:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
    await credentials.close()

    assert found == [first] * 20
    assert len(list(runs.iterdir())) <= 2


async def test_a_plugin_that_fails_is_run_once_for_all_who_wait(tmp_path: Path) -> None:
    """Where nothing works, each request would start it anew, one after the other."""
    runs = tmp_path / "runs"
    runs.mkdir()
    script = f"import os; open({str(runs)!r} + f'/{{os.getpid()}}', 'w'); raise SystemExit(3)"
    ticks = Clock()
    credentials = Credentials(plugin(tmp_path, script), environ={}, monotonic=ticks)
    for _ in range(2):
        asked = (credentials.refresh() for _ in range(20))
        for told in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(told, InputError)
    first = len(list(runs.iterdir()))
    ticks.now += 11
    with pytest.raises(InputError):
        await credentials.refresh()

    assert (first, len(list(runs.iterdir()))) == (1, 2)


async def test_a_plugin_ends_with_its_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM must not wait for a hanging plugin."""
    monkeypatch.setattr(exec_plugin, "LIMIT_SECONDS", 600.0)
    told = tmp_path / "pid"
    script = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    credentials = Credentials(plugin(tmp_path, script), environ={})
    task = asyncio.create_task(credentials.refresh())
    while not told.exists() or not told.read_text(encoding="utf-8"):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await credentials.close()
    while runs(told):  # noqa: ASYNC110 - same
        await asyncio.sleep(0.01)


async def test_a_failing_plugin_is_a_cluster_error_to_a_pass(tmp_path: Path) -> None:
    """A run goes on and tries again later; only the start may end with the user's mistake."""
    async with Faults() as server:
        path = plugin(tmp_path, "import sys; sys.exit(1)")
        async with server.client(path) as client:
            with pytest.raises(ClusterError) as caught:
                await client.get(SECRET.ref("ns", "a"))

    assert (caught.value.reason, caught.value.retry) == ("Credentials", True)


async def test_a_rotated_token_is_used_after_a_401(tmp_path: Path) -> None:
    """The server knows first that a token is gone."""
    path = tmp_path / "token"
    path.write_text("one", encoding="utf-8")
    async with Faults() as server:
        server.serve(SECRET)
        config = Config(server=server.url, token=Material("t", path=path))
        async with server.client(config) as client:
            await client.get(SECRET.ref("ns", "a"))
            path.write_text("two", encoding="utf-8")
            server.next("get", refuse(401))
            await client.get(SECRET.ref("ns", "a"))
            sent = [seen.headers["authorization"] for seen in server.requests]

    assert sent == ["Bearer one", "Bearer one", "Bearer two"]


def serving(pem: bytes, key: bytes, folder: Path, ca: bytes = b"") -> ssl.SSLContext:
    """Make a server's context, one that asks for client certificates when a CA is given."""
    (folder / "crt").write_bytes(pem)
    (folder / "key").write_bytes(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "crt", folder / "key")
    if ca:
        context.load_verify_locations(cadata=ca.decode())
        context.verify_mode = ssl.CERT_REQUIRED
    return context


async def test_a_ca_without_key_identifiers_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.13 refuses such a CA by default, and clusters have them."""
    ca, _, signer = certificate("ca", plain=True)
    pem, key, _ = certificate("api.example.org", plain=True, ca=signer)
    default = ssl.create_default_context

    def strict(**options: Any) -> ssl.SSLContext:
        context = default(**options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    async with Faults(serving(pem, key, tmp_path)) as server:
        server.serve(SECRET)
        trusted = Material("ca", "# vertraülich\n".encode() + ca)
        config = Config(server=server.url, ca=trusted, server_name="api.example.org")
        async with server.client(config) as client:
            seen = await client.get(SECRET.ref("ns", "a"))
        auth = await Credentials(config, environ={}).refresh()

    assert seen is None
    assert auth.tls is not None
    assert not auth.tls.verify_flags & ssl.VERIFY_X509_STRICT
    assert auth.tls.verify_mode is ssl.CERT_REQUIRED


async def test_an_untrusted_server_is_told(tmp_path: Path) -> None:
    """A wrong CA or a wrong name must not look like a server that is down."""
    ca, _, signer = certificate("ca")
    pem, key, _ = certificate("api.example.org", ca=signer)
    async with Faults(serving(pem, key, tmp_path)) as server:
        server.serve(SECRET)
        other = Config(server=server.url, ca=Material("ca", certificate("other")[0]))
        named = Config(server=server.url, ca=Material("ca", ca))
        careless = Config(server=server.url, insecure=True)
        for config in (other, named):
            async with server.client(config) as client:
                with pytest.raises(ClusterError) as caught:
                    await client.get(SECRET.ref("ns", "a"))
            assert caught.value.reason == "Certificate"
        async with server.client(careless) as client:
            assert await client.get(SECRET.ref("ns", "a")) is None


async def test_a_client_certificate_is_shown(tmp_path: Path) -> None:
    """It is loaded from memory, since Python's TLS takes files only and keys belong on no disk."""
    ca, _, signer = certificate("ca")
    pem, key, _ = certificate("api.example.org", ca=signer)
    mine, secret, _ = certificate("me", ca=signer)
    async with Faults(serving(pem, key, tmp_path, ca)) as server:
        server.serve(SECRET)
        config = Config(
            server=server.url,
            ca=Material("ca", ca),
            server_name="api.example.org",
            certificate=Material("certificate", mine),
            key=Material("key", secret),
        )
        async with server.client(config) as client:
            assert await client.get(SECRET.ref("ns", "a")) is None


@pytest.mark.parametrize("wrong", ["ca", "key", "encrypted"])
async def test_a_certificate_that_cannot_be_used_is_named(wrong: str) -> None:
    """Nothing asks for a passphrase on a terminal, and no PEM is shown."""
    pem, key, (_, private) = certificate("me")
    if wrong == "encrypted":
        key = private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"x"),
        )
    config = Config(
        server="https://h",
        ca=Material("`certificate-authority` of c", b"nothing" if wrong == "ca" else pem),
        certificate=Material("certificate", pem),
        key=Material("`client-key` of u", certificate("you")[1] if wrong == "key" else key),
    )
    with pytest.raises(InputError) as caught:
        await Credentials(config, environ={}).refresh()

    assert ("certificate-authority" if wrong == "ca" else "client-key") in caught.value.message


@pytest.mark.parametrize(
    ("server", "skip", "used"),
    [
        ("https://api.example.org:6443", "", True),
        ("https://api.example.org:6443", "example.org", False),
        ("https://api.example.org:6443", ".example.org, other", False),
        ("https://api.example.org:6443", "*.example.org", False),
        ("https://example.org", ".example.org", True),
        ("https://example.org", "*.example.org", True),
        ("https://example.org", ".example.org,example.org", False),
        ("https://example.org", "example.org:443", True),
        ("https://example.org:6443", "example.org:6443", False),
        ("https://api.example.org", "ample.org", True),
        ("https://10.96.0.1", "10.96.0.0/12,x/y", False),
        ("https://10.96.0.1", "10.97.0.0/16", True),
        ("https://[fd00::1]:443", "fd00::/8", False),
        ("https://h", "*", False),
        ("https://127.0.0.1:6443", "", False),
        ("https://localhost:6443", "", False),
    ],
)
def test_proxies_of_the_environment_are_obeyed(server: str, skip: str, used: bool) -> None:
    """As in Go's programs: a cluster's own network stays out of the company's proxy."""
    environ = {"HTTPS_PROXY": "proxy:3128", "NO_PROXY": skip, "http_proxy": "http://wrong"}

    assert proxy_of(Config(server=server), environ) == ("http://proxy:3128" if used else "")
    assert proxy_of(Config(server=server, proxy="http://own"), environ) == "http://own"


class Tunnel:
    """A proxy that opens tunnels; it sees where they lead, and nothing of what goes through."""

    def __init__(self) -> None:
        """Listen nowhere yet."""
        self.asked: list[str] = []
        self.url = ""

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._open, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        self._server.close()

    async def _open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[0]
        self.asked.append(line)
        host, _, port = line.split()[1].rpartition(":")
        there, here = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copied(reader, here), _copied(there, writer))


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()


async def test_tls_goes_through_the_proxy_in_a_tunnel(tmp_path: Path) -> None:
    """What every real cluster is asked through: the proxy opens a tunnel and reads nothing."""
    ca, _, signer = certificate("ca")
    pem, key, _ = certificate("api.example.org", ca=signer)
    async with Faults(serving(pem, key, tmp_path)) as server, Tunnel() as tunnel:
        server.serve(SECRET).put("ns", "a")
        config = Config(
            server=server.url,
            ca=Material("ca", ca),
            server_name="api.example.org",
            proxy=tunnel.url,
        )
        async with server.client(config) as client:
            seen = await client.metadata(SECRET.ref("ns", "a"))
            page = await client.page(SECRETS)
            server.next("watch", stream())
            events = [one async for one in client.watch(SECRETS, "1", timeout_seconds=5)]

    assert seen is not None
    assert ["a"] == [one.meta.name for one in page.objects]
    assert [] == events
    place = server.url.removeprefix("https://")
    assert tunnel.asked == [f"CONNECT {place} HTTP/1.1"] * 2  # requests, and watches


async def test_requests_and_watches_go_through_the_proxy() -> None:
    """Both pools take the same way out."""
    async with Faults() as server:
        server.next("*", refuse(404, "NotFound", name="a"), stream())
        config = Config(server="http://api.example.org", proxy=server.url)
        async with server.client(config) as client:
            assert await client.get(SECRET.ref("ns", "a")) is None

    assert server.requests[0].headers["host"] == "api.example.org"
