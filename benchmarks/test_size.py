"""The cost of one write in clusters of 10 to 5,000 nodes with 30 pods each.

The scheduler's look at the nodes is left out, as it is in a real cluster the one thing that grows with their number.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import ContainerCrashes, Event, PodDeleted, Scale

if TYPE_CHECKING:
    from benchmarks.conftest import Bench

SIZES = tuple(int(size) for size in os.environ.get("RECONVERGE_SIZES", "10,100,1000,5000").split(","))
"""Numbers of nodes. RECONVERGE_SIZES chooses others: the largest cluster takes a while to build."""
TIMES = 15

WHAT: dict[str, Event] = {
    "a pod is deleted and replaced": PodDeleted("pod/small-templa-0"),
    "a container crashes and restarts": ContainerCrashes("pod/small-templa-0"),
    "a small Deployment gets one more": Scale("deployment/small", 4),
}


@pytest.fixture(scope="module")
def clusters(bench: Bench, plane: ControlPlane, said: Callable[[str], None]) -> dict[int, Cluster]:
    built = {}
    for size in SIZES:
        before = time.process_time()
        built[size] = bench.settled(plane, bench.objects(size))
        pods = built[size].store.count("Pod")
        said(f"{size} nodes, {pods:,} pods: all loops looked at everything in {time.process_time() - before:.1f} s")
    return built


@pytest.mark.benchmark(timer=time.process_time, group="size")
@pytest.mark.parametrize("what", WHAT)
def test_cost_of_a_write_by_size(
    what: str,
    measured: Callable[..., float],
    bench: Bench,
    plane: ControlPlane,
    clusters: dict[int, Cluster],
    said: Callable[[str], None],
) -> None:
    event = WHAT[what]
    # In turn, so that a busy moment of the machine strikes every size alike.
    samples: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(TIMES):
        for size in SIZES:
            samples[size].append(bench.play(plane, clusters[size], event).per_write)
    medians = [sorted(samples[size])[TIMES // 2] for size in SIZES]
    said(f"{what}: {', '.join(f'{cost:.0f}' for cost in medians)} us per write at {', '.join(map(str, SIZES))} nodes; "
         f"to the first as {bench.growth(medians)}")  # fmt: skip
    measured(lambda: bench.run(plane, clusters[SIZES[0]], event), rounds=20, warmup_rounds=1)
