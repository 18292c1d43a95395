"""What wakes a pod that fits nowhere, and that the scheduler comes to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reconverge.model.cluster import Cluster
from reconverge.model.objects import Pod
from reconverge.model.objects.node import ZONE
from reconverge.model.quiet import steps
from reconverge.model.rules import Rules

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build


def awake(cluster: Cluster) -> list[str]:
    """The pods that the scheduler has before it."""
    state = cluster.loops["scheduler"]
    return sorted(key.removeprefix("default/") for key in (*state.serving, *state.queue))


def the_pod(cluster: Cluster, name: str) -> Pod:
    pod = cluster.store.pod(f"default/{name}")
    assert pod is not None
    return pod


# Coming to rest ---------------------------------------------------------------------------------------------------


def test_a_pod_that_fits_nowhere_is_told_once_and_rests(build: type[Build]) -> None:
    cluster = build.started(build.nodes(3), build.pod("one", 5000))
    moves = [type(moved.move).__name__ for moved in steps(build.plane, cluster)]
    assert moves == ["Read", "Write"]


def test_pods_that_fit_nowhere_do_not_wake_each_other(build: type[Build]) -> None:
    pods = [build.pod(f"p{i}", 5000, affinity=build.together(app=f"p{1 - i}")) for i in range(2)]
    cluster = build.started(build.nodes(3), pods)
    assert len(list(steps(build.plane, cluster))) == 4


def test_looking_again_to_no_effect_writes_nothing(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(3), build.pod("one", 5000))
    revision = cluster.store.revision
    node = cluster.store.node("n1")
    assert node is not None
    cluster = build.rest(build.told(cluster, node.with_(labels=(*node.labels, ("x", "y")))))
    assert cluster.store.revision == revision + 1, "the write of the label"


# Who is scheduled at all ------------------------------------------------------------------------------------------


def test_gated_deleted_bound_finished_and_foreign_pods_are_left_alone(build: type[Build]) -> None:
    pods = [
        build.pod("gated", scheduling_gates=("quota",)),
        build.pod("deleted", deletion_at=0),
        build.pod("bound", node="n1"),
        build.pod("finished", phase="Failed"),
        build.pod("foreign", scheduler_name="other"),
    ]
    cluster = build.settled(build.nodes(1), pods)
    assert cluster.store.revision == 6, "nothing is written"
    cluster = build.rest(build.told(cluster, the_pod(cluster, "gated").with_(spec=build.spec())))
    assert build.place(cluster, "gated") == "n1"


def test_a_new_pod_is_awake_and_its_status_does_not_wake_it(build: type[Build]) -> None:
    cluster = build.told(build.settled(build.nodes(1)), build.pod("one", 5000))
    assert awake(cluster) == ["one"]
    cluster = build.rest(cluster)
    assert awake(build.told(cluster, the_pod(cluster, "one").with_(unscheduled=("Unschedulable", "so it is")))) == []
    relabelled = the_pod(cluster, "one").with_(labels=(("app", "two"),))
    assert awake(build.told(cluster, relabelled)) == ["one"]
    assert awake(build.told(cluster, the_pod(cluster, "one").with_(spec=build.spec(100)))) == ["one"]


# Nodes ------------------------------------------------------------------------------------------------------------


def test_a_node_that_joins_takes_the_waiting_pod(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("one", 5000))
    assert build.place(build.rest(build.told(cluster, build.node("large", 8000))), "one") == "large"
    nothing = build.settled(build.pod("one"))
    assert build.place(build.rest(build.told(nothing, build.node("n1"))), "one") == "n1"


def test_changes_of_a_node_that_matter_wake_and_others_do_not(build: type[Build]) -> None:
    cluster = build.settled(build.node("n1", taints=(build.taint(),)), build.pod("one"))
    node = cluster.store.node("n1")
    assert node is not None
    smaller = build.node("x", 1).allocatable
    telling: list[dict[str, Any]] = [{"taints": ()}, {"unschedulable": True}, {"labels": ()}, {"allocatable": smaller}]
    for change in telling:
        assert awake(build.told(cluster, node.with_(**change))) == ["one"], change
    silent: list[dict[str, Any]] = [{"ready": "Unknown"}, {"annotations": (("a", "b"),)}, {"generation": 2}]
    for change in silent:
        assert awake(build.told(cluster, node.with_(**change))) == [], change


def test_a_node_that_goes_wakes_only_pods_that_wait_for_an_even_spread(build: type[Build]) -> None:
    nodes = build.nodes(3)
    nodes[2] = nodes[2].with_(unschedulable=True)
    spread = [build.pod(f"w{i}", labels={"app": "web"}, spread=(build.spread("web"),)) for i in range(3)]
    cluster = build.settled(nodes, spread, build.pod("large", 5000))
    cluster = build.without(cluster, "Node", "n3")
    assert awake(cluster) == ["w2"]
    assert build.place(build.rest(cluster), "w2") is not None


# Pods -------------------------------------------------------------------------------------------------------------


def test_a_pod_that_goes_finishes_or_is_deleted_makes_room(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("there", 3000, "n1"), build.pod("one", 3000))
    there = the_pod(cluster, "there")
    assert awake(build.told(cluster, there.with_(deletion_at=30))) == [], "it still holds its resources"
    assert build.place(build.rest(build.told(cluster, there.with_(phase="Succeeded"))), "one") == "n1"
    assert build.place(build.rest(build.without(cluster, "Pod", there.key)), "one") == "n1"


def test_a_watch_that_catches_up_wakes_for_all_that_it_missed(build: type[Build]) -> None:
    """Among it a pod that was replaced by one of its name on another node: nothing but its going was needed."""
    cluster = build.settled(
        build.nodes(2), build.pod("db", 3000, "n1"), build.pod("there", 3000, "n2"), build.pod("one", 3000)
    )
    state = cluster.loops["scheduler"].with_(stalled={"Pod": cluster.store.table("Pod")})
    cluster = cluster.with_(loops={**cluster.loops, "scheduler": state})
    cluster = build.told(build.without(cluster, "Pod", "default/db"), build.pod("db", 500, "n2"))
    assert awake(cluster) == []
    cluster = build.plane.catch_up(cluster, "scheduler", "Pod")
    assert awake(cluster) == ["one"]
    assert build.place(build.rest(cluster), "one") == "n1"


def test_a_pod_that_no_node_suits_does_not_care_for_other_pods(build: type[Build]) -> None:
    one = build.pod("one", node_selector=(("disk", "ssd"),))
    cluster = build.settled(build.nodes(1), build.pod("there", 3000, "n1"), one)
    assert awake(build.without(cluster, "Pod", "default/there")) == []


def test_company_that_arrives_wakes_the_pod_that_wants_it(build: type[Build]) -> None:
    one = build.pod("one", affinity=build.together(ZONE, app="db"))
    cluster = build.settled(build.nodes(3), one)
    cluster = build.rest(build.told(cluster, build.pod("other")))
    assert build.place(cluster, "one") is None
    cluster = build.rest(build.told(cluster, build.pod("db")))
    assert build.place(cluster, "one") == build.place(cluster, "db")


def test_a_pod_placed_elsewhere_wakes_the_pod_that_waits_for_an_even_spread(build: type[Build]) -> None:
    web = {"app": "web"}
    there = build.pod("w0", 100, "n1", labels=web)
    only_a = build.pod("w1", labels=web, spread=(build.spread("web"),), node_selector=())
    cluster = build.settled(build.node("n1", zone="a"), build.node("n2", 0, zone="b"), there, only_a)
    assert build.place(cluster, "w1") is None
    cluster = build.told(cluster, build.pod("other", node="n2"))
    assert awake(cluster) == []
    cluster = build.told(cluster, build.pod("w2", 0, "n2", labels=web))
    assert awake(cluster) == ["w1"]
    assert build.place(build.rest(cluster), "w1") == "n1"


def test_a_pod_whose_labels_change_frees_those_that_keep_away_from_it(build: type[Build]) -> None:
    there = build.pod("there", node="n1")
    cluster = build.settled(build.nodes(1), there, build.pod("one", affinity=build.anti(app="there")))
    cluster = build.told(cluster, the_pod(cluster, "there").with_(labels=()))
    assert build.place(build.rest(cluster), "one") == "n1"


def test_a_nominated_pod_that_is_deleted_frees_what_was_kept_for_it(build: type[Build]) -> None:
    vip = build.pod("vip", 3000, priority=10)
    later = build.pod("later", 2000, priority=10, created_at=1)
    cluster = build.settled(build.nodes(1), build.pod("low", 3000, "n1"), vip, later)
    assert [pod.nominated_node for pod in cluster.store.unbound_pods()] == [None, "n1"]
    cluster = build.without(cluster, "Pod", "default/vip")
    assert awake(cluster) == ["later"]


# Order and back-off -----------------------------------------------------------------------------------------------


def order(build: type[Build], cluster: Cluster) -> list[str]:
    return [move.key.removeprefix("default/") for move in build.plane.ready(cluster) if hasattr(move, "key")]


def test_priority_comes_first_then_time_then_what_the_pods_are(build: type[Build]) -> None:
    pods = [
        build.pod("a", created_at=2),
        build.pod("b", created_at=1),
        build.pod("d", priority=5, created_at=3, labels={"app": "same"}),
        build.pod("c", priority=5, created_at=3, labels={"app": "same"}),
    ]
    assert order(build, build.started(build.nodes(1), pods, now=3)) == ["c", "d", "b", "a"]


def test_a_pod_that_was_rejected_queues_up_behind_those_that_were_there(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("a", 5000))
    cluster = build.told(build.plane.wait(cluster, 10), build.pod("b", 5000, created_at=9))
    cluster = build.told(cluster, build.node("n2", 5000))
    assert order(build, cluster) == ["b", "a"]


def test_back_off_doubles_up_to_the_longest_before_1_33(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("one", 50_000), rules=Rules.for_version("1.32"))
    waited = []
    for number in range(7):
        before = cluster.now
        cluster = build.rest(build.told(cluster, build.node(f"x{number}")))
        waited.append(cluster.now - before)
    assert waited == [1, 2, 4, 8, 10, 10, 10]


def test_nobody_waits_for_a_back_off_since_1_33(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("one", 5000), rules=Rules.for_version("1.33"))
    cluster = build.rest(build.told(cluster, build.node("x")))
    assert cluster.now == 0
    assert build.message(cluster, "one").startswith("0/2 nodes are available: 2 Insufficient cpu.")
