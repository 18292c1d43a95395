"""The graph of settled states in Graphviz' language, for small worlds."""

from __future__ import annotations

from collections.abc import Sequence

from reconverge.checker.graph import state_graph
from reconverge.checker.result import Result


def dot_text(results: Sequence[Result]) -> str:
    """One graph per result; the start is drawn double, edges of one pair of states are drawn once with all events."""
    return "\n".join(_graph(result) for result in results)


def _graph(result: Result) -> str:
    graph = state_graph(result)
    lines = [
        f"digraph {_quoted(result.scenario)} {{",
        "  rankdir=LR; node [shape=circle];",
        "  0 [shape=doublecircle];",
    ]
    for source, target in sorted(set(graph.edges())):
        events = sorted({data["event"] for data in graph[source][target].values()})
        lines.append(f"  {source} -> {target} [label={_quoted(chr(10).join(events))}];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
