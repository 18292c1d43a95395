"""The rolling update of a DaemonSet: which old pods go, or which nodes get a second pod.

Source: `pkg/controller/daemon/update.go` (rollingUpdate).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from math import comb

from reconverge.model.likeness import node_likeness, pod_likeness
from reconverge.model.loops.daemonset.nodes import Pair, pair
from reconverge.model.loops.daemonset.work import Change, Work
from reconverge.model.objects import Pod

MOST_ALTERNATIVES = 64
"""Beyond this many equal choices the checker is offered windows of neighbours only."""
_OLD = "it is of an old revision"


class RollingUpdate:
    """The rules of a rolling update, each a method."""

    def changes(self, work: Work) -> Sequence[Change]:
        """The alternatives: upstream walks the nodes in the order of a Go map, which is none."""
        return self.surging(work) if work.surges else self.deleting(work)

    # Without surge: old pods go first ------------------------------------------------------------------------

    def deleting(self, work: Work) -> Sequence[Change]:
        """Old pods to be deleted; the next pass puts new ones in their place."""
        unavailable = 0
        replaced: list[Pod] = []
        candidates: dict[str, Pod] = {}
        for node, found in self.pairs(work):
            kind = self.kind_of(work, found)
            unavailable += self.counts_as_unavailable(work, kind)
            if found is not None and found.old is not None and kind == "old unavailable":
                replaced.append(found.old)
            elif found is not None and found.old is not None and kind == "candidate":
                candidates[node] = found.old
        more = max(0, self.allowed(work) - unavailable)
        freely = tuple((pod, f"{_OLD} and not available") for pod in replaced)
        return [
            Change(delete=(*freely, *((candidates[node], _OLD) for node in nodes)), choice=choice)
            for choice, nodes in alternatives(work, sorted(candidates), more)
        ]

    def kind_of(self, work: Work, found: Pair | None) -> str:
        """What the pods on a node are to a rollout: unclear, new, new unavailable, old unavailable or candidate."""
        if found is None or (found.new is None) == (found.old is None):
            return "unclear"
        if found.new is not None:
            return "new" if work.available(found.new) else "new unavailable"
        assert found.old is not None
        return "candidate" if work.available(found.old) else "old unavailable"

    def counts_as_unavailable(self, work: Work, kind: str) -> bool:
        """Whether a node uses up one of maxUnavailable; one whose old pod is unavailable does, too."""
        if kind == "old unavailable":
            return work.reading.rules.daemonset_counts_old_unavailable
        return kind in ("unclear", "new unavailable")

    def allowed(self, work: Work) -> int:
        """How many nodes may be without an available pod."""
        return work.max_unavailable

    # With surge: new pods come first -------------------------------------------------------------------------

    def surging(self, work: Work) -> Sequence[Change]:
        """Nodes that get a new pod beside the old one, and old pods whose successors are available."""
        surged = 0
        freely: list[str] = []
        candidates: list[str] = []
        done: list[Pod] = []
        for node, found in self.pairs(work):
            if found is None:
                surged += 1
            elif found.old is None:
                continue
            elif found.new is None:
                (candidates if work.available(found.old) else freely).append(node)
            elif work.available(found.new):
                done.append(found.old)
            else:
                surged += 1
        more = max(0, work.max_surge - surged)
        gone = tuple((pod, "the new pod on its node is available") for pod in done)
        return [
            Change(tuple((node, "a new revision") for node in (*freely, *nodes)), gone, choice)
            for choice, nodes in alternatives(work, candidates, more)
        ]

    # Both ----------------------------------------------------------------------------------------------------

    def pairs(self, work: Work) -> list[tuple[str, Pair | None]]:
        """The nodes that have or should have pods, with what is on them."""
        wanted = {name for name, (run, _) in work.fits.items() if run}
        return [(node, pair(work.pods.get(node, []), work.hash)) for node in sorted({*work.pods, *wanted})]


def alternatives(work: Work, nodes: list[str], count: int) -> list[tuple[str, list[str]]]:
    """The sets of `count` nodes that differ in what the nodes and the pods on them are, the default first."""
    if count <= 0:
        return [("", [])]
    if count >= len(nodes):
        return [("", nodes)]
    likeness = {name: _likeness(work, name) for name in nodes}
    ordered = sorted(nodes, key=lambda name: (likeness[name], name))
    groups: list[tuple[str, ...]]
    if comb(len(ordered), count) <= MOST_ALTERNATIVES * 4:
        groups = list(combinations(ordered, count))
    else:
        groups = [tuple(ordered[start : start + count]) for start in range(len(ordered) - count + 1)]
    different: dict[tuple[str, ...], tuple[str, ...]] = {}
    for group in groups:
        different.setdefault(tuple(sorted(likeness[name] for name in group)), group)
    return [(", ".join(group), list(group)) for group in islice(different.values(), MOST_ALTERNATIVES)]


def _likeness(work: Work, name: str) -> str:
    node = work.reading.store.node(name)
    place = node_likeness(work.reading.store, node, work.now) if node is not None else ""
    return repr((place, sorted(repr(pod_likeness(pod, work.now)) for pod in work.pods.get(name, []))))
