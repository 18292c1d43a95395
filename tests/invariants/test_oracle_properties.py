"""The placement oracle and the scheduler are two readings of the same rules: they agree on every small cluster."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.invariants.stock.oracle import Oracle
from reconverge.model.action import Bind
from reconverge.model.labels import Requirement, Selector, labels_of
from reconverge.model.loop import Reading
from reconverge.model.loops.scheduler import Scheduler
from reconverge.model.objects import (
    Affinity,
    Container,
    Node,
    NodeSelectorTerm,
    Pod,
    PodAffinityTerm,
    PodSpec,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from reconverge.model.objects.node import HOSTNAME, NO_EXECUTE, NO_SCHEDULE, ZONE
from reconverge.model.resources import Capacity, Resources
from reconverge.model.rules import Rules
from reconverge.model.store import Store

APPS = ("web", "db")
KEYS = (HOSTNAME, ZONE, "rack")

app = st.sampled_from(APPS)
selector = st.one_of(st.none(), st.just(Selector()), app.map(lambda name: Selector(labels_of({"app": name}))))
term = st.builds(
    PodAffinityTerm,
    topology_key=st.sampled_from(KEYS),
    selector=selector,
    namespaces=st.sampled_from([(), ("default",), ("other",)]),
    all_namespaces=st.booleans(),
    match_label_keys=st.sampled_from([(), ("rev",)]),
    mismatch_label_keys=st.sampled_from([(), ("rev",)]),
)
some_terms = st.lists(term, max_size=2).map(tuple)
spread = st.builds(
    TopologySpreadConstraint,
    topology_key=st.sampled_from(KEYS),
    max_skew=st.integers(1, 2),
    hard=st.booleans(),
    selector=selector,
    min_domains=st.integers(1, 3),
    match_label_keys=st.sampled_from([(), ("rev",)]),
    honor_affinity=st.booleans(),
    honor_taints=st.booleans(),
)
zones = st.lists(st.sampled_from("ab"), min_size=1, max_size=2).map(
    lambda values: (NodeSelectorTerm((Requirement(ZONE, "In", tuple(values)),)),)
)
affinity = st.builds(
    Affinity, node_required=st.one_of(st.none(), zones), pod_required=some_terms, anti_required=some_terms
)
tolerations = st.lists(
    st.builds(
        Toleration,
        key=st.sampled_from(["", "k"]),
        operator=st.just("Exists"),
        effect=st.sampled_from(["", NO_SCHEDULE]),
    ),
    max_size=1,
).map(tuple)
ports = st.lists(
    st.tuples(
        st.sampled_from(["", "10.0.0.1", "10.0.0.2"]), st.sampled_from(["TCP", "UDP"]), st.sampled_from([80, 81])
    ),
    max_size=1,
).map(tuple)


@st.composite
def specs(draw: st.DrawFn) -> PodSpec:
    request = Resources(
        cpu=draw(st.sampled_from([0, 500, 1000, 3000])), extended=draw(st.sampled_from([(), (("gpu", 1),)]))
    )
    return PodSpec(
        containers=(Container("c", request, host_ports=draw(ports)),),
        requests=request,
        node_selector=draw(st.sampled_from([(), labels_of({"disk": "ssd"})])),
        affinity=draw(affinity),
        tolerations=draw(tolerations),
        spread=tuple(draw(st.lists(spread, max_size=2))),
        preemption_policy="Never",
    )


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    labels = {HOSTNAME: name, ZONE: draw(st.sampled_from("ab"))}
    labels |= draw(st.sampled_from([{}, {"rack": "r1"}, {"disk": "ssd"}, {"rack": "r2", "disk": "ssd"}]))
    effect = draw(st.sampled_from([None, None, NO_SCHEDULE, NO_EXECUTE, "PreferNoSchedule"]))
    gpus = draw(st.sampled_from([(), (("gpu", 1),)]))
    return Node(
        name=name,
        labels=labels_of(labels),
        allocatable=Capacity(
            Resources(cpu=draw(st.sampled_from([1000, 3000])), extended=gpus), draw(st.integers(1, 4))
        ),
        unschedulable=draw(st.sampled_from([False, False, True])),
        taints=(Taint("k", effect),) if effect else (),
    )


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Store, Pod]:
    store = Store({})
    names = [f"n{place}" for place in range(draw(st.integers(1, 4)))]
    for name in names:
        store, _ = store.put(draw(nodes(name)))
    for place in range(draw(st.integers(0, 5))):
        there = Pod(
            name=f"p{place}",
            namespace=draw(st.sampled_from(["default", "other"])),
            labels=labels_of({"app": draw(app), "rev": draw(st.sampled_from("12"))}),
            node=draw(st.sampled_from(names)),
            spec=draw(specs()),
            phase=draw(st.sampled_from(["Running", "Running", "Failed"])),
            deletion_at=draw(st.sampled_from([None, None, 30.0])),
        )
        store, _ = store.put(there)
    store, change = store.put(
        Pod(name="new", labels=labels_of({"app": draw(app), "rev": draw(st.sampled_from("12"))}), spec=draw(specs()))
    )
    return store, change.after


@settings(max_examples=60, deadline=None)
@given(clusters())
def test_the_scheduler_binds_where_the_oracle_says_and_only_if_it_says_so(world: tuple[Store, Pod]) -> None:
    store, pod = world
    scheduler = Scheduler()
    plans = scheduler.sync(Reading(store, 0, Rules()), scheduler.start(), pod.key)
    chosen = {action.node for plan in plans for action in plan.actions if isinstance(action, Bind)}
    oracle = Oracle(store, pod)
    fitting = {node.name for node in store.nodes() if oracle.fits(node)}
    assert chosen <= fitting
    assert bool(chosen) == bool(fitting)


@settings(max_examples=50, deadline=None)
@given(clusters())
def test_thinking_all_pods_away_leaves_only_what_the_nodes_say(world: tuple[Store, Pod]) -> None:
    store, pod = world
    everybody = [each.uid for each in store.all("Pod")]
    for node in store.nodes():
        kinds = {refusal.kind for refusal in Oracle(store, pod, everybody).refusals(node)}
        assert not kinds & {"capacity", "ports", "anti-affinity"}
