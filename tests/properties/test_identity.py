"""StatefulSets and Jobs: at most one, at least once."""

from __future__ import annotations

from typing import Any

OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}


def test_an_ordinal_runs_once_through_failures_and_deletions(make: Any, holds: Any) -> None:
    may = {"node-partition": 1, "node-crash": 1, "delete-pod": 1, "drain": 1, "node-recover": 1}
    holds("one-pod-per-ordinal", make.stateful(2), may=may, events=2, deviations=0)


def test_after_a_force_deletion_an_ordinal_runs_twice(make: Any, breaks: Any) -> None:
    may = {"node-partition": 1, "force-delete-pod": 1}
    found = breaks("one-pod-per-ordinal", make.stateful(1), may=may, events=2, deviations=0)
    assert found == ["node-partition n-1", "force-delete-pod statefulset/web#0"]


def test_a_node_object_deleted_under_a_living_machine_makes_an_ordinal_run_twice(make: Any, breaks: Any) -> None:
    may = {"node-partition": 1, "node-delete": 1}
    found = breaks("one-pod-per-ordinal", make.stateful(1), may=may, events=2, deviations=0)
    assert found == ["node-partition n-1", "node-delete n-1"]


def test_a_living_node_said_to_be_out_of_service_makes_an_ordinal_run_twice(make: Any, breaks: Any) -> None:
    may = {"node-partition": 1, "taint": {"node": "n-1", "times": 1, **OUT_OF_SERVICE}}
    (cut, taint) = breaks("one-pod-per-ordinal", make.stateful(1), may=may, events=2, deviations=0)
    assert cut == "node-partition n-1"
    assert taint.startswith("taint n-1 node.kubernetes.io/out-of-service")


def test_a_job_completes_whatever_happens_to_its_pods(make: Any, holds: Any) -> None:
    job = make.job(pod={"restartPolicy": "Never"}, annotations={"reconverge/behaviour": "exit-0"})
    holds("job-completes", job, may={"delete-pod": 1, "node-reboot": 1, "node-crash": 1}, events=2, deviations=0)


def test_a_job_is_executed_at_least_once_not_once(make: Any, breaks: Any) -> None:
    job = make.job(pod={"restartPolicy": "Never"})
    assert breaks("executed-once", job, may={"delete-pod": 1}, deviations=0) == ["delete-pod job/web#0"]
    assert breaks("executed-once", job, may={"node-reboot": 1}, deviations=0) == ["node-reboot n-1"]
