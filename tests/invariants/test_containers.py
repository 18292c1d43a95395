"""Containers that start when it is not their turn."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.objects import Behaviour, Container, Probe

KEY = "containers-start-in-turn"


def judged(lab: Any, before: dict[str, dict[str, Any]], starts: str, **spec: Any) -> list[str]:
    """The messages when one of the containers init, proxy and app starts, given the state of each."""
    initial = (
        Container("init"),
        Container("proxy", restart_policy="Always", startup=Probe(failure=9), behaviour=Behaviour(starts_after=30)),
    )
    whole = lab.spec(**spec).with_(init_containers=initial, containers=(Container("app"),))
    pod = lab.pod(spec=whole, ready=False)
    situation = lab.situation(lab.node(), pod)
    local = situation.cluster.machines.get("n1").pods[pod.uid]
    names = ("init", "proxy", "app")
    given = tuple(each.with_(**before[name]) for name, each in zip(names, local.containers, strict=True))
    held = local.with_(containers=given)
    machine = situation.cluster.machines.get("n1").with_pod(held)
    cluster = situation.cluster.with_(machines=situation.cluster.machines.put(machine))
    started = tuple(
        each.with_(state="running") if name == starts else each for name, each in zip(names, given, strict=True)
    )
    action = Locally("n1", held.with_(containers=started), "starts")
    step = lab.step(type(situation)(cluster, situation.events, situation.start), "kubelet", action)
    return [each.message for each in lab.broken(KEY, step)]


DONE = {"state": "exited", "since": 900, "exit_code": 0}
FAILED = {"state": "exited", "since": 900, "exit_code": 1}
STARTED = {"state": "running", "since": 970}
STARTING = {"state": "running", "since": 971}
FRESH = {"state": "waiting"}


@pytest.mark.parametrize(
    ("init", "proxy", "app", "starts", "said"),
    [
        (DONE, STARTED, FRESH, "app", ""),
        (DONE, STARTING, FRESH, "app", "sidecar proxy has not started"),
        (FAILED, STARTED, FRESH, "app", "init container init has not succeeded"),
        ({"state": "running"}, FRESH, FRESH, "proxy", "init container init has not succeeded"),
        (DONE, FRESH, FRESH, "proxy", ""),
        (DONE, FAILED, FAILED, "app", ""),
        (DONE, STARTED, {**FAILED, "backoff": 100}, "app", ""),
        (DONE, STARTED, {**FAILED, "backoff": 101}, "app", "its back-off of 101 s is not over"),
    ],
)
def test_a_container_starts_in_its_turn(lab: Any, init: Any, proxy: Any, app: Any, starts: str, said: str) -> None:
    found = judged(lab, {"init": init, "proxy": proxy, "app": app}, starts)
    assert [said in each for each in found] == ([True] if said else [])


@pytest.mark.parametrize(
    ("policy", "code", "starts", "said"),
    [
        ("Always", 0, "app", ""),
        ("OnFailure", 1, "app", ""),
        ("OnFailure", 0, "app", "with restartPolicy OnFailure it is not started again after exit code 0"),
        ("Never", 1, "app", "with restartPolicy Never it is not started again after exit code 1"),
        ("Never", 1, "proxy", ""),
    ],
)
def test_the_policy_says_what_is_started_again(lab: Any, policy: str, code: int, starts: str, said: str) -> None:
    ended = {"state": "exited", "since": 900, "exit_code": code}
    given = {"init": DONE, "proxy": ended if starts == "proxy" else STARTED, "app": ended}
    found = judged(lab, given, starts, restart_policy=policy)
    assert [said in each for each in found] == ([True] if said else [])
