"""Results made by hand, for tests of the renderers: what the checker might say of small clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reconverge.checker.result import (
    Bounds,
    Cell,
    Coverage,
    Expectation,
    Exploration,
    Result,
    Verdict,
)
from reconverge.checker.trace import Difference, Pending, Stroke, Trace, TraceStep

REFUSED = "429 Cannot evict pod as it would violate the pod's disruption budget."
NO_PLACE = (
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. "
    "preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, "
    "2 No preemption victims found for incoming pod."
)

DOCUMENT: Mapping[str, Any] = {
    "apiVersion": "reconverge/v1alpha1",
    "kind": "Scenario",
    "metadata": {"name": "shop"},
    "spec": {
        "nodePools": [
            {"name": "workers", "count": 3, "zones": ["a", "b", "c"], "allocatable": {"cpu": "4", "memory": "16Gi"}}
        ],
        "may": {"drain": 1, "node-crash": 1},
        "events": 2,
        "deviations": 1,
    },
}

DRAIN = Trace(
    invariant="drain-completes",
    family="objective",
    object="node/workers-1",
    message="the drain of workers-1 never ends: the budget web allows no disruption, now or later",
    facts={"disruptions_allowed": 0, "expected_pods": 1, "min_available": 1},
    statement="A drain ends.",
    why="A node that cannot be drained blocks every upgrade of the cluster.",
    remedy="Run two replicas of deployment/web, or let the budget web allow one disruption (maxUnavailable: 1).",
    scenario=DOCUMENT,
    strokes=(Stroke("drain", {"node": "workers-1"}),),
    steps=(
        TraceStep(
            0,
            "event",
            "operator",
            "kubectl drain workers-1 begins",
            differences=(Difference("node/workers-1", "changed", (("unschedulable", False, True),)),),
        ),
        TraceStep(0, "write", "node-lifecycle", "taints node/workers-1 node.kubernetes.io/unschedulable:NoSchedule"),
        TraceStep(0, "write", "endpoints", "updates endpoints of service/web"),
        TraceStep(0, "write", "disruption", "updates status of poddisruptionbudget/web"),
        TraceStep(0, "refused", "drain", "evicts pod/web-5d8f-abcde", REFUSED),
        TraceStep(5, "time", "time", "5 seconds pass"),
        TraceStep(5, "refused", "drain", "evicts pod/web-5d8f-abcde", REFUSED),
        TraceStep(10, "time", "time", "5 seconds pass"),
    ),
    outcome="loop",
    repeats_from=6,
    shortest=True,
    kubernetes="1.34",
    seed=0,
)

CRASH = Trace(
    invariant="replicas-restored",
    family="objective",
    object="deployment/web",
    message="deployment/web has 2 of 3 ready replicas at rest",
    facts={"ready": 2, "wanted": 3},
    statement="Every workload gets its wanted ready replicas back.",
    why="Until then the workload serves with less than it was sized for.",
    remedy="Leave room for the pods of one node on the others, or lower the requests of deployment/web.",
    scenario=DOCUMENT,
    strokes=(
        Stroke("node-crash", {"node": "workers-2"}),
        Stroke(
            "scale", {"workload": "deployment/cart", "replicas": 4}, ({"kind": "tie", "at": 3, "take": "workers-3"},)
        ),
    ),
    steps=(
        TraceStep(0, "event", "environment", "node workers-2 crashes"),
        TraceStep(50, "time", "time", "50 seconds pass"),
        TraceStep(
            50,
            "write",
            "node-lifecycle",
            "sets Ready=Unknown of node/workers-2",
            "no heartbeat for 50 s",
            (Difference("node/workers-2", "changed", (("ready", "True", "Unknown"),)),),
        ),
        TraceStep(50, "write", "node-lifecycle", "taints node/workers-2 node.kubernetes.io/unreachable:NoExecute"),
        TraceStep(50, "write", "node-lifecycle", "sets Ready=False of pod/web-5d8f-abcde"),
        TraceStep(50, "write", "endpoints", "updates endpoints of service/web"),
        TraceStep(50, "write", "replicaset", "updates status of replicaset/web-5d8f"),
        TraceStep(50, "write", "deployment", "updates status of deployment/web"),
        TraceStep(350, "time", "time", "300 seconds pass"),
        TraceStep(350, "write", "taint-eviction", "deletes pod/web-5d8f-abcde", "its toleration of 300 s has run out"),
        TraceStep(350, "write", "replicaset", "creates pod/web-5d8f-fghij", "1 of 3 is missing"),
        TraceStep(350, "write", "replicaset", "updates status of replicaset/web-5d8f"),
        TraceStep(
            350,
            "event",
            "operator",
            "deployment/cart is scaled to 4",
            differences=(Difference("deployment/cart", "changed", (("spec.replicas", 3, 4),)),),
            deviation="strikes before the loops are at rest",
        ),
        TraceStep(350, "write", "replicaset", "creates pod/cart-77c-aaaaa", "1 of 4 is missing"),
        TraceStep(
            350,
            "write",
            "scheduler",
            "binds pod/cart-77c-aaaaa to workers-3",
            deviation="workers-3 instead of workers-1, which scores the same",
        ),
        TraceStep(350, "write", "scheduler", "leaves pod/web-5d8f-fghij pending", NO_PLACE),
        TraceStep(350, "write", "kubelet", "starts pod/cart-77c-aaaaa on workers-3"),
        TraceStep(350, "write", "kubelet", "updates status of pod/cart-77c-aaaaa"),
        TraceStep(350, "write", "replicaset", "updates status of replicaset/cart-77c"),
    ),
    outcome="rest",
    waiting=(Pending("pod/web-5d8f-fghij", NO_PLACE),),
    kubernetes="1.34",
    seed=0,
)

BUDGET = Trace(
    invariant="budget-honoured",
    family="law",
    object="poddisruptionbudget/web",
    message="an eviction leaves 1 healthy pod of deployment/web where the budget web asks for 2",
    facts={"healthy": 1, "wanted": 2},
    statement="An API eviction never leaves fewer healthy pods than the budget asks.",
    why="Budgets are the only brake on voluntary disruptions.",
    remedy="Report it: the eviction API should have refused.",
    scenario=DOCUMENT,
    strokes=(Stroke("drain", {"node": "workers-1"}),),
    steps=(
        TraceStep(0, "event", "operator", "kubectl drain workers-1 begins"),
        *(TraceStep(0, "write", "drain", f"evicts pod/web-5d8f-{name}") for name in ("aaaaa", "bbbbb", "ccccc")),
        TraceStep(
            0,
            "write",
            "drain",
            "evicts pod/api-99f-ddddd",
            "drain of workers-1",
            (Difference("poddisruptionbudget/web", "changed", (("disruptions_allowed", 1, 0),)),),
        ),
    ),
    outcome="broken",
    minimal=True,
    kubernetes="1.34",
    seed=7,
)


def result(**changes: Any) -> Result:
    """A result with two findings, everything else as it mostly is."""
    values: dict[str, Any] = {
        "scenario": "shop",
        "document": DOCUMENT,
        "kubernetes": "1.34",
        "seed": 0,
        "exploration": Exploration("exhaustive", True, 4120, 9311, 57, 20411, Bounds(2, 1), (Bounds(2, 1),)),
        "verdicts": (
            Verdict("drain-completes", "node/workers-1", "violated", "objective", DRAIN.message, 0),
            Verdict("drain-completes", "node/workers-2", "held", "objective"),
            Verdict("replicas-restored", "deployment/web", "violated", "objective", CRASH.message, 1),
            Verdict("replicas-restored", "deployment/cart", "violated", "objective", CRASH.message, 1),
            Verdict("budget-kept", "poddisruptionbudget/web", "violated", "objective", "", None, "known until June"),
            Verdict("budget-honoured", "poddisruptionbudget/web", "held", "law"),
            Verdict("requests-within-capacity", "", "held", "law"),
            Verdict("job-completes", "", "never applicable", "objective"),
            Verdict("service-available", "service/web", "inconclusive", "objective"),
        ),
        "traces": (DRAIN, CRASH),
        "coverage": Coverage(
            {"node-crash": 12, "drain": 9},
            {"replicaset": 830, "scheduler": 411},
            {"drain-completes": (120, 9)},
            ("no pod was preempted, so preemption was not tested",),
        ),
        "table": (
            Cell("deployment/cart", "node-crash", "violated", (1,)),
            Cell("deployment/cart", "drain", "held"),
            Cell("deployment/cart", "scale", "held"),
            Cell("deployment/web", "node-crash", "violated", (1,)),
            Cell("deployment/web", "drain", "violated", (0,)),
            Cell("deployment/web", "scale", "inconclusive"),
            Cell("daemonset/agent", "node-crash", "held"),
            Cell("daemonset/agent", "drain", "held"),
        ),
        "warnings": ("service/web selects no pod of job/import",),
        "not_covered": ("zone outages: all nodes are in one zone; give zones with --nodes 3x4cpu,16Gi@a,b,c",),
    }
    return Result(**{**values, **changes})


def clean(**changes: Any) -> Result:
    """A result in which everything held."""
    held = tuple(each for each in result().verdicts if each.status in ("held", "never applicable"))
    cells = (Cell("deployment/web", "drain", "held"), Cell("deployment/web", "node-crash", "held"))
    values: dict[str, Any] = {"verdicts": held, "traces": (), "table": cells, "warnings": (), "not_covered": ()}
    values |= {"coverage": Coverage({"drain": 3}, {}, {})}
    return result(**{**values, **changes})


def missed() -> Result:
    """A scenario whose expectation is missed."""
    return clean(expectation=Expectation(("drain-completes",), ("drain-completes held, but should be violated",)))
