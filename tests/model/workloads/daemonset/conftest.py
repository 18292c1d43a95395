"""DaemonSets for the tests of their controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.labels import Selector
from reconverge.model.objects import DaemonSet, PodTemplate


@pytest.fixture(scope="session")
def agent(template: Callable[..., PodTemplate], selector: Selector) -> Callable[..., DaemonSet]:
    """A DaemonSet `agent` from `(behaviour, pod=, **fields)`; `pod` are fields of the pod spec."""

    def made(behaviour: str = "ready", pod: dict[str, Any] | None = None, **fields: Any) -> DaemonSet:
        return DaemonSet(name="agent", selector=selector, template=template(behaviour, **(pod or {})), **fields)

    return made


@pytest.fixture(scope="session")
def places() -> Callable[[Any], dict[str, str]]:
    """The nodes that have pods, each with the marks of its pods: `+` ready, `!` Terminating, `.` neither."""

    def found(w: Any) -> dict[str, str]:
        marks: dict[str, str] = {}
        for pod in w.cluster.store.all("Pod"):
            mark = ("+" if pod.ready else "") + ("!" if pod.terminating else "") or "."
            marks[pod.node or "-"] = marks.get(pod.node or "-", "") + mark
        return dict(sorted(marks.items()))

    return found
