"""What should happen at least once in an exploration, so that a claim is not about nothing.

A `sometimes` invariant is judged on quiet runs, like `eventually`: it yields a violation for as long as what it waits
for has not happened, and it holds for the whole exploration if it yields none for some quiet run.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation
from reconverge.invariants.stock.drains import drains
from reconverge.invariants.stock.facts import pods_of_sets
from reconverge.model.events import Drain, RollBack, RollOut
from reconverge.model.loops.drain import drain_status
from reconverge.model.naming import resolve
from reconverge.model.objects import Deployment


@invariant(
    "some-rollout-completes",
    "sometimes",
    statement="At least one rollout completes.",
    why="If no rollout ever ends, nothing that was found about rollouts says anything about those that do.",
    remedy="Give the cluster room for a rollout, or explore other events.",
    source="documentation of Deployments (complete Deployment)",
    applies=lambda situation, _: any(isinstance(event, RollOut | RollBack) for event in situation.events),
)
def some_rollout_completes(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Looks for a Deployment of a rollout event whose pods are all of its template, as many as wanted, and ready."""
    for name in _rolled_out(quiet.after):
        deployment = resolve(quiet.store, name)
        if not isinstance(deployment, Deployment):
            continue
        digest = deployment.template.digest
        pods = [pod for pod in pods_of_sets(quiet.store, deployment) if pod.active]
        if len(pods) == deployment.replicas and all(pod.ready and pod.template_digest == digest for pod in pods):
            return ()
    return (Violation("cluster", "no rollout has completed"),)


def _rolled_out(situation: Situation) -> list[str]:
    return [event.workload for event in situation.events if isinstance(event, RollOut | RollBack)]


@invariant(
    "some-drain-completes",
    "sometimes",
    statement="At least one drain completes.",
    why="If every drain is blocked, nothing that was found about drains says anything about those that are not.",
    remedy="Let some budget allow a disruption, or explore other events.",
    source="kubectl/pkg/drain/drain.go",
    applies=lambda situation, _: any(isinstance(event, Drain) for event in situation.events),
)
def some_drain_completes(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Looks for a drain that has ended without an error."""
    memory = drains(quiet.cluster)
    for node in sorted(memory):
        status = drain_status(memory, node)
        if status is not None and status.state == "drained":
            return ()
    return (Violation("cluster", "no drain has completed"),)
