"""What filters and scores are, and how a filter says no.

Source: `staging/src/k8s.io/kube-scheduler/framework/interface.go` (Filter, PreFilter, Score, Status).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from attrs import frozen

from reconverge.model.objects import Node, Pod
from reconverge.model.resources import Usage

if TYPE_CHECKING:
    from reconverge.model.loops.scheduler.cycle import Cycle

MOST = 100
"""The highest score that a plugin gives to a node, before its weight."""


@frozen
class Failure:
    """Why a node does not pass: the plugin, its reasons in Kubernetes' words, and whether removing pods could help.

    `resolvable` False is the status UnschedulableAndUnresolvable: the node is no candidate for preemption.
    """

    plugin: str
    reasons: tuple[str, ...]
    resolvable: bool = True
    of_pod: bool = False
    """Whether it is about the pod and not about the node: then it is said once, without a count."""


Delta = tuple[tuple[Pod, int], ...]
"""Pods that are thought to be on the node (+1) or gone from it (-1), compared with what the cycle has read."""

Check = Callable[[Node, Usage, Delta], Failure | None]
"""Whether a node passes; the usage has the delta in it already."""


class Filter:
    """A filter plugin. `prepare` is its PreFilter: it reads what does not depend on the node, once per cycle."""

    name: ClassVar[str]
    node_only: ClassVar[bool] = False
    """Whether its answer depends on nothing but the pod and the Node object: no other pod's going can change it."""

    def prepare(self, cycle: Cycle) -> Check | None:
        """The check of one node, or None if the pod need not be checked at all."""
        raise NotImplementedError


class Score:
    """A score plugin with its weight."""

    name: ClassVar[str]
    weight: ClassVar[int] = 1

    def score(self, cycle: Cycle, nodes: Sequence[Node]) -> list[int] | None:
        """Normalised scores, 0 to 100, of the nodes that passed, in their order; None if all are alike to it."""
        raise NotImplementedError


def normalized(scores: list[int], reverse: bool = False) -> list[int]:
    """Scores scaled so that the highest is 100; with `reverse`, so that the highest raw score gives 0.

    Source: `pkg/scheduler/framework/plugins/helper/normalize_score.go`.
    """
    highest = max(scores)
    if highest == 0:
        return [MOST] * len(scores) if reverse else scores
    if reverse:
        return [MOST - MOST * score // highest for score in scores]
    return [MOST * score // highest for score in scores]
