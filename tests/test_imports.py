"""Who may import whom, held by import-linter; pyproject.toml has the contracts."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_import_contracts_are_kept() -> None:
    """A decision that can reach a clock or a socket is not pure any more."""
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
    ]
    ran = subprocess.run(  # noqa: S603 - our own interpreter
        [*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout
