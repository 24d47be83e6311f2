"""`service validate`, `check` and `schema`: what people, editors and CI meet."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest

from cli_command import Ran, run
from roadstead.cli.service.check_cases import sealed
from roadstead.kube.documents import parse

PLATFORM = ("--platform", "examples/platform.yaml")
CHECK = ("service", "check", "-f", "examples/services", *PLATFORM)
VALIDATE = ("service", "validate", "-f", "examples/services", *PLATFORM)
SECRETS = (
    ("wiki", "oidc", ("client-secret",)),
    ("wiki", "db", ("password",)),
    ("qbittorrent", "oidc", ("client-secret", "cookie-secret")),
)

pytestmark = pytest.mark.usefixtures("folder", "offline")


def edit(name: str, old: str, new: str) -> None:
    """Change one text of one example."""
    path = Path("examples/services") / f"{name}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def with_secrets() -> None:
    """Give the examples the Secrets they need."""
    for service, name, keys in SECRETS:
        path = Path("examples/secrets") / service / f"{name}.sops.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sealed(service, name, keys))


def rendered(*more: str) -> Ran:
    """Render the examples into `tree`."""
    return run("service", "render", "-f", "examples/services", *PLATFORM, "--out", "tree", *more)


def test_the_examples_are_valid_and_only_lack_their_secrets() -> None:
    """Section 8: no error; no policy finding once the three Secrets are there."""
    assert (0, "") == (run(*VALIDATE).code, run(*VALIDATE).out)
    assert 1 == run(*CHECK).code
    with_secrets()

    assert 0 == run(*CHECK).code


def test_a_finding_is_one_line_with_its_place_and_a_hint() -> None:
    """1.6, and the sample of the command line's description."""
    edit("gitea", "ingressRoutes:", "ingresRoutes:")
    ran = run(*VALIDATE)

    assert 1 == ran.code
    assert [
        "examples/services/gitea.yaml:16:1: error S-01 gitea: unknown field `ingresRoutes`",
        "  hint: did you mean `ingressRoutes`?",
    ] == ran.out.splitlines()
    assert "5 definitions in 5 files: 1 error\n" == ran.err


def test_validate_without_a_platform_names_what_it_leaves_out() -> None:
    """5.3: checks that need the platform file are skipped and named, and others are not."""
    edit("wiki", "to: gitea", "to: wiki")
    edit("gitea", "gitea.home.example.net", "a.b.c")
    ran = run("service", "validate", "examples/services")

    assert 1 == ran.code
    assert "P-DEP-02 wiki" in ran.out
    assert "P-RTE-01" not in ran.out
    assert "not checked without --platform: I-2, I-6, P-CAT-02, P-DEP-01" in ran.err


def test_core_refuses_every_extension_at_its_key() -> None:
    """SD-10."""
    ran = run(*VALIDATE, "--core")

    assert "gitea.yaml:25:3: error S-13 gitea: `observability.port` is an extension" in ran.out
    assert {"S-13"} == {line.split()[2] for line in ran.out.splitlines()}


def test_validate_tells_errors_alone_and_check_tells_all() -> None:
    """5.3."""
    edit("jellyfin", "mode: native", "mode: none")

    assert "" == run(*VALIDATE).out
    assert "policy P-IDP-01 jellyfin" in run(*CHECK).out


def test_strict_counts_a_warning() -> None:
    """Section 4: a warning changes no exit code unless --strict."""
    with_secrets()
    edit("gitea", 'range: "~1.24"', 'range: "~1.25"')

    assert (0, 1) == (run(*CHECK).code, run(*CHECK, "--strict").code)


def test_a_waiver_makes_a_policy_finding_an_info() -> None:
    """SD-35, 4.3."""
    with_secrets()
    edit("gitea", "namespace: flux-system", "namespace: shared-tools")
    assert 1 == run(*CHECK).code
    with Path("examples/platform.yaml").open("a") as file:
        file.write(
            "waivers:\n- {check: P-ICC-04, service: gitea, reason: the scanner of the house}\n"
        )
    ran = run(*CHECK)

    assert 0 == ran.code
    assert "info P-ICC-04 gitea" in ran.out
    assert "(waived: the scanner of the house)" in ran.out


def test_a_fault_of_the_platform_file_is_a_finding() -> None:
    """The platform file is read by the same rules, and an unbuilt variant is refused in words."""
    path = Path("examples/platform.yaml")
    path.write_text(path.read_text().replace("provider: edp", "provider: realm-import"))
    ran = run(*VALIDATE)

    assert 1 == ran.code
    assert "platform.yaml:68:13: error S-05 platform: `identity.provider`" in ran.out
    assert "edp, keycloak-operator, config-cli" in ran.out


