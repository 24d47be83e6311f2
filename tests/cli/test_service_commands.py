"""`roadstead service`: what each verb reads, answers and prints. Source: contract 5.3."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cli_command import Ran, run
from roadstead.cli.service.gather import gather

FILES = ("-f", "examples/services", "--platform", "examples/platform.yaml")
OFFLINE = pytest.mark.usefixtures("folder", "offline")


def service(verb: str, *arguments: str) -> Ran:
    """Run one verb on the examples."""
    return run("service", verb, *arguments, *FILES)


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    """A copy of the examples in which one text of one definition is another."""
    catalog = tmp_path / "catalog"
    shutil.copytree("examples/services", catalog, dirs_exist_ok=True)
    path = catalog / f"{name}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return catalog


@OFFLINE
def test_render_says_what_it_wrote(tmp_path: Path) -> None:
    """One line a service, the findings, and the sum; the short form says the same."""
    ran = service("render", "--out", str(tmp_path / "out"))
    rows = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert [
        "actions-runner 15 objects wave 1 virtual machine, 2 disks",
        "gitea 20 objects wave 0 1 direct client, 2 callers",
        "jellyfin 19 objects wave 0 bulk volume media (ReadOnlyMany)",
        "qbittorrent 24 objects wave 0 vpn egress, bulk volume tank (ReadWriteMany)",
        "wiki 17 objects wave 1 2 dependencies",
    ] == rows[:5]
    assert f"Wrote 95 objects of 5 services to {tmp_path}/out" == rows[-1]
    assert 0 == ran.code
    line = ("render", "examples/services", "--platform", "examples/platform.yaml")
    again = run(*line, "--out", str(tmp_path / "out"))
    assert (0, ran.out) == (again.code, again.out)
    assert "nothing changed\n" == again.err


@OFFLINE
def test_sd_94_an_error_writes_nothing(tmp_path: Path) -> None:
    """In one of many definitions; every finding is told."""
    out = tmp_path / "out"
    service("render", "--out", str(out))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    catalog = changed(tmp_path, "wiki", "to: gitea", "to: gita")
    ran = run(
        "service", "render", "-f", str(catalog), "--platform", "examples/platform.yaml",
        "--out", str(out),
    )  # fmt: skip
    assert 2 == ran.code
    assert "P-DEP-01 wiki" in ran.out
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


@OFFLINE
def test_sd_92_a_service_that_is_gone_takes_its_own_along(tmp_path: Path) -> None:
    """And its half in the folder it called; nothing else changes."""
    out = tmp_path / "out"
    service("render", "--out", str(out))
    before = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.yaml")}
    catalog = changed(tmp_path, "wiki", "name: wiki", "name: wiki")
    (catalog / "wiki.yaml").unlink()
    run("render", str(catalog), "--platform", "examples/platform.yaml", "--out", str(out))
    after = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.yaml")}
    assert {path for path in before if path.startswith("wiki/")} | {"_flux/wiki.yaml"} == set(
        before
    ) - set(after)
    assert {"gitea/10-policy.yaml", "_flux/kustomization.yaml"} == {
        path for path, text in after.items() if before[path] != text
    }


@OFFLINE
def test_one_service_is_rendered_as_the_whole_catalog_renders_it(tmp_path: Path) -> None:
    """Rule 3 of 5.1; the folders of the others stay."""
    whole, part = tmp_path / "whole", tmp_path / "part"
    service("render", "--out", str(whole))
    service("render", "gitea", "--out", str(part))
    folders = {path.name for path in part.iterdir() if path.is_dir()}
    assert {"gitea", "_flux", "_trace"} == folders
    for path in part.rglob("*.yaml"):
        assert path.read_bytes() == (whole / path.relative_to(part)).read_bytes()
    shutil.rmtree(whole / "gitea")
    assert 0 == service("render", "gitea", "--out", str(whole)).code
    assert (whole / "wiki" / "00-namespace.yaml").exists()
    assert (whole / "gitea" / "00-namespace.yaml").exists()


@OFFLINE
def test_render_prints_the_effective_set_or_the_files() -> None:
    """A HelmRelease is packaging; what it carries is the effective object."""
    plain = list(yaml.safe_load_all(service("render", "wiki", "--stdout").out))
    packed = list(yaml.safe_load_all(service("render", "wiki", "--stdout", "--packaged").out))
    assert "HelmRelease" not in {one["kind"] for one in plain}
    assert {"HelmRelease", "Kustomization"} <= {one["kind"] for one in packed}
    assert 17 == len(plain)


@OFFLINE
def test_what_is_printed_is_objects_or_nothing(tmp_path: Path) -> None:
    """It is piped into `kubectl apply`: what keeps it from being rendered goes elsewhere."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: x\nkind: nonsense\n")
    ran = run(
        *("service", "render", "-f", str(broken), "--platform", "examples/platform.yaml"),
        "--stdout",
    )
    assert (2, "") == (ran.code, ran.out)
    assert "broken.yaml:" in ran.err
    ran = service("render", "wiki", "--stdout", "-o", "json")
    assert (2, "") == (ran.code, ran.out)
    assert "--stdout prints YAML" in ran.err


