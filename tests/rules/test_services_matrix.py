"""Who may call whom, by the definitions and by the rendered policies: the same, pair for pair."""

from pathlib import Path

import pytest

from reach import Policies
from service_catalogs import policies, rendered
from service_matrix import pods_of, read_matrix
from service_variants import VARIANTS, Variant, written

QUICK = {"as-they-are", "extensions"}


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
        for one in VARIANTS
    ],
)
@pytest.mark.slow
def test_the_policies_allow_what_the_definitions_name_and_nothing_else(
    variant: Variant, tmp_path: Path
) -> None:
    """One opening too many, or one too few, is a pair on which the two disagree."""
    shelf = written(variant, tmp_path)
    bodies = rendered(shelf)
    matrix = read_matrix(shelf.definitions, shelf.platform)
    flows = matrix.flows(pods_of(matrix, bodies))
    judge = Policies(policies(bodies))

    differing = [
        f"{flow}: definitions {matrix.allows(flow)}, policies {judge.judge(flow)}"
        for flow in flows
        if matrix.allows(flow) != judge.judge(flow).allowed
    ]

    assert [] == differing[:20]
    assert 300 < sum(matrix.allows(flow) for flow in flows) < len(flows) // 10


@pytest.mark.slow
def test_each_policy_carries_some_of_it(tmp_path: Path) -> None:
    """Without any one policy a pair is refused that the definitions name, so none is idle."""
    shelf = written(next(one for one in VARIANTS if one.name == "extensions"), tmp_path)
    bodies = rendered(shelf)
    matrix = read_matrix(shelf.definitions, shelf.platform)
    flows = matrix.flows(pods_of(matrix, bodies))
    wanted = [flow for flow in flows if matrix.allows(flow)]
    found = policies(bodies)

    for without in found:
        judge = Policies(one for one in found if one is not without)
        seen = flows if without["metadata"]["name"] == "default-deny" else wanted
        place = without["metadata"].get("namespace", "")
        near = sorted(
            seen, key=lambda flow: place not in {flow.source.namespace, flow.target.namespace}
        )
        assert any(matrix.allows(flow) != judge.judge(flow).allowed for flow in near), without
