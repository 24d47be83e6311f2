"""What the pages say is so: blocks give what they show, names exist, nothing is left unnamed.

A `console` block is run: offline, or on a control plane where `<!-- runs: cluster -->` stands
above it. A code block with a caption is a file, written before what follows it is run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from live_summary import VERSION
from parts import HandClock
from roadstead.cache import cache_folder
from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.capabilities.anchors import api
from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.cli.inputs import OFFLINE_ONLY
from roadstead.cli.main import ALIASES, COMMANDS, GROUPS, load
from roadstead.deploy.crds import crds
from roadstead.engine.engine import Engine
from roadstead.engine.store import State
from roadstead.runtime.metrics import Gauges, Metrics
from roadstead.settings import Settings
from roadstead.sim.flags import RUN_ONLY
from roadstead.testbed.crds import install, neighbours
from roadstead.testbed.server import ControlPlane

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BIN = Path(sys.executable).parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(
        [
            *(path for path in DOCS.rglob("*.md") if "_build" not in path.parts),
            *ROOT.glob("*.md"),
            *(ROOT / "changes").glob("*.md"),
        ]
    )
}
REFERENCE = "".join(text for name, text in PAGES.items() if name.startswith("docs/reference/"))
CLUSTER = "<!-- runs: cluster -->"
ANY = "..."


@dataclass(frozen=True)
class Fence:
    """One fenced block of a page. line: where it begins; info: its language."""

    line: int
    info: str
    text: str
    caption: str = ""
    above: str = ""


@dataclass(frozen=True)
class Command:
    """One line after a `$`, and what the page shows it to print."""

    text: str
    shown: str


def fences(page: str) -> Iterator[Fence]:
    """Every fenced block, its options taken off, with the line that stands above it."""
    lines = iter(enumerate(page.splitlines(), start=1))
    above = ""
    for number, line in lines:
        opened = re.match(r"(`{3,})\s*(.*)", line)
        if opened is None:
            above = line.strip() or above
            continue
        body: list[str] = []
        for _, inner in lines:
            if inner.rstrip() == opened[1]:
                break
            body.append(inner)
        caption = ""
        while body and (option := re.match(r":(\w+):\s*(.*)", body[0])):
            caption = option[2] if option[1] == "caption" else caption
            body.pop(0)
        info = opened[2].removeprefix("{code-block}").strip()
        yield Fence(number, info, "\n".join(body).strip("\n") + "\n", caption, above)
        above = ""


def commands(fence: Fence) -> list[Command]:
    """The commands of a console block; a line that begins with `> ` goes on with the one above."""
    found: list[Command] = []
    for line in fence.text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
        elif line.startswith("> ") and found and not found[-1].shown:
            found[-1] = Command(f"{found[-1].text}\n{line[2:]}", "")
        else:
            assert found, f"line {fence.line}: output before the first `$`"
            found[-1] = Command(found[-1].text, f"{found[-1].shown}{line}\n")
    return found


def shows(shown: str, printed: str) -> bool:
    """Tell whether an output is what a page shows; `...` stands for lines, or a part of one.

    Columns may be wider than shown, since the ages in them grow.
    """
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == ANY:
            pattern += r"(?:.*\n)*?"
        else:
            literal = (re.escape(part) for part in line.rstrip().split(ANY))
            pattern += re.sub(r"(?:\\ ){2,}", " {2,}", r"[^\n]*?".join(literal)) + r"\n"
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, text) is not None


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a block sees: our commands first, a home of its own, nobody's kubeconfig."""
    return {
        "PATH": f"{folder / 'bin'}:{BIN}:{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(cache_folder().parent),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "ROADSTEAD_NO_PROGRESS": "1",
        "PYTHONPATH": str(folder / "src") if (folder / "src/roadstead/cli").exists() else "",
        **more,
    }


