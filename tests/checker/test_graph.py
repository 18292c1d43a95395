"""The graph of settled states: exact for small worlds, and every edge an event."""

from __future__ import annotations

from typing import Any

import networkx as nx

from reconverge.checker import check
from reconverge.checker.graph import recurrent, state_graph
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
