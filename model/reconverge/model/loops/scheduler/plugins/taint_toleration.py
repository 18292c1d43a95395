"""Taints and tolerations.

Source: `pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter, Score, normalized
from reconverge.model.objects import Node, Taint, Toleration
from reconverge.model.objects.node import PREFER_NO_SCHEDULE
from reconverge.model.resources import Usage

Tolerations = tuple[Toleration, ...]

_UNNAMED = Failure("TaintToleration", ("node(s) had untolerated taint(s)",), resolvable=False)


@lru_cache(maxsize=4096)
def untolerated(taints: tuple[Taint, ...], tolerations: Tolerations) -> Taint | None:
    """The first NoSchedule or NoExecute taint that no toleration matches, or None."""
    for taint in taints:
        if taint.effect != PREFER_NO_SCHEDULE and not any(each.tolerates(taint) for each in tolerations):
            return taint
    return None


class TaintToleration(Filter):
    """No NoSchedule or NoExecute taint may be untolerated."""

    name = "TaintToleration"
    node_only = True

    def prepare(self, cycle: Cycle) -> Check | None:
        tolerations = cycle.pod.spec.tolerations
        named = cycle.rules.message_names_taints

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            if not node.taints:
                return None
            taint = untolerated(node.taints, tolerations)
            if taint is None:
                return None
            return _named(taint) if named else _UNNAMED

        return check


@lru_cache(maxsize=1024)
def _named(taint: Taint) -> Failure:
    reason = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
    return Failure("TaintToleration", (reason,), resolvable=False)


class TaintTolerationScore(Score):
    """Fewer untolerated PreferNoSchedule taints are better."""

    name = "TaintToleration"
    weight = 3

    def score(self, cycle: Cycle, nodes: Sequence[Node]) -> list[int] | None:
        if not cycle.nodes.any_preference_taint:
            return None
        tolerations = tuple(each for each in cycle.pod.spec.tolerations if each.effect in ("", PREFER_NO_SCHEDULE))
        return normalized([_intolerable(node.taints, tolerations) for node in nodes], reverse=True)


@lru_cache(maxsize=4096)
def _intolerable(taints: tuple[Taint, ...], tolerations: Tolerations) -> int:
    return sum(
        taint.effect == PREFER_NO_SCHEDULE and not any(each.tolerates(taint) for each in tolerations)
        for taint in taints
    )
