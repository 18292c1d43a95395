"""A budget that allows nothing: the drain does not end, and the trace says who refused what, and why."""

from __future__ import annotations

from typing import Any

from reconverge.checker.check import check

REFUSED = "429 Cannot evict pod as it would violate the pod's disruption budget."
WHY = "The disruption budget web needs 1 healthy pods and has 1 currently"
DRAIN = {"may": {"drain": 1}, "events": 1, "deviations": 1}


def test_one_replica_under_a_budget_of_one_blocks_the_drain(studio: Any) -> None:
    scenario = studio.scenario(studio.deployment(), studio.budget(minAvailable=1), nodes="2x4cpu,16Gi@a,b", **DRAIN)
    result = check(scenario)
    assert result.exploration.complete
    assert [(each.invariant, each.object) for each in result.violated] == [("drain-completes", "node/node-1")]
    (trace,) = result.traces
    assert [(stroke.event, dict(stroke.arguments), stroke.deviations) for stroke in trace.strokes] == [
        ("drain", {"node": "node-1"}, ())
    ]
    assert trace.outcome == "rest"
    assert f"{REFUSED} {WHY}" in trace.message


def test_the_trace_ends_with_what_waits_for_what(studio: Any) -> None:
    scenario = studio.scenario(studio.deployment(), studio.budget(minAvailable=1), nodes="2x4cpu,16Gi@a,b", **DRAIN)
    (trace,) = check(scenario).traces
    (waiting,) = trace.waiting
    assert waiting.pod.startswith("pod/web-")
    assert waiting.pod.endswith(" (drain of node-1)")
    assert REFUSED in waiting.reason
    assert WHY in waiting.reason
    assert any(step.kind == "refused" and step.actor == "drain" for step in trace.steps)


def test_two_replicas_on_two_nodes_let_each_node_be_drained(studio: Any) -> None:
    objects = (studio.deployment(replicas=2), studio.budget(minAvailable=1))
    result = check(studio.scenario(*objects, nodes="2x4cpu,16Gi@a,b", **DRAIN))
    assert result.exploration.complete
    assert result.violated == ()
    assert {each.status for each in result.verdicts if each.invariant == "drain-completes"} == {"held"}
