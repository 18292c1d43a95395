"""The examples of volumes are as they say."""

from __future__ import annotations

from pathlib import Path

from reconverge.checker import Scenario, check

FILES = sorted((Path(__file__).resolve().parents[2] / "examples" / "volumes").glob("*.scenario.yaml"))


def test_a_placement_counts_for_claims_too() -> None:
    document = Scenario.from_file(FILES[0]).document
    placement = {"statefulset/db": ["node-3", "node-1", "node-2"]}
    scenario = Scenario.from_document({**document, "spec": {**document["spec"], "placement": placement}})
    store = scenario.world().start.store
    assert [(each.name, each.node) for each in store.all("VolumeAttachment")] == [
        ("pvc-data-db-0", "node-3"),
        ("pvc-data-db-1", "node-1"),
        ("pvc-data-db-2", "node-2"),
    ]


def test_names_of_nodes_make_no_difference() -> None:
    """A disk that is attached to a node is told of the node, whatever its name."""
    document = Scenario.from_file(FILES[-1]).document
    may = {"rollout": 1, "node-crash": 1, "force-delete-pod": 1}
    spec = {key: each for key, each in document["spec"].items() if key != "expect"}
    scenario = Scenario.from_document({**document, "spec": {**spec, "may": may, "events": 2, "deviations": 0}})
    found = [
        {(each.invariant, each.object) for each in check(scenario, symmetry=symmetry).violated}
        for symmetry in (True, False)
    ]
    assert found[0] == found[1]
    assert ("rollout-completes", "deployment/wiki") in found[0]
