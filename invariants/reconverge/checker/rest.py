"""Recognising how a quiet run ends: at rest, in a loop, or growing without end.

The run is deterministic, so a state that comes again comes for ever. A state that comes again but for more finished
pods is growth. States are compared up to renaming, with times relative to now.
"""

from __future__ import annotations

from reconverge.checker.schedule import Taken
from reconverge.invariants.situation import Outcome
from reconverge.model.canonical import fingerprint, left_over
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait

WAITS_BEFORE_LOOKING = 6
"""Ordinary runs wait for a few timers only; comparing states begins after so many."""
CRONJOB = "cronjob"
MOST_STEPS = 30_000
"""A run that has neither ended nor repeated itself after so many steps is left unfinished."""


class RestDetector:
    """Watches the steps of one quiet run and says when it repeats itself."""

    def __init__(self, plane: ControlPlane, cluster: Cluster) -> None:
        self._plane = plane
        self._steps = 0
        self._waits = 0
        self._since_wait = 0
        self._loop = 0
        self._patience = 300 + 60 * (cluster.store.count("Pod") + _wanted(cluster))
        self._seen: dict[bytes, int] = {}
        self._seen_without_finished: dict[bytes, tuple[int, int]] = {}
        self._seen_since_cronjob: dict[bytes, int] = {}
        self.repeats_from: int | None = None

    def look(self, taken: Taken) -> Outcome | None:
        """The outcome that this step shows, or None while the run goes on."""
        self._steps += 1
        self._since_wait += 1
        if self._steps > MOST_STEPS:
            return "unfinished"
        if self._seen_since_cronjob and taken.changes and getattr(taken.move, "loop", "") == CRONJOB:
            self._seen_since_cronjob = {}
        if isinstance(taken.move, Wait):
            self._waits += 1
            self._since_wait = 0
            return self._compare(taken.after) if self._waits > WAITS_BEFORE_LOOKING else None
        if isinstance(taken.move, Read) and self._since_wait > self._patience:
            loop = self._plane.names.index(taken.move.loop)
            # A loop that undoes its own work has turn after turn, and no other comes in between.
            new_round = loop < self._loop or (loop == self._loop and not taken.before.loops[taken.move.loop].serving)
            self._loop = loop
            return self._compare(taken.before) if new_round else None
        return None

    def _compare(self, cluster: Cluster) -> Outcome | None:
        key = fingerprint(self._plane, cluster)
        if key in self._seen:
            self.repeats_from = self._seen[key]
            return "loop"
        self._seen[key] = self._steps
        if (between := _between_cronjobs(self._plane, cluster)) is not None:
            rest = fingerprint(self._plane, between)
            if rest in self._seen_since_cronjob:
                self.repeats_from = self._seen_since_cronjob[rest]
                return "loop"
            self._seen_since_cronjob[rest] = self._steps
        finished = sum(left_over(pod, cluster.now) for pod in cluster.store.table("Pod").objects.values())
        bare = fingerprint(self._plane, cluster, finished=False)
        earlier = self._seen_without_finished.get(bare)
        if earlier is not None and finished > earlier[1]:
            self.repeats_from = earlier[0]
            return "growth"
        self._seen_without_finished[bare] = (self._steps, finished)
        return None


def _between_cronjobs(plane: ControlPlane, cluster: Cluster) -> Cluster | None:
    """The cluster as if its CronJobs had no next moment; None if it has none that only waits for it.

    What repeats itself until a Job is made next month is a loop, though no two states are as far from that moment.
    """
    state = cluster.loops.get(CRONJOB)
    if state is None or state.busy or not state.timers:
        return None
    calm = state.with_(timers={}, memory=plane.by_name[CRONJOB].start())
    return cluster.with_(loops={**cluster.loops, CRONJOB: calm})


def _wanted(cluster: Cluster) -> int:
    kinds = ("Deployment", "ReplicaSet", "StatefulSet")
    return sum(each.replicas for kind in kinds for each in cluster.store.table(kind).objects.values())
