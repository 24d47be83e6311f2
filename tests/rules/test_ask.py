"""What is said of a Secret: who has it as a source, and where its key-free copy is."""

from pathlib import Path

import pytest
import yaml

from certificates import CERT1, KEY
from cli_command import run

SPACE = "tenant-foo"
LABELS = "internal.cozystack.io"


def files(folder: Path, *extra: dict[str, object], verdict: str = "") -> str:
    """A release whose declared source holds a key, as a file."""
    application = "apps.cozystack.io/application"
    labels = {
        f"{application}.group": "apps.cozystack.io",
        f"{application}.kind": "Postgres",
        f"{application}.name": "mydb",
    }
    marks = {f"{LABELS}/ca-cert-copy": "true"}
    if verdict:
        marks[f"{LABELS}/tenantresource"] = verdict
    bodies: list[dict[str, object]] = [
        {
            "apiVersion": "cozystack.io/v1alpha1",
            "kind": "ApplicationDefinition",
            "metadata": {"name": "postgres"},
            "spec": {
                "application": {"kind": "Postgres"},
                "caCert": {"sourceSecretName": "{{ .release }}-ca"},
            },
        },
        {
            "apiVersion": "helm.toolkit.fluxcd.io/v2",
            "kind": "HelmRelease",
            "metadata": {"name": "postgres-mydb", "namespace": SPACE, "labels": labels},
        },
        secret("postgres-mydb-ca", {"ca.crt": CERT1, "ca.key": KEY}, {}),
        secret("postgres-mydb.tenant-ca", {"ca.crt": CERT1}, marks),
        *extra,
    ]
    file = folder / "world.yaml"
    file.write_text(yaml.safe_dump_all(bodies))
    return str(file)


def secret(name: str, data: dict[str, bytes], labels: dict[str, str]) -> dict[str, object]:
    """A Secret of the tenant's namespace."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": SPACE, "labels": labels},
        "stringData": {key: value.decode() for key, value in data.items()},
    }


@pytest.mark.parametrize(
    ("verdict", "said"),
    [("true", " (visible)\n"), ("false", " (hidden from the tenant)\n"), ("", "tenant-ca\n")],
)
def test_the_copy_is_named_with_who_sees_it(verdict: str, said: str, tmp_path: Path) -> None:
    """A tenant asks where the certificate may be read, and whether it may be."""
    ran = run("why", "secret/postgres-mydb-ca", "-f", files(tmp_path, verdict=verdict))
    line = "holds a private key; its key-free copy is Secret/tenant-foo/postgres-mydb.tenant-ca"
    assert line in ran.out
    assert said in ran.out
    assert "HelmRelease tenant-foo/postgres-mydb    Published" in ran.out
    assert ran.code == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("postgres-mydb-ca", "postgres-mydb.tenant-ca is not its key-free copy, but somebody"),
        ("postgres-mydb.tenant-ca", "holds `ca.key`: private key"),
    ],
)
def test_a_foreign_secret_is_nobodys_key_free_copy(name: str, said: str, tmp_path: Path) -> None:
    """A chart's own Secret has the anchor's name, and a key; a tenant must not be sent to it."""
    world = Path(files(tmp_path))
    foreign = secret("postgres-mydb.tenant-ca", {"ca.crt": CERT1, "ca.key": KEY}, {})
    bodies = list(yaml.safe_load_all(world.read_text()))
    kept = [one for one in bodies if one["metadata"]["name"] != "postgres-mydb.tenant-ca"]
    world.write_text(yaml.safe_dump_all([*kept, foreign]))
    ran = run("why", f"secret/{name}", "-f", str(world))

    assert said in ran.out
    assert "its key-free copy is" not in ran.out


def test_a_secret_nobody_names_is_said_to_be_nobodys(tmp_path: Path) -> None:
    """No trail is made up for it."""
    stray = secret("other", {"password": b"x"}, {})
    ran = run("why", "secret/other", "-f", files(tmp_path, stray))
    assert "no release has it as a source or as its anchor" in ran.out
    assert "HelmRelease" not in ran.out


def test_a_name_in_two_namespaces_must_be_chosen(tmp_path: Path) -> None:
    """The first is never taken for the one that was meant."""
    twin = secret("postgres-mydb-ca", {"ca.crt": CERT1}, {})
    twin["metadata"] = {"name": "postgres-mydb-ca", "namespace": "tenant-bar"}
    ran = run("why", "secret/postgres-mydb-ca", "-f", files(tmp_path, twin))
    assert ran.code == 2
    assert "several namespaces: tenant-bar, tenant-foo" in ran.err


@pytest.mark.parametrize(
    ("version", "kind", "said"),
    [
        ("v1alpha1", "EndpointAttachmnt", "did you mean `EndpointAttachment`?"),
        ("v1alpha9", "EndpointAttachment", "it is served as v1alpha1"),
    ],
)
def test_what_nobody_serves_is_no_part_of_a_plan(
    version: str, kind: str, said: str, tmp_path: Path
) -> None:
    """A slip in a kind would have the object left out, and everything look settled."""
    file = tmp_path / "world.yaml"
    stated = {"apiVersion": f"local.sdn.cozystack.io/{version}", "kind": kind}
    file.write_text(yaml.safe_dump({**stated, "metadata": {"name": "a", "namespace": SPACE}}))
    ran = run("plan", "-f", str(file))

    assert 2 == ran.code
    assert said in ran.err
    assert f"{file}:1:1" in ran.err


@pytest.mark.parametrize(("name", "met"), [("postgres-mydb", True), ("postgres-mydp", False)])
def test_an_exception_that_nothing_met_is_told(name: str, tmp_path: Path, *, met: bool) -> None:
    """One that is misspelt allows nothing, and the plan fails as if nobody had asked."""
    world = Path(files(tmp_path))
    bodies = list(yaml.safe_load_all(world.read_text()))
    source = next(one for one in bodies if one["metadata"]["name"] == "postgres-mydb-ca")
    source["stringData"] = {"ca.crt": KEY.decode()}
    world.write_text(yaml.safe_dump_all(bodies))
    ran = run("plan", "-f", str(world), "--allow", f"CACertPrivateKeyRefused={SPACE}/{name}")

    assert ("allows nothing that was met" in ran.err) is not met
    assert (0 if met else 1) == ran.code
