"""Each filter on a small cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reconverge.model.labels import Requirement, Selector
from reconverge.model.loops.scheduler.plugin import Failure
from reconverge.model.loops.scheduler.plugins import FILTERS
from reconverge.model.objects import Affinity, NodeSelectorTerm, Pod, PodAffinityTerm
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.node import HOSTNAME, NO_EXECUTE, PREFER_NO_SCHEDULE, UNSCHEDULABLE, ZONE

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build


def verdicts(build: type[Build], pod: Pod, *objects: ApiObject | list[ApiObject]) -> dict[str, Failure | None]:
    """What the filters say of each node."""
    cycle = build.cycle(pod, *objects)
    cycle.prepare(FILTERS)
    return {node.name: cycle.failure(node) for node in cycle.nodes.all}


def passing(build: type[Build], pod: Pod, *objects: ApiObject | list[ApiObject]) -> list[str]:
    """The nodes that pass."""
    return [name for name, failure in verdicts(build, pod, *objects).items() if failure is None]


# Filters of the node alone ---------------------------------------------------------------------------------------


def test_a_cordoned_node_takes_only_pods_that_tolerate_cordons(build: type[Build]) -> None:
    nodes: list[ApiObject] = [build.node("n1", unschedulable=True), build.node("n2")]
    assert passing(build, build.pod("one"), nodes) == ["n2"]
    assert passing(build, build.pod("one", tolerations=(build.tolerates(UNSCHEDULABLE),)), nodes) == ["n1", "n2"]


@pytest.mark.parametrize(("effect", "passes"), [("NoSchedule", False), (NO_EXECUTE, False), (PREFER_NO_SCHEDULE, True)])
def test_hard_taints_must_be_tolerated(build: type[Build], effect: str, passes: bool) -> None:
    node = build.node("n1", taints=(build.taint(effect=effect),))
    assert (passing(build, build.pod("one"), node) == ["n1"]) == passes
    assert passing(build, build.pod("one", tolerations=(build.tolerates(),)), node) == ["n1"]


def test_readiness_itself_is_not_looked_at(build: type[Build]) -> None:
    assert passing(build, build.pod("one"), build.node("n1", ready="Unknown")) == ["n1"]


def test_terms_of_node_affinity_are_alternatives_and_their_expressions_must_all_hold(build: type[Build]) -> None:
    ssd, large = Requirement("disk", "In", ("ssd",)), Requirement("cores", "Gt", ("8",))
    nodes: list[ApiObject] = [
        build.node("n1", labels={"disk": "ssd", "cores": "4"}),
        build.node("n2", labels={"disk": "ssd", "cores": "16"}),
        build.node("n3", labels={"pool": "spare"}),
    ]
    spare = NodeSelectorTerm((Requirement("pool", "Exists"),))
    either = Affinity(node_required=(NodeSelectorTerm((ssd, large)), spare))
    assert passing(build, build.pod("one", affinity=either), nodes) == ["n2", "n3"]
    assert passing(build, build.pod("one", affinity=either, node_selector=(("disk", "ssd"),)), nodes) == ["n2"]
    assert passing(build, build.pod("one", affinity=Affinity(node_required=(NodeSelectorTerm(),))), nodes) == []


def test_failures_of_the_node_alone_cannot_be_preempted_away(build: type[Build]) -> None:
    nodes: list[ApiObject] = [
        build.node("n1", unschedulable=True),
        build.node("n2", taints=(build.taint(),)),
        build.node("n3", zone="z"),
    ]
    found = verdicts(build, build.pod("one", node_selector=((ZONE, "a"),)), nodes)
    assert [(each.plugin, each.resolvable) for each in found.values() if each is not None] == [
        ("NodeUnschedulable", False),
        ("TaintToleration", False),
        ("NodeAffinity", False),
    ]


# Resources and ports ---------------------------------------------------------------------------------------------


def test_every_resource_that_is_asked_for_must_be_free(build: type[Build]) -> None:
    gpus = (("nvidia.com/gpu", 2),)
    node = build.node("n1", 1000, 1000, storage=1000, extended=gpus)
    holder = build.pod("there", 500, "n1", memory=500, storage=500, extended=(("nvidia.com/gpu", 1),))
    assert passing(build, build.pod("one", 500, memory=500, storage=500), node, holder) == ["n1"]
    too_much = build.pod("one", 501, memory=501, storage=501, extended=gpus)
    failure = verdicts(build, too_much, node, holder)["n1"]
    assert failure is not None
    assert failure.reasons == (
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient ephemeral-storage",
        "Insufficient nvidia.com/gpu",
    )
    assert failure.resolvable


def test_what_no_empty_node_could_give_cannot_be_preempted_away(build: type[Build]) -> None:
    failure = verdicts(build, build.pod("one", extended=(("nvidia.com/gpu", 1),)), build.node("n1"))["n1"]
    assert failure is not None
    assert (failure.reasons, failure.resolvable) == (("Insufficient nvidia.com/gpu",), False)


def test_a_pod_that_asks_for_nothing_fits_on_an_overcommitted_node(build: type[Build]) -> None:
    over = build.pod("there", 5000, "n1", memory=2**40)
    assert passing(build, build.pod("one", 0), build.node("n1"), over) == ["n1"]
    assert passing(build, build.pod("one", 0, memory=1), build.node("n1"), over) == []


def test_terminating_pods_hold_their_resources_and_finished_ones_do_not(build: type[Build]) -> None:
    ending = build.pod("there", 3000, "n1", deletion_at=30)
    assert passing(build, build.pod("one", 2000), build.node("n1"), ending) == []
    ended = build.pod("there", 3000, "n1", phase="Succeeded")
    assert passing(build, build.pod("one", 2000), build.node("n1"), ended) == ["n1"]


@pytest.mark.parametrize(
    ("taken", "wanted", "passes"),
    [
        (("", "TCP", 80), ("", "TCP", 80), False),
        (("", "TCP", 80), ("", "UDP", 80), True),
        (("", "TCP", 80), ("", "TCP", 81), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), False),
        (("", "TCP", 80), ("10.0.0.2", "TCP", 80), False),
    ],
)
def test_host_ports_clash_by_protocol_port_and_address(
    build: type[Build], taken: tuple[str, str, int], wanted: tuple[str, str, int], passes: bool
) -> None:
    there = build.pod("there", node="n1", ports=(taken,))
    found = verdicts(build, build.pod("one", ports=(wanted,)), build.node("n1"), there)["n1"]
    assert (found is None) == passes
    assert found is None or found.reasons == ("node(s) didn't have free ports for the requested pod ports",)


# Spread ----------------------------------------------------------------------------------------------------------


def web_on(build: type[Build], *nodes: str, **fields: object) -> list[ApiObject]:
    return [build.pod(f"w{i}", 100, node, labels={"app": "web"}, **fields) for i, node in enumerate(nodes)]


def test_terminating_pods_do_not_count_for_the_spread(build: type[Build]) -> None:
    one = build.pod("one", labels={"app": "web"}, spread=(build.spread("web"),))
    nodes: list[ApiObject] = list(build.nodes(2))
    assert passing(build, one, nodes, web_on(build, "n1")) == ["n2"]
    assert passing(build, one, nodes, web_on(build, "n1", deletion_at=30)) == ["n1", "n2"]


def test_pods_of_another_namespace_do_not_count_for_the_spread(build: type[Build]) -> None:
    one = build.pod("one", labels={"app": "web"}, spread=(build.spread("web"),))
    assert passing(build, one, list(build.nodes(2)), web_on(build, "n1", namespace="other")) == ["n1", "n2"]


def test_a_pod_that_its_own_selector_does_not_match_adds_nothing(build: type[Build]) -> None:
    one = build.pod("one", spread=(build.spread("web"),))
    assert passing(build, one, list(build.nodes(2)), web_on(build, "n1")) == ["n1", "n2"]
    assert passing(build, one, list(build.nodes(2)), web_on(build, "n1", "n1")) == ["n2"]


def test_a_node_without_the_key_is_unresolvable_and_no_domain(build: type[Build]) -> None:
    one = build.pod("one", labels={"app": "web"}, spread=(build.spread("web"),))
    found = verdicts(build, one, build.node("n1", zone="a"), build.node("n2"), web_on(build, "n2"))
    assert found["n1"] is None
    assert found["n2"] == Failure(
        "PodTopologySpread",
        ("node(s) didn't match pod topology spread constraints (missing required label)",),
        resolvable=False,
    )


def test_fewer_domains_than_min_domains_make_the_smallest_count_nought(build: type[Build]) -> None:
    web = web_on(build, "n1", "n2")
    nodes: list[ApiObject] = list(build.nodes(2))
    for domains, expected in ((1, ["n1", "n2"]), (2, ["n1", "n2"]), (3, [])):
        spread = (build.spread("web", min_domains=domains),)
        assert passing(build, build.pod("one", labels={"app": "web"}, spread=spread), nodes, web) == expected


def test_tainted_nodes_are_domains_unless_the_constraint_honours_taints(build: type[Build]) -> None:
    nodes: list[ApiObject] = [*build.nodes(2), build.node("n3", zone="c", taints=(build.taint(),))]
    web = web_on(build, "n1", "n2")
    ignoring, honouring = build.spread("web"), build.spread("web", honor_taints=True)
    assert passing(build, build.pod("one", labels={"app": "web"}, spread=(ignoring,)), nodes, web) == []
    assert passing(build, build.pod("one", labels={"app": "web"}, spread=(honouring,)), nodes, web) == ["n1", "n2"]


def test_nodes_that_the_pod_cannot_choose_are_domains_only_if_affinity_is_ignored(build: type[Build]) -> None:
    nodes: list[ApiObject] = [*build.nodes(2, labels={"pool": "a"}), build.node("n3", zone="c")]
    web = web_on(build, "n1", "n2")
    fields: dict[str, Any] = {"labels": {"app": "web"}, "node_selector": (("pool", "a"),)}
    honouring = build.pod("one", spread=(build.spread("web"),), **fields)
    ignoring = build.pod("one", spread=(build.spread("web", honor_affinity=False),), **fields)
    assert passing(build, honouring, nodes, web) == ["n1", "n2"]
    assert passing(build, ignoring, nodes, web) == []


def test_match_label_keys_tell_generations_apart(build: type[Build]) -> None:
    old = [build.pod("old", 100, "n1", labels={"app": "web", "hash": "1"})]
    spread = (build.spread("web", match_label_keys=("hash",)),)
    new = build.pod("new", labels={"app": "web", "hash": "2"}, spread=spread)
    assert passing(build, new, list(build.nodes(2)), list[ApiObject](old)) == ["n1", "n2"]


def test_all_constraints_must_hold_and_only_nodes_with_all_keys_count(build: type[Build]) -> None:
    spread = (build.spread("web", HOSTNAME, max_skew=1), build.spread("web", ZONE, max_skew=2))
    nodes: list[ApiObject] = [build.node("n1", zone="a"), build.node("n2", zone="a"), build.node("n3", zone="b")]
    web = web_on(build, "n1", "n2")
    one = build.pod("one", labels={"app": "web"}, spread=spread)
    assert passing(build, one, nodes, web) == ["n3"]


# Affinity between pods -------------------------------------------------------------------------------------------


def test_affinity_wants_company_in_the_domain_and_counts_terminating_pods(build: type[Build]) -> None:
    nodes: list[ApiObject] = [build.node("n1", zone="a"), build.node("n2", zone="a"), build.node("n3", zone="b")]
    one = build.pod("one", affinity=build.together(ZONE, app="db"))
    assert passing(build, one, nodes, build.pod("db", node="n1")) == ["n1", "n2"]
    assert passing(build, one, nodes, build.pod("db", node="n1", deletion_at=30)) == ["n1", "n2"]
    found = verdicts(build, one, nodes)["n1"]
    assert found == Failure("InterPodAffinity", ("node(s) didn't match pod affinity rules",), resolvable=False)


def test_the_first_of_a_group_may_go_anywhere_that_has_the_key(build: type[Build]) -> None:
    one = build.pod("one", labels={"app": "db"}, affinity=build.together(ZONE, app="db"))
    nodes: list[ApiObject] = [build.node("n1", zone="a"), build.node("n2")]
    assert passing(build, one, nodes) == ["n1"]
    assert passing(build, one, nodes, build.pod("db", node="n2")) == ["n1"], "no domain has it, so it is alone"


def test_all_terms_must_be_met_by_one_pod(build: type[Build]) -> None:
    both = Affinity(pod_required=(build.term(HOSTNAME, app="db"), build.term(ZONE, tier="fast")))
    one = build.pod("one", affinity=both)
    nodes: list[ApiObject] = list(build.nodes(2))
    halves = [build.pod("a", node="n1", labels={"app": "db"}), build.pod("b", node="n1", labels={"tier": "fast"})]
    assert passing(build, one, nodes, list[ApiObject](halves)) == []
    whole = build.pod("c", node="n2", labels={"app": "db", "tier": "fast"})
    assert passing(build, one, nodes, whole) == ["n2"]


def test_anti_affinity_keeps_away_from_the_domain_and_ignores_a_missing_key(build: type[Build]) -> None:
    nodes: list[ApiObject] = [build.node("n1", zone="a"), build.node("n2", zone="a"), build.node("n3")]
    one = build.pod("one", affinity=build.anti(ZONE, app="db"))
    assert passing(build, one, nodes, build.pod("db", node="n1")) == ["n3"]
    assert passing(build, one, nodes, build.pod("db", node="n1", deletion_at=30)) == ["n3"]


def test_anti_affinity_of_pods_that_are_there_counts_as_well(build: type[Build]) -> None:
    nodes: list[ApiObject] = list(build.nodes(2))
    shy = build.pod("shy", node="n1", affinity=build.anti(HOSTNAME, app="one"))
    found = verdicts(build, build.pod("one"), nodes, shy)
    assert found["n1"] == Failure(
        "InterPodAffinity", ("node(s) didn't satisfy existing pods anti-affinity rules",), resolvable=True
    )
    assert found["n2"] is None
    assert passing(build, build.pod("two"), nodes, shy) == ["n1", "n2"]


def test_terms_are_about_the_pods_own_namespace_unless_they_say_otherwise(build: type[Build]) -> None:
    nodes: list[ApiObject] = list(build.nodes(1))
    there = build.pod("db", node="n1", namespace="other")
    selector = build.selector(app="db")
    cases = {
        (): ["n1"],
        ("other",): [],
        ("default", "other"): [],
    }
    for namespaces, expected in cases.items():
        term = PodAffinityTerm(HOSTNAME, selector, namespaces=namespaces)
        assert passing(build, build.pod("one", affinity=Affinity(anti_required=(term,))), nodes, there) == expected
    everywhere = Affinity(anti_required=(PodAffinityTerm(HOSTNAME, selector, all_namespaces=True),))
    assert passing(build, build.pod("one", affinity=everywhere), nodes, there) == []


def test_mismatch_label_keys_leave_the_own_kind_out(build: type[Build]) -> None:
    nodes: list[ApiObject] = list(build.nodes(2))
    tenants = [
        build.pod("a", node="n1", labels={"tenant": "a"}),
        build.pod("b", node="n2", labels={"tenant": "b"}),
    ]
    term = PodAffinityTerm(
        HOSTNAME, Selector(match_expressions=(Requirement("tenant", "Exists"),)), mismatch_label_keys=("tenant",)
    )
    one = build.pod("one", labels={"tenant": "a"}, affinity=Affinity(anti_required=(term,)))
    assert passing(build, one, nodes, list[ApiObject](tenants)) == ["n1"]