@pytest.mark.slow
def test_sd_90_nothing_of_the_machine_is_in_the_tree(tmp_path: Path) -> None:
    """Another folder, time zone, locale and hash seed give the same bytes."""
    trees = []
    for number, seed in enumerate(("0", "77")):
        home = tmp_path / f"place-{number}"
        shutil.copytree("examples", home / "in")
        environ = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC{number}", "LC_ALL": "C"}
        line = [
            str(Path(sys.executable).parent / "roadstead"),
            "render",
            str(home / "in" / "services"),
            "--platform",
        ]
        line += [str(home / "in" / "platform.yaml"), "--out", str(home / "out")]
        subprocess.run(line, env=environ, check=True, capture_output=True)  # noqa: S603 - our own program
        found = sorted(path for path in (home / "out").rglob("*") if path.is_file())
        trees.append({path.relative_to(home / "out"): path.read_bytes() for path in found})
    assert trees[0] == trees[1]


@OFFLINE
def test_sd_95_an_object_is_explained() -> None:
    """The field, its line, the requirements and the checks."""
    ran = service("explain", "gitea", "CiliumNetworkPolicy/gitea-allow-flux-system-ingress")
    assert 0 == ran.code
    assert "inClusterClients[flux-system]  examples/services/gitea.yaml:10:3" in ran.out
    for word in ("R-NET-01", "R-NET-02", "R-GITOPS-02", "P-ICC-01", "P-ICC-04", "P-NET-04"):
        assert word in ran.out


@OFFLINE
@pytest.mark.parametrize("name", ["actions-runner", "gitea", "jellyfin", "qbittorrent", "wiki"])
def test_every_object_is_explained(name: str) -> None:
    """With a line of a definition, and a requirement."""
    ran = service("explain", name, "-o", "json")
    for one in json.loads(ran.out)["objects"]:
        file, line, _ = one["place"].rsplit(":", 2)
        text = Path(file).read_text().splitlines()[int(line) - 1]
        assert text.strip()
        assert one["requirements"]
    last = json.loads(ran.out)["objects"][-1]
    told = service("explain", name, last["object"])
    assert (0, True) == (told.code, f"  file        {last['file']}" in told.out)


@OFFLINE
def test_a_field_is_explained_and_an_unknown_one_is_not() -> None:
    """The other way round; exit code 1 where nothing comes of it."""
    ran = service("explain", "jellyfin", "--field", "storage", "-o", "json")
    assert {
        "PersistentVolume/jellyfin.media",
        "PersistentVolumeClaim/jellyfin/jellyfin-config",
        "PersistentVolumeClaim/jellyfin/jellyfin-media",
    } == {one["object"] for one in json.loads(ran.out)["objects"]}
    ran = service("explain", "gitea", "--field", "wiki:dependencies")
    assert "gitea-allow-from-wiki-3000-tcp" in ran.out
    ran = service("explain", "gitea", "Namespace/gitee")
    assert 1 == ran.code
    assert "did you mean `Namespace/gitea`?" in ran.out
    assert "schemaVersion: 1.5.0" in service("explain", "wiki", "--defaults").out


