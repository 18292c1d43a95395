"""The order in which a StatefulSet makes its pods and takes them away."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Create, DeletePod
from reconverge.model.events import WatchStalls
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.rules import Rules

KEY = "ordered-pods"
UNREADY = {"ready": False}
OLD = {"template_digest": "old"}


def world(lab: Any, sts: Any, count: int, changed: dict[int, dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    pods = lab.pods_in(sts, count=count)
    pods = [pod.with_(**changed.get(number, {})) for number, pod in enumerate(pods)]
    return [lab.node(), sts], pods


def creates(lab: Any, sts: Any, number: int, changed: dict[int, dict[str, Any]], actor: str = "statefulset") -> Any:
    objects, pods = world(lab, sts, number + 1, changed)
    new = pods.pop().with_(uid=0, node=None, ready=False, phase="Pending")
    return lab.step(lab.situation(*objects, *pods), actor, Create(new))


def deletes(lab: Any, sts: Any, count: int, number: int, changed: dict[int, dict[str, Any]], **options: Any) -> Any:
    objects, pods = world(lab, sts, count, changed)
    pod = pods[number]
    return lab.step(lab.situation(*objects, *pods, **options), "statefulset", DeletePod(pod.key, pod.uid))


@pytest.mark.parametrize(
    ("changed", "fields", "broken"),
    [
        ({}, {}, False),
        ({0: UNREADY}, {}, True),
        ({0: UNREADY}, {"policy": "Parallel"}, False),
        ({1: {"deletion_at": 1030.0}}, {}, True),
        ({1: {"ready_since": 995}}, {"min_ready": 10}, True),
        ({1: {"ready_since": 990}}, {"min_ready": 10}, False),
        ({}, {"replicas": 2}, True),
    ],
)
def test_a_pod_is_made_when_all_lower_ones_are_available(
    lab: Any, changed: dict[int, dict[str, Any]], fields: dict[str, Any], broken: bool
) -> None:
    sts = lab.stateful_set(**{"replicas": 3, **fields})
    assert bool(lab.broken(KEY, creates(lab, sts, 2, changed))) is broken
    assert lab.broken(KEY, creates(lab, sts, 2, changed, actor="gitops")) == []


@pytest.mark.parametrize(
    ("number", "changed", "fields", "broken"),
    [
        (3, {}, {}, False),
        (2, {}, {}, True),
        (2, {3: {"deletion_at": 1030.0}}, {}, True),
        (2, {}, {"policy": "Parallel"}, False),
        (3, {0: UNREADY}, {}, True),
        # One that is wanted goes for an update only: if it is old, and all above it have been updated.
        (1, {}, {}, True),
        (1, {1: {"template_digest": "old"}}, {}, False),
        (0, {0: {"template_digest": "old"}}, {}, False),
        (0, {0: {"template_digest": "old"}, 1: {"template_digest": "old"}}, {}, True),
        (0, {0: {"template_digest": "old"}, 1: {"template_digest": "old"}}, {"policy": "Parallel"}, True),
        (1, {1: {"template_digest": "old"}}, {"strategy": "OnDelete"}, True),
        (1, {1: {"template_digest": "old"}}, {"partition": 2}, True),
        (0, {0: {"template_digest": "old"}, 1: UNREADY}, {}, True),
        (0, {0: {"template_digest": "old"}, 1: UNREADY}, {"policy": "Parallel"}, True),
        (1, {1: {"template_digest": "old"}, 0: UNREADY}, {}, True),
        (1, {1: {"template_digest": "old"}, 0: UNREADY}, {"policy": "Parallel"}, False),
        (1, {1: {"phase": "Failed"}}, {}, False),
    ],
)
def test_the_highest_goes_first(
    lab: Any, number: int, changed: dict[int, dict[str, Any]], fields: dict[str, Any], broken: bool
) -> None:
    sts = lab.stateful_set(2, **fields)
    assert bool(lab.broken(KEY, deletes(lab, sts, 4, number, changed))) is broken


@pytest.mark.parametrize(
    ("number", "changed", "most", "broken"),
    [
        # Four pods of four replicas: two may be unavailable at a time, whichever they are.
        (2, {2: OLD, 3: UNREADY}, 2, False),
        (2, {2: OLD, 3: UNREADY}, 1, True),
        (2, {2: OLD, 1: UNREADY, 3: UNREADY}, 2, True),
        (2, {3: UNREADY}, 2, True),
    ],
)
def test_an_update_may_take_as_many_as_max_unavailable_where_that_counts(
    lab: Any, number: int, changed: dict[int, dict[str, Any]], most: int, broken: bool
) -> None:
    sts = lab.stateful_set(4, policy="Parallel", max_unavailable=most)
    rules = Rules(statefulset_max_unavailable=True)
    assert bool(lab.broken(KEY, deletes(lab, sts, 4, number, changed, rules=rules))) is broken


def test_a_set_that_could_not_know_better_is_excused(lab: Any) -> None:
    sts = lab.stateful_set(2)
    for options in (
        {"loops": {"statefulset": LoopState(in_flight=InFlight("default/db", (), revision=-1))}},
        {"loops": {"statefulset": LoopState(stalled={"Pod": lab.cluster().store.table("Pod")})}},
        {"events": (WatchStalls("statefulset", "Pod"),)},
    ):
        assert lab.broken(KEY, deletes(lab, sts, 4, 2, {}, **options)) == []
