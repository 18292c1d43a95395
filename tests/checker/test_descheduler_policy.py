"""The descheduler among a scenario's optional loops."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconverge.checker.descheduler_policy import descheduler_policy
from reconverge.loading import LoadError, parse_document_text
from reconverge.model.loops.descheduler import EvictorSettings, LowUtilizationSettings, SpreadSettings


def read(**settings: Any) -> Any:
    return descheduler_policy(parse_document_text(json.dumps(settings), "loops"))


def test_a_policy_is_read() -> None:
    policy = read(
        every=60,
        fit="old",
        policy={
            "DefaultEvictor": {"nodeFit": True, "priorityThreshold": {"value": 100}},
            "RemoveDuplicates": {"excludeOwnerKinds": ["StatefulSet"]},
            "RemovePodsViolatingTopologySpreadConstraint": {"constraints": ["ScheduleAnyway"]},
            "LowNodeUtilization": {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}},
        },
        maxNoOfPodsToEvictTotal=3,
    )
    assert (policy.every, policy.fit) == (60, "old")
    assert policy.evictor == EvictorSettings(node_fit=True, priority_below=100, most=3)
    assert policy.duplicates.exclude_owner_kinds == ("StatefulSet",)
    assert policy.spread == SpreadSettings(("ScheduleAnyway",))
    assert policy.low_utilization == LowUtilizationSettings((("cpu", 20),), (("cpu", 50),))
    assert policy.node_affinity is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "at least one strategy"),
        ({"policy": {"DefaultEvictor": {}}}, "at least one strategy"),
        ({"policy": {"RemoveDuplicate": {}}}, 'Did you mean "RemoveDuplicates"?'),
        ({"policy": {"RemoveDuplicates": {}}, "fit": "good"}, "must be one of old, new, better"),
        ({"policy": {"RemovePodsViolatingNodeAffinity": {"nodeAffinityType": ["soft"]}}}, 'not "soft"'),
        ({"policy": {"LowNodeUtilization": {"thresholds": {"cpu": 20}}}}, "the same resources"),
        (
            {"policy": {"LowNodeUtilization": {"thresholds": {"cpu": 60}, "targetThresholds": {"cpu": 50}}}},
            "must not be above its target",
        ),
    ],
)
def test_bad_policies_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(LoadError) as error:
        read(**settings)
    assert said in str(error.value)
