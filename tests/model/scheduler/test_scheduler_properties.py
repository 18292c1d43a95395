"""The scheduler agrees, on every small cluster, with a slow and obvious one that looks at lists of pods."""

from __future__ import annotations

from math import floor, log
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconverge.model.labels import Selector, label
from reconverge.model.likeness import node_likeness
from reconverge.model.loops.scheduler import FILTERS, Candidate, Preemption, Scheduler
from reconverge.model.loops.scheduler.nodes import first_in_likeness_order, in_likeness_order
from reconverge.model.objects import (
    Affinity,
    Node,
    Pod,
    PodAffinityTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from reconverge.model.objects.node import HOSTNAME, NO_SCHEDULE, PREFER_NO_SCHEDULE, ZONE, Taint
from reconverge.model.quiet import at_rest
from reconverge.model.requests import nonzero_requests

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build

GI = 2**30
QUIET = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# Clusters ---------------------------------------------------------------------------------------------------------


KEYS = st.sampled_from([HOSTNAME, ZONE])
APPS = st.sampled_from(["x", "y"])
SELECTORS = APPS.map(lambda app: Selector((("app", app),)))
TERMS = st.builds(PodAffinityTerm, KEYS, SELECTORS)
WEIGHTED = st.builds(WeightedPodAffinityTerm, st.sampled_from([10, 29, 100]), TERMS)
AFFINITIES = st.builds(
    Affinity,
    pod_required=st.lists(TERMS, max_size=1).map(tuple),
    anti_required=st.lists(TERMS, max_size=1).map(tuple),
    pod_preferred=st.lists(WEIGHTED, max_size=2).map(tuple),
    anti_preferred=st.lists(WEIGHTED, max_size=1).map(tuple),
)
CONSTRAINTS = st.builds(
    TopologySpreadConstraint,
    KEYS,
    max_skew=st.integers(1, 2),
    hard=st.booleans(),
    selector=SELECTORS,
    min_domains=st.integers(1, 3),
    honor_affinity=st.booleans(),
    honor_taints=st.booleans(),
)
EFFECTS = st.sampled_from([NO_SCHEDULE, PREFER_NO_SCHEDULE])
TAINTS = st.lists(st.builds(Taint, st.sampled_from(["t", "u"]), EFFECTS), max_size=2).map(tuple)


@st.composite
def some_nodes(draw: st.DrawFn, /, build: type[Build]) -> list[Node]:
    return [
        build.node(
            f"n{number}",
            draw(st.sampled_from([1000, 2000, 4000])),
            draw(st.sampled_from([GI, 4 * GI])),
            draw(st.sampled_from([2, 110])),
            draw(st.sampled_from(["", "a", "b"])),
            taints=draw(TAINTS),
            unschedulable=draw(st.integers(0, 5)) == 0,
        )
        for number in range(draw(st.integers(1, 4)))
    ]


@st.composite
def a_pod(draw: st.DrawFn, /, build: type[Build], name: str, **fields: Any) -> Pod:
    return build.pod(
        name,
        draw(st.sampled_from([0, 300, 1500])),
        memory=draw(st.sampled_from([0, GI // 3])),
        labels={"app": draw(APPS)},
        affinity=draw(AFFINITIES | st.just(Affinity())),
        priority=draw(st.integers(0, 2)),
        tolerations=draw(st.sampled_from([(), (build.tolerates("t"),)])),
        node_selector=draw(st.sampled_from([(), (), ((ZONE, "a"),)])),
        **fields,
    )


@pytest.fixture(scope="session")
def worlds(build: type[Build]) -> Any:
    """A strategy of (nodes, pods that are there, the pod that comes)."""

    @st.composite
    def world(draw: st.DrawFn) -> tuple[list[Node], list[Pod], Pod]:
        nodes = draw(some_nodes(build))
        there = [
            draw(
                a_pod(
                    build,
                    f"p{number}",
                    node=draw(st.sampled_from([node.name for node in nodes])),
                    deletion_at=draw(st.sampled_from([None, None, 30])),
                    phase=draw(st.sampled_from(["Running", "Running", "Running", "Succeeded"])),
                    namespace=draw(st.sampled_from(["default", "default", "other"])),
                )
            )
            for number in range(draw(st.integers(0, 6)))
        ]
        spread = draw(st.lists(CONSTRAINTS, max_size=2).map(tuple))
        return nodes, there, draw(a_pod(build, "one", spread=spread))

    return world()


# The slow and obvious scheduler ------------------------------------------------------------------------------------


class Oracle:
    """Says which nodes are best, from nothing but lists."""

    def __init__(self, nodes: list[Node], pods: list[Pod], pod: Pod) -> None:
        self.nodes = nodes
        self.pods = [each for each in pods if not each.terminal]
        self.pod = pod

    def on(self, node: Node) -> list[Pod]:
        return [each for each in self.pods if each.node == node.name]

    def domain(self, key: str, value: str) -> list[Node]:
        return [node for node in self.nodes if label(node.labels, key) == value]

    def selected(self, term: PodAffinityTerm, of: Pod, other: Pod) -> bool:
        return other.namespace == of.namespace and term.selector is not None and term.selector.matches(other.labels)

    def suits(self, node: Node) -> bool:
        return all(label(node.labels, key) == value for key, value in self.pod.spec.node_selector)

    def tolerated(self, node: Node, effects: tuple[str, ...]) -> bool:
        hard = [taint for taint in node.taints if taint.effect in effects]
        return all(any(each.tolerates(taint) for each in self.pod.spec.tolerations) for taint in hard)

    def fits(self, node: Node) -> bool:
        held = self.on(node)
        request, most = self.pod.spec.requests, node.allocatable.resources
        cpu = sum(each.spec.requests.cpu for each in held)
        memory = sum(each.spec.requests.memory for each in held)
        return (
            not node.unschedulable
            and self.tolerated(node, (NO_SCHEDULE,))
            and self.suits(node)
            and len(held) < node.allocatable.pods
            and (request.cpu == 0 or cpu + request.cpu <= most.cpu)
            and (request.memory == 0 or memory + request.memory <= most.memory)
            and all(self.even(node, each) for each in self.pod.spec.spread if each.hard)
            and self.together(node)
            and self.apart(node)
        )

    def counted(self, constraint: TopologySpreadConstraint, of: list[TopologySpreadConstraint]) -> list[Node]:
        return [
            node
            for node in self.nodes
            if all(label(node.labels, each.topology_key) is not None for each in of)
            and (not constraint.honor_affinity or self.suits(node))
            and (not constraint.honor_taints or self.tolerated(node, (NO_SCHEDULE,)))
        ]

    def number(self, constraint: TopologySpreadConstraint, nodes: list[Node]) -> int:
        assert constraint.selector is not None
        return sum(
            each.namespace == self.pod.namespace and not each.terminating and constraint.selector.matches(each.labels)
            for node in nodes
            for each in self.on(node)
        )

    def even(self, node: Node, constraint: TopologySpreadConstraint) -> bool:
        key = constraint.topology_key
        value = label(node.labels, key)
        if value is None:
            return False
        counted = self.counted(constraint, [each for each in self.pod.spec.spread if each.hard])
        domains: dict[str, list[Node]] = {}
        for each in counted:
            domains.setdefault(label(each.labels, key) or "", []).append(each)
        numbers = {name: self.number(constraint, some) for name, some in domains.items()}
        least = min(numbers.values(), default=0) if len(numbers) >= constraint.min_domains else 0
        assert constraint.selector is not None
        self_count = constraint.selector.matches(self.pod.labels)
        return numbers.get(value, 0) + self_count - least <= constraint.max_skew

    def together(self, node: Node) -> bool:
        terms = self.pod.spec.affinity.pod_required
        values = [label(node.labels, term.topology_key) for term in terms]
        if any(value is None for value in values):
            return False
        company = [each for each in self.pods if all(self.selected(term, self.pod, each) for term in terms)]
        by_name = {each.name: each for each in self.nodes}
        somewhere = any(
            label(by_name[each.node or ""].labels, term.topology_key) is not None for each in company for term in terms
        )
        if terms and not somewhere and all(self.selected(term, self.pod, self.pod) for term in terms):
            return True
        return all(
            any(label(by_name[each.node or ""].labels, term.topology_key) == value for each in company)
            for term, value in zip(terms, values, strict=True)
        )

    def apart(self, node: Node) -> bool:
        by_name = {each.name: each for each in self.nodes}
        for other in self.pods:
            theirs = by_name[other.node or ""]
            for terms, of, about in (
                (self.pod.spec.affinity.anti_required, self.pod, other),
                (other.spec.affinity.anti_required, other, self.pod),
            ):
                for term in terms:
                    value = label(node.labels, term.topology_key)
                    near = value is not None and label(theirs.labels, term.topology_key) == value
                    if near and self.selected(term, of, about):
                        return False
        return True

    def best(self) -> set[str]:
        nodes = [node for node in self.nodes if self.fits(node)]
        if len(nodes) < 2:
            return {node.name for node in nodes}
        parts = [
            (3, self.taints(nodes)),
            (1, [self.free(node) for node in nodes]),
            (2, self.spread(nodes)),
            (2, self.sympathy(nodes)),
            (1, [self.balance(node) for node in nodes]),
        ]
        totals = {node.name: sum(weight * scores[i] for weight, scores in parts) for i, node in enumerate(nodes)}
        return {name for name, total in totals.items() if total == max(totals.values())}

    def taints(self, nodes: list[Node]) -> list[int]:
        raw = [
            sum(
                taint.effect == PREFER_NO_SCHEDULE
                and not any(each.tolerates(taint) for each in self.pod.spec.tolerations)
                for taint in node.taints
            )
            for node in nodes
        ]
        return [100 - (100 * each // max(raw) if max(raw) else 0) for each in raw]

    def free(self, node: Node) -> int:
        shares = []
        for index, most in enumerate((node.allocatable.resources.cpu, node.allocatable.resources.memory)):
            used = sum(nonzero_requests(each.spec)[index] for each in (*self.on(node), self.pod))
            shares.append((most - used) * 100 // most if used <= most else 0)
        return sum(shares) // 2

    def balance(self, node: Node) -> int:
        if not self.pod.spec.requests.cpu and not self.pod.spec.requests.memory:
            return 0
        everyone = [*self.on(node), self.pod]
        cpu = min(1, sum(each.spec.requests.cpu for each in everyone) / node.allocatable.resources.cpu)
        memory = min(1, sum(each.spec.requests.memory for each in everyone) / node.allocatable.resources.memory)
        return int((1 - abs((cpu - memory) / 2)) * 100)

    def spread(self, nodes: list[Node]) -> list[int]:
        soft = [each for each in self.pod.spec.spread if not each.hard]
        if not soft:
            return [0] * len(nodes)
        scored = [node for node in nodes if all(label(node.labels, each.topology_key) is not None for each in soft)]
        raw = {node.name: 0.0 for node in scored}
        for constraint in soft:
            key = constraint.topology_key
            size = len(scored) if key == HOSTNAME else len({label(node.labels, key) for node in scored})
            for node in scored:
                domain = self.domain(key, label(node.labels, key) or "")
                if key != HOSTNAME:
                    domain = [each for each in domain if each in self.counted(constraint, soft)]
                raw[node.name] += self.number(constraint, domain) * log(size + 2) + constraint.max_skew - 1
        rounded = {name: floor(each + 0.5) for name, each in raw.items()}
        low, high = min(rounded.values(), default=0), max(rounded.values(), default=0)
        return [
            0 if node.name not in rounded else 100 * (high + low - rounded[node.name]) // high if high else 100
            for node in nodes
        ]

    def sympathy(self, nodes: list[Node]) -> list[int]:
        by_name = {each.name: each for each in self.nodes}
        raw = [0] * len(nodes)
        for other in self.pods:
            mine, theirs = self.pod.spec.affinity, other.spec.affinity
            said = [(each.weight, each.term, self.pod, other) for each in mine.pod_preferred]
            said += [(-each.weight, each.term, self.pod, other) for each in mine.anti_preferred]
            said += [(each.weight, each.term, other, self.pod) for each in theirs.pod_preferred]
            said += [(-each.weight, each.term, other, self.pod) for each in theirs.anti_preferred]
            said += [(1, term, other, self.pod) for term in theirs.pod_required]
            for weight, term, of, about in said:
                if not self.selected(term, of, about):
                    continue
                value = label(by_name[other.node or ""].labels, term.topology_key)
                for index, node in enumerate(nodes):
                    if value is not None and label(node.labels, term.topology_key) == value:
                        raw[index] += weight
        low, high = min(raw), max(raw)
        return [int(100 * ((each - low) / (high - low))) if high > low else 0 for each in raw]


# Agreement --------------------------------------------------------------------------------------------------------


@QUIET
@given(data=st.data())
def test_the_choice_is_that_of_the_slow_scheduler(data: st.DataObject, build: type[Build], worlds: Any) -> None:
    nodes, there, pod = data.draw(worlds)
    plans = build.plans(build.started(nodes, there, pod), "one", Scheduler(preemption=None))
    assert {plan.choice for plan in plans if plan.choice} == Oracle(nodes, there, pod).best()


@QUIET
@given(data=st.data())
def test_renaming_the_nodes_renames_the_result(data: st.DataObject, build: type[Build], worlds: Any) -> None:
    nodes, there, pod = data.draw(worlds)
    names = data.draw(st.permutations([f"m{number}" for number in range(len(nodes))]))
    new = dict(zip((node.name for node in nodes), names, strict=True))
    renamed = [
        node.with_(
            name=new[node.name],
            labels=tuple((key, new[value] if key == HOSTNAME else value) for key, value in node.labels),
        )
        for node in nodes
    ]
    moved = [each.with_(node=new[each.node]) for each in there]
    before, after = build.started(nodes, there, pod), build.started(renamed, moved, pod)
    first = [plan.choice for plan in build.plans(before, "one", Scheduler(preemption=None)) if plan.choice]
    second = [plan.choice for plan in build.plans(after, "one", Scheduler(preemption=None)) if plan.choice]
    assert sorted(new[name] for name in first) == sorted(second)
    for one, other in zip(first, second, strict=True):
        mine, theirs = before.store.node(one), after.store.node(other)
        assert mine is not None
        assert theirs is not None
        assert node_likeness(before.store, mine, 0) == node_likeness(after.store, theirs, 0)


@QUIET
@given(data=st.data())
def test_thinking_pods_away_is_the_same_as_their_absence(data: st.DataObject, build: type[Build], worlds: Any) -> None:
    nodes, there, pod = data.draw(worlds)
    node = data.draw(st.sampled_from(nodes))
    gone = [
        each
        for each in there
        if each.node == node.name and not each.terminal and not each.terminating and data.draw(st.booleans())
    ]
    cycle = build.cycle(pod, nodes, there)
    cycle.prepare(FILTERS)
    without = build.cycle(pod, nodes, [each for each in there if each not in gone])
    without.prepare(FILTERS)
    by_key = {each.key: each for each in cycle.pods_on(node.name)}
    delta = tuple((by_key[each.key], -1) for each in gone)
    thought, real = cycle.failure(cycle.nodes.by_name[node.name], delta), without.failure(node)
    assert thought == real


@QUIET
@given(data=st.data())
def test_without_its_victims_the_pod_fits_and_with_the_last_one_it_does_not(
    data: st.DataObject, build: type[Build], worlds: Any
) -> None:
    nodes, there, pod = data.draw(worlds)
    pod = pod.with_(spec=pod.spec.with_(spread=(), priority=3))
    cycle = build.cycle(pod, nodes, there)
    cycle.prepare(FILTERS)
    for node in cycle.nodes.all:
        candidate = Preemption().dry_run(cycle, node) if cycle.failure(node) is not None else None
        if not isinstance(candidate, Candidate):
            continue
        assert {victim.node for victim in candidate.victims} == {node.name}
        assert cycle.failure(node, tuple((victim, -1) for victim in candidate.victims)) is None
        for spared in candidate.victims:
            rest = tuple((victim, -1) for victim in candidate.victims if victim is not spared)
            assert cycle.failure(node, rest) is not None


@QUIET
@given(data=st.data())
def test_the_quick_order_is_the_order_of_likeness(data: st.DataObject, build: type[Build], worlds: Any) -> None:
    nodes, there, _ = data.draw(worlds)
    store = build.store(nodes, there)
    ordered = sorted(store.nodes(), key=lambda node: (node_likeness(store, node, 0), node.name))
    assert in_likeness_order(store, store.nodes(), 0) == ordered
    assert first_in_likeness_order(store, store.nodes(), 0) == ordered[0]


@QUIET
@given(data=st.data())
def test_any_cluster_comes_to_rest_and_stays_there(data: st.DataObject, build: type[Build], worlds: Any) -> None:
    nodes, there, pod = data.draw(worlds)
    others = [pod.with_(name=f"more{number}") for number in range(data.draw(st.integers(0, 3)))]
    cluster = at_rest(build.plane, build.started(nodes, there, pod, others), most_steps=100)
    for each in cluster.store.unbound_pods():
        assert each.unscheduled is not None
        again = build.plans(cluster, each.name)[0]
        assert not again.choice or again.choice == each.nominated_node, "nobody waits who fits"
