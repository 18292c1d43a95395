"""Timelines are compared strictly, and an assertion that does not hold shows the whole of it."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def shop(make: Any, story: Any) -> Any:
    """A rollout of one replica."""
    return story(make.deployment(1)).strike("rollout", workload="deployment/web").rest()


@pytest.mark.parametrize(
    "lines",
    [
        "1 replicaset creates pod/web-2-a",
        "0 deployment creates pod/web-2-a",
        "0 replicaset creates pod/web-2-b",
        "0 replicaset pod/web-2-a",
        "0 replicaset deletes pod/web-1-a\n 0 replicaset creates pod/web-2-a",
        "0 replicaset creates pod/web-2-a\n 0 replicaset creates pod/web-2-a",
    ],
)
def test_another_second_actor_write_or_order_is_noticed(shop: Any, lines: str) -> None:
    with pytest.raises(AssertionError, match="replicaset         creates pod/web-2-a"):
        shop.shows(lines)


def test_the_right_order_is_found(shop: Any) -> None:
    shop.shows("0 replicaset creates pod/web-2-a\n 0 replicaset deletes pod/web-1-a")


def test_what_was_done_is_not_never_done_but_only_from_its_second_on(shop: Any) -> None:
    with pytest.raises(AssertionError, match="it did"):
        shop.never("replicaset", "creates pod")
    shop.never("replicaset", "creates pod", before=0)


def test_an_event_that_cannot_happen_is_no_event(shop: Any) -> None:
    with pytest.raises(AssertionError, match="node-recover cannot happen here"):
        shop.strike("node_recover", node="n-1")