@OFFLINE
def test_a_secrets_skeleton_holds_no_value() -> None:
    """The keys that are required, each empty."""
    body = yaml.safe_load(service("secret", "template", "qbittorrent", "oidc").out)
    assert {"client-secret": "", "cookie-secret": ""} == body["stringData"]
    ran = service("secret", "template", "wiki", "nothing")
    assert (2, "") == (ran.code, ran.out)
    assert "it requires db, oidc" in ran.err


@OFFLINE
def test_the_graph_is_drawn() -> None:
    """In words, for a layout program, and as facts."""
    text = service("graph").out.splitlines()
    assert "wave 1  wiki            -> gitea:3000/TCP, postgres-main:5432/TCP" == text[-1]
    assert '"wiki" -> "gitea" [label="3000/TCP"];' in service("graph", "-o", "dot").out
    facts = json.loads(service("graph", "-o", "json").out)["services"]
    assert {"gitea": 0, "wiki": 1}.items() <= {one["name"]: one["wave"] for one in facts}.items()


@OFFLINE
@pytest.mark.parametrize(
    ("name", "old", "new", "wanted"),
    [
        pytest.param(
            "gitea",
            "- namespace: flux-system\n",
            "- {namespace: monitoring, port: 3000}\n- namespace: flux-system\n",
            [("CiliumNetworkPolicy/gitea/gitea-allow-monitoring-ingress", "added", "opens", [])],
            id="SD-96",
        ),
        pytest.param(
            "jellyfin",
            "jellyfin:10.10.7",
            "jellyfin:10.10.8",
            [
                (
                    "Deployment/jellyfin/jellyfin",
                    "changed",
                    "restarts",
                    ["spec.template.spec.containers[jellyfin].image"],
                )
            ],
            id="SD-97",
        ),
        pytest.param(
            "gitea",
            "size: 50Gi",
            "size: 40Gi",
            [
                (
                    "PersistentVolumeClaim/gitea/gitea-data",
                    "changed",
                    "data",
                    ["spec.resources.requests.storage"],
                )
            ],
            id="a-claim-shrinks",
        ),
        pytest.param(
            "wiki",
            "egress: internet",
            "egress: none",
            [("CiliumNetworkPolicy/wiki/wiki-allow-internet-egress", "removed", "closes", [])],
            id="an-allowance-goes",
        ),
    ],
)
def test_a_difference_has_its_risk(
    name: str,
    old: str,
    new: str,
    wanted: list[tuple[str, str, str, list[str]]],
    tmp_path: Path,
) -> None:
    """Between a tree and a catalog, or two catalogs."""
    catalog = changed(tmp_path, name, old, new)
    line = ("service", "diff", "examples/services", str(catalog), "-o", "json")
    ran = run(*line, "--platform", "examples/platform.yaml")
    assert 1 == ran.code
    assert wanted == [
        (one["object"], one["how"], one["risk"], [field["path"] for field in one["fields"]])
        for one in json.loads(ran.out)["differences"]
    ]


@OFFLINE
def test_a_switch_of_packaging_is_told(tmp_path: Path) -> None:
    """Another owner applies the Deployment, which has a procedure."""
    catalog = changed(tmp_path, "jellyfin", "Health: true", "Health: false")
    line = ("service", "diff", "examples/services", str(catalog), "-o", "json")
    ran = run(*line, "--platform", "examples/platform.yaml")
    risks = {one["object"]: one["risk"] for one in json.loads(ran.out)["differences"]}
    assert "repackaged" == risks["Deployment/jellyfin/jellyfin"]


@OFFLINE
def test_equal_sides_do_not_differ(tmp_path: Path) -> None:
    """A tree and what it is rendered from."""
    service("render", "--out", str(tmp_path / "out"))
    line = ("service", "diff", str(tmp_path / "out"), "examples/services")
    ran = run(*line, "--platform", "examples/platform.yaml")
    assert (0, "", "no object differs\n") == (ran.code, ran.out, ran.err)


