"""Jobs for the tests of their controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.objects import Job, PodTemplate


@pytest.fixture(scope="session")
def work(template: Callable[..., PodTemplate]) -> Callable[..., Job]:
    """A Job `work` from `(behaviour, seconds, policy, **fields)`: its pods end after so many seconds."""

    def made(behaviour: str = "exit-0", seconds: float = 1, policy: str = "Never", **fields: Any) -> Job:
        pods = template(behaviour, exits_after=seconds, restart_policy=policy)
        return Job(name="work", template=pods, **fields)

    return made
