"""The graph of settled states: exact for small worlds, and every edge an event."""

from __future__ import annotations

from typing import Any

import networkx as nx

from reconverge.checker import check
from reconverge.checker.graph import recurrent, state_graph
from reconverge.model.canonical import fingerprint
from reconverge.model.events import NodeCrashes
from reconverge.model.quiet import at_rest
from reconverge.reports.dot import dot_text


def test_cordon_and_uncordon_of_two_nodes_make_four_states_or_three_up_to_renaming(build: Any) -> None:
    spec = {"may": {"cordon": {}, "uncordon": {}}, "events": 4, "deviations": 0}
    scenario = build.scenario(build.deployment(replicas=0), nodes=2, **spec)
    symmetric, plain = check(scenario), check(scenario, symmetry=False)
    assert (symmetric.exploration.states, plain.exploration.states) == (3, 4)
    assert state_graph(plain).number_of_nodes() == 4
    assert recurrent(plain) == [{0, 1, 2, 3}]
    assert nx.is_strongly_connected(state_graph(symmetric))


def test_the_picture_names_the_events(build: Any) -> None:
    scenario = build.scenario(build.deployment(replicas=0), nodes=1, may={"cordon": {}}, events=1, deviations=0)
    text = dot_text([check(scenario)])
    assert text.startswith('digraph "small" {')
    assert '0 -> 1 [label="node node-1 is cordoned"];' in text


def test_nodes_that_only_look_alike_are_not_taken_for_each_other(build: Any) -> None:
    """Until the API knows of a crash, control loops take the nodes by name: which of them crashed matters."""
    world = build.scenario(build.deployment(replicas=2), nodes=3).world()
    struck = [world.plane.strike(world.start, NodeCrashes(name))[0] for name in ("node-1", "node-2")]
    assert fingerprint(world.plane, struck[0]) != fingerprint(world.plane, struck[1])
    rested = [at_rest(world.plane, cluster) for cluster in struck]
    assert fingerprint(world.plane, rested[0]) == fingerprint(world.plane, rested[1])
