"""Cases and their steps, each played with a toy capability."""

from pathlib import Path

import pytest

from roadstead.sim.cases import read_case, run_case
from toy import KNOWN, WORLD, case, contrary


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            """
            - settle: {}
            - expect:
                objects: [{kind: Secret, metadata: {name: c-copy, namespace: t},
                           stringData: {value: one}}]
                writes: [create Secret/t/c-copy]
                reads: {get: 1, list: 0}
                findings: [{rule: usable, verdict: pass}]
            - settle: {}
            - expect: {writes: 0}
            """,
            id="settle",
        ),
        pytest.param(
            """
            - apply: {apiVersion: v1, kind: ConfigMap,
                      metadata: {name: c, namespace: t}, data: {value: two}}
            - expect: {objects: [{kind: Secret, metadata: {name: c-copy, namespace: t},
                                  stringData: {value: two}}],
                       untouched: [ConfigMap/t/c]}
            - apply: {apiVersion: v1, kind: ConfigMap,
                      metadata: {name: d, namespace: t, labels: {toy: "yes"}},
                      data: {value: "${uid:Secret/t/c-copy}"}}
            - expect: {objects: [{kind: Secret, metadata: {name: d-copy, namespace: t},
                                  stringData: {value: "${uid:Secret/t/c-copy}"}}],
                       writes: [create Secret/t/d-copy]}
            """,
            id="apply",
        ),
        pytest.param(
            """
            - settle: {}
            - patch: {of: Secret/t/c-copy, merge: {stringData: {value: forged}}}
            - expect: {writes: ["update Secret/t/c-copy with resourceVersion"]}
            - patch: {of: ConfigMap/t/c, merge: {data: null}}
            - expect: {absent: [Secret/t/c-copy],
                       writes: ["delete Secret/t/c-copy with uid,resourceVersion"]}
            """,
            id="patch",
        ),
        pytest.param(
            """
            - settle: {}
            - delete: Secret/t/c-copy
            - expect: {writes: [create Secret/t/c-copy]}
            - delete: ConfigMap/t/c
            - expect: {absent: [Secret/t/c-copy], writes: 0}
            """,
            id="delete",
        ),
        pytest.param(
            """
            - settle: {}
            - delete: {of: ConfigMap/t/c, collect: false}
            - expect: {objects: [{kind: Secret, metadata: {name: c-copy, namespace: t}}]}
            - apply: {apiVersion: v1, kind: ConfigMap,
                      metadata: {name: c, namespace: t, labels: {toy: "yes"}}, data: {value: one}}
            - expect:
                objects: [{kind: Secret, metadata: {name: c-copy, namespace: t,
                           ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: c,
                                              uid: "${uid:ConfigMap/t/c}"}]}}]
                writes: [update Secret/t/c-copy]
            """,
            id="uncollected",
        ),
        pytest.param(
            """
            - patch: {of: ConfigMap/t/c, merge: {data: {value: wait}}}
            - expect: {requeue: {t/c: 30s}, writes: 0, findings: [{verdict: wait}]}
            - tick: 20s
            - expect: {requeue: {t/c: 10s}}
            - tick: 3m
            - expect: {requeue: {t/c: 30s}, reads: {get: 1}}
            """,
            id="tick",
        ),
        pytest.param(
            """
            - fault: {verb: create, kind: Secret, status: 500, times: 1}
            - settle: {}
            - expect: {absent: [Secret/t/c-copy], writes: 0, atMost: {create Secret: 1}}
            """,
            id="fault",
        ),
        pytest.param(
            """
            - fault: {verb: get, kind: Secret, status: 0}
            - settle: {}
            - expect: {requeue: {t/c: backoff}, writes: 0,
                       findings: [{reason: ReadFailed, verdict: wait}]}
            - tick: 10s
            - expect: {requeue: {t/c: backoff}}
            - fault: {verb: get, times: 0}
            - tick: 30s
            - expect: {requeue: {t/c: none}, writes: [create Secret/t/c-copy]}
            """,
            id="fault-and-backoff",
        ),
        pytest.param(
            """
            - fault: {verb: create, kind: Secret, name: c-copy, lost: true, times: 1}
            - settle: {}
            - expect: {writes: [create Secret/t/c-copy], atMost: {create Secret: 1}}
            """,
            id="answer-lost",
        ),
        pytest.param(
            """
            - fault: {verb: list, kind: Secret, status: 500, times: 1}
            - settle: {}
            - expect: {absent: [Secret/t/c-copy], writes: 0}
            - tick: 5s
            - expect: {writes: [create Secret/t/c-copy]}
            """,
            id="a-views-own-list",
        ),
        pytest.param(
            """
            - hold: {kind: ConfigMap, for: 2}
            - expect: {absent: [Secret/t/c-copy]}
            - settle: {}
            - expect: {writes: [create Secret/t/c-copy]}
            """,
            id="hold",
        ),
        pytest.param(
            """
            - settle: {}
            - hold: {kind: ConfigMap, for: 2}
            - patch: {of: ConfigMap/t/c, merge: {data: {value: two}}}
            - expect: {writes: [update Secret/t/c-copy]}
            - patch: {of: ConfigMap/t/c, merge: {data: {value: three}}}
            - hold: {kind: ConfigMap, for: 0}
            - restart: {}
            - expect: {objects: [{kind: Secret, metadata: {name: c-copy, namespace: t},
                                  stringData: {value: three}}], writes: 0}
            """,
            id="hold-and-let-go",
        ),
        pytest.param(
            """
            - serve: {kind: Secret, now: false}
            - expect: {writes: 0, absent: [Secret/t/c-copy]}
            - serve: {kind: Secret, now: created}
            - expect: {writes: 0}
            - serve: {kind: Secret, now: true, versions: [v2]}
            - expect: {writes: 0}
            - serve: {kind: Secret, now: true}
            - expect: {writes: [create Secret/t/c-copy]}
            """,
            id="serve",
        ),
        pytest.param(
            """
            - patch: {of: ConfigMap/t/c, merge: {data: {value: refuse}}}
            - expect: {events: [{about: ConfigMap/t/c, type: Warning, reason: ToyRefused}]}
            - tick: 50m
            - expect: {events: [{about: ConfigMap/t/c, type: Warning, reason: ToyRefused}]}
            - restart: {}
            - expect: {events: [{about: ConfigMap/t/c}, {about: ConfigMap/t/c}]}
            """,
            id="restart-forgets",
        ),
        pytest.param(
            """
            - delete: ConfigMap/t/gone
            - expect: {refused: {code: 404, message: not found}}
            - apply: {apiVersion: v1, kind: Secret, type: Opaque, immutable: true,
                      metadata: {name: i, namespace: t}, stringData: {a: b}}
            - patch: {of: Secret/t/i, merge: {stringData: {a: c}}}
            - expect: {refused: {code: 422, message: immutable}}
            - settle: {}
            """,
            id="refused",
        ),
    ],
)
def test_a_step_does_what_its_name_says(tmp_path: Path, steps: str) -> None:
    """Each is played in a world that settles without it."""
    assert case(tmp_path, steps) == ""


