"""The graph of settled states: for pictures, exact counts, and the ways events lead back.

Nodes are states in order of discovery (0 is the start), edges are events under the default schedule. networkx carries
it comfortably up to about a hundred thousand edges, which is where the search stops keeping them.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from reconverge.checker.result import Result


def state_graph(result: Result) -> nx.MultiDiGraph[Any]:
    """The graph of a result, with the event of each edge as `event`. A result without edges has the start alone."""
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    graph.add_node(0)
    for source, target, event in result.edges:
        graph.add_edge(source, target, event=event)
    return graph


def recurrent(result: Result) -> list[set[int]]:
    """The sets of states between which events lead back and forth, largest first: where a cluster can always return."""
    components = [each for each in nx.strongly_connected_components(state_graph(result)) if len(each) > 1]
    return sorted(components, key=lambda each: (-len(each), min(each)))
