"""Each part of the scheduler can be replaced by a wrong one, and the difference shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reconverge.model.loops.scheduler import (
    FILTERS,
    SCORES,
    Accounting,
    Check,
    Cycle,
    Delta,
    Failure,
    Filter,
    Preemption,
    Scheduler,
)
from reconverge.model.objects import Node, Pod
from reconverge.model.resources import Usage
from reconverge.model.store import Store

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build


class ForgetsTerminating(Accounting):
    """Thinks that a Terminating pod holds nothing any more."""

    def usage(self, store: Store, assumed: object) -> Callable[[str], Usage]:
        def of(node: str) -> Usage:
            usage = Usage()
            for pod in store.pods_on(node):
                if pod.active:
                    usage = self.changed(usage, pod, 1)
            return usage

        return of


class OnlyEven(Filter):
    """A filter of somebody's own."""

    name = "OnlyEven"

    def prepare(self, cycle: Cycle) -> Check | None:
        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            return None if int(node.name[1:]) % 2 == 0 else Failure(self.name, ("node(s) were odd",))

        return check


class PreemptsEquals(Preemption):
    """Takes room from pods of the same priority."""

    def may_preempt(self, cycle: Cycle, victim: Pod) -> bool:
        return victim.spec.priority <= cycle.pod.spec.priority


def test_another_accounting(build: type[Build]) -> None:
    ending = build.pod("ending", 3000, "n1", deletion_at=30)
    pod = build.pod("one", 3000)
    assert build.choices(pod, build.nodes(1), ending) == []
    assert build.choices(pod, build.nodes(1), ending, scheduler=Scheduler(accounting=ForgetsTerminating())) == ["n1"]


def test_fewer_or_other_filters(build: type[Build]) -> None:
    pod = build.pod("one", 5000)
    lenient = Scheduler(filters=[each for each in FILTERS if each.name != "NodeResourcesFit"])
    assert build.choices(pod, build.nodes(2), scheduler=lenient) == ["n1", "n2"]
    odd = Scheduler(filters=(*FILTERS, OnlyEven()))
    assert build.choices(build.pod("one"), build.nodes(4), scheduler=odd) == ["n4", "n2"], "zone a before b"


def test_fewer_scores(build: type[Build]) -> None:
    pod, there = build.pod("one"), build.pod("there", 2000, "n1")
    assert build.choices(pod, build.nodes(2), there) == ["n2"]
    blind = Scheduler(scores=[each for each in SCORES if not each.name.startswith("NodeResources")])
    assert build.choices(pod, build.nodes(2), there, scheduler=blind) == ["n1", "n2"]


def test_another_preemption(build: type[Build]) -> None:
    pod, there = build.pod("one", 3000), build.pod("there", 3000, "n1")
    assert build.choices(pod, build.nodes(1), there) == []
    assert build.choices(pod, build.nodes(1), there, scheduler=Scheduler(preemption=PreemptsEquals())) == ["n1"]
