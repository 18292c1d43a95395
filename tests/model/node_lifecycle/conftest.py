"""Small clusters for the tests of the loops around nodes, and other writers' part in them.

Fixtures hand out plain functions and a class, since test modules do not import each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from reconverge.model.admission import admit_pod
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait
from reconverge.model.labels import labels_of
from reconverge.model.loop import ControlLoop, Plan
from reconverge.model.machines import Machine
from reconverge.model.objects import ApiObject, Lease, Node, Pod, PodSpec
from reconverge.model.objects.node import ZONE
from reconverge.model.quiet import steps
from reconverge.model.rules import Rules
from reconverge.model.store import Change, Store


class World:
    """A cluster that runs under a control plane, and what has been written in it: (time, write)."""

    def __init__(
        self, loops: Iterable[ControlLoop[Any]], objects: Iterable[ApiObject], rules: Rules, now: float
    ) -> None:
        store = Store({})
        for each in objects:
            new = admit_pod(store, each, rules) if isinstance(each, Pod) else each
            store, _ = store.put(new)
            if isinstance(each, Node):
                store, _ = store.put(Lease(name=each.name))
        self.plane = ControlPlane(list(loops))
        self.cluster = self.plane.start(Cluster(store=store, now=now, rules=rules))
        self.written: list[tuple[float, str]] = []
        self.reasons: list[str] = []
        self.attempts = 0

    # Other writers -------------------------------------------------------------------------------------------

    def put(self, new: ApiObject) -> None:
        """Somebody creates or replaces an object."""
        if isinstance(new, Pod) and new.uid == 0:
            new = admit_pod(self.cluster.store, new, self.cluster.rules)
        if new.uid == 0:
            new = new.with_(created_at=self.cluster.now)
        self._deliver(self.cluster.store.put(new))

    def edit(self, kind: str, key: str, **fields: Any) -> None:
        """Somebody changes fields of an object."""
        self._deliver(self.cluster.store.put(self.cluster.store.get(kind, key).with_(**fields)))

    def remove(self, kind: str, key: str) -> None:
        """Somebody removes an object."""
        self._deliver(self.cluster.store.remove(kind, key))

    def machine(self, machine: Machine) -> None:
        """A machine changes."""
        before = self.cluster.machines.get(machine.name)
        self.cluster = self.cluster.with_(machines=self.cluster.machines.put(machine))
        self.cluster = self.plane.machine_changed(self.cluster, before, machine)

    def silence(self, *nodes: str) -> None:
        """Kubelets stop renewing their leases."""
        for name in nodes:
            self.edit("Lease", name, renewed_at=self.cluster.now)

    def revive(self, *nodes: str) -> None:
        """Kubelets report again, the status before the lease."""
        for name in nodes:
            self.edit("Node", name, ready="True", ready_reason="KubeletReady")
            self.edit("Lease", name, renewed_at=None)

    def restart(self) -> None:
        """All loops forget everything."""
        self.cluster = self.plane.start(self.cluster)

    # Time ----------------------------------------------------------------------------------------------------

    def until(self, time: float) -> None:
        """Everything that can be done by `time` is done, and it is that time."""
        while (move := self.plane.next(self.cluster)) is not None and not (
            isinstance(move, Wait) and move.until > time
        ):
            self._step()
        self.cluster = self.cluster.with_(now=time)

    def settle(self, most_steps: int = 5_000) -> list[tuple[float, str]]:
        """Run to rest; returns what was written on the way."""
        begun = len(self.written)
        for _ in range(most_steps):
            if self.plane.next(self.cluster) is None:
                return self.written[begun:]
            self._step()
        raise AssertionError(f"not at rest after {most_steps} steps")

    def choices(self, loop: str, key: str) -> list[Plan[Any]]:
        """Run until the default schedule is about to begin a pass with alternatives, and return these."""
        while (move := self.plane.next(self.cluster)) is not None:
            if isinstance(move, Read) and (move.loop, move.key) == (loop, key):
                plans = self.plane.plans(self.cluster, move)
                if len(plans) > 1:
                    return list(plans)
            self._step()
        raise AssertionError(f"{loop} never had a choice for {key}")

    def take(self, plan: Plan[Any]) -> None:
        """The pass that is about to begin goes as this plan says."""
        move = self.plane.next(self.cluster)
        assert isinstance(move, Read)
        self.cluster = self.plane.begin(self.cluster, move, plan)

    # What is seen --------------------------------------------------------------------------------------------

    def taints(self, name: str) -> list[str]:
        """The taints of a node, sorted, without the common prefix."""
        node = self.cluster.store.node(name)
        assert node is not None
        return sorted(str(each).removeprefix("node.kubernetes.io/") for each in node.taints)

    def pod(self, name: str) -> Pod | None:
        """The pod of that name in the default namespace."""
        return self.cluster.store.pod(f"default/{name}")

    def times(self, text: str) -> list[float]:
        """When writes were made whose description contains `text`."""
        return [time for time, what in self.written if text in what]

    def _deliver(self, written: tuple[Store, Change]) -> None:
        store, change = written
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def _step(self) -> None:
        moved = next(steps(self.plane, self.cluster))
        self.cluster = moved.cluster
        self.attempts += moved.written is not None
        if moved.written is not None and moved.written.changes:
            self.written.append((self.cluster.now, moved.written.action.describe()))
            self.reasons.append(str(getattr(moved.written.action, "reason", "")))


def _world(loops: Iterable[ControlLoop[Any]], *objects: ApiObject, rules: Rules | None = None, now: float = 0) -> World:
    return World(loops, objects, rules if rules is not None else Rules(), now)


def _node(name: str, zone: str = "", **fields: Any) -> Node:
    labels = {**({ZONE: zone} if zone else {}), **fields.pop("labels", {})}
    return Node(name=name, labels=labels_of(labels), **fields)


def _pod(name: str, on: str | None, **fields: Any) -> Pod:
    spec = PodSpec(tolerations=tuple(fields.pop("tolerations", ())))
    return Pod(**{"name": name, "node": on, "spec": spec, "phase": "Running", "ready": True, **fields})


@pytest.fixture(scope="session")
def world() -> Callable[..., World]:
    """A running cluster from `(loops, *objects, rules=, now=)`; each node has its lease."""
    return _world


@pytest.fixture(scope="session")
def node() -> Callable[..., Node]:
    """A ready node from `(name, zone, **fields)`."""
    return _node


@pytest.fixture(scope="session")
def pod() -> Callable[..., Pod]:
    """A running, ready pod from `(name, on, tolerations=, **fields)`."""
    return _pod
