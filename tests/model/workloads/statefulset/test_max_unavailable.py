"""Rolling updates that may take several pods at a time: the rule statefulset-max-unavailable, off by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.events.pods import PodUnready
from reconverge.model.events.workloads import RollOut
from reconverge.model.loops.statefulset.ordinals import most_unavailable
from reconverge.model.rules import Rules

Make = Callable[..., Any]
ON = Rules(statefulset_max_unavailable=True)


@pytest.mark.parametrize(
    ("given", "rules", "most"),
    [(2, Rules(), None), (2, ON, 2), (None, ON, 1), ("50%", ON, 2), ("10%", ON, 1), ("99%", ON, 4)],
)
def test_a_share_is_rounded_down_but_not_to_nothing(db: Make, given: Any, rules: Rules, most: int | None) -> None:
    assert most_unavailable(db(replicas=5, max_unavailable=given), rules) == most


def first_deleted(w: Any) -> list[str]:
    """The pods that are deleted before the first one is made anew."""
    begun = len(w.written)
    w.strike(RollOut("statefulset/db"))
    w.settle()
    deleted = []
    for _, loop, what, _ in w.written[begun:]:
        if loop == "statefulset" and what.startswith("creates pod"):
            break
        if loop == "statefulset" and what.startswith("deletes pod"):
            deleted.append(what.partition("pod/")[2])
    return deleted


@pytest.mark.parametrize(
    ("rules", "fields", "deleted"),
    [
        (Rules(), {"max_unavailable": 2}, ["db-3"]),
        (ON, {"max_unavailable": 2}, ["db-3", "db-2"]),
        (ON, {"max_unavailable": "75%"}, ["db-3", "db-2", "db-1"]),
        (ON, {"max_unavailable": 4, "partition": 2}, ["db-3", "db-2"]),
        (ON, {}, ["db-3"]),
    ],
)
def test_so_many_pods_go_at_once(
    lab: Make, db: Make, nodes: Make, rules: Rules, fields: dict[str, Any], deleted: list[str]
) -> None:
    w = lab(*nodes(), db(replicas=4, policy="Parallel", **fields), rules=rules)
    w.settle()
    assert first_deleted(w) == deleted


def test_a_pod_that_is_unavailable_anyway_is_one_of_them(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(replicas=4, policy="Parallel", max_unavailable=2), rules=ON)
    w.settle()
    w.strike(PodUnready("statefulset/db#0"))
    w.settle()
    assert first_deleted(w) == ["db-3"]
    assert w.get("StatefulSet", "db").status.updated == 4, "in the end the unready one is replaced, too"
