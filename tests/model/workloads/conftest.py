"""A whole cluster under the standard control loops, for tests of the loops that make pods.

Fixtures hand out plain functions and a class, since test modules do not import each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from reconverge.model.control_plane import ControlPlane, Read, Wait
from reconverge.model.events.base import Event
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loop import ControlLoop, Plan
from reconverge.model.objects import ApiObject, Behaviour, Container, Node, Pod, PodSpec, PodTemplate
from reconverge.model.quiet import steps
from reconverge.model.requests import effective
from reconverge.model.resources import Resources
from reconverge.model.rules import Rules
from reconverge.model.standard import cluster_of, standard_control_plane


class Lab:
    """A running cluster, and what has been written in it: (time, loop, what, why)."""

    def __init__(
        self,
        objects: Iterable[ApiObject],
        rules: Rules,
        loops: Iterable[ControlLoop[Any]],
        more: Iterable[ControlLoop[Any]] = (),
    ) -> None:
        self.plane: ControlPlane = standard_control_plane().replacing(*loops).including(*more)
        self.cluster = self.plane.start(cluster_of(objects, rules))
        self.written: list[tuple[float, str, str, str]] = []

    # What happens --------------------------------------------------------------------------------------------

    def strike(self, event: Event) -> None:
        """An event happens."""
        assert event.enabled(self.cluster), event
        self.cluster, _ = self.plane.strike(self.cluster, event)

    def after(self, *events: Event) -> list[tuple[float, str, str, str]]:
        """Events happen, each followed by rest; returns what was written."""
        begun = len(self.written)
        for event in events:
            self.strike(event)
            self.settle()
        return self.written[begun:]

    def put(self, new: ApiObject) -> None:
        """Somebody creates or replaces an object."""
        store, change = self.cluster.store.put(new)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def edit(self, kind: str, name: str, **fields: Any) -> None:
        """Somebody changes the spec of an object."""
        found = self.get(kind, name)
        self.put(found.with_(**fields, generation=found.generation + 1))

    # Time ----------------------------------------------------------------------------------------------------

    def settle(self, most_steps: int = 20_000) -> list[tuple[float, str, str, str]]:
        """Run to rest; returns what was written on the way."""
        begun = len(self.written)
        for _ in range(most_steps):
            if self.plane.next(self.cluster) is None:
                return self.written[begun:]
            self.step()
        raise AssertionError(f"not at rest after {most_steps} steps: {self.written[-20:]}")

    def until(self, time: float) -> None:
        """Everything that can be done by `time` is done, and it is that time."""
        while (move := self.plane.next(self.cluster)) is not None and not (
            isinstance(move, Wait) and move.until > time
        ):
            self.step()
        self.cluster = self.cluster.with_(now=time)

    def run(self, count: int) -> None:
        """So many steps, or fewer if it comes to rest."""
        for _ in range(count):
            if self.plane.next(self.cluster) is None:
                return
            self.step()

    def step(self) -> None:
        """One step of the default schedule."""
        moved = next(steps(self.plane, self.cluster))
        self.cluster = moved.cluster
        if moved.written is not None:
            action = moved.written.action
            loop = getattr(moved.move, "loop", "")
            self.written.append((self.cluster.now, loop, action.describe(), str(getattr(action, "reason", ""))))

    def choices(self, loop: str) -> list[Plan[Any]]:
        """Run until the loop is about to begin a pass with alternatives, and return these."""
        while (move := self.plane.next(self.cluster)) is not None:
            if isinstance(move, Read) and move.loop == loop and len(self.plane.plans(self.cluster, move)) > 1:
                return list(self.plane.plans(self.cluster, move))
            self.step()
        raise AssertionError(f"{loop} never had a choice")

    # What is seen --------------------------------------------------------------------------------------------

    def get(self, kind: str, name: str) -> Any:
        """The object of that kind and name in the default namespace, or of that name alone."""
        found = self.cluster.store.get(kind, f"default/{name}")
        return found if found is not None else self.cluster.store.get(kind, name)

    def pod(self, name: str) -> Pod:
        """The pod of that name in the default namespace."""
        found = self.cluster.store.pod(f"default/{name}")
        assert found is not None, name
        return found

    def pods(self) -> list[str]:
        """Names of the pods that there are, sorted; `+` for ready, `!` for Terminating."""
        marks = {
            each.name: f"{'+' if each.ready else ''}{'!' if each.terminating else ''}"
            for each in self.cluster.store.all("Pod")
        }
        return [name + marks[name] for name in sorted(marks, key=lambda name: (len(name), name))]

    def did(self, loop: str) -> list[str]:
        """What a loop has written, without status."""
        return [
            what for _, by, what, _ in self.written if by == loop and "status" not in what and " revision " not in what
        ]

    def times(self, text: str) -> list[float]:
        """When writes were made whose description contains `text`."""
        return [time for time, _, what, _ in self.written if text in what]


def _lab(
    *objects: ApiObject,
    rules: Rules | None = None,
    loops: Iterable[ControlLoop[Any]] = (),
    more: Iterable[ControlLoop[Any]] = (),
) -> Lab:
    return Lab(objects, rules if rules is not None else Rules(), loops, more)


def _template(behaviour: str = "ready", digest: str = "t1", app: str = "app", **spec: Any) -> PodTemplate:
    exits_after = spec.pop("exits_after", 1)
    made = PodSpec(
        containers=(Container("main", Resources(cpu=spec.pop("cpu", 100))),),
        behaviour=Behaviour(behaviour, exits_after=exits_after),
        **spec,
    )
    made = made.with_(requests=effective(made))
    return PodTemplate(labels=labels_of({"app": app}), spec=made, digest=digest)


@pytest.fixture(scope="session")
def lab() -> Callable[..., Lab]:
    """A running cluster from `(*objects, rules=, loops=, more=)`; nodes have machines, nothing has settled yet.

    `loops` take the place of the standard ones of their names, `more` come beside them.
    """
    return _lab


@pytest.fixture(scope="session")
def template() -> Callable[..., PodTemplate]:
    """A pod template from `(behaviour, digest, app, **spec)`."""
    return _template


@pytest.fixture(scope="session")
def selector() -> Selector:
    """What the templates' pods are selected by."""
    return Selector(labels_of({"app": "app"}))


@pytest.fixture(scope="session")
def nodes() -> Callable[..., list[Node]]:
    """Ready nodes n1, n2 ... from `(count, **fields)`."""
    return lambda count=3, **fields: [Node(name=f"n{number + 1}", **fields) for number in range(count)]
