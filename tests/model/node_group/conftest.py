"""A cluster whose nodes belong to a group, and what is done with its instances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Wait
from reconverge.model.events import Event
from reconverge.model.loops.node_group import NodeGroupLoop, ResizeGroup
from reconverge.model.node_groups import NodeGroup, Subnet
from reconverge.model.quiet import steps
from reconverge.model.standard import cluster_of, standard_control_plane


class Cloud:
    """A running cluster with one group, and what the group's loop has written: (seconds from the start, words)."""

    def __init__(self, zones: str, sizes: tuple[int, int, int], **fields: Any) -> None:
        minimum, count, maximum = sizes
        subnets = tuple(Subnet(f"subnet-{zone}", zone) for zone in zones)
        group = NodeGroup("w", minimum, maximum, count, **{"subnets": subnets, **fields})
        self.plane = ControlPlane([*standard_control_plane().loops, NodeGroupLoop()])
        nodes = [group.node(number, zones[(number - 1) % len(zones)]) for number in range(1, count + 1)]
        self.cluster: Cluster = self.plane.start(cluster_of(nodes, groups=[group]))
        self.written: list[tuple[float, str]] = []
        self.settle()

    @property
    def group(self) -> NodeGroup:
        """The group as it is now."""
        return self.cluster.machines.groups["w"]

    @property
    def zones(self) -> str:
        """The zones of the instances that exist, sorted."""
        return "".join(sorted(each.zone for each in self.cluster.machines.by_name.values() if each.exists))

    @property
    def names(self) -> list[str]:
        """All machines that are known."""
        return sorted(self.cluster.machines.by_name)

    def strike(self, event: Event) -> None:
        """Something happens."""
        self.cluster, _ = self.plane.strike(self.cluster, event)

    def resize(self, desired: int) -> None:
        """Somebody sets the desired size."""
        self.cluster, changes = ResizeGroup("w", desired).apply(self.cluster)
        self.cluster = self.plane.notify(self.cluster, changes)

    def until(self, time: float) -> None:
        """Everything is done that can be done by this time."""
        while (move := self.plane.next(self.cluster)) is not None:
            if isinstance(move, Wait) and move.until > time:
                break
            self._step()
        self.cluster = self.plane.wait(self.cluster, time)

    def settle(self) -> list[str]:
        """Runs to rest; returns what the group's loop did."""
        begun = len(self.written)
        for _ in range(5000):
            if self.plane.next(self.cluster) is None:
                return [words for _, words in self.written[begun:]]
            self._step()
        raise AssertionError("not at rest")

    def _step(self) -> None:
        moved = next(steps(self.plane, self.cluster))
        self.cluster = moved.cluster
        written = moved.written
        if written is not None and written.changes and getattr(moved.move, "loop", "") == "node-group":
            self.written.append((self.cluster.now, written.action.describe()))


@pytest.fixture(scope="session")
def cloud() -> Callable[..., Cloud]:
    """A group from its zones, (minimum, count, maximum) and more of its fields."""
    return Cloud
