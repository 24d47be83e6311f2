"""Other projects' own code, asked about what we wrote.

Each tool is a Go module of its own in the checkout's `tools/`, compiled once into the cache as the
control plane is. It reads one JSON request a line and answers each with one line, as `tools/lines`
does for all of them; what the requests hold stands at the top of its `main.go`.

| tool       | what answers |
|------------|--------------|
| actionlint | actionlint, on workflow files |
| cilium     | Cilium's policy parser and its policy repository |
| netpol     | kube-network-policies, on native NetworkPolicies |
| helm       | Helm's template engine and linter |
| kustomize  | `kustomize build` |
| oci        | go-containerregistry, which writes our image and reads it back |
| promtool   | Prometheus' reader of rules, its language, and its evaluation of rules |
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from roadstead.errors import TestbedError
from roadstead.testbed.build import Progress, compiled, reported, say, sources

TOOLS = ("actionlint", "cilium", "helm", "kustomize", "netpol", "oci", "promtool")
LIMIT_SECONDS = 600.0


def tool(name: str, progress: Progress = say) -> Path:
    """Give one tool as a program, compiling it the first time.

    name: of TOOLS.
    Raises: TestbedError with step `sources` outside a checkout, `fetch` or `compile` with its log.
    Cost: cilium and promtool some minutes the first time, the others under one or two;
        milliseconds after.
    """
    return compiled(sources(f"tools/{name}"), ".", f"roadstead-{name}", progress)


def ask(
    name: str, requests: Iterable[Mapping[str, Any]], limit: float = LIMIT_SECONDS
) -> list[dict[str, Any]]:
    """Put requests to a tool and give its answers, in order.

    limit: seconds for all of them.
    Raises: TestbedError with step `ask` when it dies or answers fewer than it was asked.
    """
    lines = [json.dumps(request) for request in requests]
    done = subprocess.run(  # noqa: S603 - our own program
        [str(tool(name))],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    answers: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(lines):
        raise TestbedError(
            f"{name} gave {len(answers)} answers to {len(lines)} requests and ended with "
            f"{done.returncode}: {done.stderr.strip()[-500:]}",
            step="ask",
        )
    return answers


def main() -> int:
    """Compile every tool and print where each is."""
    return reported(tool(name) for name in TOOLS)


if __name__ == "__main__":
    sys.exit(main())
