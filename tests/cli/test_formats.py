"""The exit code depends on the facts, never on the format; every format tells the same facts."""

import json
import re
import shlex
from importlib.resources import files
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest
import yaml

from cli_command import Ran, run

# Some hundred whole commands; `make quick` has one golden of each.
pytestmark = pytest.mark.slow

SETTINGS = "--settings settings.yaml"
ATTACHED = "-f worlds/attachments.yaml --settings proxy.yaml"
ROUTES = "-f worlds/routes.yaml --settings settings.yaml"
GATEWAYS = "--platform-values examples/cozystack-platform.yaml -f examples/tenants"
SERVICES = "-f examples/services --platform examples/platform.yaml"
GRAPHS = ("tree", "json", "yaml", "mermaid", "dot", "svg", "html")
FINDINGS = ("table", "json", "yaml", "junit", "sarif", "github")
ODD = "--platform-values worlds/gateways/platform.yaml -f worlds/gateways/tenants.yaml"
UNFIT = "--platform-values worlds/gateways/platform-broken.yaml"
FORMATS = {
    **{
        f"gateways resolve {rest}": ("table", "json", "yaml")
        for rest in (GATEWAYS, ODD, UNFIT, "--platform-values broken.yaml", "")
    },
    **{f"gateways render {rest}": ("yaml", "json") for rest in (GATEWAYS, ODD, UNFIT)},
    **{
        f"service {rest}": FINDINGS
        for rest in (
            f"validate {SERVICES}",
            f"validate {SERVICES} --core",
            "validate examples/services",
            "validate nowhere",
            "validate",
            f"check {SERVICES}",
            f"check {SERVICES} --strict",
            f"check {SERVICES} --out nowhere",
            "check -f examples/services --platform broken.yaml",
            "check -f examples/services --platform nowhere.yaml",
            "check -f examples/services",
        )
    },
    "version": ("table", "json", "yaml"),
    "docs P-SEC-01": ("table", "json", "yaml"),
    "docs CACertExpired": ("table", "json", "yaml"),
    "docs NoSuchReason": ("table", "json", "yaml"),
    "docs ReadFailed": ("table", "json", "yaml"),
    f"plan {ATTACHED}": ("table", "json", "yaml", "junit", "sarif", "github"),
    f"plan {ATTACHED} --fail-on never": ("table", "json", "yaml", "junit", "sarif", "github"),
    **{
        f"why {name} {ATTACHED}": ("table", "json", "yaml")
        for name in (
            "epa/shop-db",
            "endpointattachment.local.sdn.cozystack.io/web-ip",
            "service/vm-instance-web-ext",
            "service/vm-instance-web",
            "ipaddressclaim/reserved",
            "epa/none",
        )
    },
    f"status {ATTACHED}": ("table", "wide", "json", "yaml", "name"),
    **{
        f"who {name}": ("table", "json", "yaml")
        for name in (
            f"shop.blue.example.org {ROUTES}",
            f"api.example.org {ROUTES}",
            f"secret/cozystack-shop-4a43d552-tls {ROUTES}",
            f"203.0.113.1 {ATTACHED}",
            f"no,name {ROUTES}",
        )
    },
    **{
        f"graph {rest}": GRAPHS
        for rest in (
            ROUTES,
            ATTACHED,
            f"{ROUTES} --problems",
            f"{ROUTES} -n tenant-odd --problems",
            f"{ROUTES} --host shop.blue.example.org",
            f"{ROUTES} --host api.example.org",
            "-f broken.yaml",
            f"{ROUTES} -A -n tenant-blue",
        )
    },
    f"plan {ROUTES}": ("table", "json", "yaml", "junit", "sarif", "github"),
    f"status {ROUTES}": ("table", "wide", "json", "yaml", "name"),
    **{
        f"why {name} {ROUTES}": ("table", "json", "yaml")
        for name in (
            "httproute/web",
            "httproute/shop",
            "httproute/lost",
            "tlsroute/cluster",
            "tgw/cozystack -n tenant-odd",
            "tenantgateway/none",
        )
    },
    "manifests rbac": ("yaml", "json"),
    "manifests crds": ("yaml", "json"),
    "manifests policies": ("yaml", "json"),
    "manifests tenant-roles": ("yaml", "json"),
    "manifests tenant-tiers": ("yaml", "json"),
    "manifests rbac --account roadstead-attachments": ("yaml", "json"),
    "manifests rbac --account nobody": ("yaml", "json"),
    **{
        f"plan {SETTINGS} {rest}": ("table", "json", "yaml", "junit", "sarif", "github")
        for rest in (
            "-f world",
            "-f world -n tenant-blue",
            "-f world --fail-on never",
            "-f world --fail-on never --exit-code",
            "-f broken.yaml",
            "-f nowhere",
            "",
        )
    },
    **{
        f"why {SETTINGS} {rest}": ("table", "json", "yaml")
        for rest in (
            "trustanchor/postgres-shop -f world",
            "trustanchor/postgres-wiki -f world",
            "secret/postgres-shop-ca -f world",
            "trustanchor/none -f world",
            "trustanchor/postgres-shop -f broken.yaml",
        )
    },
    **{
        f"status {SETTINGS} {rest}": ("table", "wide", "json", "yaml", "name")
        for rest in ("-f world", "-f world -n tenant-blue", "-q -f world", "-f broken.yaml")
    },
}
CODES = {
    f"service validate {SERVICES}": 0,
    f"service validate {SERVICES} --core": 1,
    "service validate examples/services": 0,
    "service validate nowhere": 2,
    "service validate": 2,
    f"service check {SERVICES}": 1,
    f"service check {SERVICES} --out nowhere": 1,
    "service check -f examples/services --platform broken.yaml": 1,
    "service check -f examples/services --platform nowhere.yaml": 2,
    "docs P-SEC-01": 0,
    f"gateways resolve {GATEWAYS}": 0,
    f"gateways resolve {ODD}": 1,
    f"gateways resolve {UNFIT}": 1,
    f"gateways render {GATEWAYS}": 0,
    f"gateways render {ODD}": 1,
    "gateways resolve --platform-values broken.yaml": 2,
    "version": 0,
    "docs CACertExpired": 0,
    "docs NoSuchReason": 2,
    "docs ReadFailed": 0,
    f"plan {ATTACHED}": 1,
    f"plan {ATTACHED} --fail-on never": 0,
    f"why epa/shop-db {ATTACHED}": 0,
    f"why endpointattachment.local.sdn.cozystack.io/web-ip {ATTACHED}": 1,
    f"why epa/none {ATTACHED}": 2,
    f"status {ATTACHED}": 1,
    f"who shop.blue.example.org {ROUTES}": 0,
    f"who api.example.org {ROUTES}": 1,
    f"who no,name {ROUTES}": 2,
    f"graph {ROUTES}": 0,
    f"graph {ROUTES} --problems": 1,
    f"graph {ROUTES} -n tenant-odd --problems": 0,
    f"graph {ROUTES} --host shop.blue.example.org": 0,
    f"graph {ROUTES} --host api.example.org": 1,
    f"graph {ROUTES} -A -n tenant-blue": 2,
    f"plan {ROUTES}": 1,
    f"status {ROUTES}": 1,
    f"why httproute/web {ROUTES}": 1,
    f"why httproute/shop {ROUTES}": 0,
    f"why httproute/lost {ROUTES}": 1,
    f"why tenantgateway/none {ROUTES}": 2,
    f"plan {SETTINGS} -f world": 1,
    f"plan {SETTINGS} -f world -n tenant-blue": 0,
    f"plan {SETTINGS} -f world --fail-on never": 0,
    f"plan {SETTINGS} -f world --fail-on never --exit-code": 1,
    f"plan {SETTINGS} -f broken.yaml": 2,
    f"why {SETTINGS} trustanchor/postgres-shop -f world": 0,
    f"why {SETTINGS} trustanchor/postgres-wiki -f world": 1,
    f"why {SETTINGS} trustanchor/none -f world": 2,
    f"status {SETTINGS} -f world": 1,
    f"status {SETTINGS} -f world -n tenant-blue": 0,
}


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize("line", FORMATS)
def test_every_format_has_the_same_code(line: str) -> None:
    """A pipeline that switches to JSON must not start or stop failing."""
    codes = {form: run(*shlex.split(line), "-o", form).code for form in FORMATS[line]}
    assert len(set(codes.values())) == 1, codes
    assert CODES.get(line, codes[FORMATS[line][0]]) == codes[FORMATS[line][0]]


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize("line", CODES)
@pytest.mark.parametrize("more", [[], ["--color=always"], ["--no-color"]])
def test_colour_does_not_change_the_code(line: str, more: list[str]) -> None:
    """Nor does how it is painted."""
    assert CODES[line] == run(*shlex.split(line), *more).code


