"""ReplicaSets whose pods are made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.objects import OwnerReference


class Sets:
    """ReplicaSet web under its controller alone, owned by a Deployment that is not there."""

    def __init__(self, lab: Any, replicas: int, **fields: Any) -> None:
        self.make = lab
        nodes = [lab.node(name) for name in ("n1", "n2", "n3")]
        owner = fields.pop("owner", OwnerReference("Deployment", "web", 99))
        self.rs = lab.replica_set(replicas, uid=5, owner=owner, **fields)
        self.lab = lab.of(self.rs, *nodes, loops=[ReplicaSetController()])

    def pod(self, name: str, node: str | None = "n1", **fields: Any) -> None:
        """A pod of the set; ready if it is on a node, unless told."""
        phase = "Pending" if node is None else "Running"
        made = {"phase": phase, "ready": node is not None, "owner": self.rs.owner_reference(), **fields}
        self.lab.put(self.make.pod(name, node, **made))

    def scale(self, replicas: int) -> None:
        self.lab.edit("ReplicaSet", "web", replicas=replicas)

    def names(self) -> list[str]:
        """The pods that are not being deleted."""
        return [pod.name for pod in self.lab.pods() if pod.active]

    def choices(self) -> list[list[str]]:
        """The victims of each alternative, in order of their deletion."""
        plans = self.lab.passes_of("replicaset")
        return [[each.key.partition("/")[2] for each in plan.actions if hasattr(each, "grace")] for plan in plans]


@pytest.fixture
def sets(lab: Any) -> Callable[..., Sets]:
    """From `(replicas, **fields)`."""
    return lambda replicas=1, **fields: Sets(lab, replicas, **fields)