def test_without_steps_a_case_settles_once(tmp_path: Path) -> None:
    """The most common case is a world and a want."""
    (tmp_path / "world.yaml").write_text(WORLD)
    (tmp_path / "want.yaml").write_text("{writes: 1, exit: 0, events: []}")

    assert run_case(read_case(tmp_path, known=KNOWN)).passed


def test_a_refusal_nobody_speaks_of_is_a_difference(tmp_path: Path) -> None:
    """A case that means to write something must not pass because it could not."""
    steps = "[{delete: ConfigMap/t/gone}, {delete: ConfigMap/t/c}, {settle: {}}]"

    assert "404" in case(tmp_path, steps)


def test_every_difference_is_told_in_one_go(tmp_path: Path) -> None:
    """Nobody should have to run a case three times to see three differences."""
    told = case(tmp_path, "[{settle: {}}]", "{writes: 0, absent: [Secret/t/c-copy], exit: 1}")

    assert len(told.splitlines()) == 3
    assert "create Secret/t/c-copy" in told


def test_a_refusal_of_a_rule_ends_plan_with_one(tmp_path: Path) -> None:
    """As `roadstead plan` does."""
    assert case(tmp_path, "[{settle: {}}]", "exit: 1", WORLD.replace("one", "refuse")) == ""


def test_a_start_that_fails_ends_the_case(tmp_path: Path) -> None:
    """No step is played, and what is there stays as it was."""
    want = "{exit: 2, untouched: [ConfigMap/t/c], absent: [Secret/t/c-copy]}"

    assert case(tmp_path, "[{settle: {}}]", want, settings="caSourcesFile: gone.yaml") == ""
    assert "cannot be read" in case(tmp_path, "[{settle: {}}]", settings="caSourcesFile: x.yaml")


def test_a_restart_may_change_flags(tmp_path: Path) -> None:
    """A file that is malformed ends the case there."""
    (tmp_path / "table.yaml").write_text("engines: []")
    (tmp_path / "broken.yaml").write_text("engines: 1")
    steps = "[{restart: {caSourcesFile: %s, allowWithdrawals: [Postgres]}}]"

    assert case(tmp_path, steps % "table.yaml", "exit: 0") == ""
    assert case(tmp_path, steps % "broken.yaml", "exit: 2") == ""


def test_a_uid_of_world_yaml_can_be_spoken_of(tmp_path: Path) -> None:
    """An owner may stand below what it owns."""
    owned = """
apiVersion: v1
kind: Secret
metadata:
  name: owned
  namespace: t
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: c, uid: "${uid:ConfigMap/t/c}"}]
---"""
    want = "untouched: [Secret/t/owned]"

    assert case(tmp_path, "[{settle: {}}]", want, owned + WORLD) == ""


def test_a_case_for_the_cluster_is_skipped_by_name(tmp_path: Path) -> None:
    """Nothing is left out silently."""
    assert case(tmp_path, "[]", settings="only: cluster") == "only: cluster"


def test_accepting_makes_a_case_pass(tmp_path: Path) -> None:
    """The head comment stays."""
    case(tmp_path, "[{settle: {}}]", "# why\nwrites: 7\n")

    run_case(read_case(tmp_path, known=KNOWN), rewrite=True)

    assert (tmp_path / "want.yaml").read_text() == "# why\nwrites: 1\n"


def test_a_case_that_never_settles_fails_with_who_fights(tmp_path: Path) -> None:
    """It is a difference like any other."""
    (tmp_path / "world.yaml").write_text(WORLD)
    (tmp_path / "want.yaml").write_text("exit: 1")
    fighting = {name: contrary(name, name) for name in ("east", "west")}

    result = run_case(read_case(tmp_path, known=fighting))

    assert "does not settle" in str(result.differences[0])