def told(kind: str, line: str) -> dict[str, object]:
    """The JSON of a command, held against its published schema."""
    ran = run(*shlex.split(line), "-o", "json")
    found: dict[str, object] = json.loads(ran.out)
    schema = files("roadstead").joinpath("schemas", f"cli-{kind}.json").read_text()
    jsonschema_rs.validator_for(json.loads(schema), validate_formats=True).validate(found)
    assert yaml.safe_load(run(*shlex.split(line), "-o", "yaml").out) == found
    return found


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("plan", f"plan {SETTINGS} -f world --steps"),
        ("plan", f"plan {SETTINGS} --observed world -f later"),
        ("trail", f"why {SETTINGS} trustanchor/postgres-wiki -f world"),
        ("trail", f"why {SETTINGS} secret/nats-bus-ca -f world"),
        ("status", f"status {SETTINGS} -f world"),
        ("plan", f"plan {ATTACHED} --steps"),
        ("trail", f"why epa/web-ip {ATTACHED}"),
        ("trail", f"why service/vm-instance-web-ext {ATTACHED}"),
        ("trail", f"why ipaddressclaim/reserved {ATTACHED}"),
        ("status", f"status {ATTACHED}"),
        ("who", f"who shop.blue.example.org {ROUTES}"),
        ("who", f"who kube.blue.example.org {ROUTES}"),
        ("who", f"who 203.0.113.1 {ATTACHED}"),
        ("plan", f"plan {ROUTES} --steps"),
        ("trail", f"why httproute/web {ROUTES}"),
        ("trail", f"why httproute/lost {ROUTES}"),
        ("trail", f"why tgw/cozystack -n tenant-root {ROUTES}"),
        ("status", f"status {ROUTES}"),
        ("graph", f"graph {ROUTES}"),
        ("graph", f"graph {ATTACHED} --problems"),
        ("graph", f"graph {ROUTES} --host api.example.org"),
        ("gateways", f"gateways resolve {GATEWAYS}"),
        ("gateways", f"gateways resolve {ODD}"),
        ("gateways", f"gateways resolve {UNFIT}"),
        ("reasons", "docs"),
        ("reasons", "docs P-UPD-01"),
        ("service-findings", f"service validate {SERVICES} --core"),
        ("service-findings", "service validate examples/services"),
        ("service-findings", f"service check {SERVICES}"),
        ("service-findings", f"service check {SERVICES} --out nowhere"),
        ("version", "version"),
    ],
)
def test_json_keeps_to_its_schema(kind: str, line: str) -> None:
    """Every JSON has a version and a published schema, and YAML says the same."""
    assert told(kind, line)["apiVersion"] == "cli.roadstead/v1"


