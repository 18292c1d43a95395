"""The textbook example of a scheduler's choice: filter first, then score."""

from __future__ import annotations

from typing import Any

from reconverge.checker.check import check


def pod(cpu: str) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": {"containers": [container]}}


NODES = "small=1x4cpu,16Gi medium=1x10cpu,16Gi large=1x15cpu,16Gi"


def test_five_cpus_on_nodes_of_four_ten_and_fifteen_go_to_the_third(studio: Any) -> None:
    film = studio.film(studio.scenario(pod("5"), nodes=NODES, start="empty"))
    (placed,) = film[-1].pods.values()
    assert placed.node == "large-1"


def test_a_pod_larger_than_every_node_waits_and_is_told_why(studio: Any) -> None:
    film = studio.film(studio.scenario(pod("16"), nodes=NODES, start="empty"))
    (waiting,) = film[-1].pods.values()
    assert waiting.node is None
    assert waiting.unscheduled is not None
    assert waiting.unscheduled[1].startswith("0/3 nodes are available: 3 Insufficient cpu")


def test_the_choice_breaks_nothing(studio: Any) -> None:
    result = check(studio.scenario(pod("5"), nodes=NODES, start="empty", events=0, deviations=0))
    assert not result.violated
