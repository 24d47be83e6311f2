"""Cilium's own code on every policy that is rendered: what it takes, and what it then allows."""

from pathlib import Path
from random import Random

import pytest

from reach import request
from roadstead.testbed.foreign import ask
from service_catalogs import Shelf, policies, rendered
from service_matrix import pods_of, read_matrix
from service_trees import shelves
from service_variants import VARIANTS, Variant, written

pytestmark = pytest.mark.foreign


def test_ciliums_parser_takes_every_policy(tmp_path: Path) -> None:
    """The agent refuses a policy silently for whoever applies it, and then denies nothing."""
    known: list[Shelf] = list(shelves(tmp_path))
    found = [(shelf, body) for shelf in known for body in policies(rendered(shelf))]
    answers = ask("cilium", ({"object": body} for _, body in found))

    refused = [
        (str(shelf), body["metadata"]["name"], answer["reason"])
        for (shelf, body), answer in zip(found, answers, strict=True)
        if not answer["accepted"]
    ]
    assert [] == refused
    assert len(found) > 500


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_ciliums_repository_allows_what_the_definitions_name_and_nothing_else(
    variant: Variant, tmp_path: Path
) -> None:
    """The same question as in `test_services_matrix`, judged by Cilium instead of by us."""
    shelf = written(variant, tmp_path)
    bodies = rendered(shelf)
    matrix = read_matrix(shelf.definitions, shelf.platform)
    flows = matrix.flows(pods_of(matrix, bodies))
    allowed = [flow for flow in flows if matrix.allows(flow)]
    refused = [flow for flow in flows if not matrix.allows(flow)]
    asked = [*allowed, *Random(7).sample(refused, 2000)]  # noqa: S311 - a sample, not a key

    (answer,) = ask("cilium", [request(policies(bodies), asked)])

    assert answer["accepted"], answer
    both = [one["egress"] and one["ingress"] for one in answer["verdicts"]]
    differing = [
        str(flow) for flow, said in zip(asked, both, strict=True) if said != matrix.allows(flow)
    ]
    assert [] == differing
    assert len(allowed) > 300


def test_native_baselines_deny_what_kube_network_policies_says(tmp_path: Path) -> None:
    """Where no Cilium runs, the native baseline closes a namespace all the same."""
    shelf = written(VARIANTS[0], tmp_path)
    bodies = rendered(shelf)
    matrix = read_matrix(shelf.definitions, shelf.platform)
    baselines = [one for one in bodies if one["kind"] == "NetworkPolicy"]
    flows = [
        flow
        for flow in matrix.flows(pods_of(matrix, bodies))
        if not flow.source.reserved and not flow.target.reserved
    ]
    asked = request(baselines, flows)
    for number, end in enumerate(asked["ends"].values()):
        end["address"] = end["address"] or f"10.244.{number // 250}.{number % 250 + 1}"

    (answer,) = ask("netpol", [asked])

    assert len(flows) > 2000
    assert {False} == set(answer["verdicts"])
