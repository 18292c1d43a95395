"""CronJobs for the tests of their controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.loops.cronjob import CronJobController
from reconverge.model.objects import CronJob, Job, Node, PodTemplate
from reconverge.model.schedule import parsed_schedule

Make = Callable[..., Any]


@pytest.fixture(scope="session")
def cron(template: Callable[..., PodTemplate]) -> Callable[..., CronJob]:
    """A CronJob `tick` from `(schedule, behaviour, seconds, job=, **fields)`: its pods end after so many seconds."""

    def made(schedule: str = "*/10 * * * *", behaviour: str = "exit-0", seconds: float = 5, **fields: Any) -> CronJob:
        pods = template(behaviour, exits_after=seconds, restart_policy="Never")
        job = Job(name="", template=pods, **fields.pop("job", {}))
        return CronJob(name="tick", schedule=parsed_schedule(schedule), written=schedule, job=job, **fields)

    return made


@pytest.fixture(scope="session")
def clock(lab: Make, nodes: Make) -> Callable[..., Any]:
    """A running cluster with the CronJob controller, from `(cron, *objects, count=)`."""

    def made(cron: CronJob, *objects: Any, count: int = 2, loop: Any = None) -> Any:
        found: list[Node] = nodes(count)
        return lab(*found, cron, *objects, more=(loop or CronJobController(),))

    return made
