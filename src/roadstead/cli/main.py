"""The entry point: finds the command, runs it, and turns every outcome into an exit code.

0 nothing to report, 1 the answer is "no" or "different", 2 could not do it. A command's module is
imported only when it is asked for; no traceback is shown below `-vv`.
"""

import hashlib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from typer import TyperException
from typer.main import get_command

from roadstead.cli.out import Screen, tell
from roadstead.errors import BugError, InputError, RoadsteadError, TestbedError
from roadstead.kube.nearest import did_you_mean

HELP_WIDTH = 90
INTERRUPTED = 130
FAILED = 2
TRACEBACKS_FROM = 2

_POSSIBLE = re.compile(r"(.*) \(Possible options: (.*)\)$", re.DOTALL)


class Entry(NamedTuple):
    """One command: the module that holds it, and what it gives."""

    module: str
    gives: str


COMMANDS: dict[str, Entry] = {
    "plan": Entry("plan", "What would happen, offline."),
    "run": Entry("run", "The controllers."),
    "why": Entry("why", "The trail of one decision, and the next step."),
    "who": Entry("who", "Who holds a hostname, an address or a Secret."),
    "status": Entry("status", "One table of everything that is owed."),
    "graph": Entry("graph", "What is exposed, drawn from hosts to pods."),
    "check": Entry("check", "Whether a cluster is ready, and whether an installation is well."),
    "docs": Entry("docs", "The page of one reason."),
    "gateways": Entry("gateways", "From platform values to each tenant's Gateway."),
    "render": Entry("service.short", "The short form of `service render`."),
    "service validate": Entry("service.validate", "What is wrong with definitions as written."),
    "service check": Entry("service.check", "Every finding, and whether a tree is up to date."),
    "service schema": Entry("service.schema", "The JSON Schema of definitions, for editors."),
    "service render": Entry("service.render", "Service definitions to manifests."),
    "service explain": Entry("service.explain", "Which line causes which object, and why."),
    "service diff": Entry("service.diff", "Two trees, and what the change between them risks."),
    "service drift": Entry("service.drift", "A tree against a cluster, read-only."),
    "service selftest": Entry("service.selftest", "Whether this renderer is what it should be."),
    "service graph": Entry("service.graph", "Who calls whom, and in which wave."),
    "service secret": Entry("service.secret", "The skeleton of a required Secret."),
    "up": Entry("up", "Try it on a control plane of its own, no cluster."),
    "manifests": Entry("manifests", "What is installed: CRDs, permissions, workloads, charts."),
    "version": Entry("version", "The version of this program, and of the server."),
    "completion": Entry("completion", "The script that completes commands in a shell."),
}
ALIASES = {"explain": "why"}
GROUPS = frozenset(name.partition(" ")[0] for name in COMMANDS if " " in name)
"""First words that a verb follows."""

WITH_VALUE = frozenset(
    {"-n", "--namespace", "--context", "--kubeconfig", "-f", "--filename", "--settings"}
    | {"-o", "--output", "--color", "--platform-values"}
)
WITHOUT_VALUE = frozenset({"-A", "--all-namespaces", "--no-color", "-q", "--quiet"})
VERBOSE = {"-v": 1, "--verbose": 1, "-vv": 2, "-vvv": 3}
"""How much more an error says; understood anywhere on the line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; gives the exit code. Nothing but an interrupt leaves it raised."""
    # A stream that was closed before the start is None; the answer's exit code is still owed.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    given = list(sys.argv[1:] if argv is None else argv)
    verbose = sum(VERBOSE.get(part, 0) for part in given)
    arguments = [part for part in given if part not in VERBOSE]
    try:
        code = _dispatch(arguments)
        Screen.here("never").flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except TyperException as error:
        return _usage(error, arguments)
    except BugError as error:
        return _bug(error, verbose)
    except RoadsteadError as error:
        return complain(error, verbose)
    except Exception as error:  # noqa: BLE001 - the last resort: an id instead of a traceback
        return _bug(error, verbose)
    return code


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - open until the end


def _dispatch(arguments: list[str]) -> int:
    arguments = hoisted(arguments)
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        Screen.here("never").write(overview())
        return 0
    name, rest = arguments[0], arguments[1:]
    if name == "--version":
        name = "version"
    if name.startswith("-"):
        raise InputError(f"no command stands before `{name}`", hint="roadstead --help lists them")
    name = ALIASES.get(name, name)
    if name in GROUPS:
        name, rest = _with_verb(name, hoisted(rest))
        if name in GROUPS:
            Screen.here("never").write(overview(name))
            return 0
    if name not in COMMANDS:
        raise InputError(f"there is no command `{name}`", hint=nearest_command(name))
    command, module = load(name)
    before = rest[: rest.index("--")] if "--" in rest else rest
    if "--help" in before or "-h" in before:
        Screen.here("never").write(help_of(name, command, module))
        return 0
    answer = command.main(args=rest, prog_name=f"roadstead {name}", standalone_mode=False)
    return answer if isinstance(answer, int) else 0


def _with_verb(group: str, rest: list[str]) -> tuple[str, list[str]]:
    """Take the verb of a group into the name; the group alone where its help is asked for."""
    if not rest or rest[0] in {"-h", "--help", "help"}:
        return group, []
    name = f"{group} {rest[0]}"
    if name not in COMMANDS:
        raise InputError(f"there is no command `{name}`", hint=nearest_command(name))
    return name, rest[1:]


