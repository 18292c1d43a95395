"""Each score on a small cluster, normalised as upstream does it."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from reconverge.model.labels import Requirement
from reconverge.model.loops.scheduler import SCORES, Score
from reconverge.model.loops.scheduler.plugins import (
    BalancedAllocation,
    InterPodAffinityScore,
    LeastAllocated,
    NodeAffinityScore,
    PodTopologySpreadScore,
    TaintTolerationScore,
)
from reconverge.model.objects import (
    Affinity,
    NodeSelectorTerm,
    OwnerReference,
    Pod,
    PreferredNodeTerm,
    ReplicaSet,
    Service,
    WeightedPodAffinityTerm,
)
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.node import HOSTNAME, PREFER_NO_SCHEDULE, ZONE

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build

WEB = {"app": "web"}
OWNER = OwnerReference("ReplicaSet", "web", 77)


def scores(build: type[Build], plugin: Score, pod: Pod, *objects: ApiObject | list[ApiObject]) -> list[int] | None:
    cycle = build.cycle(pod, *objects)
    return plugin.score(cycle, cycle.nodes.all)


def web_on(build: type[Build], *nodes: str, **fields: object) -> list[ApiObject]:
    return [build.pod(f"w{i}", 100, node, labels=WEB, owner=OWNER, **fields) for i, node in enumerate(nodes)]


def test_weights_are_those_of_the_default_profile() -> None:
    assert {each.name: each.weight for each in SCORES} == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "NodeResourcesBalancedAllocation": 1,
    }


def test_untolerated_preferences_of_nodes_cost(build: type[Build]) -> None:
    soft = build.taint(effect=PREFER_NO_SCHEDULE)
    other = build.taint("slow", PREFER_NO_SCHEDULE)
    nodes: list[ApiObject] = [
        build.node("n1", taints=(soft, other)),
        build.node("n2", taints=(soft,)),
        build.node("n3"),
    ]
    assert scores(build, TaintTolerationScore(), build.pod("one"), nodes) == [0, 50, 100]
    tolerant = build.pod("one", tolerations=(build.tolerates(), build.tolerates("slow")))
    assert scores(build, TaintTolerationScore(), tolerant, nodes) == [100, 100, 100]
    assert scores(build, TaintTolerationScore(), build.pod("one"), list[ApiObject](build.nodes(2))) is None


def test_preferred_node_terms_add_up(build: type[Build]) -> None:
    terms = [(60, "ssd"), (30, "gpu")]
    preferred = tuple(
        PreferredNodeTerm(weight, NodeSelectorTerm((Requirement(key, "Exists"),))) for weight, key in terms
    )
    one = build.pod("one", affinity=Affinity(node_preferred=preferred))
    nodes: list[ApiObject] = [
        build.node("n1", labels={"ssd": "", "gpu": ""}),
        build.node("n2", labels={"gpu": ""}),
        build.node("n3"),
    ]
    assert scores(build, NodeAffinityScore(), one, nodes) == [100, 33, 0]
    assert scores(build, NodeAffinityScore(), one, build.node("n1"), build.node("n2")) == [0, 0]
    assert scores(build, NodeAffinityScore(), build.pod("one"), nodes) is None


def test_missing_requests_count_as_a_little_when_nodes_are_scored(build: type[Build]) -> None:
    node = build.node("n1", 1000, 1000 * 2**20)
    assert scores(build, LeastAllocated(), build.pod("one", 0), node) == [(90 + 80) // 2]
    assert scores(build, LeastAllocated(), build.pod("one", 0), node, build.pod("there", 0, "n1")) == [(80 + 60) // 2]


def test_a_resource_that_would_be_overcommitted_counts_nought(build: type[Build]) -> None:
    node = build.node("n1", 1000, 1000 * 2**20)
    assert scores(build, LeastAllocated(), build.pod("one", 2000), node) == [80 // 2]


def test_balance_counts_real_requests_and_nothing_for_best_effort_pods(build: type[Build]) -> None:
    node = build.node("n1", 1000, 1000)
    assert scores(build, BalancedAllocation(), build.pod("one", 500, memory=900), node) == [80]
    assert scores(build, BalancedAllocation(), build.pod("one", 500), node) == [75]
    assert scores(build, BalancedAllocation(), build.pod("one", 5000, memory=1000), node) == [100]
    assert scores(build, BalancedAllocation(), build.pod("one", 0), node) is None


def test_soft_constraints_prefer_the_emptier_domain(build: type[Build]) -> None:
    one = build.pod("one", labels=WEB, spread=(build.spread("web", ZONE, hard=False),))
    web = web_on(build, "n1", "n1", "n2")
    weight = log(3 + 2)
    raw = [round(2 * weight), round(weight), 0]
    assert raw == [3, 2, 0]
    assert scores(build, PodTopologySpreadScore(), one, list[ApiObject](build.nodes(3)), web) == [0, 33, 100]


def test_hard_constraints_are_not_scored_and_switch_the_default_ones_off(build: type[Build]) -> None:
    one = build.pod("one", labels=WEB, owner=OWNER, spread=(build.spread("web"),))
    nodes: list[ApiObject] = [*build.nodes(3), ReplicaSet(name="web", uid=77, selector=build.selector(app="web"))]
    assert scores(build, PodTopologySpreadScore(), one, nodes, web_on(build, "n1")) is None


def test_nodes_without_the_key_get_nought(build: type[Build]) -> None:
    one = build.pod("one", labels=WEB, spread=(build.spread("web", ZONE, hard=False),))
    nodes: list[ApiObject] = [build.node("n1", zone="a"), build.node("n2")]
    assert scores(build, PodTopologySpreadScore(), one, nodes) == [100, 0]


def test_pods_of_a_replica_set_are_spread_by_default(build: type[Build]) -> None:
    one = build.pod("one", labels=WEB, owner=OWNER)
    nodes: list[ApiObject] = [*build.nodes(3), ReplicaSet(name="web", uid=77, selector=build.selector(app="web"))]
    weight = log(3 + 2)
    raw = [round(4 * weight + 6), round(2 * weight + 6), 6]
    assert raw == [12, 9, 6]
    found = scores(build, PodTopologySpreadScore(), one, nodes, web_on(build, "n1", "n1", "n2"))
    assert found == [100 * (18 - score) // 12 for score in raw]
    assert (
        scores(build, PodTopologySpreadScore(), build.pod("one", labels=WEB), list[ApiObject](build.nodes(3))) is None
    )


def test_a_service_that_selects_the_pod_spreads_it_as_well(build: type[Build]) -> None:
    nodes: list[ApiObject] = [*build.nodes(2), Service(name="web", selector=build.selector(app="web"))]
    one = build.pod("one", labels=WEB)
    assert scores(build, PodTopologySpreadScore(), one, nodes, web_on(build, "n1")) == [66, 100]
    other = build.pod("one", labels=WEB, namespace="other")
    assert scores(build, PodTopologySpreadScore(), other, nodes, web_on(build, "n1")) is None


def test_terminating_pods_do_not_count_when_spreading(build: type[Build]) -> None:
    one = build.pod("one", labels=WEB, spread=(build.spread("web", HOSTNAME, hard=False),))
    nodes: list[ApiObject] = list(build.nodes(2))
    assert scores(build, PodTopologySpreadScore(), one, nodes, web_on(build, "n1", deletion_at=30)) == [100, 100]


def test_the_default_constraints_are_lenient_about_missing_zones(build: type[Build]) -> None:
    one = build.pod("one", labels=WEB, owner=OWNER)
    nodes: list[ApiObject] = [
        build.node("n1"),
        build.node("n2"),
        ReplicaSet(name="web", uid=77, selector=build.selector(app="web")),
    ]
    assert scores(build, PodTopologySpreadScore(), one, nodes, web_on(build, "n1")) == [66, 100]


def test_preferred_company_pulls_and_preferred_distance_pushes(build: type[Build]) -> None:
    pull = (WeightedPodAffinityTerm(80, build.term(ZONE, app="db")),)
    push = (WeightedPodAffinityTerm(20, build.term(HOSTNAME, app="noisy")),)
    one = build.pod("one", affinity=Affinity(pod_preferred=pull, anti_preferred=push))
    there: list[ApiObject] = [build.pod("db", node="n1"), build.pod("noisy", node="n2")]
    assert scores(build, InterPodAffinityScore(), one, list[ApiObject](build.nodes(3)), there) == [100, 0, 20]


def test_pods_that_are_there_have_their_say_and_required_affinity_counts_one(build: type[Build]) -> None:
    nodes: list[ApiObject] = list(build.nodes(4))
    likes = Affinity(pod_preferred=(WeightedPodAffinityTerm(2, build.term(HOSTNAME, app="one")),))
    dislikes = Affinity(anti_preferred=(WeightedPodAffinityTerm(2, build.term(HOSTNAME, app="one")),))
    there: list[ApiObject] = [
        build.pod("fond", node="n1", affinity=likes),
        build.pod("cool", node="n2", affinity=dislikes),
        build.pod("needs", node="n3", affinity=build.together(HOSTNAME, app="one")),
    ]
    assert scores(build, InterPodAffinityScore(), build.pod("one"), nodes, there) == [100, 0, 75, 50]
    assert scores(build, InterPodAffinityScore(), build.pod("two"), nodes, there) is None


def test_shares_are_cut_off_as_floating_point_cuts_them(build: type[Build]) -> None:
    """29 of 100 is 28, for 100 * (29 / 100) is less than 29 in floating point."""
    terms = [(100, "n1"), (29, "n2")]
    preferred = tuple(WeightedPodAffinityTerm(weight, build.term(HOSTNAME, at=node)) for weight, node in terms)
    there: list[ApiObject] = [build.pod(f"on-{node}", node=node, labels={"at": node}) for _, node in terms]
    one = build.pod("one", affinity=Affinity(pod_preferred=preferred))
    assert scores(build, InterPodAffinityScore(), one, list[ApiObject](build.nodes(3)), there) == [100, 28, 0]
