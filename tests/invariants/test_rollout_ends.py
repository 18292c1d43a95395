"""Whether rollouts end."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.checker import Scenario
from reconverge.checker.check import check
from reconverge.model.labels import labels_of
from reconverge.model.objects import ControllerRevision, Taint
from reconverge.model.objects.node import NO_SCHEDULE, NOT_READY, UNSCHEDULABLE
from reconverge.model.objects.revision import REVISION_HASH


def ends(
    lab: Any, *, old: int, new: int, pending: int = 0, outcome: str = "rest", start: Any = None, **fields: Any
) -> Any:
    deployment = lab.deployment(2, **fields)
    sets = [lab.set_of(deployment, "old"), lab.set_of(deployment)]
    message = "0/1 nodes are available: 1 Insufficient cpu."
    waits = lab.pods_of(sets[1], *[None] * pending, unscheduled=("Unschedulable", message))
    waits = [pod.with_(name=f"{pod.name}-w") for pod in waits]
    pods = [*lab.pods_of(sets[0], *["n1"] * old), *lab.pods_of(sets[1], *["n1"] * new), *waits]
    return lab.quiet(lab.situation(lab.node(), deployment, *sets, *pods, start=start), outcome)


def test_a_rollout_that_waits_for_room_does_not_end(lab: Any) -> None:
    (violation,) = lab.broken("rollout-completes", ends(lab, old=2, new=0, pending=1))
    assert violation.object == "deployment/web"
    assert "0 of 2 updated pods available, 2 old pods left" in violation.message
    assert "1 Insufficient cpu" in violation.message


@pytest.mark.parametrize("outcome", ["loop", "growth"])
def test_a_rollout_that_goes_round_does_not_end(lab: Any, outcome: str) -> None:
    assert lab.broken("rollout-completes", ends(lab, old=1, new=1, outcome=outcome)) != []


def test_rollouts_that_end_or_cannot_or_are_held_are_not_judged_broken(lab: Any) -> None:
    assert lab.broken("rollout-completes", ends(lab, old=0, new=2)) == []
    assert lab.broken("rollout-completes", ends(lab, old=2, new=0, outcome="unfinished")) == []
    assert lab.broken("rollout-completes", ends(lab, old=2, new=0, pending=1, paused=True)) == []
    never = lab.spec(behaviour="never-ready")
    assert lab.broken("rollout-completes", ends(lab, old=2, new=0, pending=1, spec=never)) == []


def test_missing_replicas_are_a_rollouts_only_if_there_was_one(lab: Any) -> None:
    deployment = lab.deployment(2, digest="before")
    assert lab.broken("rollout-completes", ends(lab, old=0, new=1, pending=1)) == []
    started = lab.cluster(deployment)
    assert lab.broken("rollout-completes", ends(lab, old=0, new=1, pending=1, start=started)) != []


# StatefulSets


def rolled(lab: Any, *digests: str, start: str = "", down: tuple[str, ...] = (), **fields: Any) -> Any:
    """statefulset/db with a pod of each of the templates, from ordinal 0, after a start with another template."""
    sts = lab.stateful_set(len(digests), **fields)
    pods = [pod.with_(template_digest=digest) for pod, digest in zip(lab.pods_in(sts), digests, strict=True)]
    before = lab.cluster(sts.with_(template=lab.template(digest=start))) if start else None
    return lab.quiet(lab.situation(lab.node(), sts, *pods, start=before, down=down))


@pytest.mark.parametrize(
    ("digests", "fields", "broken"),
    [
        (("new", "new"), {}, False),
        (("old", "new"), {}, True),
        (("old", "new"), {"partition": 1}, False),
        (("old", "old"), {"partition": 1}, True),
        (("old", "new"), {"partition": None}, True),
        (("old", "new"), {"strategy": "OnDelete"}, False),
        (("old",), {"spec": "never-ready"}, False),
    ],
)
def test_a_stateful_set_is_updated_down_to_its_partition(
    lab: Any, digests: tuple[str, ...], fields: dict[str, Any], broken: bool
) -> None:
    if "spec" in fields:
        fields = {"spec": lab.spec(behaviour=fields["spec"])}
    found = lab.broken("rollout-completes", rolled(lab, *digests, **fields))
    assert [each.object for each in found] == (["statefulset/db"] if broken else [])


def test_updated_pods_of_a_stateful_set_must_be_available_if_there_was_a_rollout(lab: Any) -> None:
    for start, broken in (("", False), ("old", True)):
        end = rolled(lab, "new", "new", start=start, min_ready=5000)
        assert bool(lab.broken("rollout-completes", end)) is broken


def test_a_revision_label_tells_what_a_dump_does_not(lab: Any) -> None:
    sts = lab.stateful_set(1)
    revision = ControllerRevision(
        name="db-7", uid=lab.fresh(), owner=sts.owner_reference(), template=sts.template, number=2
    )
    for name, broken in (("db-7", False), ("db-6", True)):
        (pod,) = lab.pods_in(sts)
        pod = pod.with_(labels=labels_of({**dict(pod.labels), REVISION_HASH: name}))
        end = lab.quiet(lab.situation(lab.node(), sts, revision, pod))
        assert bool(lab.broken("rollout-completes", end)) is broken


# DaemonSets


def test_an_old_pod_that_is_ready_is_not_called_unready(lab: Any) -> None:
    (violation,) = lab.broken("rollout-completes", covered(lab, "old", "new"))
    assert violation.facts["waiting"] == ["pod/agent-0 on n1 is Running and ready"]


def covered(lab: Any, *digests: str, taints: tuple[Taint, ...] = (), cordoned: bool = False, **fields: Any) -> Any:
    """daemonset/agent with a pod on n1, n2 ... of each of the templates; the first node has the taints."""
    ds = lab.daemon_set(**fields)
    nodes = [lab.node(f"n{number + 1}") for number in range(len(digests))]
    nodes[0] = nodes[0].with_(taints=taints, unschedulable=cordoned)
    pods = [pod.with_(template_digest=each) for pod, each in zip(lab.pods_in(ds, *nodes), digests, strict=True)]
    return lab.quiet(lab.situation(*nodes, ds, *pods))


@pytest.mark.parametrize(
    ("digests", "options", "broken"),
    [
        (("new", "new"), {}, False),
        (("old", "new"), {}, True),
        (("old", "new"), {"strategy": "OnDelete"}, False),
        (("old", "new"), {"taints": (Taint(NOT_READY, NO_SCHEDULE),)}, False),
        (("old", "new"), {"taints": (Taint(UNSCHEDULABLE, NO_SCHEDULE),), "cordoned": True}, True),
        # The dead node is nobody's concern, but the others wait for it.
        (("old", "new", "old"), {"taints": (Taint(NOT_READY, NO_SCHEDULE),)}, True),
    ],
)
def test_a_daemon_set_is_updated_on_every_node_that_is_its_own(
    lab: Any, digests: tuple[str, ...], options: dict[str, Any], broken: bool
) -> None:
    found = lab.broken("rollout-completes", covered(lab, *digests, **options))
    assert [each.object for each in found] == (["daemonset/agent"] if broken else [])


# With the real control loops


def played(kind: str, steps: list[dict[str, Any]], **spec: Any) -> list[str]:
    """What breaks when the steps are played with a workload of the kind on three nodes."""
    container = {"name": "c", "image": "shop/app:1"}
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [container]}}
    own = {"selector": {"matchLabels": {"app": "x"}}, "template": template, **spec}
    manifest = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "x"}, "spec": own}
    pool = {"name": "node", "count": 3, "zones": ["a"], "allocatable": {"cpu": "4", "memory": "16Gi", "pods": 10}}
    given = {"objects": [manifest], "nodePools": [pool], "steps": steps, "may": {}, "events": 0}
    given["check"] = ["rollout-completes"]
    document = {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "x"}, "spec": given}
    return [each.message for each in check(Scenario.from_document(document), mode="exhaustive").violated]


BAD: list[dict[str, Any]] = [{"rollout": {"workload": "statefulset/x", "behaviour": "never-ready"}}]
BACK: list[dict[str, Any]] = [{"rollback": {"workload": "statefulset/x"}}]


def test_an_ordered_stateful_set_is_stuck_when_a_bad_template_is_rolled_back() -> None:
    (message,) = played("StatefulSet", [*BAD, *BACK], replicas=2, serviceName="x")
    assert message.startswith(
        "the rollout of statefulset/x does not end: 1 of 2 updated pods available, 1 old pod left"
    )
    assert played("StatefulSet", [*BAD, *BACK], replicas=2, serviceName="x", podManagementPolicy="Parallel") == []
    assert played("StatefulSet", [*BAD, *BACK, {"delete-pod": {"pod": "pod/x-1"}}], replicas=2, serviceName="x") == []


def test_a_dead_node_holds_up_the_update_of_a_daemon_set() -> None:
    steps: list[dict[str, Any]] = [{"node-crash": {"node": "node-1"}}, {"rollout": {"workload": "daemonset/x"}}]
    (message,) = played("DaemonSet", steps)
    assert "the rollout of daemonset/x does not end: 0 of 2 updated pods available, 2 old pods left" in message
    assert "on node-1, whose machine is down" in message
    assert played("DaemonSet", steps, updateStrategy={"rollingUpdate": {"maxUnavailable": 2}}) == []
