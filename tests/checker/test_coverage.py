"""What never happened is said, so that no claim is empty."""

from __future__ import annotations

from typing import Any

from reconverge.checker import check


def test_a_loop_that_had_nothing_to_do_is_named(build: Any) -> None:
    objects = (build.deployment("web", replicas=1), build.budget("nobody", minAvailable=1))
    never = check(build.scenario(*objects, may={"cordon": 1}, events=1, deviations=0)).coverage.never
    assert "the scheduler loop wrote nothing: no run gave it anything to do" in never
    assert "the disruption loop wrote nothing: no run gave it anything to do" in never
    assert not any("statefulset" in each for each in never)


def test_an_event_that_was_never_possible_is_named(build: Any) -> None:
    scenario = build.scenario(build.deployment("web", replicas=1), may={"resume-rollout": 1, "cordon": 1}, events=2)
    never = check(scenario).coverage.never
    assert "resume-rollout never happened: it was possible in no state that was reached" in never


def test_a_rollout_that_never_completes_anywhere_is_named(build: Any) -> None:
    rule = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}}
    scenario = build.scenario(
        build.deployment("web", replicas=2, pod=apart), may={"rollout": 1}, events=1, deviations=0
    )
    never = check(scenario).coverage.never
    assert any(each.startswith("some-rollout-completes was not seen once") for each in never)
