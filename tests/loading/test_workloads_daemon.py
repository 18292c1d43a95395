"""DaemonSets as they are written and dumped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Loaded
from reconverge.model.objects import DaemonSet

Text = Callable[..., str]
Read = Callable[[str], Any]

DAEMON_SET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers:
      - name: main
        image: agent
"""


@pytest.fixture
def written(deployment: Text) -> Text:
    """The text of a DaemonSet with lines added."""
    return lambda spec="", pod="": deployment(spec, pod, base=DAEMON_SET)


def test_the_defaults_are_those_of_the_api_server(read_one: Read, written: Text) -> None:
    agent = read_one(written())
    assert isinstance(agent, DaemonSet)
    assert (agent.strategy, agent.max_surge, agent.max_unavailable) == ("RollingUpdate", 0, 1)
    assert (agent.min_ready, agent.history_limit) == (0, 10)


def test_the_oldest_version_waits_for_deletions(read_one: Read, written: Text) -> None:
    assert read_one(written().replace("apps/v1", "extensions/v1beta1")).strategy == "OnDelete"


def test_surge_takes_the_place_of_unavailable(read_one: Read, written: Text) -> None:
    agent = read_one(written("updateStrategy: {rollingUpdate: {maxSurge: 10%, maxUnavailable: 0}}"))
    assert (agent.max_surge, agent.max_unavailable) == ("10%", 0)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            "updateStrategy: {rollingUpdate: {maxSurge: 1}}",
            "maxUnavailable is 1 where it is not given, and must be 0 where maxSurge is not 0",
        ),
        (
            "updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}",
            "maxUnavailable must be 0 where maxSurge is not 0",
        ),
        ("updateStrategy: {rollingUpdate: {maxUnavailable: 0}}", "must not be 0 where maxSurge is 0"),
        ('updateStrategy: {rollingUpdate: {maxUnavailable: "0%"}}', "must not be 0 where maxSurge is 0"),
        ("updateStrategy: {rollingUpdate: {maxUnavailable: 101%}}", "must not be more than 100%"),
        ("replicas: 3", 'unknown field "spec.replicas"'),
        ("updateStrategy: {type: Recreate}", "must be one of RollingUpdate, OnDelete"),
    ],
)
def test_what_the_api_server_refuses_is_refused(error_of: Read, written: Text, spec: str, said: str) -> None:
    assert said in error_of(written(spec))


def test_a_dump_has_its_status(read_all: Callable[[str], Loaded], written: Text) -> None:
    status = {
        "desiredNumberScheduled": 4, "currentNumberScheduled": 3, "numberReady": 2, "numberAvailable": 1,
        "numberUnavailable": 3, "updatedNumberScheduled": 2, "numberMisscheduled": 1, "observedGeneration": 5,
    }  # fmt: skip
    (agent,) = read_all(f"{written()}status: {json.dumps(status)}\n").objects
    assert isinstance(agent, DaemonSet)
    found = agent.status
    assert (found.desired, found.current, found.ready, found.available) == (4, 3, 2, 1)
    assert (found.unavailable, found.updated, found.misscheduled, found.observed_generation) == (3, 2, 1, 5)
