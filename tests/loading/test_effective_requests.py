"""The effective request of a pod: sums, moments of initialisation, overhead, pod-level requests."""

from __future__ import annotations

import pytest

from reconverge.model.objects import Container, PodSpec
from reconverge.model.requests import effective
from reconverge.model.resources import Resources


def box(cpu: int, sidecar: bool = False) -> Container:
    return Container("c", Resources(cpu), restart_policy="Always" if sidecar else "")


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        (PodSpec((box(300), box(400)), (box(1000),), Resources(100)), 1100),
        (PodSpec((box(400),), (box(200, sidecar=True), box(500))), 700),
        (PodSpec((box(400),), (box(500), box(200, sidecar=True))), 600),
        (PodSpec((box(100),), (box(200, sidecar=True), box(300, sidecar=True), box(400))), 900),
        (PodSpec((box(100),), pod_requests=(("cpu", 50),), overhead=Resources(10)), 60),
        (PodSpec(), 0),
    ],
    ids=["init and overhead", "init after a sidecar", "init before a sidecar", "two sidecars", "pod level", "nothing"],
)
def test_the_larger_of_the_end_and_each_moment_before(spec: PodSpec, cpu: int) -> None:
    assert effective(spec) == Resources(cpu)


def test_resources_are_judged_one_by_one() -> None:
    init = Container("i", Resources(1000, 1, extended=(("x/y", 2),)))
    main = Container("m", Resources(100, 50))
    assert effective(PodSpec((main,), (init,))) == Resources(1000, 50, 0, (("x/y", 2),))
