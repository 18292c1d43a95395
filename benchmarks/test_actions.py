"""Speed of the bare model: no judging, no merging of states."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconverge.checker import Scenario, World
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import Drain, Event, NodeCrashes, NodeRecovers, RollOut, Scale, Uncordon

if TYPE_CHECKING:
    from benchmarks.conftest import Bench

QUICKSTART = Path(__file__).parent.parent / "examples" / "quickstart"
WEEK: tuple[Event, ...] = (
    NodeCrashes("node-1"),
    NodeRecovers("node-1"),
    RollOut("deployment/web"),
    Drain("node-2"),
    Uncordon("node-2"),
    Scale("deployment/web", 5),
)
"""A bad week: a crash and the return, a rollout, a drain and its end, two more replicas."""


@pytest.fixture(scope="module")
def three_nodes() -> World:
    return Scenario.from_file(QUICKSTART / "rollout-on-three-nodes.scenario.yaml").world()


@pytest.mark.benchmark(timer=time.process_time, group="actions")
def test_actions_per_second_on_three_nodes(
    measured: Callable[..., float], bench: Bench, three_nodes: World, said: Callable[[str], None]
) -> None:
    plane: ControlPlane = three_nodes.plane
    seconds = measured(lambda: bench.run(plane, three_nodes.start, *WEEK), rounds=40, iterations=3, warmup_rounds=2)
    ran = bench.play(plane, three_nodes.start, *WEEK)
    said(
        f"three nodes: {ran.steps} steps with {ran.writes} writes in {1e3 * seconds:.2f} ms: "
        f"{ran.steps / seconds:,.0f} steps/s, {ran.writes / seconds:,.0f} writes/s"
    )
