"""One golden for each thing a command says: arguments, stdout, stderr, exit code.

`ACCEPT=1` writes them anew; read the diff before you commit it.
"""

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli_command import run

GOLDEN = Path(__file__).parent / "golden"
PLAN = "plan -f world --settings settings.yaml"
WHY = "why --settings settings.yaml -f world"
ATTACHED = "-f worlds/attachments.yaml --settings proxy.yaml"
GATEWAYS = "--platform-values examples/cozystack-platform.yaml -f examples/tenants"
ODD = "--platform-values worlds/gateways/platform.yaml -f worlds/gateways/tenants.yaml"
BROKEN = "--platform-values worlds/gateways/platform-broken.yaml -f worlds/gateways/tenants.yaml"
ROUTES = "-f worlds/routes.yaml --settings settings.yaml"
NARROW, WIDE = 80, 200


@dataclass(frozen=True)
class Golden:
    """One command line. width: of a terminal; 0 for a pipe."""

    name: str
    line: str
    width: int = 0
    env: dict[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"


BARE = {"NO_COLOR": "1"}
GOLDENS = (
    Golden("overview", "--help"),
    Golden("version", "version"),
    Golden("version-json", "version -o json"),
    Golden("version-yaml", "version -o yaml"),
    Golden("docs", "docs"),
    Golden("docs-narrow", "docs", NARROW, BARE),
    Golden("docs-reason", "docs CACertPrivateKeyRefused"),
    Golden("docs-reason-colour", "docs CACertPrivateKeyRefused", WIDE),
    Golden("docs-reason-json", "docs CACertExpired -o json"),
    Golden("docs-shared", "docs readfailed"),
    Golden("docs-attachment", "docs BackendAlreadyDelegated", NARROW, BARE),
    Golden("docs-unknown", "docs CACertPrivatKey"),
    Golden("manifests-rbac", "manifests rbac"),
    Golden("manifests-crds", "manifests crds"),
    Golden("manifests-policies", "manifests policies --account roadstead-refresher -n cozy-system"),
    Golden("manifests-tenant-roles", "manifests tenant-roles"),
    Golden("manifests-tenant-tiers", "manifests tenant-tiers"),
    Golden("manifests-account-unknown", "manifests rbac --account nobody"),
    Golden("manifests-unknown", "manifests charts"),
    Golden("completion-bash", "completion bash"),
    Golden("completion-fish", "completion fish"),
    Golden("completion-zsh", "completion zsh"),
    Golden("completion-unknown", "completion tcsh"),
    Golden("plan", PLAN),
    Golden("plan-narrow", PLAN, NARROW, BARE),
    Golden("plan-narrow-colour", PLAN, NARROW),
    Golden("plan-wide", PLAN, WIDE, BARE),
    Golden("plan-wide-colour", PLAN, WIDE),
    Golden("plan-ascii", PLAN, encoding="ascii"),
    Golden("plan-forced-colour", PLAN, env={"FORCE_COLOR": "1"}),
    Golden("plan-steps", f"{PLAN} --steps"),
    Golden("plan-json", f"{PLAN} -o json --steps"),
    Golden("plan-yaml", f"{PLAN} -o yaml"),
    Golden("plan-junit", f"{PLAN} -o junit"),
    Golden("plan-sarif", f"{PLAN} -o sarif"),
    Golden("plan-github", f"{PLAN} -o github"),
    Golden("plan-later", "plan --observed world -f later --settings settings.yaml"),
    Golden("plan-against", f"{PLAN} --against world --exit-code --fail-on never"),
    Golden(
        "plan-allowed",
        f"{PLAN} --allow CACertPrivateKeyRefused=tenant-green/postgres-wiki"
        " --allow CACertSecretCollision=tenant-green/nats-bus",
    ),
    Golden("plan-namespace", f"{PLAN} -n tenant-blue"),
    Golden("plan-table", f"{PLAN} --ca-sources-file table.yaml"),
    Golden("plan-nothing", "plan"),
    Golden("why-published", f"{WHY} trustanchor/postgres-shop"),
    Golden("why-refused", f"{WHY} helmrelease/postgres-wiki -n tenant-green"),
    Golden("why-refused-narrow", f"{WHY} helmrelease/postgres-wiki", NARROW, BARE),
    Golden("why-refused-colour", f"{WHY} helmrelease/postgres-wiki", WIDE),
    Golden("why-refused-json", f"{WHY} hr/postgres-wiki -o json"),
    Golden("why-refused-yaml", f"{WHY} hr/postgres-wiki -o yaml"),
    Golden("why-secret", f"{WHY} secret/postgres-shop-ca"),
    Golden("why-anchor", f"{WHY} secret/postgres-shop.tenant-ca"),
    Golden("why-unknown", f"{WHY} helmrelease/postgres-sho"),
    Golden("why-kind", f"{WHY} helmrelaese/postgres-shop"),
    Golden("plan-attachments", f"plan {ATTACHED}"),
    Golden("plan-attachments-narrow", f"plan {ATTACHED}", NARROW, BARE),
    Golden("plan-attachments-wide-colour", f"plan {ATTACHED}", WIDE),
    Golden("plan-attachments-json", f"plan {ATTACHED} -o json"),
    Golden("plan-attachments-silent", f"plan {ATTACHED} --stand-ins none"),
    Golden("plan-example", "plan -f exposed --settings proxy.yaml"),
    Golden("plan-example-silent", "plan -f exposed --settings proxy.yaml --stand-ins none"),
    Golden("plan-example-steps", "plan -f exposed --settings proxy.yaml --steps -n tenant-blue"),
    Golden("why-attachment", f"why epa/web-ip {ATTACHED}"),
    Golden("why-attachment-narrow", f"why epa/web-ip {ATTACHED}", NARROW, BARE),
    Golden("why-attachment-colour", f"why epa/web-ip {ATTACHED}", WIDE),
    Golden("why-attachment-json", f"why epa/web-ip {ATTACHED} -o json"),
    Golden("why-attachment-settled", f"why endpointattachment/shop-db {ATTACHED}"),
    Golden("why-attachment-waits", f"why epa/wiki-db {ATTACHED}"),
    Golden("why-attachment-unknown", f"why epa/wiki {ATTACHED}"),
    Golden("why-service", f"why service/vm-instance-web-ext {ATTACHED}"),
    Golden("why-claim", f"why ipaddressclaim/reserved {ATTACHED}"),
    Golden("status-attachments", f"status {ATTACHED}"),
    Golden("status-attachments-narrow", f"status {ATTACHED}", NARROW, BARE),
    Golden("status-attachments-wide-colour", f"status {ATTACHED}", WIDE),
    Golden("status-attachments-wide", f"status {ATTACHED} -o wide"),
    Golden("status-attachments-quiet", f"status {ATTACHED} -q"),
    Golden("status-attachments-json", f"status {ATTACHED} -o json"),
    Golden("status-attachments-name", f"status {ATTACHED} -o name"),
    Golden("plan-routes", f"plan {ROUTES}"),
    Golden("plan-routes-narrow", f"plan {ROUTES}", NARROW, BARE),
    Golden("plan-routes-wide-colour", f"plan {ROUTES}", WIDE),
    Golden("plan-routes-json", f"plan {ROUTES} -o json"),
    Golden("why-route", f"why httproute/web {ROUTES}"),
    Golden("why-route-narrow", f"why httproute/web {ROUTES}", NARROW, BARE),
    Golden("why-route-colour", f"why httproute/web {ROUTES}", WIDE),
    Golden("why-route-json", f"why httproute/web {ROUTES} -o json"),
    Golden("why-route-settled", f"why httproute/shop {ROUTES}"),
    Golden("why-route-unattached", f"why httproute/lost {ROUTES}"),
    Golden("why-route-tls", f"why tlsroute/cluster {ROUTES}"),
    Golden("why-gateway", f"why tgw/cozystack -n tenant-root {ROUTES}"),
    Golden("why-gateway-narrow", f"why tgw/cozystack -n tenant-root {ROUTES}", NARROW, BARE),
    Golden("why-gateway-refused", f"why tenantgateway/cozystack -n tenant-odd {ROUTES}"),
    Golden("why-gateway-unknown", f"why tenantgateway/cozystak {ROUTES}"),
    Golden("status-routes", f"status {ROUTES}"),
    Golden("status-routes-narrow", f"status {ROUTES}", NARROW, BARE),
    Golden("status-routes-wide-colour", f"status {ROUTES}", WIDE),
    Golden("status-routes-json", f"status {ROUTES} -o json"),
    Golden("who", f"who shop.blue.example.org {ROUTES}"),
    Golden("who-narrow", f"who shop.blue.example.org {ROUTES}", NARROW, BARE),
    Golden("who-wide-colour", f"who shop.blue.example.org {ROUTES}", WIDE),
    Golden("who-json", f"who shop.blue.example.org {ROUTES} -o json"),
    Golden("who-yaml", f"who shop.blue.example.org {ROUTES} -o yaml"),
    Golden("who-nobody", f"who api.example.org {ROUTES}"),
    Golden("who-waiting", f"who kube.blue.example.org {ROUTES}"),
    Golden("who-address", f"who 203.0.113.1 {ATTACHED}"),
    Golden("who-listener-secret", f"who secret/cozystack-shop-4a43d552-tls {ROUTES}"),
    Golden("who-anchor-secret", "who secret/postgres-shop-ca -f world --settings settings.yaml"),
    Golden("who-unknown", "who shop,blue"),
    Golden("graph", f"graph {ROUTES}"),
    Golden("graph-ascii", f"graph {ROUTES}", encoding="ascii"),
    Golden("graph-wide-colour", f"graph {ROUTES} --problems", WIDE),
    Golden("graph-attachments", f"graph {ATTACHED}"),
    Golden("graph-example", "graph -f exposed --settings proxy.yaml"),
    Golden("graph-namespace", f"graph {ROUTES} -n tenant-blue"),
    Golden("graph-host", f"graph {ROUTES} --host WEB.green.example.org."),
    Golden("graph-address", f"graph {ATTACHED} --host 203.0.113.1"),
    Golden("graph-nothing", f"graph {ROUTES} --host api.example.org"),
    Golden("graph-anchors-alone", "graph -f worlds/routes.yaml --settings anchors-alone.yaml"),
    Golden(
        "who-anchors-alone", "who 203.0.113.1 -f worlds/routes.yaml --settings anchors-alone.yaml"
    ),
    Golden("graph-json", f"graph {ROUTES} -o json"),
    Golden("graph-mermaid", f"graph {ROUTES} -n tenant-blue -o mermaid"),
    Golden("graph-dot", f"graph {ROUTES} -o dot"),
    Golden("graph-svg", f"graph {ROUTES} -n tenant-blue -o svg"),
    Golden("graph-html", f"graph {ROUTES} -n tenant-blue -o html"),
    Golden("graph-unknown", f"graph {ROUTES} -o mermiad"),
    Golden("explain", "explain trustanchor/nats-bus -f world --settings settings.yaml"),
    Golden("status", "status -f world --settings settings.yaml"),
    Golden("status-narrow", "status -f world --settings settings.yaml", NARROW, BARE),
    Golden("status-wide-colour", "status -f world --settings settings.yaml", WIDE),
    Golden("status-quiet", "status -q -f world --settings settings.yaml"),
    Golden("status-wide", "status -o wide -f world --settings settings.yaml"),
    Golden("status-json", "status -o json -f world --settings settings.yaml"),
    Golden("status-yaml", "status -o yaml -f world --settings settings.yaml"),
    Golden("status-name", "status -o name -f world --settings settings.yaml"),
    Golden("gateways", f"gateways resolve {GATEWAYS}"),
    Golden("gateways-narrow", f"gateways resolve {GATEWAYS}", NARROW, BARE),
    Golden("gateways-wide-colour", f"gateways resolve {GATEWAYS}", WIDE),
    Golden("gateways-json", f"gateways resolve {GATEWAYS} -o json"),
    Golden("gateways-yaml", f"gateways resolve {GATEWAYS} -o yaml"),
    Golden("gateways-refused", f"gateways resolve {ODD}"),
    Golden("gateways-refused-narrow", f"gateways resolve {ODD}", NARROW, BARE),
    Golden("gateways-refused-wide-colour", f"gateways resolve {ODD}", WIDE),
    Golden("gateways-refused-json", f"gateways resolve {ODD} -o json"),
    Golden("gateways-values-refused", f"gateways resolve {BROKEN}"),
    Golden("gateways-render", f"gateways render {GATEWAYS}"),
    Golden("gateways-render-parts", f"gateways render {GATEWAYS} --part releases --part values"),
    Golden("gateways-render-cleanup", f"gateways render {GATEWAYS} --part cleanup"),
    Golden("gateways-render-json", f"gateways render {GATEWAYS} --part gateways -o json"),
    Golden("gateways-render-refused", f"gateways render {ODD} --part gateways"),
    Golden("gateways-render-nothing", f"gateways render {BROKEN}"),
    Golden("unknown-command", "pln -f world"),
    Golden("unknown-flag", "plan --filname world"),
    Golden("unknown-format", "plan -f world -o jsn"),
    Golden("missing-argument", "why"),
    *(
        Golden(f"help-{name}", f"{name} --help")
        for name in (
            *("plan", "run", "why", "who", "status", "graph", "check", "docs"),
            *("up", "gateways", "manifests", "version", "completion"),
        )
    ),
)


def written(golden: Golden) -> str:
    """What a golden holds."""
    ran = run(
        *shlex.split(golden.line), width=golden.width, env=golden.env, encoding=golden.encoding
    )
    parts = [f"$ roadstead {golden.line}"]
    if golden.width:
        parts.append(f"width: {golden.width}")
    parts += [f"{name}: {value}" for name, value in golden.env.items()]
    head = "\n".join(parts)
    shown = ran.out.replace("\x1b", "\\e")
    return f"{head}\n--- stdout\n{shown}--- stderr\n{ran.err}--- exit {ran.code}\n"


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
def test_a_command_says_what_its_golden_holds(golden: Golden) -> None:
    """A changed word is a change people meet; it must be wanted."""
    file = GOLDEN / f"{golden.name}.txt"
    got = written(golden)
    if os.environ.get("ACCEPT"):
        file.write_text(got, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == got


def test_no_golden_is_left_over() -> None:
    """A file that no test reads holds nothing."""
    assert {golden.name for golden in GOLDENS} == {file.stem for file in GOLDEN.glob("*.txt")}


@pytest.mark.usefixtures("folder", "offline")
@pytest.mark.parametrize(
    "golden",
    [golden for golden in GOLDENS if golden.width == NARROW and golden.line != "docs"],
    ids=lambda golden: golden.name,
)
def test_a_narrow_terminal_loses_no_word(golden: Golden) -> None:
    """What does not fit is wrapped, never cut."""
    narrow = run(*shlex.split(golden.line), width=golden.width, env=BARE)
    whole = run(*shlex.split(golden.line))
    assert whole.out.split() == narrow.out.split()
