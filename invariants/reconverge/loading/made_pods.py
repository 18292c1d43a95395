"""Which labels the pods carry that resources make whose controllers are not modelled.

Source: the documentation and the controllers of the projects that define them; a template, where there is one.
"""

from __future__ import annotations

from typing import Any

from reconverge.loading.document import Document
from reconverge.model.labels import Selector, labels_of

NAME = "{name}"
"""Stands for the resource's own name."""

_PROMETHEUS = "monitoring.coreos.com"
_MANAGED = {"app.kubernetes.io/managed-by": "prometheus-operator", "app.kubernetes.io/instance": NAME}
LABELS: dict[tuple[str, str], dict[str, str]] = {
    ("acid.zalan.do", "postgresql"): {"application": "spilo", "cluster-name": NAME},
    ("argoproj.io", "Workflow"): {"workflows.argoproj.io/workflow": NAME},
    ("cassandra.datastax.com", "CassandraDatacenter"): {"cassandra.datastax.com/datacenter": NAME},
    ("elasticsearch.k8s.elastic.co", "Elasticsearch"): {
        "common.k8s.elastic.co/type": "elasticsearch",
        "elasticsearch.k8s.elastic.co/cluster-name": NAME,
    },
    ("jobset.x-k8s.io", "JobSet"): {"jobset.sigs.k8s.io/jobset-name": NAME},
    ("kafka.strimzi.io", "Kafka"): {"strimzi.io/cluster": NAME, "strimzi.io/kind": "Kafka"},
    ("kafka.strimzi.io", "KafkaConnect"): {"strimzi.io/cluster": NAME, "strimzi.io/kind": "KafkaConnect"},
    ("kibana.k8s.elastic.co", "Kibana"): {"common.k8s.elastic.co/type": "kibana", "kibana.k8s.elastic.co/name": NAME},
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): {"leaderworkerset.sigs.k8s.io/name": NAME},
    (_PROMETHEUS, "Alertmanager"): {**_MANAGED, "app.kubernetes.io/name": "alertmanager", "alertmanager": NAME},
    (_PROMETHEUS, "Prometheus"): {**_MANAGED, "app.kubernetes.io/name": "prometheus", "prometheus": NAME},
    (_PROMETHEUS, "ThanosRuler"): {**_MANAGED, "app.kubernetes.io/name": "thanos-ruler", "thanos-ruler": NAME},
    ("postgres-operator.crunchydata.com", "PostgresCluster"): {"postgres-operator.crunchydata.com/cluster": NAME},
    ("postgresql.cnpg.io", "Cluster"): {"cnpg.io/cluster": NAME},
    ("rabbitmq.com", "RabbitmqCluster"): {"app.kubernetes.io/name": NAME},
    ("ray.io", "RayCluster"): {"ray.io/cluster": NAME},
    ("serving.knative.dev", "Service"): {"serving.knative.dev/service": NAME},
    ("serving.kserve.io", "InferenceService"): {"serving.kserve.io/inferenceservice": NAME},
}
"""By (API group, kind): labels that all of the pods have, whatever else the resource says."""

_TEMPLATES = (
    ("spec", "template", "metadata"),
    ("spec", "podMetadata"),
    ("spec", "kafka", "template", "pod", "metadata"),
)
"""Where resources give labels for the pods that they make."""


def known_labels(document: Document) -> dict[str, str]:
    """Labels that the pods made by a resource have for certain; they may have more."""
    usual = LABELS.get((document.group, document.kind), {})
    labels = {key: value.replace(NAME, document.name) for key, value in usual.items()}
    for path in _TEMPLATES:
        given = _at(document.value, (*path, "labels"))
        labels |= {key: value for key, value in (given or {}).items() if isinstance(value, str)}
    return labels


def selects(selector: Selector, document: Document) -> bool | None:
    """Whether a selector selects the pods that a resource makes; None if that is not known."""
    labels = known_labels(document)
    if selector.matches(labels_of(labels)):
        return True
    contradicted = any(labels.get(key, value) != value for key, value in selector.match_labels)
    whole = _at(document.value, (*_TEMPLATES[0], "labels")) is not None
    return False if contradicted or whole else None


def _at(value: Any, path: tuple[str, ...]) -> dict[str, Any] | None:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None