def test_every_problem_of_every_file_is_told_and_what_is_unreadable_ends_with_2() -> None:
    """Nothing is lost: findings on stdout, what could not be looked at on stderr."""
    edit("wiki", "exposure: internal", "exposure: inside")
    Path("examples/services/broken.yaml").write_text("a: [\n")
    Path("examples/services/gone.yaml").symlink_to("nowhere.yaml")
    ran = run(*VALIDATE)

    assert 2 == ran.code
    assert ["S-12:", "S-05"] == [line.split()[2] for line in ran.out.splitlines()]
    assert "gone.yaml" in ran.err


def test_a_link_out_of_the_folder_is_told_and_not_read(tmp_path: Path) -> None:
    """1.1, S-12."""
    outside = tmp_path / "outside.yaml"
    outside.write_text("password: canary-outside\n")
    (tmp_path / "examples/services/out.yaml").symlink_to(outside)
    ran = run(*VALIDATE)

    assert 1 == ran.code
    assert "out.yaml:1:1: error S-12: not a definition: a symbolic link leads out" in ran.out
    assert "canary" not in ran.out + ran.err


PROBE = """
import contextlib, io, os, sys
from roadstead.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main(sys.argv[1:])  # everything is imported before the right to read it is given up
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(main(sys.argv[1:]))
"""