def hoisted(arguments: list[str]) -> list[str]:
    """Move shared flags that stand before the command behind it, where each command reads them."""
    before: list[str] = []
    at = 0
    while at < len(arguments):
        flag, equals, _ = arguments[at].partition("=")
        if flag in WITH_VALUE and not equals:
            before += arguments[at : at + 2]
            at += 2
        elif flag in WITH_VALUE or flag in WITHOUT_VALUE:
            before.append(arguments[at])
            at += 1
        else:
            break
    return [*arguments[at : at + 1], *before, *arguments[at + 1 :]]


def nearest_command(name: str) -> str:
    """What was probably meant."""
    return did_you_mean(name, [*COMMANDS, *ALIASES], "roadstead --help lists the commands")


def load(name: str) -> tuple[Any, Any]:
    """Import one command: the command object and its module."""
    module = importlib.import_module(f"roadstead.cli.{COMMANDS[name].module}")
    return get_command(module.app), module


def overview(group: str = "") -> str:
    """The help of the program, or of the commands that begin with one word."""
    listed = {name: one for name, one in COMMANDS.items() if f"{name} ".startswith(f"{group} ")}
    listed = listed if group else COMMANDS
    width = max(len(name) for name in listed)
    lines = [
        "Example:",
        "  roadstead service render -f catalog/ --platform platform.yaml --out rendered/"
        if group
        else "  roadstead plan -f world/",
        "",
        "Usage: roadstead COMMAND [OPTIONS] [ARGS]",
        "",
        "Commands:",
        *(f"  {name:<{width}}  {entry.gives}" for name, entry in listed.items()),
        "",
        "`roadstead COMMAND --help` says more. `explain` is another word for `why`.",
        "-vv, anywhere, shows where an error comes from.",
        "Exit codes: 0 nothing to report, 1 the answer is no or different, 2 could not do it.",
    ]
    return "".join(f"{line}\n" for line in lines)


def help_of(name: str, command: Any, module: Any) -> str:
    """The help of one command, its examples first."""
    context = command.make_context(
        f"roadstead {name}",
        [],
        resilient_parsing=True,
        terminal_width=HELP_WIDTH,
        max_content_width=HELP_WIDTH,
    )
    examples = "".join(f"  {example}\n" for example in module.EXAMPLES)
    word = "Example" if len(module.EXAMPLES) == 1 else "Examples"
    return f"{word}:\n{examples}\n{command.get_help(context)}\n"


def complain(error: RoadsteadError, verbose: int = 0) -> int:
    """Tell of an error that is somebody's to mend, with every part of it; gives the exit code."""
    for problem in getattr(error, "problems", (error,)):
        _tell_one(problem)
    if verbose >= TRACEBACKS_FROM:
        _frames(error)
    return FAILED


def _tell_one(error: RoadsteadError) -> None:
    tell(sys.stderr, f"error: {error.message}")
    if isinstance(error, InputError) and error.place:
        tell(sys.stderr, f"  {error.place}")
    if isinstance(error, TestbedError) and error.step:
        tell(sys.stderr, f"  step `{error.step}`" + (f", log {error.log}" if error.log else ""))
    if error.hint:
        tell(sys.stderr, f"hint: {error.hint}")


def _usage(error: TyperException, arguments: Sequence[str]) -> int:
    said = error.format_message()
    listed = _POSSIBLE.match(said)
    message, flags = listed.groups() if listed else (said, "")
    message, _, guess = message.partition(" Did you mean ")
    message = message.strip().rstrip(".")
    near = get_close_matches(message.rpartition(" ")[2], (flags or "").split(", "), n=1)
    guess = near[0] if near else guess.rstrip("?")
    words = hoisted(list(arguments))
    words = words[:1] + hoisted(words[1:]) if words[:1] and words[0] in GROUPS else words
    name = " ".join(words[: 2 if words[:1] and words[0] in GROUPS else 1])
    known = [name] if ALIASES.get(name, name) in COMMANDS else []
    tell(sys.stderr, f"error: {message[:1].lower()}{message[1:]}")
    if guess:
        tell(sys.stderr, f"hint: did you mean `{guess}`?")
    else:
        tell(sys.stderr, f"hint: {' '.join(['roadstead', *known, '--help'])} shows the usage")
    return FAILED


def _frames(error: BaseException) -> None:
    """Show where an error came from, without a word of what it says."""
    while True:
        for frame in traceback.extract_tb(error.__traceback__):
            tell(sys.stderr, f"  {frame.filename}:{frame.lineno} in {frame.name}")
        tell(sys.stderr, f"  {type(error).__name__}")
        if error.__cause__ is None:
            return
        error = error.__cause__


def _bug(error: Exception, verbose: int) -> int:
    """Tell of an error that is ours. What it says may hold what it choked on, so it is not shown.

    The id is the same whenever the same thing goes wrong at the same place.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]
    number = hashlib.sha256("\n".join([type(error).__name__, *where]).encode()).hexdigest()[:8]
    said = f": {error.message}" if isinstance(error, BugError) else ""
    tell(sys.stderr, f"error: internal error {number}{said}")
    tell(sys.stderr, "hint: report it with this id in the project's issues; -vv shows where it is")
    if verbose >= TRACEBACKS_FROM:
        _frames(error)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
