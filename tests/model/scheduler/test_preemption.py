"""Making room for pods of higher priority."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconverge.model.action import DeletePod, Patch
from reconverge.model.cluster import Cluster
from reconverge.model.loops.scheduler import Scheduler
from reconverge.model.objects import BudgetStatus, Pod, PodDisruptionBudget
from reconverge.model.rules import Rules

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build

PREEMPTED = "PreemptionByScheduler"


def victims(build: type[Build], cluster: Cluster, pod: str, alternative: int = 0) -> list[str]:
    """The pods that a cycle for the pod deletes, in order."""
    plan = build.plans(cluster, pod)[alternative]
    return [action.key.removeprefix("default/") for action in plan.actions if isinstance(action, DeletePod)]


def terminating(cluster: Cluster) -> list[str]:
    return [pod.name for pod in cluster.store.all("Pod") if pod.terminating]


def budget(build: type[Build], app: str, allowed: int, disrupted: str = "") -> PodDisruptionBudget:
    status = BudgetStatus(disruptions_allowed=allowed, disrupted_pods=((disrupted, 0),) if disrupted else ())
    return PodDisruptionBudget(name=f"{app}-budget", selector=build.selector(app=app), status=status)


# As recorded ------------------------------------------------------------------------------------------------------


def test_the_node_with_the_lowest_victim_is_chosen_and_equal_priority_waits(build: type[Build]) -> None:
    low, mid = build.pod("a-low", 3000, "n1", priority=10), build.pod("b-mid", 3000, "n2", priority=100)
    cluster = build.settled(build.nodes(2), low, mid, build.pod("same", 3000, priority=10))
    assert build.message(cluster, "same") == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )
    cluster = build.told(cluster, build.pod("vip", 3000, priority=1000))
    plan = build.plans(cluster, "vip")[0]
    first, last = plan.actions[0], plan.actions[-1]
    assert isinstance(first, Patch), "the nomination is written first"
    assert isinstance(last, DeletePod)
    cluster = build.rest(cluster)
    vip, victim = cluster.store.pod("default/vip"), cluster.store.pod("default/a-low")
    assert vip is not None
    assert victim is not None
    assert (vip.nominated_node, vip.unscheduled) == (
        "n1",
        ("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu."),
    )
    assert (victim.terminating, victim.disruption_target) == (True, PREEMPTED)
    cluster = build.rest(build.told(cluster, victim.with_(phase="Succeeded")))
    assert build.place(cluster, "vip") == "n1"
    assert build.place(cluster, "same") is None


def full_of_web(build: type[Build]) -> list[Pod]:
    labels = {"labels": {"app": "web"}}
    return [build.pod(f"web-{i}", 1900, f"n{i % 2 + 1}", priority=10, **labels) for i in range(4)]


def test_a_polite_pod_waits_and_profits_from_what_the_other_frees(build: type[Build]) -> None:
    polite = build.pod("polite", 1000, priority=1000, preemption_policy="Never")
    cluster = build.settled(build.nodes(2), full_of_web(build), polite)
    assert build.message(cluster, "polite") == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
        "preemption: not eligible due to preemptionPolicy=Never."
    )
    assert terminating(cluster) == []
    cluster = build.rest(build.told(cluster, build.pod("vip", 1000, priority=1000)))
    assert build.message(cluster, "vip") == "0/2 nodes are available: 2 Insufficient cpu."
    (victim,) = terminating(cluster)
    replacement = build.pod("web-5", 1900, priority=10, labels={"app": "web"})
    cluster = build.rest(build.told(cluster, replacement))
    gone = cluster.store.pod(f"default/{victim}")
    assert gone is not None
    cluster = build.rest(build.told(cluster, gone.with_(phase="Succeeded")))
    assert build.place(cluster, "polite") == build.place(cluster, "vip") == gone.node
    assert build.message(cluster, "web-5") == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )


# Who may preempt --------------------------------------------------------------------------------------------------


def test_a_pod_waits_for_victims_that_are_still_terminating_on_its_node(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("low", 3000, "n1"), build.pod("vip", 3000, priority=10))
    cluster = build.rest(build.told(cluster, build.node("n2", 1000)))
    assert build.message(cluster, "vip") == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
        "preemption: not eligible due to a terminating pod on the nominated node."
    )
    vip = cluster.store.pod("default/vip")
    assert vip is not None
    assert vip.nominated_node == "n1"


def test_a_pod_whose_nominated_node_has_become_useless_preempts_elsewhere(build: type[Build]) -> None:
    low = [build.pod("low1", 3000, "n1"), build.pod("low2", 3000, "n2", priority=1)]
    cluster = build.settled(build.nodes(2), low, build.pod("vip", 3000, priority=10))
    assert terminating(cluster) == ["low1"]
    node = cluster.store.node("n1")
    assert node is not None
    cluster = build.rest(build.told(cluster, node.with_(unschedulable=True)))
    vip = cluster.store.pod("default/vip")
    assert vip is not None
    assert vip.nominated_node == "n2"
    assert terminating(cluster) == ["low1", "low2"]


def test_a_nomination_is_given_up_when_preemption_can_no_longer_help(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("low", 3000, "n1"), build.pod("vip", 3000, priority=10))
    node = cluster.store.node("n1")
    assert node is not None
    cluster = build.rest(build.told(cluster, node.with_(unschedulable=True)))
    vip = cluster.store.pod("default/vip")
    assert vip is not None
    assert vip.nominated_node is None
    assert build.message(cluster, "vip").endswith("1 Preemption is not helpful for scheduling.")


def test_without_preemption_nobody_is_deleted(build: type[Build]) -> None:
    cluster = build.started(build.nodes(1), build.pod("low", 3000, "n1"), build.pod("vip", 3000, priority=10))
    (plan,) = build.plans(cluster, "vip", Scheduler(preemption=None))
    assert [action.describe() for action in plan.actions] == ["leaves pod/vip pending"]


# Which victims ----------------------------------------------------------------------------------------------------


def test_no_more_victims_than_are_needed_and_the_most_important_are_spared(build: type[Build]) -> None:
    pods = [build.pod(f"p{i}", 1000, "n1", priority=i, started_at=0) for i in range(4)]
    cluster = build.started(build.nodes(1), pods, build.pod("vip", 2000, priority=10))
    assert victims(build, cluster, "vip") == ["p1", "p0"]


def test_of_equal_priority_the_one_that_started_last_goes(build: type[Build]) -> None:
    pods = [build.pod(f"p{i}", 1000, "n1", started_at=at) for i, at in enumerate((30, 50, 40, 20))]
    cluster = build.started(build.nodes(1), pods, build.pod("vip", 1000, priority=10), now=60)
    assert victims(build, cluster, "vip") == ["p1"]


def test_a_pod_that_a_budget_protects_is_spared_before_a_more_important_one(build: type[Build]) -> None:
    pods = [build.pod("db", 2000, "n1", priority=1), build.pod("web", 2000, "n1", priority=5)]
    vip = build.pod("vip", 2000, priority=10)
    assert victims(build, build.started(build.nodes(1), pods, vip), "vip") == ["db"]
    protected = build.started(build.nodes(1), pods, vip, budget(build, "db", 0))
    assert victims(build, protected, "vip") == ["web"]
    allowed = build.started(build.nodes(1), pods, vip, budget(build, "db", 1))
    assert victims(build, allowed, "vip") == ["db"]
    granted = build.started(build.nodes(1), pods, vip, budget(build, "db", 0, disrupted="db"))
    assert victims(build, granted, "vip") == ["db"], "an eviction that was granted already breaks nothing"


def test_budgets_bend_when_nothing_else_helps(build: type[Build]) -> None:
    pods = [build.pod("db", 3000, "n1")]
    cluster = build.started(build.nodes(1), pods, build.pod("vip", 3000, priority=10), budget(build, "db", 0))
    assert victims(build, cluster, "vip") == ["db"]


def test_a_victim_that_is_terminating_already_is_not_deleted_again(build: type[Build]) -> None:
    pods = [build.pod("low", 3000, "n1", deletion_at=30)]
    cluster = build.settled(build.nodes(1), pods, build.pod("vip", 3000, priority=10))
    vip = cluster.store.pod("default/vip")
    assert vip is not None
    assert vip.nominated_node == "n1"
    assert victims(build, cluster, "vip") == []


def test_anti_affinity_can_be_preempted_away(build: type[Build]) -> None:
    low = build.pod("db", 100, "n1", priority=0)
    cluster = build.started(build.nodes(1), low, build.pod("vip", priority=10, affinity=build.anti(app="db")))
    assert victims(build, cluster, "vip") == ["db"]
    shy = build.pod("shy", 100, "n1", affinity=build.anti(app="vip"))
    assert victims(build, build.started(build.nodes(1), shy, build.pod("vip", priority=10)), "vip") == ["shy"]


def test_an_uneven_spread_can_be_preempted_away(build: type[Build]) -> None:
    web = {"app": "web"}
    there = [build.pod(f"w{i}", 100, "n1", labels=web) for i in range(2)]
    nodes = [build.node("n1", zone="a"), build.node("n2", zone="b", pods=0)]
    vip = build.pod("vip", priority=10, labels=web, spread=(build.spread("web"),))
    assert len(victims(build, build.started(nodes, there, vip), "vip")) == 2


# Which node -------------------------------------------------------------------------------------------------------


def chosen(build: type[Build], per_node: list[list[Pod]], *others: PodDisruptionBudget) -> list[str]:
    """The nodes that are equally good for a pod that takes a whole node, given the pods on each."""
    nodes = build.nodes(len(per_node))
    pods = [
        pod.with_(node=node.name, phase="Running") for node, some in zip(nodes, per_node, strict=True) for pod in some
    ]
    cluster = build.started(nodes, pods, build.pod("vip", 4000, priority=1000), others, now=100)
    return [plan.choice for plan in build.plans(cluster, "vip")]


def test_the_choice_goes_down_the_list_of_criteria(build: type[Build]) -> None:
    pod = build.pod
    protected = budget(build, "db", 0)
    assert chosen(build, [[pod("db", 2000)], [pod("x", 2000, priority=99)]], protected) == ["n2"], "violations"
    assert chosen(build, [[pod("a", 2000, priority=5)], [pod("b", priority=3), pod("c", priority=3)]]) == ["n2"], (
        "highest"
    )
    assert chosen(
        build, [[pod("a", priority=5), pod("b", priority=4)], [pod("c", priority=5), pod("d", priority=1)]]
    ) == ["n2"], "sum"
    assert chosen(build, [[pod("a"), pod("b", priority=-(2**31))], [pod("c")]]) == ["n2"], "number"
    assert chosen(build, [[pod("a", started_at=10)], [pod("b", started_at=50)]]) == ["n2"], "start"
    assert chosen(build, [[pod("a", started_at=10)], [pod("b", started_at=10)]]) == ["n1", "n2"], "nothing"


# Nominations ------------------------------------------------------------------------------------------------------


def test_a_nominated_pod_keeps_its_place_from_equals_but_not_from_higher_ones(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("low", 3000, "n1"), build.pod("vip", 3000, priority=10))
    gone = cluster.store.pod("default/low")
    assert gone is not None
    cluster = build.told(cluster, gone.with_(phase="Succeeded"), build.pod("equal", 3000, priority=10))
    assert [plan.choice for plan in build.plans(cluster, "equal")] == [""]
    cluster = build.told(cluster, build.pod("higher", 3000, priority=11))
    assert [plan.choice for plan in build.plans(cluster, "higher")] == ["n1"]
    assert build.place(build.rest(cluster), "higher") == "n1"


def test_lower_pods_lose_their_nomination_and_are_looked_at_again(build: type[Build]) -> None:
    low = build.pod("low", 3000, "n1")
    cluster = build.settled(build.nodes(1), low, build.pod("mid", 3000, priority=10))
    cluster = build.told(cluster, build.pod("vip", 3000, priority=20))
    plan = build.plans(cluster, "vip")[0]
    assert [action.describe() for action in plan.actions] == [
        "leaves pod/vip pending, nominated to n1",
        "sets nominated_node of pod/mid",
    ], "the victim is on its way already"
    told = plan.actions[0].apply(cluster)[0]
    after, changes = plan.actions[1].apply(told)
    woken = build.plane.notify(after, changes)
    assert "default/mid" in woken.loops["scheduler"].queue
    cluster = build.rest(cluster)
    nominated = {pod.name: pod.nominated_node for pod in cluster.store.unbound_pods()}
    assert nominated == {"mid": None, "vip": "n1"}


def test_a_restarted_scheduler_reads_nominations_from_the_store(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("low", 3000, "n1"), build.pod("vip", 3000, priority=10))
    gone = cluster.store.pod("default/low")
    assert gone is not None
    cluster = build.told(cluster, gone.with_(phase="Succeeded"), build.pod("equal", 3000, priority=10))
    restarted = build.plane.start(cluster)
    assert [plan.choice for plan in build.plans(restarted, "equal")] == [""]


def test_pods_back_off_before_1_33_even_when_their_victims_are_gone(build: type[Build]) -> None:
    rules = Rules.for_version("1.32")
    vip = build.pod("vip", 3000, priority=10)
    cluster = build.settled(build.nodes(1), build.pod("low", 3000, "n1"), vip, rules=rules)
    gone = cluster.store.pod("default/low")
    assert gone is not None
    cluster = build.rest(build.told(cluster, gone.with_(phase="Succeeded")))
    assert (build.place(cluster, "vip"), cluster.now) == ("n1", 1)
