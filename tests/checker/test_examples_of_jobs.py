"""The examples of Jobs and CronJobs are as they say."""

from __future__ import annotations

from pathlib import Path

from reconverge.checker import Scenario, check

FILES = sorted((Path(__file__).resolve().parents[2] / "examples" / "jobs").glob("*.scenario.yaml"))


def test_names_of_nodes_and_of_jobs_make_no_difference() -> None:
    """Jobs of a CronJob are named after their minute: states that differ in those are one, and nothing is lost."""
    document = Scenario.from_file(next(file for file in FILES if file.name.startswith("forbid"))).document
    spec = {key: each for key, each in document["spec"].items() if key not in ("expect", "steps", "start")}
    may = {"drain": 1, "node-crash": 1, "node-recover": 1}
    scenario = Scenario.from_document({**document, "spec": {**spec, "may": may, "events": 2, "deviations": 0}})
    found = [check(scenario, symmetry=symmetry) for symmetry in (True, False)]
    merged, apart = ({(each.invariant, each.object) for each in result.violated} for result in found)
    assert merged == apart
    assert found[0].exploration.states < found[1].exploration.states


def test_what_is_asked_of_a_cron_job_is_asked_of_its_jobs() -> None:
    document = Scenario.from_file(next(file for file in FILES if file.name.startswith("forbid"))).document
    asked = [{"job-completes": "cronjob/report"}]
    spec = {**document["spec"], "check": asked, "expect": {"violated": asked}}
    result = check(Scenario.from_document({**document, "spec": spec}))
    assert result.expectation is not None
    assert result.expectation.missed == ()
    assert [(each.invariant, each.object) for each in result.verdicts] == [("job-completes", "cronjob/report")]
