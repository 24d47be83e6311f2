"""Who acts in a case: the capabilities and the stand-ins that its settings.yaml names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roadstead.errors import InputError
from roadstead.sim.actors import STAND_INS
from roadstead.wiring import Admission, Controller

RENDERED = "services"
"""Rendered into files: its cases have a format of their own, and nothing of it acts in a world."""


def unfit(message: str, folder: Path) -> InputError:
    """What is wrong with a case's settings.yaml."""
    return InputError(message, place=str(folder / "settings.yaml"))


def listed(stated: Mapping[str, Any], key: str) -> list[str]:
    """The names under a key, which may be one alone."""
    names = stated.get(key) or []
    return names if isinstance(names, list) else [names]


def acting_in(
    folder: Path,
    stated: Mapping[str, Any],
    known: Mapping[str, Controller],
    admissions: Mapping[str, Admission],
    problems: list[InputError],
) -> tuple[tuple[Controller, ...], tuple[Admission, ...]]:
    """Who a case runs, and who reviews its writes: those it names, else its folder's, else all."""
    everybody = {**known, **admissions}
    for word, there in (("capabilities", everybody), ("standIns", STAND_INS)):
        for name in listed(stated, word):
            if name not in there:
                exist = ", ".join(sorted(there)) or "none"
                problems.append(unfit(f"{word}: no `{name}`; there are {exist}", folder))
    wanted = listed(stated, "capabilities")
    if stated.get("capabilities") is None:
        above = [parent.name for parent in folder.resolve().parents]
        own = next((name for name in above if name in everybody), None)
        wanted = sorted(everybody) if own is None else [own]
        if above[:1] == [RENDERED]:
            exist = ", ".join(sorted(everybody)) or "none"
            message = f"the folder's capability `{RENDERED}` acts in no world; there are {exist}"
            problems.append(InputError(message, place=str(folder)))
    controllers = tuple(known[name] for name in wanted if name in known)
    return controllers, tuple(admissions[name] for name in wanted if name in admissions)
