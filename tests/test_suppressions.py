"""Where a check of the linter or of the types is silenced, the line says why."""

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TREES = ("src", "tests", "bench", "release")
SILENCED = re.compile(r"#\s*(noqa|type:\s*ignore)\b")
WITH_A_REASON = re.compile(r"# noqa: [A-Z0-9, ]+ - \S|# type: ignore\[[-a-z, ]+\]\s+# (?!noqa)\S")


def silenced() -> Iterator[tuple[str, str]]:
    """Every comment that silences a check, with its place."""
    for tree in TREES:
        for path in sorted((ROOT / tree).rglob("*.py")):
            text = path.read_text()
            if "noqa" not in text and "ignore" not in text:
                continue
            with path.open("rb") as file:
                for token in tokenize.tokenize(file.readline):
                    if token.type == tokenize.COMMENT and SILENCED.search(token.string):
                        yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


def test_a_silenced_check_has_a_reason_beside_it() -> None:
    """A reader need not guess whether it still holds."""
    found = dict(silenced())

    assert found
    assert [] == [place for place, said in found.items() if not WITH_A_REASON.search(said)]
