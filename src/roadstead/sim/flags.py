"""The flags of `run` as a case states them, and the capabilities that exist."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roadstead.errors import InputError
from roadstead.kube.nearest import did_you_mean
from roadstead.settings import Settings, parse_ca_sources
from roadstead.sim.kinds import Kinds
from roadstead.wiring import Admission, Controller

START = datetime(2026, 1, 1, tzinfo=UTC)
"""When a case begins unless it says so."""
RUN_ONLY = frozenset(
    {"only", "readOnly", "metricsBindAddress", "healthProbeBindAddress", "leaderElect"}
    | {"leaderElectionNamespace", "maxConcurrentReconciles", "kubeApiQps", "logLevel", "logFormat"}
    | {"webhookPort", "webhookCertDir", "leaderElectLeaseDuration", "pageBindAddress"}
)
"""Keys that concern the process and no decision; whatever is offline passes over them."""


class StartUpError(InputError):
    """What makes `run` and `plan` end with 2 before anything is read of the cluster."""


def controllers() -> Mapping[str, Controller]:
    """Every capability that exists, by the name `run --only` takes."""
    from roadstead.capabilities import CONTROLLERS  # noqa: PLC0415 - whoever only compares or loads needs none

    return CONTROLLERS


def reviewing() -> Mapping[str, Admission]:
    """Whoever answers admission, by the same names."""
    from roadstead.capabilities import ADMISSIONS  # noqa: PLC0415 - as above

    return ADMISSIONS


def kinds_of(known: Mapping[str, Controller]) -> Kinds:
    """The kinds that capabilities declare by watching them, or by reviewing their objects."""
    watched = [view.kind for controller in known.values() for view in controller.views]
    for admission in reviewing().values():
        watched += [*(view.kind for view in admission.views), *admission.reviewed, *admission.asked]
    return Kinds(watched)


def settings_of(flags: Mapping[str, Any], folder: Path) -> Settings:
    """Flags in camelCase as one Settings; paths are relative to the folder.

    Raises: InputError for a flag that does not exist and for a value that does not fit;
        StartUpError for what makes `run` end at once: a file that is missing or malformed.
    """
    stated: dict[str, Any] = {}
    types_by_name = typing.get_type_hints(Settings)
    known = {_camel(field.name): field.name for field in dataclasses.fields(Settings)}
    for flag, value in flags.items():
        if flag in RUN_ONLY:
            continue
        if flag == "caSourcesFile":
            stated["ca_sources"] = None if value is None else _ca_sources(folder / str(value))
        elif flag in known and flag != "caSources":
            stated[known[flag]] = _fitted(flag, value, types_by_name[known[flag]])
        else:
            names = sorted({"caSourcesFile", *known, *RUN_ONLY} - {"caSources"})
            hint = did_you_mean(flag, names, f"there are {', '.join(names)}")
            raise InputError(f"`{flag}` is no flag of `run`", hint=hint)
    return Settings(**stated)


def _ca_sources(path: Path) -> Any:
    try:
        return parse_ca_sources(path.read_bytes(), str(path))
    except OSError as error:
        message = f"the engine table cannot be read: {error.strerror}"
        raise StartUpError(message, place=str(path)) from error
    except InputError as error:
        raise StartUpError(error.message, place=error.place, hint=error.hint) from error


def _fitted(flag: str, value: Any, wanted: Any) -> Any:
    """A value of YAML as the type of its field."""
    origin = typing.get_origin(wanted) or wanted
    if origin in {frozenset, tuple}:
        return origin(names_of(flag, value))
    choices = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    if not isinstance(value, tuple(c for c in choices if isinstance(c, type))):
        raise InputError(f"`{flag}` has a value of another type")
    return value


def names_of(flag: str, value: Any) -> tuple[str, ...]:
    """Names from a list or from text with commas; empty text is an empty list.

    Raises: InputError for anything else, and where a name is missing between two commas: it must
        not be read as a shorter list, since an empty one may mean everything.
    """
    parts = value
    if isinstance(value, str):
        parts = value.split(",") if value.strip() else []
    if not isinstance(parts, list):
        raise InputError(f"`{flag}` is a list")
    names = tuple("" if part is None else str(part).strip() for part in parts)
    if "" in names:
        raise InputError(f"`{flag}` has an entry without a name")
    return names


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
