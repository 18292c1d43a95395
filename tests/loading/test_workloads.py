"""Deployments and ReplicaSets: defaults, rules of the API server, parts that are no whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Loaded
from reconverge.model.labels import Selector
from reconverge.model.objects import Deployment, ReplicaSet

Read = Callable[[str], Any]
Text = Callable[..., str]


def test_defaults_are_the_api_servers(read_one: Read, deployment: Text) -> None:
    web = read_one(deployment())
    assert isinstance(web, Deployment)
    assert (web.replicas, web.strategy, web.max_surge, web.max_unavailable) == (1, "RollingUpdate", "25%", "25%")
    assert (web.min_ready, web.progress_deadline, web.history_limit, web.paused) == (0, 600, 10, False)
    assert (web.namespace, web.key, web.selector) == ("default", "default/web", Selector((("app", "web"),)))
    assert web.template.labels == (("app", "web"),)
    assert web.template.spec.termination_grace == 30


@pytest.mark.parametrize(
    ("version", "surge", "deadline", "history"),
    [
        ("apps/v1beta2", "25%", 600, 10),
        ("apps/v1beta1", "25%", 600, 2),
        ("extensions/v1beta1", 1, None, 2**31 - 1),
    ],
)
def test_old_versions_have_their_own_defaults(
    read_one: Read, deployment: Text, version: str, surge: int | str, deadline: int | None, history: int
) -> None:
    web = read_one(deployment().replace("apps/v1", version))
    assert (web.max_surge, web.progress_deadline, web.history_limit) == (surge, deadline, history)


def test_the_oldest_versions_take_the_selector_from_the_labels(read_one: Read, deployment: Text) -> None:
    text = deployment().replace("apps/v1", "extensions/v1beta1").replace("  selector: {matchLabels: {app: web}}\n", "")
    assert read_one(text).selector == Selector((("app", "web"),))


def test_numbers_may_be_written_as_kubectl_takes_them(read_one: Read, deployment: Text) -> None:
    assert read_one(deployment("replicas: 3.0")).replicas == 3
    assert read_one(deployment("replicas: 1e1")).replicas == 10
    assert read_one(deployment("replicas: null")).replicas == 1


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("replicas: many", 'a.yaml:6: spec.replicas must be a whole number, not "many"'),
        ('replicas: "3"', 'a.yaml:6: spec.replicas must be a whole number, not "3". Did you mean 3?'),
        ("replicas: -1", "a.yaml:6: spec.replicas must be at least 0, not -1"),
        ("replicas: 1.5", "a.yaml:6: spec.replicas must be a whole number, not 1.5"),
        ("replicas: true", "a.yaml:6: spec.replicas must be a whole number, not true"),
        ("paused: maybe", 'a.yaml:6: spec.paused must be true or false, not "maybe"'),
        ("replcas: 3", 'a.yaml:6: unknown field "spec.replcas". Did you mean "replicas"?'),
        ("Replicas: 3", 'a.yaml:6: unknown field "spec.Replicas". Did you mean "replicas"?'),
        ("strategy: {type: rollingupdate}", 'Did you mean "RollingUpdate"?'),
        ("strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}", "must be absent for strategy Recreate"),
        ("strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}", "must not be 0 where maxSurge is 0"),
        ('strategy: {rollingUpdate: {maxSurge: "0%", maxUnavailable: 0}}', "must not be 0 where maxSurge is 0"),
        ("strategy: {rollingUpdate: {maxUnavailable: 101%}}", "must not be more than 100%, not 101%"),
        ("strategy: {rollingUpdate: {maxSurge: 25 %}}", 'a whole number or a percentage such as "25%", not "25 %"'),
        ('strategy: {rollingUpdate: {maxSurge: "1"}}', "Did you mean 1?"),
        ("minReadySeconds: 600", "progressDeadlineSeconds must be more than minReadySeconds (600)"),
        ("strategy: RollingUpdate", 'spec.strategy must be a mapping, not "RollingUpdate"'),
    ],
)
def test_what_the_api_server_refuses_is_refused(error_of: Read, deployment: Text, spec: str, said: str) -> None:
    assert said in error_of(deployment(spec))


@pytest.mark.parametrize("value", ["${REPLICAS:-1}", "'{{ .Values.replicas }}'", "'@REPLICAS@'"])
def test_a_placeholder_for_a_number_is_a_template(error_of: Read, deployment: Text, value: str) -> None:
    said = error_of(deployment(f"replicas: {value}"))
    assert said.startswith("a.yaml:6: spec.replicas must be a whole number")
    assert "this is a template; render it first with helm template / kubectl kustomize / envsubst" in said


def test_surge_without_unavailable_is_fine(read_one: Read, deployment: Text) -> None:
    web = read_one(deployment("strategy: {rollingUpdate: {maxSurge: 0}}"))
    assert (web.max_surge, web.max_unavailable) == (0, "25%")


def test_no_deadline_is_written_as_the_largest_number(read_one: Read, deployment: Text) -> None:
    assert read_one(deployment("progressDeadlineSeconds: 2147483647")).progress_deadline is None


def test_the_selector_must_match_the_template(error_of: Read, deployment: Text) -> None:
    assert error_of(deployment().replace("labels: {app: web}", "labels: {app: other}")) == (
        "a.yaml:6: spec.selector does not match the labels of the pod template"
    )
    empty = deployment().replace("{matchLabels: {app: web}}", "{matchLabels: {}}")
    assert "spec.selector must not be empty" in error_of(empty)


def test_a_restart_policy_other_than_always_is_refused(error_of: Read, deployment: Text) -> None:
    said = error_of(deployment(pod="restartPolicy: Never"))
    assert said == 'a.yaml:10: spec.template.spec.restartPolicy must be Always, not "Never"'


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text[: text.index("      containers")] + "      nodeSelector: {a: b}\n", "no containers"),
        (lambda text: text.replace("        image: nginx\n", ""), "a container without an image"),
        (lambda text: text.replace("  selector: {matchLabels: {app: web}}\n", ""), "no selector"),
        (lambda text: text.replace("      - name: main\n", "      - $patch: delete\n        name: main\n"), "a $patch"),
        (lambda text: text[: text.index("spec:")] + "spec: {replicas: 3}\n", "no containers"),
    ],
)
def test_a_patch_is_left_out_with_a_note(
    read_all: Callable[[str], Loaded], deployment: Text, change: Callable[[str], str], reason: str
) -> None:
    loaded = read_all(change(deployment()))
    assert loaded.objects == ()
    assert loaded.skipped == {"Deployment": 1}
    (note,) = loaded.notes
    assert str(note).startswith(f"a.yaml:1: deployment/web is left out: {reason}")


def test_the_digest_tells_templates_apart(read_one: Read, deployment: Text) -> None:
    one, other = read_one(deployment()), read_one(deployment().replace("nginx", "nginx:2"))
    assert one.template.digest == read_one(deployment("replicas: 5")).template.digest
    assert one.template.digest != other.template.digest
    assert len(one.template.digest) == 10
    assert set(one.template.digest) <= set("0123456789abcdef")


def test_a_replica_set_has_the_annotations_of_its_deployment(read_one: Read, deployment: Text) -> None:
    text = deployment("replicas: 2\nminReadySeconds: 5").replace("Deployment", "ReplicaSet")
    annotations = (
        "annotations: {deployment.kubernetes.io/revision: '7', deployment.kubernetes.io/desired-replicas: '2', "
        "deployment.kubernetes.io/max-replicas: '3'}"
    )
    web = read_one(text.replace("  name: web\n", f"  name: web\n  {annotations}\n"))
    assert isinstance(web, ReplicaSet)
    assert (web.replicas, web.min_ready, web.deployment_revision) == (2, 5, 7)
    assert (web.desired_replicas, web.max_replicas) == (2, 3)
