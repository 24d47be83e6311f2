"""Plays a case on a server and in the world, and says where they differ."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from live_accounts import account_of
from live_cluster import Cluster
from live_compare import (
    IGNORED,
    differences,
    ignored_paths,
    kinds_of_case,
    of_server,
    of_world,
)
from live_stage import LiveStage
from roadstead.kube.refs import Kind, Ref
from roadstead.sim.cases import Case, play_case, read_case, stage_of

CASES = Path(__file__).parent / "cases"
FOLDERS = {
    world.parent.relative_to(CASES).as_posix(): world.parent
    for world in sorted(CASES.glob("*/*/world.yaml"))
}
"""Every case there is, by `capability/name`."""


def play(server: Cluster, name: str, workers: int = 1, unserved: Iterable[Kind] = ()) -> list[str]:
    """Play a case on the server and in the world; what is wrong with it, or differs.

    unserved: kinds that the server does not have.
    """
    case = read_case(FOLDERS[name], name)
    kinds = kinds_of_case(refs_of(case))
    with LiveStage(
        server.admin,
        case.kinds,
        case.controllers,
        case.now,
        workers=workers,
        stand_ins=case.stand_ins,
        unserved=unserved,
        kubeconfig=runs_as(server, case),
        admissions=case.admissions,
    ) as stage:
        found, _ = play_case(case, stage)
        wrong = [f"{name}: {one}" for one in found]
        if case.only == "cluster":
            return wrong
        there = of_server(stage, kinds)
    offline = stage_of(case)
    play_case(case, offline)
    here = of_world(offline, kinds)
    ignored = ignored_paths(IGNORED.read_text())
    return wrong + [f"{name}: {line}" for line in differences(here, there, ignored)]


def runs_as(server: Cluster, case: Case) -> Path | None:
    """The kubeconfig of the one account that runs a case's capabilities; None where none does.

    So a case is played with the rights that ship, and under the policies of that account.
    """
    reviewers = (one.name for one in case.admissions)
    account = account_of((*(one.name for one in case.controllers), *reviewers))
    return server.tokens.get(account.name) if account else None


def refs_of(case: Case) -> Iterator[Ref]:
    """Every object that a case makes."""
    yield from (placed.ref for placed in case.objects)
    for step in case.steps:
        if step.word == "apply" and isinstance(step.value, Mapping):
            yield kind_of(case, step.value).ref("", "")


def kind_of(case: Case, body: Mapping[str, Any]) -> Kind:
    """The kind of an object in a step."""
    namespace = str((body.get("metadata") or {}).get("namespace", ""))
    return case.kinds.of(str(body.get("apiVersion")), str(body.get("kind")), namespace)