def committed(repository: Path, path: str) -> None:
    """Make a repository with one revision that holds a path, whatever the person's own settings."""
    owner = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for who in ("AUTHOR", "COMMITTER"):
        owner |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@example.org"}
    for line in (["init", "-q"], ["add", path], ["commit", "-qm", path]):
        subprocess.run(  # noqa: S603 - nothing of another
            ["git", *line],  # noqa: S607 - the person's git
            cwd=repository,
            env=os.environ | owner,
            check=True,
        )


def test_a_revision_is_a_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """REVISION:PATH is the tree that was committed there, whatever stands in the folder now."""
    service("render", "--out", str(tmp_path / "rendered"))
    committed(tmp_path, "rendered")
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / "rendered/wiki")
    path = tmp_path / "rendered/gitea/10-policy.yaml"
    path.write_text(path.read_text().replace('"3000"', '"3001"'))
    ran = run("service", "diff", "HEAD:rendered", "rendered", "-o", "json")
    found = {one["object"]: one["how"] for one in json.loads(ran.out)["differences"]}

    assert 1 == ran.code
    assert "removed" == found["Namespace/wiki"]
    assert {"changed"} == {how for name, how in found.items() if "/gitea/" in name}
    assert Ran(0, "", "no object differs\n") == run(
        "service", "diff", "HEAD:rendered", "HEAD:rendered"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param("HEAD:nowhere", "cannot be read", id="no-such-path"),
        pytest.param("nothing:rendered", "cannot be read", id="no-such-revision"),
        pytest.param("HEAD:other", "holds no output tree", id="no-tree"),
        pytest.param("--remote=x:y", "is no revision", id="no-flag-of-gits"),
    ],
)
def test_what_is_no_tree_of_a_revision_is_told(
    given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with the way the argument is meant; nothing reaches git as a flag of its own."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("x")
    committed(tmp_path, "other")
    monkeypatch.chdir(tmp_path)
    ran = run("service", "diff", "--", given, "other")

    assert (2, "") == (ran.code, ran.out)
    assert said in ran.err
    assert "hint: name an output tree" in ran.err


def test_what_is_gathered_stays_below_its_folder(tmp_path: Path) -> None:
    """A link out of it is told, one in a circle ends, and a pipe is not waited for."""
    home = tmp_path / "catalog"
    (home / "sub").mkdir(parents=True)
    (tmp_path / "outside.yaml").write_text("name: outside\n")
    for name in ("b.yaml", "sub/a.yml", "notes.txt"):
        (home / name).write_text("name: x\n")
    (home / "out.yaml").symlink_to(tmp_path / "outside.yaml")
    (home / "sub" / "up").symlink_to(home)
    (home / "twice.yaml").symlink_to("b.yaml")
    os.mkfifo(home / "pipe.yaml")
    found = gather([str(home), str(home / "b.yaml"), str(tmp_path / "gone")], bytes)
    names = [Path(one.name).relative_to(home).as_posix() for one in found.texts]
    assert ["b.yaml", "out.yaml", "sub/a.yml"] == names
    refused = {one.name: one.refused for one in found.texts if one.refused}
    assert {str(home / "out.yaml"): "a symbolic link leads out of its folder"} == refused
    told = sorted((Path(one.place).name, one.message) for one in found.problems)
    assert [
        ("gone", "cannot be read: No such file or directory"),
        ("pipe.yaml", "is no plain file"),
    ] == told
    assert "sub/a.yml" == found.shown[str(home / "sub" / "a.yml")]


@OFFLINE
@pytest.mark.slow
def test_sd_99_the_self_test_holds_and_names_what_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line a check; a builder that is broken is found."""
    ran = run("service", "selftest")
    assert 0 == ran.code, ran.out
    assert [*(f"ST-{number}" for number in ("1", "2", "3", "4a", "4b", "4c", *range(5, 12)))] == [
        line.split()[1] for line in ran.out.splitlines()
    ]
    monkeypatch.setattr("roadstead.capabilities.services.render.platform.CHART_VERSION", "9.9.9")
    ran = run("service", "selftest", "-q")
    assert 2 == ran.code
    assert "ST-1" in ran.out
    assert "_platform/charts/manifests/Chart.yaml" in ran.out
