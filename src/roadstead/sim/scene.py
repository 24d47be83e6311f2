"""What wants are judged on: a stage, the names a case has bound, and the last answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roadstead.errors import InputError
from roadstead.kube.refs import Ref
from roadstead.sim.compare import Difference
from roadstead.sim.placeholders import Names
from roadstead.sim.stage import Answer, Stage


@dataclass(slots=True)
class Scene:
    """What a want is judged on.

    answer: of the last apply or patch. exit_code: None while the case still runs.
    """

    stage: Stage
    names: Names
    answer: Answer | None = None
    exit_code: int | None = None

    def ref(self, path: object) -> Ref:
        """Read a ref, with the names of minted objects put in.

        Raises: InputError.
        """
        return self.stage.kinds.ref(self.named(str(path)))

    def named(self, text: str) -> str:
        """A text with the names of minted objects put in, as far as they are bound."""
        return self.names.named(text)


def as_list(want: Mapping[str, Any], key: str) -> list[Any]:
    """A key's value that must be a list.

    Raises: InputError.
    """
    if not isinstance(want[key], list):
        raise InputError(f"want: `{key}` is a list")
    return list(want[key])


def as_map(want: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A key's value that must be a map.

    Raises: InputError.
    """
    if not isinstance(want[key], Mapping):
        raise InputError(f"want: `{key}` is a map")
    return dict(want[key])


def unexpected(answer: Answer) -> Difference:
    """A write of another writer that was refused though nothing says it should be."""
    return Difference("refused", "", "nothing", f"{answer.code}: {answer.message}")
