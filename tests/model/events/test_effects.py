"""What events do, where it is more than their name says."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model import events as e
from reconverge.model.canonical import fingerprint
from reconverge.model.eviction import EVICTED, EvictionRefused
from reconverge.model.objects import Taint

WEB = "deployment/web"


def test_an_eviction_takes_from_the_budget_marks_and_deletes(shop: Any) -> None:
    made = shop()
    made.edit("PodDisruptionBudget", "alone", min_available=0)
    made.settle()
    assert made.get("PodDisruptionBudget", "alone").status.disruptions_allowed == 1
    made.strikes(e.PodEvicted("pod/alone"))
    pod = made.get("Pod", "alone")
    assert (pod.disruption_target, pod.terminating) == (EVICTED, True)
    status = made.get("PodDisruptionBudget", "alone").status
    assert (status.disruptions_allowed, [name for name, _ in status.disrupted_pods]) == (0, ["alone"])


def test_a_refused_eviction_changes_nothing(shop: Any) -> None:
    made = shop()
    event = e.PodEvicted("pod/alone")
    assert event.enabled(made.cluster)
    with pytest.raises(EvictionRefused, match="disruption budget"):
        made.plane.strike(made.cluster, event)
    assert not made.get("Pod", "alone").terminating


def test_a_pod_without_a_budget_is_evicted_at_once(shop: Any) -> None:
    made = shop()
    made.happens(e.PodEvicted("deployment/web#0"))
    assert len([pod for pod in made.pods() if pod.ready]) == 3


def test_an_eviction_is_an_event_of_choice_like_any_other(shop: Any) -> None:
    found = e.PodEvicted.candidates(shop().cluster, {"pod": ["pod/alone", "deployment/web#9"]})
    assert list(found) == [e.PodEvicted("pod/alone")]


def test_a_terminated_instance_never_comes_back(shop: Any) -> None:
    made = shop()
    made.strikes(e.InstanceTerminated("n1"))
    assert not e.NodeRecovers("n1").enabled(made.cluster)
    made.settle()
    assert made.get("Node", "n1") is None


def test_a_stopped_instance_is_tainted_and_can_be_started_again(shop: Any) -> None:
    made = shop()
    made.strikes(e.InstanceStopped("n1"))
    made.settle()
    shut_down = "node.cloudprovider.kubernetes.io/shutdown"
    assert shut_down in [taint.key for taint in made.get("Node", "n1").taints]
    made.strikes(e.NodeRecovers("n1"))
    made.settle()
    assert (made.get("Node", "n1").ready, made.get("Node", "n1").taints) == ("True", ())


def test_a_zone_that_comes_back_starts_no_instance_that_was_stopped(shop: Any) -> None:
    made = shop()
    made.strikes(e.InstanceStopped("n1"))
    made.strikes(e.ZoneFails("a"))
    made.strikes(e.ZoneRecovers("a"))
    assert not made.cluster.machines.by_name["n1"].powered


def test_stopped_and_crashed_machines_are_not_the_same_state(shop: Any) -> None:
    stopped, crashed = shop(), shop()
    stopped.strikes(e.InstanceStopped("n1"))
    crashed.strikes(e.NodeCrashes("n1"))
    assert fingerprint(stopped.plane, stopped.cluster) != fingerprint(crashed.plane, crashed.cluster)


def test_a_node_does_not_come_back_while_its_zone_is_down(shop: Any) -> None:
    made = shop()
    made.strikes(e.ZoneFails("a"))
    assert not e.NodeRecovers("n1").enabled(made.cluster)
    made.strikes(e.ZoneRecovers("a"))
    assert made.machine("n1").connected


def test_a_zone_outage_leaves_other_zones_alone(shop: Any) -> None:
    made = shop()
    made.strikes(e.ZoneFails("a"))
    assert [made.machine(name).powered for name in ("n1", "n2", "n3")] == [False, False, True]


def test_a_cut_leaves_machines_running(shop: Any) -> None:
    made = shop()
    made.strikes(e.ControlPlaneCut())
    assert [(made.machine(name).powered, made.machine(name).connected) for name in ("n1", "n2", "n3")] == [
        (True, False)
    ] * 3
    assert not e.ControlPlaneCut().enabled(made.cluster)


def test_only_one_thing_at_a_time_is_scaled_by_default(shop: Any) -> None:
    assert [str(each) for each in e.Scale.candidates(shop().cluster, {})] == [
        "deployment/web is scaled to 3",
        "deployment/web is scaled to 1",
    ]


def test_at_zero_there_is_only_one_way(shop: Any) -> None:
    made = shop()
    made.happens(e.Scale(WEB, 0))
    assert [event.arguments()["replicas"] for event in e.Scale.candidates(made.cluster, {})] == [1]


def test_two_rollouts_after_another_make_two_templates(shop: Any) -> None:
    made = shop()
    digests = set()
    for _ in range(3):
        digests.add(made.get("Deployment", "web").template.digest)
        made.happens(e.RollOut(WEB))
    assert len(digests) == 3
    assert len(made.cluster.store.all("ReplicaSet")) == 4


def test_a_rollback_goes_to_the_template_before(shop: Any) -> None:
    made = shop()
    first = made.get("Deployment", "web").template
    made.happens(e.RollOut(WEB, "never-ready"))
    made.happens(e.RollBack(WEB))
    assert made.get("Deployment", "web").template == first
    assert all(pod.ready for pod in made.pods())


def test_two_rollbacks_end_where_they_began(shop: Any) -> None:
    made = shop()
    made.happens(e.RollOut(WEB))
    second = made.get("Deployment", "web").template
    made.happens(e.RollBack(WEB), e.RollBack(WEB))
    assert made.get("Deployment", "web").template == second


def test_an_apply_creates_what_is_not_there(shop: Any, lab: Any) -> None:
    made = shop()
    made.happens(e.ManifestApplied((lab.deployment(1, name="db"),)))
    assert made.get("Deployment", "db").status.available == 1


def test_an_apply_keeps_what_it_does_not_say(shop: Any, lab: Any) -> None:
    made = shop()
    before = made.get("Deployment", "web")
    made.strikes(e.ManifestApplied((lab.deployment(3),)))
    after = made.get("Deployment", "web")
    assert (after.uid, after.status, after.replicas) == (before.uid, before.status, 3)
    assert after.generation == before.generation + 1


def test_an_apply_of_the_same_writes_nothing(shop: Any, lab: Any) -> None:
    made = shop()
    _, changes = made.plane.strike(made.cluster, e.ManifestApplied((lab.deployment(2),)))
    assert changes == ()


def test_a_deleted_deployment_takes_its_sets_and_pods_with_it(shop: Any) -> None:
    made = shop()
    made.happens(e.ObjectDeleted(WEB))
    assert made.cluster.store.all("ReplicaSet") == []
    assert [pod.name for pod in made.pods()] == ["alone"]


def test_only_taints_that_people_put_are_taken_away_by_default(shop: Any) -> None:
    made = shop()
    made.report("Node", "n1", taints=(Taint("node.kubernetes.io/unreachable", "NoExecute"),))
    assert list(e.TaintRemoved.candidates(made.cluster, {})) == [e.TaintRemoved("n2", "db")]


def test_an_effect_narrows_what_is_taken_away(shop: Any) -> None:
    made = shop()
    assert not e.TaintRemoved("n2", "db", "NoExecute").enabled(made.cluster)
    made.strikes(e.TaintAdded("n2", "db", "x", "NoExecute"), e.TaintRemoved("n2", "db", "NoExecute"))
    assert made.get("Node", "n2").taints == (Taint("db", "NoSchedule", "x"),)


def test_a_taint_of_one_key_and_effect_is_there_once(shop: Any) -> None:
    """The API server takes no two taints of one key and effect: the second takes the place of the first."""
    made = shop()
    made.strikes(e.TaintAdded("n2", "db", "y"))
    assert made.get("Node", "n2").taints == (Taint("db", "NoSchedule", "y"),)


def test_labels_and_taints_are_only_tried_if_they_are_given(shop: Any) -> None:
    cluster = shop().cluster
    assert list(e.LabelChanges.candidates(cluster, {})) == []
    assert list(e.TaintAdded.candidates(cluster, {})) == []
    assert list(e.TimePasses.candidates(cluster, {})) == []
    labels = {"labels": (("disk", "ssd"),), "node": ["n1", "n3"]}
    assert [event.arguments()["node"] for event in e.LabelChanges.candidates(cluster, labels)] == ["n1", "n3"]
    assert [event.arguments()["node"] for event in e.TaintAdded.candidates(cluster, {"key": "db", "value": "x"})] == [
        "n1",
        "n3",
    ]


def test_a_drained_node_is_empty_and_stays_cordoned(shop: Any) -> None:
    made = shop()
    made.happens(e.Drain("n1"))
    assert made.get("Node", "n1").unschedulable
    left = [pod.name for pod in made.cluster.store.pods_on("n1")]
    assert left in ([], ["alone"]), "the budget keeps the pod of its own where it is"


def test_pods_are_named_in_order_of_their_creation(shop: Any) -> None:
    made = shop()
    first = min((pod for pod in made.pods() if pod.name != "alone"), key=lambda pod: pod.uid)
    made.strikes(e.PodForceDeleted("deployment/web#0"))
    assert made.get("Pod", first.name) is None


def test_a_finished_pod_has_no_place(shop: Any) -> None:
    made = shop()
    made.report("Pod", "alone", phase="Failed")
    made.settle()
    assert e.PodDeleted("pod/alone").enabled(made.cluster)
    assert "pod/alone" not in [event.arguments()["pod"] for event in e.PodDeleted.candidates(made.cluster, {})]
    assert not e.ContainerCrashes("pod/alone").enabled(made.cluster)


def test_a_paused_loop_keeps_what_wakes_it(shop: Any) -> None:
    made = shop()
    made.strikes(e.LoopPauses("replicaset"))
    made.happens(e.Scale(WEB, 3))
    assert len(made.pods()) == 3
    made.happens(e.LoopResumes("replicaset"))
    assert len(made.pods()) == 4


def test_kubelets_and_peoples_tools_are_no_controllers(shop: Any) -> None:
    loops = {event.arguments()["loop"] for event in e.LoopPauses.candidates(shop().cluster, {})}
    assert not loops & {"kubelet", "drain"}
    assert {"deployment", "scheduler"} <= loops


def test_a_zone_that_has_lost_its_last_machine_can_still_come_back(shop: Any) -> None:
    """A node group may have replaced its machines elsewhere meanwhile."""
    made = shop()
    made.happens(e.ZoneFails("b"))
    machines = made.cluster.machines
    gone = made.cluster.with_(machines=machines.with_(by_name=machines.by_name.delete("n3")))
    assert list(e.ZoneRecovers.candidates(gone, {})) == [e.ZoneRecovers("b")]
    assert list(e.ZoneFails.candidates(gone, {})) == [e.ZoneFails("a")]