def run_block(fence: Fence, folder: Path, environ: Mapping[str, str]) -> None:
    """Run the commands of a block one after another and hold each output against the page."""
    code = 0
    for command in commands(fence):
        done = subprocess.run(  # noqa: S603 - a page of ours
            ["/bin/bash", "-c", f"(exit {code})\n{command.text}"],
            cwd=folder,
            env=dict(environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
        code = done.returncode
        printed = done.stdout.decode(errors="replace")
        assert shows(command.shown, printed), (
            f"line {fence.line}: `{command.text}` gives\n{printed}\nand the page shows\n"
            f"{command.shown}"
        )


def play(page: str, folder: Path, environ: Mapping[str, str], *, cluster: bool) -> int:
    """Write the files of a page and run its blocks of one kind, in order; give how many ran."""
    count = 0
    for fence in fences(PAGES[page]):
        if fence.caption:
            target = folder / fence.caption
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(fence.text, encoding="utf-8")
        if fence.info == "console" and (fence.above == CLUSTER) is cluster:
            run_block(fence, folder, environ)
            count += 1
    return count


def copied(page: str, folder: Path) -> Path:
    """Give a folder with what blocks may read, and the package where the page changes it."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    ours = "src/roadstead"
    if not any(fence.caption.startswith(ours) for fence in fences(PAGES[page])):
        ours += "/examples"
    shutil.copytree(ROOT / ours, folder / ours, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def having(*, cluster: bool) -> list[str]:
    """The pages that have a console block of one kind."""
    return [
        name
        for name, text in PAGES.items()
        if any(f.info == "console" and (f.above == CLUSTER) is cluster for f in fences(text))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", having(cluster=False))
def test_the_blocks_of_a_page_give_what_it_shows(page: str, tmp_path: Path) -> None:
    """Whoever types what stands there reads what stands there."""
    folder = copied(page, tmp_path)

    assert play(page, folder, environment(folder), cluster=False)


def view_names() -> set[str]:
    """What metrics and `/readyz` call the views of everything that runs."""
    running = [one.views for one in CONTROLLERS.values()]
    answering = [one.views for one in ADMISSIONS.values()]
    return {view.name for views in (*running, *answering) for view in views}


def test_the_guide_to_a_capability_adds_and_takes_nothing_away() -> None:
    """Whoever copies its blocks into a clone still has every other capability."""
    guide = {f.caption: f.text for f in fences(PAGES["docs/guides/add-a-capability.md"])}
    replaced = [path for path in guide if path and (ROOT / path).exists()]

    assert replaced == ["src/roadstead/capabilities/running.py"]
    for path in replaced:
        imports = re.findall(r"^from .*", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        names = {name for line in imports for name in re.split(r"import |, ", line)[1:]}
        assert [] == sorted(name for name in names if guide[path].count(name) < 2)
    assert not view_names() & set(re.findall(r'View\("([\w-]+)"', "".join(guide.values())))


NAMED = r"(?<![\w-]){}(?![\w-])"
GENERATED = {"docs/reference/cli.md"}


def is_named(name: str, text: str = REFERENCE) -> bool:
    """Tell whether a word stands in a text as a whole."""
    return re.search(NAMED.format(re.escape(name)), text) is not None


def metrics() -> dict[str, str]:
    """Every name and type that `/metrics` of a leading process has."""
    clock = HandClock()
    engine = Engine(CONTROLLERS.values(), Settings(), clock, admissions=ADMISSIONS.values())
    made = Metrics(engine, clock, dict.fromkeys(CONTROLLERS, 1))
    made.attach(Gauges(dict, lambda: 0.0, lambda: ("lease", True), lambda: 0))
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", made.exposition().decode(), re.MULTILINE))


def camel(name: str) -> str:
    """A field's name as settings files have it."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def flags(command: str) -> set[str]:
    """Every flag of a command."""
    taken = {flag for one in load(command)[0].params for flag in one.opts + one.secondary_opts}
    return {flag for flag in taken if flag.startswith("-")} | {"--help"}


def crd_fields(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names of all stated fields."""
    for name, below in (schema.get("properties") or {}).items():
        yield name
        yield from crd_fields(below)


def test_every_reason_and_state_is_in_the_reference() -> None:
    """Whoever meets a word in an event or a table finds what it means."""
    states = {api.PUBLISHED, api.WITHDRAWN, *(reason.state for reason in api.REASONS)}
    table = PAGES["docs/concepts/anchors.md"]

    reasons = [reason.name for one in CONTROLLERS.values() for reason in one.reasons]
    reasons += [reason.name for one in ADMISSIONS.values() for reason in one.reasons]

    assert [] == [
        name for name in reasons if not is_named(name, PAGES["docs/reference/reasons.md"])
    ]
    assert [] == sorted(state for state in states if f"| `{state}` |" not in table)


def test_every_view_and_its_states_are_in_the_reference() -> None:
    """Whoever reads `/readyz` at night finds what it names."""
    page = PAGES["docs/reference/views.md"]
    names = {state.value for state in State} | view_names()

    assert [] == sorted(name for name in names if f"`{name}`" not in page)


def test_every_check_is_in_the_reference() -> None:
    """Whoever meets a check's id finds its meaning under an anchor of that name."""
    page = PAGES["docs/reference/checks.md"]

    assert [] == [name for name in CHECKS if f"\n## {name}\n" not in page]


def test_every_setting_is_in_the_reference() -> None:
    """Each is documented under its camelCase name, as `settings.py` promises."""
    page = PAGES["docs/reference/settings.md"]
    names = {camel(field.name) for field in fields(Settings)} | RUN_ONLY | OFFLINE_ONLY

    assert [] == sorted(name for name in names if not is_named(f"`{name}`", page))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_is_in_the_reference(command: str) -> None:
    """Each flag of each command is named, also outside the generated help for `run`."""
    own = PAGES["docs/reference/settings.md"] + PAGES["docs/reference/cli.md"]

    assert is_named(f"roadstead {command}")
    assert [] == sorted(flag for flag in flags(command) if not is_named(flag, own))


def test_every_metric_is_in_the_reference_and_no_other() -> None:
    """A dashboard can be made from the page."""
    page = PAGES["docs/reference/metrics.md"]
    rows = set(re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE))
    served = {name for name in metrics() if not name.startswith(("process_", "python_"))}

    assert served == rows
    assert [] == [name for name in metrics() if not is_named(f"`{name}`", page)]


def test_every_metric_of_a_page_exists() -> None:
    """No alert that a page proposes waits for a metric nobody serves."""
    series = r"(?:roadstead|controller_runtime|workqueue|rest_client|leader_election)_[a-z_]+"
    known = metrics()

    for name, text in PAGES.items():
        for metric in re.findall(rf"(?<![\w/-])({series})(?=[`{{\[) ])", text):
            assert metric in known, f"{name}: {metric}"


def test_every_field_of_our_definitions_is_in_the_reference() -> None:
    """What a definition may state is told where engines are declared."""
    stated = {
        name
        for body in crds().values()
        for version in body["spec"]["versions"]
        for name in crd_fields(version["schema"]["openAPIV3Schema"])
    }

    assert [] == sorted(name for name in stated if not is_named(name))


def lines_of_code() -> Iterator[tuple[str, str]]:
    """Every command line of every page: from blocks, continued lines joined, and from the text."""
    for name, text in PAGES.items():
        for fence in fences(text):
            if fence.info in {"console", "sh"}:
                for line in fence.text.replace("\\\n", " ").splitlines():
                    if fence.info == "sh" or line.startswith("$ "):
                        yield name, line.removeprefix("$ ")
        for span in re.findall(r"`([^`\n]+)`", text):
            yield name, span


def test_no_page_names_a_command_or_a_flag_that_does_not_exist() -> None:
    """Whatever a page tells to type can be typed."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    wrong = []
    for name, line in lines_of_code():
        for call in re.findall(r"(?:^|[|;&] *|-- +)roadstead +([a-z][^|;&#]*)", line):
            command, *rest = call.split()
            if command in GROUPS and rest and not rest[0].startswith("-"):
                command, rest = f"{command} {rest[0]}", rest[1:]
            known = ALIASES.get(command, command)
            if known in GROUPS:
                continue
            if known not in COMMANDS:
                wrong.append(f"{name}: roadstead {command}")
                continue
            stated = {part.partition("=")[0] for part in rest if part.startswith("--")}
            wrong += [f"{name}: {flag} of {command}" for flag in sorted(stated - flags(known))]
        for target in re.findall(r"(?:^|[|;&] *)make ([a-z-]+)", line):
            if target not in targets:
                wrong.append(f"{name}: make {target}")

    assert [] == wrong


def test_every_flag_of_an_example_deployment_exists() -> None:
    """A manifest that is copied starts."""
    wrong = []
    for name, text in PAGES.items():
        for fence in fences(text):
            if fence.info in {"yaml", "json"}:
                documents = list(yaml.safe_load_all(fence.text))
                stated = set(re.findall(r"^\s*- (--[a-z-]+)", fence.text, re.MULTILINE))
                wrong += [f"{name}: {flag}" for flag in stated - flags("run")]
                assert documents, f"{name}:{fence.line} is empty"

    assert [] == wrong


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_resolves(page: str) -> None:
    """No link of a page leads nowhere, on a forge or in the built pages."""
    wrong = []
    prose = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (ROOT / page).parent / path if path else ROOT / page
        if not file.exists() or (anchor and anchor not in slugs(file.read_text(encoding="utf-8"))):
            wrong.append(target)

    assert [] == wrong


def slugs(page: str) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_path_in_a_page_exists(page: str) -> None:
    """Where a page says to look, there is something."""
    rooms = "src|tests|docs|examples|controlplane|tools|changes"
    spans = re.findall(rf"`((?:{rooms})/[\w./-]*)`", PAGES[page])

    assert [] == [path for path in spans if not (ROOT / path).exists()]


def test_every_page_is_in_a_table_of_contents() -> None:
    """No page can only be found by its address."""
    listed = {"docs/index.md"}
    for name, text in PAGES.items():
        for fence in fences(text):
            if fence.info == "{toctree}":
                folder = Path(name).parent
                entries = [line for line in fence.text.split() if not line.startswith(":")]
                listed |= {f"{(folder / entry).as_posix()}.md" for entry in entries}

    assert {name for name in PAGES if name.startswith("docs/")} == listed


def test_what_is_shown_after_a_prompt_is_run() -> None:
    """A `$` stands in a console block alone, and each of those is run."""
    wrong = [
        f"{name}:{fence.line}"
        for name, text in PAGES.items()
        for fence in fences(text)
        if fence.info != "console" and re.search(r"^\$ ", fence.text, re.MULTILINE)
    ]

    assert [] == wrong


def test_a_mark_stands_above_a_console_block_alone() -> None:
    """There are two kinds of block, and no third is made up by a mark that nobody reads."""
    for name, text in PAGES.items():
        marked = [f for f in fences(text) if f.above == CLUSTER and f.info == "console"]

        assert len(marked) == len(re.findall(r"^<!-- runs:", text, re.MULTILINE)), name


def test_the_bench_page_names_every_row_that_was_measured() -> None:
    """A figure that nobody explains is no figure."""
    parts = json.loads((ROOT / "bench/results.json").read_text())
    rows = [row["measure"] for part in parts.values() for row in part["rows"]]

    assert rows
    assert [] == [measure for measure in rows if measure not in PAGES["docs/reference/bench.md"]]


@pytest.fixture(scope="module")
def example(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A control plane with the example and `roadstead run` at work; gives what to run in."""
    folder = tmp_path_factory.mktemp("example")
    with ControlPlane.start() as plane:
        request.config.stash[VERSION] = plane.version
        install(plane, [*neighbours(), *crds().values()])
        (folder / "bin").mkdir()
        shim = folder / "bin/kubectl"
        shim.write_text(f'#!/bin/sh\nexec "{plane.binary}" kubectl "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
        environ = environment(folder, KUBECONFIG=str(plane.kubeconfig), KUBERC="off")
        world = ROOT / "src/roadstead/examples/anchors"
        made = plane.kubectl("apply", "--server-side", "-f", str(world))
        assert made.returncode == 0, made.stderr
        with controllers(environ):
            wait_for_the_example(plane, environ)
            yield environ


@contextmanager
def controllers(environ: Mapping[str, str]) -> Iterator[None]:
    """Run `roadstead run` for as long as the block lasts, and see that it stops as it should."""
    flags_of_run = ("--metrics-bind-address=0", "--health-probe-bind-address=0")
    with subprocess.Popen(  # noqa: S603 - our own program
        [str(BIN / "roadstead"), "run", *flags_of_run, "--no-leader-elect"],
        env=dict(environ),
        stderr=subprocess.DEVNULL,
    ) as child:
        try:
            yield
        finally:
            child.terminate()
    assert child.returncode == 0


def wait_for_the_example(plane: ControlPlane, environ: Mapping[str, str]) -> None:
    """Wait for its anchors and for its events, for a minute each at most."""
    for name in (
        "tenant-blue/mongodb-orders",
        "tenant-blue/postgres-shop",
        "tenant-green/nats-feed",
    ):
        space, _, release = name.partition("/")
        arguments = ("wait", "--for=create", "--timeout=60s", "-n", space)
        done = plane.kubectl(*arguments, f"secret/{release}{api.SUFFIX}")
        assert done.returncode == 0, done.stderr
    for reason in ("CACertPrivateKeyRefused", "CACertSecretCollision"):
        told = ["get", "events", "-A", "--watch", "-o", "name", "--request-timeout=60s"]
        with subprocess.Popen(  # noqa: S603 - our own program
            [str(plane.binary), "kubectl", *told, f"--field-selector=reason={reason}"],
            env=dict(environ),
            stdout=subprocess.PIPE,
        ) as watch:
            assert watch.stdout is not None
            assert watch.stdout.readline(), f"no {reason} within a minute"
            watch.terminate()


@pytest.mark.cluster
@pytest.mark.parametrize("page", having(cluster=True))
def test_the_blocks_that_need_a_cluster_give_what_the_page_shows(
    page: str, tmp_path: Path, example: dict[str, str]
) -> None:
    """The same, on Kubernetes' own API server with the controllers at work."""
    assert play(page, copied(page, tmp_path), example, cluster=True)
