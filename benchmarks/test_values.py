"""The small parts that everything is made of: the persistent map, copies of values, fingerprints."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

import attrs
import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.control_plane import ControlPlane
from reconverge.model.objects import Pod
from reconverge.model.persistent import Map

if TYPE_CHECKING:
    from benchmarks.conftest import Bench

CLOCK = time.process_time


def _timed(run: Callable[[], object], times: int) -> float:
    """Microseconds for one call, the median of seven rounds."""
    rounds = []
    for _ in range(7):
        before = CLOCK()
        for _ in range(times):
            run()
        rounds.append(1e6 * (CLOCK() - before) / times)
    return median(rounds)


@pytest.mark.benchmark(timer=CLOCK, group="map")
@pytest.mark.parametrize("size", [10, 100, 1_000, 10_000, 150_000])
def test_map_against_a_copied_dict(size: int, measured: Callable[..., float], said: Callable[[str], None]) -> None:
    plain = {f"default/pod-{number}": number for number in range(size)}
    grown: Map[str, int] = Map()
    for key, value in plain.items():
        grown = grown.set(key, value)
    key = f"default/pod-{size // 2}"
    times = max(20, 20_000 // size)
    ours = _timed(lambda: grown.set(key, 0), 2_000)
    theirs = _timed(lambda: plain | {key: 0}, times)
    look = _timed(lambda: grown[key], 5_000)
    look_plain = _timed(lambda: plain[key], 5_000)
    said(
        f"map of {size:,}: an update {ours:.2f} us, {theirs / ours:.2f} times as fast as a copied dict; "
        f"a look-up {look:.2f} us, {look / look_plain:.1f} times a dict's"
    )
    measured(lambda: grown.set(key, 0), rounds=50, iterations=200)


@pytest.mark.benchmark(timer=CLOCK, group="values")
def test_copy_of_a_value_against_evolve(measured: Callable[..., float], said: Callable[[str], None]) -> None:
    pod = Pod(name="web-1")
    ours = _timed(lambda: pod.with_(ready=True), 2_000)
    theirs = _timed(lambda: attrs.evolve(pod, ready=True), 2_000)
    said(f"copy of a pod with one field changed: {ours:.2f} us, {theirs / ours:.1f} times as fast as attrs.evolve")
    measured(lambda: pod.with_(ready=True), rounds=50, iterations=200)


@pytest.mark.benchmark(timer=CLOCK, group="fingerprint")
@pytest.mark.parametrize("nodes", [3, 10, 50])
def test_fingerprint(
    nodes: int, measured: Callable[..., float], bench: Bench, plane: ControlPlane, said: Callable[[str], None]
) -> None:
    cluster = bench.settled(plane, bench.objects(nodes, replicas=10))
    pods = cluster.store.count("Pod")
    cost = _timed(lambda: fingerprint(plane, cluster), 3)
    said(f"fingerprint of {nodes} nodes with {pods} pods: {cost / 1e3:.2f} ms, {cost / pods:.0f} us per pod")
    measured(lambda: fingerprint(plane, cluster), rounds=5, warmup_rounds=1)
