"""`roadstead gateways`: what is read, and what is printed of it. Source: tenant-gateway 2."""

import json
from pathlib import Path

import pytest
import yaml

from cli_command import run
from roadstead.capabilities.gateways.chain.names import PASSTHROUGH
from roadstead.deploy.platform import BY_DEFAULT, PARTS

EXAMPLE = ("--platform-values", "examples/cozystack-platform.yaml", "-f", "examples/tenants")
KINDS = {
    "issuers": ["ClusterIssuer"] * 3,
    "policies": ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"] * 6,
    "gateways": ["TenantGateway"] * 2,
    "releases": ["HelmRelease"] * 2,
    "cleanup": ["ServiceAccount", "Role", "RoleBinding", "Job"] * 2,
    "values": ["Secret"],
}


@pytest.mark.usefixtures("folder", "offline")
def test_values_may_come_through_a_pipe() -> None:
    """Without tenants there is the root tenant."""
    values = b"publishing: {host: example.org}\n"
    ran = run("gateways", "resolve", "--platform-values", "-", "-o", "json", stdin=values)
    (row,) = json.loads(ran.out)["tenants"]

    assert 0 == ran.code
    assert ("tenant-root/root", "example.org", "") == (row["tenant"], row["host"], row["gateway"])


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_printed_alone(part: str) -> None:
    """As YAML documents, or as a List."""
    line = ("gateways", "render", *EXAMPLE, "--part", part)
    bodies = list(yaml.safe_load_all(run(*line).out))
    listed = json.loads(run(*line, "-o", "json").out)

    assert KINDS[part] == [body["kind"] for body in bodies]
    assert ("v1", "List", bodies) == (listed["apiVersion"], listed["kind"], listed["items"])


@pytest.mark.usefixtures("folder", "offline")
def test_what_can_be_applied_is_printed_without_asking() -> None:
    """A clean-up is a hook: applied, it would throw the ACME account away."""
    bodies = list(yaml.safe_load_all(run("gateways", "render", *EXAMPLE).out))
    kinds = [kind for part in BY_DEFAULT for kind in KINDS[part]]

    assert kinds == [body["kind"] for body in bodies]
    assert "Job" not in kinds


@pytest.mark.usefixtures("folder", "offline")
def test_a_platform_gets_files_to_install(tmp_path: Path) -> None:
    """One for each part, named in the order of applying; the same documents as are printed."""
    out = tmp_path / "chain"
    ran = run("gateways", "render", *EXAMPLE, "--out", str(out))
    files = sorted(out.iterdir())
    written = [body for file in files for body in yaml.safe_load_all(file.read_text("utf-8"))]

    assert (0, "") == (ran.code, ran.out), ran.err
    assert ["00-issuers.yaml", "10-policies.yaml", "20-gateways.yaml"] == [f.name for f in files]
    assert list(yaml.safe_load_all(run("gateways", "render", *EXAMPLE).out)) == written
    assert f"Wrote 3 files to {out}" in ran.err
    assert 2 == run("gateways", "resolve", *EXAMPLE, "--out", str(out)).code


def test_the_example_shows_what_the_services_are() -> None:
    """Its exposed services are known to the chain, so that it remarks on them."""
    example = Path(__file__).parent.parent.parent / "examples/cozystack-platform.yaml"
    exposed = yaml.safe_load(example.read_text(encoding="utf-8"))["publishing"]["exposedServices"]

    assert set(PASSTHROUGH) < set(exposed)


@pytest.mark.usefixtures("folder", "offline")
def test_quiet_leaves_out_what_is_only_noticed() -> None:
    """A refusal is always told."""
    odd = ("--platform-values", "worlds/gateways/platform.yaml")
    ran = run("gateways", "render", *odd, "-f", "worlds/gateways/tenants.yaml", "-q")

    assert "noticed:" not in ran.err
    assert 4 == ran.err.count("refused: ")
