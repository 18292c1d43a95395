"""Playing sequences: what is left out, where a run stops, how it ends."""

from __future__ import annotations

from typing import Any

from reconverge.checker import Scenario, check
from reconverge.checker.runner import Play, run
from reconverge.checker.schedule import Interruption
from reconverge.model.events import Cordon, Drain, NodeCrashes, NodeRecovers, TimePasses, Uncordon


def outcome(scenario: Any, *plays: Any) -> Any:
    """What comes of some plays in a scenario."""
    world = scenario.world()
    made = tuple(each if isinstance(each, Play) else Play(each) for each in plays)
    return run(world, made, world.judge())


def test_events_that_cannot_happen_are_left_out(build: Any) -> None:
    result = outcome(build.scenario(build.deployment()), Uncordon("node-1"), Cordon("node-1"), Cordon("node-1"))
    assert [play.event for play in result.plays] == [Cordon("node-1")]


def test_a_stretch_cut_short_for_an_event_that_cannot_happen_is_run_to_its_end(build: Any) -> None:
    scenario = build.scenario(build.deployment(replicas=2), nodes=3)
    result = outcome(scenario, Play(NodeCrashes("node-1"), (Interruption(3),)), Uncordon("node-2"))
    assert result.found == ()
    assert result.rested.outcome == "rest"
    assert result.cluster.store.node("node-1").ready == "Unknown"


def test_time_that_passes_bounds_the_stretch_before_it(build: Any) -> None:
    scenario = build.scenario(build.deployment(replicas=2), nodes=2)
    world = scenario.world()
    before = {pod.uid for pod in world.start.store.all("Pod")}
    plays = (Play(NodeCrashes("node-1")), Play(TimePasses(200)), Play(NodeRecovers("node-1")))
    result = run(world, plays, world.judge())
    assert {pod.uid for pod in result.cluster.store.all("Pod")} == before
    late = (Play(NodeCrashes("node-1")), Play(TimePasses(400)), Play(NodeRecovers("node-1")))
    assert {pod.uid for pod in run(world, late, world.judge()).cluster.store.all("Pod")} != before


def test_a_run_stops_where_the_wanted_invariant_breaks(build: Any) -> None:
    scenario = build.scenario(build.deployment(replicas=1), build.budget(minAvailable=1))
    world = scenario.world()
    plays = (Play(Drain("node-1")), Play(Drain("node-2")))
    result = run(world, plays, world.judge("drain-completes"), until="drain-completes")
    assert result.found
    assert len(result.plays) == 2


def test_a_pinned_deployment_beyond_what_its_node_holds_grows_without_end(build: Any) -> None:
    pinned = build.deployment(replicas=3, cpu="1", pod={"nodeName": "node-1"})
    result = outcome(build.scenario(pinned, nodes=1))
    assert result.rested.outcome == "growth"
    broken = {found.invariant.id for _, found in result.found}
    assert {"bounded-churn", "no-livelock"} <= broken


def test_a_finite_toleration_of_a_lasting_taint_repeats_for_ever(build: Any) -> None:
    toleration = {"key": "hello", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}
    tolerant = build.deployment(replicas=1, pod={"tolerations": [toleration]})
    document = build.document(tolerant, nodes=1)
    document["spec"]["nodePools"][0]["taints"] = ["hello=:NoExecute"]
    from reconverge.checker import Scenario

    result = outcome(Scenario.from_document(document))
    assert result.rested.outcome == "loop"
    broken = {found.invariant.id for _, found in result.found}
    assert "no-livelock" in broken
    assert "bounded-churn" not in broken


def test_a_crashing_application_is_no_livelock_of_the_control_loops(build: Any) -> None:
    crashing = build.deployment(replicas=1, annotations={"reconverge/behaviour": "crashes"})
    result = outcome(build.scenario(crashing, nodes=1))
    assert result.rested.outcome == "loop"
    assert "no-livelock" not in {found.invariant.id for _, found in result.found}


def test_a_start_that_is_not_at_rest_comes_to_it_before_a_free_event_strikes() -> None:
    """As the search does: else what it finds does not break when it is run again."""
    spread = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    selector = {"matchLabels": {"app": "web"}}
    pod = {
        "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "500m"}}}],
        "topologySpreadConstraints": [{**spread, "labelSelector": selector}],
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod}
    web = {"replicas": 2, "selector": selector, "template": template}
    pool = {"name": "n", "count": 3, "zones": ["a", "b"], "allocatable": {"cpu": "4", "memory": "8Gi"}}
    found = []
    for start in ("empty", "settled"):
        spec = {
            "objects": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": web}],
            "nodePools": [pool],
            "start": start,
            "may": {"rollout": 1},
            "events": 1,
            "deviations": 0,
        }
        document = {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}
        found.append([each.invariant for each in check(Scenario.from_document(document)).violated])
    assert found == [["placement-at-rest"], ["placement-at-rest"]]
