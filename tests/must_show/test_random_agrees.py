"""Random walks and exhaustive search agree on what is broken, in worlds small enough for both."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.checker.check import check
from reconverge.checker.result import Result

APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}


def worlds(studio: Any) -> dict[str, Any]:
    """Worlds in which the numbers of events, not the length of the walk, limit what may happen."""
    web, budget = studio.deployment, studio.budget
    return {
        "a node dies": studio.scenario(
            web(replicas=2), nodes="2x900m,16Gi", may={"node-crash": 1, "node-recover": 1}, events=2, deviations=0
        ),
        "two nodes are drained": studio.scenario(
            web(replicas=2), budget(minAvailable=1), nodes="2x4cpu,16Gi", may={"drain": 2}, events=2, deviations=0
        ),
        "a drain is blocked": studio.scenario(
            web(), budget(minAvailable=1), nodes="2x4cpu,16Gi", may={"drain": 1, "scale": 1}, events=2, deviations=0
        ),
        "a rollout hangs": studio.scenario(
            web(replicas=2, affinity=APART), nodes="2x4cpu,16Gi", may={"rollout": 1, "scale": 1}, events=2, deviations=0
        ),
        "nothing is wrong": studio.scenario(
            web(replicas=2), nodes="3x4cpu,16Gi", may={"node-crash": 1, "rollout": 1}, events=2, deviations=0
        ),
    }


NAMES = ["a node dies", "two nodes are drained", "a drain is blocked", "a rollout hangs", "nothing is wrong"]


def violated(result: Result) -> set[tuple[str, str]]:
    return {(each.invariant, each.object) for each in result.verdicts if each.status == "violated"}


@pytest.mark.parametrize("name", NAMES)
def test_random_walks_find_what_exhaustive_search_finds_and_no_more(studio: Any, name: str) -> None:
    scenario = worlds(studio)[name]
    exhaustive = check(scenario, mode="exhaustive")
    assert exhaustive.exploration.complete
    random = check(scenario, mode="random", seed=1, max_examples=40)
    assert violated(random) == violated(exhaustive)
    assert bool(violated(exhaustive)) == (name != "nothing is wrong")


def test_reduced_sequences_are_as_short_either_way(studio: Any) -> None:
    scenario = worlds(studio)["a rollout hangs"]
    exhaustive, random = check(scenario, mode="exhaustive"), check(scenario, mode="random", seed=1, max_examples=40)

    def lengths(result: Result) -> dict[str, int]:
        return {trace.title: len(trace.strokes) for trace in result.traces}

    assert lengths(random) == lengths(exhaustive)


def test_random_walks_never_claim_that_something_holds(studio: Any) -> None:
    result = check(worlds(studio)["nothing is wrong"], mode="random", seed=1, max_examples=5)
    assert {each.status for each in result.verdicts} <= {"inconclusive", "never applicable"}


def test_what_rests_while_a_watch_is_stalled_is_no_end(studio: Any) -> None:
    """In the end every watch catches up: neither search calls it broken that replicas are missing before."""
    stall = {"watch-stall": {"times": 1, "loop": "replicaset"}, "delete-pod": 1}
    scenario = studio.scenario(studio.deployment(replicas=2), nodes="2x4cpu,16Gi", may=stall, events=2, deviations=0)
    exhaustive, random = check(scenario, mode="exhaustive"), check(scenario, mode="random", seed=1, max_examples=40)
    assert violated(random) == violated(exhaustive) == set()