def as_nobody(*args: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user that is not root."""
    command = [sys.executable, "-c", PROBE, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program


@pytest.mark.skipif(os.geteuid() != 0, reason="the user is not root already")
@pytest.mark.parametrize(
    "close",
    [
        pytest.param(lambda: Path("examples/services/gitea.yaml").chmod(0), id="file"),
        pytest.param(lambda: Path("examples/services/more").chmod(0), id="folder"),
    ],
)
def test_what_may_not_be_read_is_told_and_the_rest_is_checked(
    close: Callable[[], None], tmp_path: Path
) -> None:
    """A folder without read permission is never an empty one."""
    Path("examples/services/more").mkdir()
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o055)
    close()
    done = as_nobody(*VALIDATE)

    assert 2 == done.returncode
    assert "cannot be read: Permission denied" in done.stderr
    Path("examples/services/more").chmod(0o755)


def test_a_tree_that_is_up_to_date_is_said_so() -> None:
    """`check` after `render` has nothing to say of the tree."""
    with_secrets()
    assert 0 == rendered().code
    ran = run(*CHECK, "--out", "tree")

    assert (0, True) == (ran.code, "tree is up to date" in ran.err)


def test_a_hand_edit_is_a_difference_and_render_restores_it() -> None:
    """SD-93."""
    with_secrets()
    rendered()
    policy = Path("tree/gitea/10-policy.yaml")
    whole = policy.read_bytes()
    policy.write_bytes(whole.replace(b'port: "3000"', b'port: "3001"', 1))
    ran = run(*CHECK, "--out", "tree")

    assert 1 == ran.code
    assert "tree/gitea/10-policy.yaml: different: CiliumNetworkPolicy/gitea/" in ran.out
    assert (0, whole) == (rendered().code, policy.read_bytes())


def test_a_file_in_other_bytes_is_an_info_alone() -> None:
    """Image automation re-indents what it touches, which is no difference."""
    with_secrets()
    rendered()
    service = Path("tree/gitea/40-service.yaml")
    service.write_text(service.read_text().replace("  ports:\n  - ", "  ports:\n    - "))
    text = service.read_text().splitlines()
    moved = [
        f"  {line}" if number > text.index("    - name: tcp-3000") and line[:4] == "    " else line
        for number, line in enumerate(text)
    ]
    service.write_text("\n".join(moved) + "\n")
    assert not parse(service.read_bytes(), "").problems
    ran = run(*CHECK, "--out", "tree")

    assert 0 == ran.code, ran.out
    assert "tree/gitea/40-service.yaml: info: has the same content in other bytes" in ran.out


def test_a_mark_that_is_gone_is_a_difference() -> None:
    """Without the mark automation stops, though the content is the same."""
    with_secrets()
    rendered()
    workload = Path("tree/gitea/30-workload.yaml")
    text = workload.read_text()
    workload.write_text(text.replace(' # {"$imagepolicy": "flux-system:gitea"}', ""))
    ran = run(*CHECK, "--out", "tree")

    assert 1 == ran.code
    assert "the mark of image automation" in ran.out


def test_a_tag_that_automation_moved_is_no_difference() -> None:
    """3.10, carry-over: the tree is compared with a render that keeps the tag."""
    with_secrets()
    rendered()
    workload = Path("tree/gitea/30-workload.yaml")
    workload.write_text(workload.read_text().replace("gitea:1.24.6 #", "gitea:1.24.7 #"))

    assert 0 == run(*CHECK, "--out", "tree").code


def test_what_is_missing_and_what_is_left_over_are_told() -> None:
    """A service that is gone from the catalog, and a file that is gone from the tree."""
    with_secrets()
    rendered()
    Path("examples/services/jellyfin.yaml").unlink()
    Path("tree/wiki/40-service.yaml").unlink()
    ran = run(*CHECK, "--out", "tree")

    assert 1 == ran.code
    assert "tree/wiki/40-service.yaml: different: is rendered, but not there" in ran.out
    assert "tree/jellyfin/10-policy.yaml: different: is there, but no longer rendered" in ran.out


def test_an_error_leaves_the_tree_uncompared() -> None:
    """What cannot be rendered cannot be compared with, and that is said."""
    edit("wiki", "exposure: internal", "exposure: inside")
    ran = run(*CHECK, "--out", "tree")

    assert 1 == ran.code
    assert "tree was not compared, since an error stops the rendering" in ran.err


def test_junit_fails_what_answers_no() -> None:
    """CI shows each service, and those that have to be mended."""
    suites = ET.fromstring(run(*CHECK, "-o", "junit").out)  # noqa: S314 - our own output
    (suite,) = suites
    failed = [case.attrib["name"] for case in suite if case.find("failure") is not None]

    assert ["actions-runner", "gitea", "jellyfin", "qbittorrent", "wiki"] == [
        case.attrib["name"] for case in suite
    ]
    assert ["qbittorrent", "wiki"] == failed


def test_sarif_and_annotations_name_line_and_column() -> None:
    """A code host marks the value itself."""
    found = json.loads(run(*CHECK, "-o", "sarif").out)["runs"][0]
    first = next(one for one in found["results"] if one["ruleId"] == "P-SEC-01")
    region = first["locations"][0]["physicalLocation"]["region"]
    lines = run(*CHECK, "-o", "github").out.splitlines()

    assert {"startLine": 22, "startColumn": 9} == region
    assert {"error", "note"} == {one["level"] for one in found["results"]}
    assert any(
        line.startswith("::error file=examples/services/wiki.yaml,line=25,col=10,")
        for line in lines
    )
    assert any(
        line.startswith("::notice file=examples/services/actions-runner.yaml") for line in lines
    )


def test_the_schema_has_the_platforms_own_values() -> None:
    """SD-98."""
    ran = run("service", "schema", "-f", "examples/services", *PLATFORM)
    whole = json.loads(ran.out)
    fields = whole["$defs"]["service"]["properties"]
    names = ["actions-runner", "gitea", "jellyfin", "postgres-main", "qbittorrent", "wiki"]

    assert names == fields["dependencies"]["items"]["properties"]["to"]["enum"]
    assert (
        r"home\.example\.net" in fields["ingressRoutes"]["items"]["properties"]["host"]["pattern"]
    )
    assert ["debian-12"] == fields["source"]["properties"]["vmTemplate"]["enum"]
    assert ["daily-offcluster", "weekly-offcluster", "reacquirable"] == (
        fields["backup"]["properties"]["policy"]["enum"]
    )
    assert fields["env"]["x-extension"]
    assert "x-extension" not in fields["storage"]


@pytest.mark.parametrize("more", [(), ("-f", "examples/services", *PLATFORM)])
def test_the_schema_takes_the_examples_and_refuses_a_typing_error(more: tuple[str, ...]) -> None:
    """An editor marks what `validate` would."""
    schema = json.loads(run("service", "schema", *more).out)
    assert jsonschema_rs.meta.is_valid(schema)
    judge = jsonschema_rs.Draft202012Validator(schema)
    bodies = [
        parse(path.read_bytes(), "").documents[0].value
        for path in sorted(Path("examples/services").glob("*.yaml"))
    ]

    assert [True] * 5 == [judge.is_valid(body) for body in bodies]
    assert judge.is_valid({"services": bodies})
    wrongs: tuple[dict[str, Any], ...] = (
        {"ingresRoutes": []},
        {"kind": "vm"},
        {"source": {}},
        {"replicas": 51},
        {"exposure": "Public"},
        {"storage": [{"name": "a"}]},
        {"env": {"a-b": "c"}},
    )

    assert [] == [wrong for wrong in wrongs if judge.is_valid({**bodies[1], **wrong})]


def test_the_platforms_schema_takes_the_example() -> None:
    """The platform file completes in an editor as well."""
    schema = json.loads(run("service", "schema", "--of", "platform").out)
    body = parse(Path("examples/platform.yaml").read_bytes(), "").documents[0].value
    judge = jsonschema_rs.Draft202012Validator(schema)

    assert judge.is_valid(body)
    assert not judge.is_valid({**body, "gatway": {}})


def test_definitions_may_come_through_a_pipe() -> None:
    """`-` is standard input, and a finding says so."""
    text = Path("examples/services/gitea.yaml").read_bytes().replace(b"exposure", b"exposur")
    ran = run("service", "validate", "-", stdin=text)

    assert ran.out.startswith("<stdin>:7:1: error S-01 gitea: unknown field `exposur`")


def test_one_definition_given_twice_is_read_once() -> None:
    """A folder and a file in it are no two services of one name."""
    more = ("-f", "examples/services/gitea.yaml")
    shutil.copy("examples/services/gitea.yaml", "gitea.yaml")

    assert 0 == run(*VALIDATE, *more).code
    assert "P-CAT-01" in run(*VALIDATE, "-f", "gitea.yaml").out
