"""The worked examples of the rules: each has a test of its own, which bears its letter and number."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
EXAMPLES = {
    "R1": "10 replicas at 25 %/25 %: three in surge, two unavailable",
    "R2": "1 replica at 25 %/25 %: one in surge, none unavailable",
    "R3": "3 replicas without surge at 25 %: none unavailable would stand still, so one is",
    "R4": "2 replicas of which 5 may be unavailable: both may",
    "R5": "a DaemonSet on 3 nodes at 25 %: one",
    "R6": "a DaemonSet on 10 nodes at 25 %: three, where a Deployment would take two",
    "R7": "a StatefulSet of 3 with partition 2: only ordinal 2 is updated",
    "R8": "10 to 15 replicas in the middle of a rollout, 8 old and 5 new: 12 and 7",
    "R9": "10 to 6 replicas in the middle of a rollout, 8 old and 5 new: 5 and 3",
    "D1": "first an unbound pod goes, then a pending one, then one that is not ready, then a ready one",
    "D2": "a lower deletion cost goes first, whatever its age",
    "D3": "of three pods, one of the two on one node goes",
    "D4": "ready for 10 s or for 11 s is the same",
    "P1": "3 ready, minAvailable 50 %: one may go",
    "P2": "3 wanted, 2 ready, maxUnavailable 1: none may go",
    "P3": "3 to 6 replicas, maxUnavailable 1: none may go until six are ready",
    "P4": "a pending pod goes whatever the budget says",
    "P5": "an unready pod goes without a decrement while the budget is met",
    "P6": "below it, it stays, unless the policy is AlwaysAllow",
    "P7": "a pod under two budgets is never evicted",
    "Z1": "2 of 4 nodes not ready: normal",
    "Z2": "3 of 5 not ready: partly disrupted, no evictions",
    "Z3": "40 of 60 not ready: partly disrupted, slow evictions",
    "Z4": "1 of 2 not ready is normal, 2 of 2 is a whole zone, at the normal rate",
    "H1": "4 pods at 80 % of 50 %: 7",
    "H2": "4 pods at 55 %: within the tolerance",
    "H3": "4 pods at 56 %: 5",
    "H4": "3 pods at 80 % and one without a sample: 5",
    "H5": "one replica that should be ten: 4 at first",
    "H6": "4 proposed 200 s after 9 were: 9",
    "H7": "12 replicas where 10 is the maximum: 10 at once",
    "S1": "LeastAllocated of 1500m of 4000m and 3Gi of 8Gi: 62",
    "S2": "BalancedAllocation of half the CPU and 90 % of the memory: 80",
    "S3": "a node with 110 pods takes no other",
    "S4": "an init container of 1 CPU decides over 0.3 and 0.4, with 0.1 on top",
    "S5": "a sidecar of 0.2 counts beside a later init container of 0.5",
    "S6": "of zones with 2, 1 and 0 pods only the empty one takes another",
    "S7": "without nodes it is no domain, and the one with 1 does",
    "K1": "a crash loop waits 0, 10, 20, 40, 80, 160, 300 s",
    "T1": "a taint that goes before its time evicts nobody; a later one starts anew",
    "T2": "a toleration of 30 s ends 30 s after the taint",
    "C1": "a node with half of its CPU requested is underused",
    "C2": "a group at its minimum loses no node",
    "C3": "of two groups that fit, the one that wastes less in all",
}


@cache
def borne() -> frozenset[str]:
    """The letters and numbers in names of tests (`test_d1_...`) and in ids of their cases (`Z4-both`)."""
    found = set()
    for file in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and (name := re.match(r"test_([a-z]\d)_", node.name)):
                found.add(name[1].upper())
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                found |= {word for keyword in node.keywords for word in ids(keyword)}
    return frozenset(found)


def ids(keyword: ast.keyword) -> set[str]:
    """The letters and numbers in `id="R1"` of a case or `ids=["C1", "memory"]` of a table."""
    if keyword.arg not in ("id", "ids"):
        return set()
    words = [node.value for node in ast.walk(keyword.value) if isinstance(node, ast.Constant)]
    return {word.partition("-")[0] for word in words if isinstance(word, str)}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_worked_example_has_a_test(example: str) -> None:
    assert example in borne(), f"no test or case is called {example}: {EXAMPLES[example]}"


def test_an_example_without_a_test_is_noticed() -> None:
    assert "R0" not in borne()
    assert ids(ast.parse('f(ids=["C1", "memory"], name="D9")', mode="eval").body.keywords[0]) == {"C1", "memory"}  # type: ignore[attr-defined]
