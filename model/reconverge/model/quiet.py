"""Running the default schedule of a cluster to its rest, without choices: the simplest use of a control plane."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Move, Read, Wait, Write, Written


@frozen
class Moved:
    """One step of the default schedule: the move, the cluster after it, and what was written if it was a write."""

    move: Move
    cluster: Cluster
    written: Written | None = None


def steps(plane: ControlPlane, cluster: Cluster) -> Iterator[Moved]:
    """The steps of the default schedule, one by one, for ever or until everything is at rest."""
    while (move := plane.next(cluster)) is not None:
        if isinstance(move, Read):
            moved = Moved(move, plane.begin(cluster, move, plane.plans(cluster, move)[0]))
        elif isinstance(move, Write):
            written = plane.write(cluster, move)
            moved = Moved(move, written.cluster, written)
        else:
            assert isinstance(move, Wait)
            moved = Moved(move, plane.wait(cluster, move.until))
        cluster = moved.cluster
        yield moved


def at_rest(plane: ControlPlane, cluster: Cluster, most_steps: int = 10_000) -> Cluster:
    """The cluster when the default schedule has come to rest.

    Raises RuntimeError if it has not after `most_steps` steps.
    """
    for count, moved in enumerate(steps(plane, cluster)):
        cluster = moved.cluster
        if count >= most_steps:
            raise RuntimeError(f"not at rest after {most_steps} steps")
    return cluster
