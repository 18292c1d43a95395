"""Probes: when they succeed and fail by their numbers, and what the kubelet makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model.events import ContainerHangs, KubeletRestarts, PodReady, PodUnready
from reconverge.model.loops.kubelet.probes import Course, course
from reconverge.model.objects import Behaviour, Container, Probe
from reconverge.model.parts import Part
from reconverge.model.rules import KubeletTimings


def course_of(behaviour: Behaviour, hung: float | None = None, **probes: Probe) -> Course:
    return course(Part(Container("main").with_(**probes), "main", behaviour), hung, KubeletTimings())


SLOW = Behaviour(starts_after=25)


def test_without_probes_a_program_is_ready_as_long_as_it_runs() -> None:
    assert course_of(SLOW) == Course(started=0, killed=None, ready=0, unready=None)
    assert course_of(Behaviour("hangs", exits_after=5)).unready is None


@pytest.mark.parametrize(
    ("probe", "ready"),
    [
        (Probe(), 30),
        (Probe(period=5), 25),
        (Probe(initial_delay=32), 40),
        (Probe(success=3), 50),
        (Probe(period=7), 28),
    ],
)
def test_readiness_comes_with_the_first_probes_that_are_answered(probe: Probe, ready: float) -> None:
    assert course_of(SLOW, readiness=probe).ready == ready


@pytest.mark.parametrize(
    ("probe", "killed"),
    [
        (Probe(), 20),
        (Probe(initial_delay=10), None),
        (Probe(failure=4), None),
        (Probe(period=1, failure=3), 2),
        (Probe(initial_delay=24, period=1, failure=1), 24),
        (Probe(initial_delay=25, period=1, failure=1), None),
    ],
)
def test_an_impatient_liveness_probe_kills_a_slow_start(probe: Probe, killed: float | None) -> None:
    found = course_of(SLOW, liveness=probe)
    assert (found.killed, found.failing) == (killed, "liveness" if killed is not None else "")


def test_a_startup_probe_holds_the_others_back() -> None:
    found = course_of(SLOW, startup=Probe(failure=30), liveness=Probe(), readiness=Probe())
    assert found == Course(started=30, killed=None, ready=30, unready=None)


def test_a_startup_probe_that_gives_up_kills() -> None:
    found = course_of(SLOW, startup=Probe(failure=2), readiness=Probe())
    assert (found.started, found.killed, found.failing, found.ready) == (None, 10, "startup", None)


def test_the_last_try_of_a_startup_probe_counts() -> None:
    assert course_of(Behaviour(starts_after=20), startup=Probe(failure=3)).started == 20
    assert course_of(Behaviour(starts_after=21), startup=Probe(failure=3)).started is None


def test_a_program_that_hangs_is_found_by_the_probes_that_there_are() -> None:
    hangs = Behaviour("hangs", exits_after=95)
    found = course_of(hangs, liveness=Probe(), readiness=Probe(failure=1))
    assert (found.killed, found.unready) == (120, 100)
    assert course_of(Behaviour(), 12, liveness=Probe(period=5, failure=2)).killed == 20


durations = st.integers(0, 60)
probes = st.builds(Probe, durations, st.integers(1, 20), st.integers(1, 3), st.integers(1, 5))


@given(starts=durations, hung=st.none() | durations, readiness=probes, liveness=probes, startup=st.none() | probes)
def test_probes_agree_with_playing_them_second_by_second(
    starts: int, hung: int | None, readiness: Probe, liveness: Probe, startup: Probe | None
) -> None:
    """The moments in closed form are those of a worker per probe that ticks."""
    given_probes = {"readiness": readiness, "liveness": liveness, **({"startup": startup} if startup else {})}
    found = course_of(Behaviour(starts_after=starts), hung, **given_probes)
    assert (found.started, found.killed, found.ready) == played(starts, hung, readiness, liveness, startup)


def played(
    starts: int, hung: int | None, readiness: Probe, liveness: Probe, startup: Probe | None
) -> tuple[int | None, int | None, int | None]:
    """(started, killed, first ready) of a container, by a simulation of its probe workers."""
    started = 0 if startup is None else None
    failures = {"startup": 0, "liveness": 0}
    successes, ready = 0, None
    for now in range(400):
        answers = now >= starts and (hung is None or now <= hung)
        if startup is not None and started is None and _ticks(startup, now):
            failures["startup"] = 0 if answers else failures["startup"] + 1
            if answers:
                started = now
            elif failures["startup"] == startup.failure:
                return None, now, None
        if started is None:
            continue
        if _ticks(liveness, now):
            failures["liveness"] = 0 if answers else failures["liveness"] + 1
            if failures["liveness"] == liveness.failure:
                return started, now, ready
        if _ticks(readiness, now):
            successes = successes + 1 if answers else 0
            if successes == readiness.success and ready is None:
                ready = now
    return started, None, ready


def _ticks(probe: Probe, now: int) -> bool:
    return now % probe.period == 0 and now >= probe.initial_delay


# On a machine ------------------------------------------------------------------------------------------------


def bound(host: Any, behaviour: Behaviour, **probes: Probe) -> Any:
    node = host()
    node.bind(behaviour=behaviour, containers=(Container("main").with_(**probes),))
    return node


def test_a_slow_start_without_a_startup_probe_never_gets_ready(host: Any) -> None:
    """The classic: killed after 20 s, started again, killed again."""
    node = bound(host, SLOW, liveness=Probe(), readiness=Probe())
    node.lab.until(200)
    assert node.status() == ("Running", False, 4, "CrashLoopBackOff")
    assert node.lab.times("restarts in place") == [20, 50, 90, 150]
    assert node.lab.times("finds ready") == []


def test_with_a_startup_probe_it_does(host: Any) -> None:
    node = bound(host, SLOW, startup=Probe(failure=30), liveness=Probe(), readiness=Probe())
    node.lab.settle()
    assert node.status() == ("Running", True, 0, "")
    assert node.lab.get("Pod", "p").ready_since == 30


def test_a_program_that_hangs_is_restarted_where_liveness_is_probed(host: Any) -> None:
    node = bound(host, Behaviour(), liveness=Probe(), readiness=Probe())
    node.lab.until(7)
    node.strikes(ContainerHangs("pod/p"))
    node.lab.until(29)
    assert node.status() == ("Running", True, 0, "")
    node.lab.until(30)
    assert node.status() == ("Running", True, 1, ""), "not ready at the same moment, and restarted"
    assert "killed, for its liveness probe failed 3 times" in [each.reason for each in node.lab.actions]


def test_a_program_that_hangs_is_only_unready_where_only_readiness_is_probed(host: Any) -> None:
    node = bound(host, Behaviour(), readiness=Probe(failure=1))
    node.lab.until(7)
    node.lab.happens(ContainerHangs("pod/p"))
    assert node.status() == ("Running", False, 0, "")
    assert node.lab.cluster.now == 10


def test_nobody_notices_a_program_that_hangs_without_probes(host: Any) -> None:
    node = bound(host, Behaviour())
    node.lab.until(7)
    node.lab.happens(ContainerHangs("pod/p"))
    assert node.status() == ("Running", True, 0, "")


def test_a_killed_container_has_its_grace(host: Any) -> None:
    node = bound(host, Behaviour("hangs", exits_after=5, stops_after=12), liveness=Probe(period=5, failure=1))
    node.lab.until(21)
    assert node.status()[2] == 0
    node.lab.until(22)
    assert node.status()[2] == 1


def test_what_an_event_says_of_readiness_goes_before_the_probe(host: Any) -> None:
    node = bound(host, Behaviour(), readiness=Probe())
    node.lab.until(3)
    node.lab.happens(PodUnready("pod/p"))
    assert node.status()[1] is False
    node.lab.happens(PodReady("pod/p"))
    assert node.status()[1] is True


def test_a_restarted_kubelet_looks_at_the_probes_before_it_says_anything(host: Any) -> None:
    """It is restarted at the very moment at which the probe has failed often enough."""
    node = bound(host, Behaviour(), readiness=Probe(failure=1))
    node.lab.settle()
    node.strikes(ContainerHangs("pod/p"))
    node.lab.cluster = node.lab.cluster.with_(now=10)
    node.strikes(KubeletRestarts("n1"))
    while node.lab.plane.next(node.lab.cluster) is not None:
        node.lab.step()
        assert node.lab.local("p").ready is not node.lab.local("p").checked
    assert node.status()[1] is False