def plan(form: str) -> Ran:
    """The example's plan in one format."""
    return run("plan", "-f", "world", "--settings", "settings.yaml", "-o", form)


@pytest.mark.usefixtures("folder", "offline")
def test_junit_has_a_case_for_each_key_and_a_failure_for_each_refusal() -> None:
    """CI shows what was judged and what was refused."""
    suites = ET.fromstring(plan("junit").out)  # noqa: S314 - our own output
    (suite,) = suites
    failures = [case for case in suite if case.find("failure") is not None]
    assert ("testsuites", "testsuite") == (suites.tag, suite.tag)
    # five releases, three definitions, and the round over visible Secrets
    assert len(suite) == int(suite.attrib["tests"]) == 9
    assert len(failures) == int(suite.attrib["failures"]) == 2
    assert {case.attrib["name"] for case in failures} == {
        "HelmRelease/tenant-green/nats-bus",
        "HelmRelease/tenant-green/postgres-wiki",
    }


@pytest.mark.usefixtures("folder", "offline")
def test_sarif_names_file_line_and_rule() -> None:
    """A code host marks the line of the object that is refused."""
    found = json.loads(plan("sarif").out)
    (one,) = found["runs"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert found["version"] == "2.1.0"
    assert found["$schema"].endswith("sarif-2.1.0.json")
    assert sorted(rules) == ["CACertPrivateKeyRefused", "CACertSecretCollision"]
    for result in one["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert result["ruleId"] in rules
        assert result["level"] in {"error", "warning", "note"}
        assert place["artifactLocation"]["uri"].startswith("world/")
        assert place["region"]["startLine"] > 1


@pytest.mark.usefixtures("folder", "offline")
def test_github_annotations_are_whole_lines() -> None:
    """A runner reads one annotation a line."""
    lines = plan("github").out.splitlines()
    form = r"::(error|warning) file=[^,:]+,line=\d+,col=\d+,title=[^:]+::.+"
    assert len(lines) == 2
    assert all(re.fullmatch(form, line) for line in lines)
