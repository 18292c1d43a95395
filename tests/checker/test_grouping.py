"""One cause is one finding."""

from __future__ import annotations

from typing import Any

from reconverge.checker import check


def test_workloads_that_break_for_the_same_reason_share_the_smallest_trace(build: Any) -> None:
    objects = [build.deployment(name, replicas=1) for name in ("api", "jobs", "web")]
    budgets = [build.budget(name, minAvailable=1) for name in ("api", "jobs", "web")]
    scenario = build.scenario(*objects, *budgets, nodes=2, may={"drain": 1}, events=1, deviations=0)
    result = check(scenario)
    blocked = [each for each in result.violated if each.invariant == "drain-completes"]
    assert {each.object for each in blocked} == {"node/node-1", "node/node-2"}
    assert {each.trace for each in blocked} == {0}
    assert len(result.traces) == 1


def test_different_reasons_are_different_findings(build: Any) -> None:
    pinned = build.deployment("big", replicas=2, cpu="1500m")
    scenario = build.scenario(
        pinned, build.deployment("api", replicas=1, cpu="100m"), build.budget("api", minAvailable=1),
        nodes=2, may={"drain": 1, "rollout": 1}, events=1, deviations=0,
    )  # fmt: skip
    found = {(trace.invariant, trace.strokes[0].event) for trace in check(scenario).traces}
    assert ("drain-completes", "drain") in found
    assert ("rollout-completes", "rollout") in found
