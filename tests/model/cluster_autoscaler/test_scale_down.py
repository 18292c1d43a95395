"""Which nodes the autoscaler removes, when, and step by step how."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import NodeCrashes, Scale
from reconverge.model.labels import labels_of
from reconverge.model.loops.cluster_autoscaler import CANDIDATE, SCAN, to_be_deleted
from reconverge.model.loops.cluster_autoscaler.drainability import SAFE_TO_EVICT
from reconverge.model.loops.cluster_autoscaler.scale_down import DISABLED, utilisation
from reconverge.model.loops.cluster_autoscaler.writes import MarkToBeDeleted
from reconverge.model.resources import Resources

Lab = Any


@pytest.mark.parametrize(
    ("requested", "share"), [((500, 200), 0.5), ((100, 900), 0.9), ((0, 0), 0)], ids=["C1", "memory", "nothing"]
)
def test_utilisation_is_the_larger_share_of_cpu_and_memory(requested: tuple[int, int], share: float) -> None:
    assert utilisation(Resources(*requested), Resources(1000, 1000)) == share


def test_half_used_nodes_are_underused_and_more_used_ones_are_not(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 2000), lab.deployment(1, 2001, "more"), groups=[lab.group(1, 3, 3)])
    world.until(5)
    view = world.view()
    snapshot = world.autoscaler.snapshot(view)
    under = [node.name for node in view.nodes if world.autoscaler.underused(view, snapshot, node)]
    assert len(under) == 2


def test_c2_a_group_at_its_minimum_loses_no_node(lab: Lab) -> None:
    world = lab.world(groups=[lab.group(2, 2, 3)])
    world.settle()
    assert world.size() == 2
    assert not world.memory().unneeded


def test_empty_nodes_go_together_ten_minutes_after_they_were_found(lab: Lab) -> None:
    world = lab.world(groups=[lab.group(1, 4, 4)])
    world.settle()
    assert world.times("as to be deleted") == [620, 620, 620]
    assert world.times("terminates") == [625, 625, 625]
    assert (world.size(), len(world.nodes)) == (1, 1)


def test_nodes_that_need_a_drain_go_one_at_a_time(lab: Lab) -> None:
    world = lab.world(lab.deployment(4, 500), groups=[lab.group(1, 4, 4)])
    world.settle()
    marked = world.times("as to be deleted")
    assert len(marked) == 3
    assert len(set(marked)) == 3
    assert (world.size(), world.pending) == (1, 0)


def test_a_node_is_marked_delayed_drained_and_deleted(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 500), groups=[lab.group(1, 2, 2)])
    begun = world.settle()
    words = [text for _, text in begun]
    assert words[0].startswith("taints node/w-1 DeletionCandidateOfClusterAutoscaler")
    assert [time for time, _ in begun] == [10, 620, 625, 625, 625, 675]
    assert [text.split()[0] for text in words] == ["taints", "marks", "evicts", "deletes", "terminates", "forgets"]


def test_between_the_mark_and_the_deletion_nothing_new_comes(lab: Lab) -> None:
    world = lab.world(groups=[lab.group(1, 2, 2)])
    world.until(622)
    (going,) = [node for node in world.cluster.store.nodes() if to_be_deleted(node)]
    assert going.unschedulable
    assert CANDIDATE in going.taints


def test_a_node_that_is_needed_again_is_unmarked_and_its_time_begins_anew(lab: Lab) -> None:
    world = lab.world(lab.deployment(1, 3000), groups=[lab.group(1, 2, 2)])
    world.until(300)
    assert len(world.memory().unneeded) == 1
    world.strike(Scale("deployment/web", 2))
    world.until(400)
    assert not world.memory().unneeded
    assert world.times("removes taint DeletionCandidate") == [310]
    world.strike(Scale("deployment/web", 1))
    world.settle()
    assert world.times("as to be deleted") == [1020]


def test_nothing_is_removed_within_ten_minutes_of_a_scale_up(lab: Lab) -> None:
    world = lab.world(lab.deployment(1, 3000), groups=[lab.group(1, 1, 3)])
    world.until(300)
    world.strike(Scale("deployment/web", 2))
    world.until(500)
    world.strike(Scale("deployment/web", 1))
    world.settle()
    assert world.times("desired size") == [310]
    assert world.times("as to be deleted") == [1120]


def test_a_crashed_node_goes_after_twenty_minutes(lab: Lab) -> None:
    world = lab.world(lab.deployment(3, 3000), groups=[lab.group(1, 3, 4)])
    world.settle()
    world.until(5000)
    world.strike(NodeCrashes("w-1"))
    world.settle()
    assert world.size() == 3
    (gone,) = world.times("terminates instance w-1")
    assert gone == pytest.approx(5050 + 360 + 60 + 1200, abs=40)


@pytest.mark.parametrize("key", ["annotation", "bare", "budget", "storage"])
def test_some_things_keep_a_node_for_ever(lab: Lab, key: str) -> None:
    objects: list[Any] = [lab.deployment(2, 500, spec={"volumes": ("emptyDir",)} if key == "storage" else {})]
    objects += [lab.budget(min_available=2)] if key == "budget" else []
    world = lab.world(*objects, groups=[lab.group(1, 2, 3)])
    if key == "bare":
        world.put(lab.pod(node="w-1"))
        world.put(lab.pod("other", node="w-2"))
    if key == "annotation":
        for node in world.cluster.store.nodes():
            world.put(node.with_(annotations=labels_of({DISABLED: "true"})))
    world.settle()
    assert world.size() == 2


def test_the_reason_why_a_node_stays_is_told(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 500), lab.budget(min_available=2), groups=[lab.group(1, 2, 3)])
    world.settle()
    (plan,) = world.scan()
    assert "poddisruptionbudget/web allows no disruption" in plan.note


def test_of_rivals_for_one_place_any_may_be_found_first(lab: Lab) -> None:
    objects = [lab.deployment(1, 1900, "x"), lab.deployment(1, 1800, "y"), lab.deployment(1, 2150, "z")]
    world = lab.world(*objects, groups=[lab.group(1, 3, 3)])
    world.until(9)
    world.cluster = world.cluster.with_(now=10)
    assert sorted(plan.choice for plan in world.scan()) == ["w-1", "w-2"]


# Drains that do not go well ------------------------------------------------------------------------------------


def test_a_refused_eviction_is_asked_for_again_every_ten_seconds(lab: Lab) -> None:
    objects = [lab.deployment(4, 500), lab.budget(max_unavailable=1)]
    world = lab.world(*objects, groups=[lab.group(1, 2, 2)], rules=lab.slow(15))
    world.settle()
    evictions = [(time, words) for time, words in world.written if words.startswith("evicts")]
    begun = evictions[0][0]
    assert [time - begun for time, words in evictions if "refused" not in words] == [0, 20]
    assert world.size() == 1


def test_evictions_that_are_refused_for_two_minutes_end_the_removal(lab: Lab) -> None:
    objects = [lab.deployment(4, 500), lab.budget(max_unavailable=1)]
    world = lab.world(*objects, groups=[lab.group(1, 2, 2)], rules=lab.slow(200))
    world.until(2000)
    (marked, *_), (kept, *_) = world.times("as to be deleted"), world.times("after all")
    assert kept - marked == 5 + 120
    node = next(node for node in world.cluster.store.nodes() if not to_be_deleted(node))
    assert not node.unschedulable
    assert all(time >= kept + 180 for time in world.times("as to be deleted")[1:])


def test_a_pod_that_does_not_stop_in_time_ends_the_removal(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 500), groups=[lab.group(1, 2, 2)])
    world.until(624)
    (going,) = [node.name for node in world.cluster.store.nodes() if to_be_deleted(node)]
    machine = world.cluster.machines.by_name[going]
    world.cluster = world.cluster.with_(machines=world.cluster.machines.put(machine.with_(runtime=False)))
    world.until(1300)
    assert world.times("after all") == [625 + 630]
    assert world.size() == 2


def test_a_pod_that_comes_to_an_empty_node_saves_it(lab: Lab) -> None:
    world = lab.world(groups=[lab.group(1, 2, 2)])
    world.until(622)
    (going,) = [node.name for node in world.cluster.store.nodes() if to_be_deleted(node)]
    world.put(lab.pod("late", node=going, annotations=labels_of({SAFE_TO_EVICT: "true"})))
    world.until(630)
    assert world.times("after all") == [625]
    assert world.reasons[f"keeps node/{going} after all"] == "pods have come to a node that was empty"


def test_daemons_are_evicted_from_drained_nodes_and_not_from_empty_ones(lab: Lab) -> None:
    world = lab.world(lab.daemon_set(100), groups=[lab.group(1, 2, 2)])
    world.settle()
    assert not world.times("evicts")
    world = lab.world(lab.daemon_set(100), lab.deployment(2, 500), groups=[lab.group(1, 2, 2)])
    world.settle()
    assert len(world.times("evicts pod/agent")) == 1
    assert world.size() == 1


def test_marks_of_an_earlier_process_are_taken_away(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 3000), groups=[lab.group(1, 2, 2)])
    world.settle()
    node = world.cluster.store.nodes()[0]
    world.cluster, _ = MarkToBeDeleted(node.name, node.uid).apply(world.cluster)
    world.cluster = world.plane.restart(world.cluster, "cluster-autoscaler")
    world.settle()
    assert world.reasons[f"keeps node/{node.name} after all"] == "left by an earlier process"


def test_a_group_that_has_shrunk_to_its_minimum_meanwhile_keeps_the_node(lab: Lab) -> None:
    world = lab.world(groups=[lab.group(1, 2, 2)])
    world.until(622)
    group = world.cluster.machines.groups["w"]
    world.cluster = world.cluster.with_(machines=world.cluster.machines.put_group(group.with_(minimum=2)))
    world.settle()
    assert [words for _, words in world.written if "terminates" in words] == ["terminates instance w-1 (refused: 400)"]
    assert len(world.times("after all")) == 1
    assert SCAN not in world.cluster.loops["cluster-autoscaler"].queue


# A simulation that is not the scheduler --------------------------------------------------------------------------


def flapping(lab: Lab, **options: Any) -> Any:
    autoscaler = lab.autoscaler(lab.options(**options))
    world = lab.world(lab.deployment(9, 250), groups=[lab.group(1, 3, 5, pods=4)], autoscaler=autoscaler)
    world.until(6000)
    return world


def test_a_removal_that_overlooks_a_rule_is_undone_again_and_again(lab: Lab) -> None:
    world = flapping(lab, removal_ignores=("max-pods",))
    assert len(world.times("as to be deleted")) > 4
    assert len(world.times("desired size")) > 4


def test_a_simulation_that_overlooks_it_everywhere_leaves_pods_pending(lab: Lab) -> None:
    world = flapping(lab, ignores=("max-pods",))
    assert (world.size(), world.pending, world.times("desired size")) == (1, 5, [])


def test_a_simulation_like_the_scheduler_removes_nothing_that_is_needed(lab: Lab) -> None:
    world = flapping(lab)
    assert (world.size(), world.pending, world.times("as to be deleted")) == (3, 0, [])
