"""Deployments whose ReplicaSets are answered for: the other half of the controller's two-hop view, made at will."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.control_plane import Read
from reconverge.model.loops.deployment import DeploymentController
from reconverge.model.objects import Deployment, ReplicaSet, ReplicaSetStatus


class Rollout:
    """One Deployment under its controller alone. `answer` plays the ReplicaSet controller and the pods."""

    def __init__(self, lab: Any, deployment: Deployment, *more: Any) -> None:
        self.lab = lab.of(deployment, *more, loops=[DeploymentController()])

    @property
    def deployment(self) -> Deployment:
        found: Deployment = self.lab.get("Deployment", "web")
        return found

    def sets(self) -> dict[str, ReplicaSet]:
        """The ReplicaSets by the digest of their template."""
        return {rs.template.digest: rs for rs in self.lab.cluster.store.all("ReplicaSet")}

    def sizes(self) -> dict[str, int]:
        return {digest: rs.replicas for digest, rs in self.sets().items()}

    def answer(self, never: tuple[str, ...] = (), **available: int) -> None:
        """Every ReplicaSet has the pods that it wants, all available but those of templates in `never`."""
        for digest, rs in self.sets().items():
            ready = available.get(digest, 0 if digest in never else rs.replicas)
            status = ReplicaSetStatus(
                replicas=rs.replicas, fully_labeled=rs.replicas, ready=ready, available=ready,
                observed_generation=rs.generation,
            )  # fmt: skip
            if status != rs.status:
                self.lab.put(rs.with_(status=status))

    def one_pass(self) -> bool:
        """One pass with all its writes; False if there was nothing to look at."""
        if not isinstance(self.lab.plane.next(self.lab.cluster), Read):
            return False
        self.lab.step()
        while self.lab.cluster.loops["deployment"].in_flight is not None:
            self.lab.step()
        return True

    def rest(self, never: tuple[str, ...] = ()) -> list[str]:
        """Passes and answers by turns until nothing changes; `new/old` after each pass that changed it."""
        seen: list[str] = []
        for _ in range(200):
            if not self.one_pass():
                return seen
            self.answer(never)
            digest = self.deployment.template.digest
            sizes = self.sizes()
            now = f"{sizes.pop(digest, 0)}/{sum(sizes.values())}"
            if not seen or seen[-1] != now:
                seen.append(now)
        raise AssertionError("no rest")

    def apply(self, **spec: Any) -> None:
        """Somebody changes the Deployment's spec."""
        self.lab.edit("Deployment", "web", **spec)

    def template(self, digest: str) -> None:
        """Somebody changes the template."""
        self.apply(template=self.lab.template(digest))

    def condition(self, type_: str = "Progressing") -> tuple[str, str, float, float] | None:
        """(status, reason, since, updated) of a condition."""
        found = self.deployment.status.condition(type_)
        return None if found is None else (found.status, found.reason, found.since, found.updated_at)


@pytest.fixture
def rollout(lab: Any) -> Callable[..., Rollout]:
    """A Deployment of so many replicas at rest with template `one`."""

    def make(replicas: int = 4, *more: Any, rest: bool = True, **fields: Any) -> Rollout:
        made = Rollout(lab, lab.deployment(replicas, **fields), *more)
        if rest:
            made.rest()
        return made

    return make


@pytest.fixture(scope="session")
def rollout_class() -> type[Rollout]:
    """The class, for tests that make many."""
    return Rollout
