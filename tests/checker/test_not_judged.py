"""Budgets, Services and autoscalers of pods that nothing modelled makes: neither held nor violated, and it is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reconverge.checker import Scenario, check
from reconverge.checker.result import Result

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
"""
ROLLOUT = """\
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: shop}
spec:
  replicas: 3
  template: {metadata: {labels: {app: shop, tier: front}}}
---
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: kept}
spec: {minAvailable: 3, selector: {matchLabels: %s}}
---
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {selector: {app: shop}, ports: [{port: 80}]}
---
"""
SCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: shop}
spec: {scaleTargetRef: {apiVersion: %s, kind: %s, name: shop}, minReplicas: 2, maxReplicas: 5}
---
"""
KINDS = {
    "Prometheus": ("monitoring.coreos.com/v1", "{prometheus: k}"),
    "Alertmanager": ("monitoring.coreos.com/v1", "{app.kubernetes.io/name: alertmanager, alertmanager: k}"),
    "Kafka": ("kafka.strimzi.io/v1beta2", "{strimzi.io/cluster: k}"),
    "Elasticsearch": ("elasticsearch.k8s.elastic.co/v1", "{elasticsearch.k8s.elastic.co/cluster-name: k}"),
    "postgresql": ("acid.zalan.do/v1", "{cluster-name: k}"),
    "PostgresCluster": ("postgres-operator.crunchydata.com/v1beta1", "{postgres-operator.crunchydata.com/cluster: k}"),
    "Cluster": ("postgresql.cnpg.io/v1", "{cnpg.io/cluster: k}"),
    "Service": ("serving.knative.dev/v1", "{serving.knative.dev/service: k}"),
}

Checked = Callable[[str], Result]


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    """Checks manifests on a small cluster, by everything that an ordinary week brings."""

    def run(text: str) -> Result:
        (tmp_path / "a.yaml").write_text(text)
        return check(Scenario.from_manifests([tmp_path / "a.yaml"], nodes="2x4cpu,8Gi@a,b", events=1, deviations=0))

    return run


def said(result: Result) -> list[str]:
    return [each for each in result.warnings if "makes pods" not in each]


def test_a_budget_of_a_rollout_is_not_judged(checked: Checked) -> None:
    result = checked(WEB + ROLLOUT + BUDGET % "{app: shop}")
    assert result.violated == ()
    assert [each for each in result.verdicts if each.object == "poddisruptionbudget/kept"] == []
    assert said(result) == [
        "poddisruptionbudget/kept cannot be judged: only pods of Rollout shop match it, which is not modelled"
    ]
    assert any(each.startswith("Rollout shop makes pods and is not modelled: ") for each in result.warnings)


def test_the_same_budget_of_modelled_pods_is_judged(checked: Checked) -> None:
    result = checked(WEB + ROLLOUT + BUDGET % "{app: web}")
    assert said(result) == []
    assert {each.invariant for each in result.violated} == {"drain-completes"}


def test_pods_of_a_statefulset_have_labels_of_their_own(checked: Checked) -> None:
    sets = WEB.replace("Deployment", "StatefulSet").replace("replicas: 1", "replicas: 2")
    for ordinal, judged in ((1, True), (2, False)):
        selector = f"{{app: web, statefulset.kubernetes.io/pod-name: web-{ordinal}}}"
        service = SERVICE.replace("{app: shop}", selector)
        assert (said(checked(sets + service)) == []) is judged


@pytest.mark.parametrize("kind", KINDS)
def test_operators_say_which_pods_are_theirs(checked: Checked, kind: str) -> None:
    version, labels = KINDS[kind]
    maker = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: k}}\n---\n"
    result = checked(WEB + maker + BUDGET % labels)
    assert result.violated == ()
    (only,) = said(result)
    assert only.endswith(f"cannot be judged: only pods of {kind} k match it, which is not modelled")


def test_pods_that_may_be_meant_are_named_as_such(checked: Checked) -> None:
    maker = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k}\n---\n"
    (only,) = said(checked(WEB + maker + ROLLOUT + BUDGET % "{part-of: monitoring}"))
    assert only.endswith("it matches no pod that is modelled; it may be about those of Prometheus k")
    (only,) = said(checked(WEB + maker + BUDGET % "{prometheus: other}"))
    assert only.endswith("cannot be judged: it matches no pod that is modelled")


def test_resources_of_another_namespace_are_not_meant(checked: Checked) -> None:
    elsewhere = ROLLOUT.replace("{name: shop}", "{name: shop, namespace: far}")
    (only,) = said(checked(WEB + elsewhere + BUDGET % "{app: shop}"))
    assert only.endswith("it matches no pod that is modelled")


def test_a_budget_of_both_is_judged_by_what_is_modelled_and_says_so(checked: Checked) -> None:
    both = ROLLOUT.replace("{app: shop, tier: front}", "{app: web}")
    (only,) = said(checked(WEB + both + BUDGET % "{app: web}"))
    assert only == "poddisruptionbudget/kept is judged by the modelled pods alone: pods of Rollout shop match it, too"


def test_services_and_autoscalers_of_them_are_not_judged(checked: Checked) -> None:
    result = checked(WEB + ROLLOUT + SERVICE + SCALER % ("argoproj.io/v1alpha1", "Rollout"))
    assert result.violated == ()
    assert said(result) == [
        "service/shop cannot be judged: only pods of Rollout shop match it, which is not modelled",
        "horizontalpodautoscaler/shop cannot be judged: it scales Rollout shop, which is not modelled",
    ]


def test_an_autoscaler_without_its_target_is_not_judged(checked: Checked) -> None:
    result = checked(WEB + SCALER % ("apps/v1", "Deployment"))
    assert result.violated == ()
    assert said(result) == [
        "horizontalpodautoscaler/shop cannot be judged: it scales Deployment shop, which is not described"
    ]


def test_what_a_resource_has_made_is_judged_where_a_dump_shows_it(checked: Checked) -> None:
    owned = WEB.replace(
        "{name: web}",
        "{name: web, ownerReferences: [{apiVersion: a/v1, kind: Rollout, name: shop, uid: u, controller: true}]}",
    )
    result = checked(owned + ROLLOUT + BUDGET % "{app: web}")
    assert result.warnings == ()


@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no folder of manifests beside the project")
def test_budgets_of_kube_prometheus_that_only_its_operator_can_meet_are_not_judged() -> None:
    folder = CORPUS / "prometheus-operator+kube-prometheus" / "manifests"
    result = check(Scenario.from_manifests([folder], may={"drain": 1}, events=1, deviations=0))
    assert result.violated == ()
    assert [each for each in result.warnings if "cannot be judged" in each] == [
        f"poddisruptionbudget/monitoring/{name} cannot be judged: it matches no pod that is modelled"
        for name in ("alertmanager-main", "prometheus-k8s")
    ]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no folder of manifests beside the project")
def test_the_budget_of_cockroachdb_blocks_every_drain() -> None:
    (file,) = CORPUS.rglob("cockroachdb-statefulset.yaml")
    result = check(Scenario.from_manifests([file], may={"drain": 1}, events=1, deviations=0))
    assert {each.invariant for each in result.violated} == {"drain-completes"}
    (trace,) = result.traces
    assert [stroke.event for stroke in trace.strokes] == ["drain"]
    assert "The disruption budget cockroachdb-budget needs 3 healthy pods and has 3 currently" in trace.message
