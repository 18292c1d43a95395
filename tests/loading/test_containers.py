"""Containers: probes, hooks, images, and what annotations say of the programs inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.objects import Behaviour, PodSpec, Probe
from reconverge.model.parts import parts

Read = Callable[[str], Any]
Text = Callable[..., str]


def test_probes_have_their_numbers(spec_of: Callable[..., PodSpec]) -> None:
    given = "{httpGet: {port: 80}, initialDelaySeconds: 5, periodSeconds: 2, successThreshold: 3, failureThreshold: 7}"
    (container,) = spec_of(container=f"readinessProbe: {given}").containers
    assert container.readiness == Probe(initial_delay=5, period=2, success=3, failure=7)


def test_a_zero_stands_for_the_default_of_a_probe(spec_of: Callable[..., PodSpec]) -> None:
    (container,) = spec_of(container="livenessProbe: {periodSeconds: 0, failureThreshold: 0}").containers
    assert container.liveness == Probe()


def test_only_readiness_may_have_to_succeed_twice(error_of: Read, deployment: Text) -> None:
    said = error_of(deployment(container="livenessProbe: {successThreshold: 2}"))
    assert "livenessProbe.successThreshold must be 1 for a livenessProbe, not 2" in said


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("preStop: {sleep: {seconds: 15}}", 15),
        ("preStop: {exec: {command: [sleep, '10']}}", 10),
        ("preStop: {exec: {command: [/bin/sh, -c, sleep 20]}}", 20),
        ("preStop: {exec: {command: [/bin/sh, -c, 'sleep 2.5;']}}", 2.5),
        ("preStop: {exec: {command: [nginx, -s, quit]}}", 0),
        ("postStart: {exec: {command: [sleep, '10']}}", 0),
    ],
)
def test_a_hook_that_sleeps_delays_the_stop(spec_of: Callable[..., PodSpec], given: str, seconds: float) -> None:
    assert spec_of(container=f"lifecycle: {{{given}}}").containers[0].pre_stop == seconds


def test_a_hook_of_unknown_length_is_named(read_all: Callable[[str], Any], deployment: Text) -> None:
    text = deployment(container="lifecycle: {preStop: {exec: {command: [nginx, -s, quit]}}}")
    assert "preStop" in str(read_all(text).accounting)


@pytest.mark.parametrize(
    ("image", "policy", "always"),
    [
        ("shop/app:1", "", False),
        ("shop/app", "", True),
        ("shop/app:latest", "", True),
        ("registry:5000/app", "", True),
        ("shop/app@sha256:0123", "", False),
        ("shop/app:1", "Always", True),
        ("shop/app", "IfNotPresent", False),
    ],
)
def test_when_an_image_is_pulled(spec_of: Callable[..., PodSpec], image: str, policy: str, always: bool) -> None:
    other = f'- {{name: other, image: "{image}"{f", imagePullPolicy: {policy}" if policy else ""}}}'
    (container,) = spec_of(f"initContainers:\n{other}").init_containers
    assert (container.image, container.pulls_always) == (image, always)


def test_a_deadline_is_read(spec_of: Callable[..., PodSpec]) -> None:
    assert spec_of("activeDeadlineSeconds: 90").active_deadline == 90


# Annotations -------------------------------------------------------------------------------------------------

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p, annotations: {{{annotations}}}}}
spec:
  initContainers:
  - {{name: migrate, image: "x:1"}}
  - {{name: proxy, image: "x:1", restartPolicy: Always}}
  containers:
  - {{name: app, image: "x:1", resources: {{limits: {{memory: 1Gi}}}}}}
  - {{name: log, image: "x:1"}}
"""


def behaviours(read_one: Read, annotations: str) -> dict[str, Behaviour]:
    return {part.name: part.behaviour for part in parts(read_one(POD.format(annotations=annotations)).spec)}


def test_what_is_usual(read_one: Read) -> None:
    usual = Behaviour()
    found = behaviours(read_one, "")
    assert found == {"migrate": Behaviour("exit-0", exits_after=0), "proxy": usual, "app": usual, "log": usual}


def test_what_is_said_of_a_pod_is_said_of_its_main_containers(read_one: Read) -> None:
    found = behaviours(read_one, "reconverge/behaviour: crashes, reconverge/starts-after: 1m")
    assert {name for name, each in found.items() if each == Behaviour("crashes", starts_after=60)} == {"app", "log"}


def test_what_a_program_uses_is_a_quantity(read_one: Read, error_of: Read) -> None:
    found = behaviours(read_one, "reconverge/memory.app: 600Mi, reconverge/disk: 2Gi")
    assert (found["app"].memory, found["app"].disk) == (600 * 2**20, 2 * 2**30)
    assert (found["log"].memory, found["log"].disk) == (None, 2 * 2**30)
    assert 'Did you mean "1Gi"?' in error_of(POD.format(annotations="reconverge/memory: 1 Gib"))


def test_what_is_said_of_one_container_is_said_of_it_alone(read_one: Read) -> None:
    given = "reconverge/behaviour.migrate: exit-1, reconverge/exits-after: 9s, reconverge/behaviour.log: exit-0"
    assert behaviours(read_one, given) == {
        "migrate": Behaviour("exit-1", exits_after=0),
        "proxy": Behaviour(),
        "app": Behaviour(exits_after=9),
        "log": Behaviour("exit-0", exits_after=9),
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "reconverge/behaviour.ap: crashes",
            'about a container "ap", and the pod has none of that name. Did you mean "app"?',
        ),
        ("reconverge/behaviour.app: crash", "must be one of ready, never-ready, not-ready-first"),
        ("reconverge/serves-after.app: 5s", "is about a pod as a whole, not about one container"),
        ("reconverge/stops-afte.app: 5s", 'Did you mean "reconverge/stops-after"?'),
        ("reconverge/behaviour: out-of-memory", 'out-of-memory needs a memory limit, and container "log" has none'),
    ],
)
def test_what_cannot_be_meant_is_refused(error_of: Read, given: str, said: str) -> None:
    error = error_of(POD.format(annotations=given))
    assert error.startswith("a.yaml:3: ")
    assert said in error


def test_a_dump_tells_of_ends_and_restarts(read_one: Read) -> None:
    text = (
        POD.format(annotations="")
        + """\
status:
  phase: Failed
  initContainerStatuses:
  - {name: migrate, restartCount: 2}
  containerStatuses:
  - {name: app, restartCount: 4, state: {terminated: {exitCode: 3}}}
  - {name: log, restartCount: 1, state: {terminated: {exitCode: 0}}}
"""
    )
    pod = read_one(text)
    assert (pod.restarts, pod.restarts_in_all, pod.exit_codes) == (4, 7, (("app", 3), ("log", 0)))


def test_an_init_container_has_a_name_of_its_own(error_of: Read) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: x}]\n"
    said = error_of(f"{pod}  initContainers: [{{name: c, image: x}}]\n")
    assert 'spec.initContainers[0].name repeats the name "c"' in said
