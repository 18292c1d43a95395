"""Which kinds there are: which make pods though they are not modelled, and what a kind is called.

Source: kinds that create pods, with their API groups, from the projects that define them.
"""

from __future__ import annotations

CORE_GROUPS = frozenset({"", "apps", "extensions", "batch", "policy", "autoscaling", "scheduling.k8s.io"})

POD_MAKERS: dict[tuple[str, str], str] = {
    ("", "ReplicationController"): "Kubernetes",
    ("acid.zalan.do", "postgresql"): "Zalando Postgres operator",
    ("apps.kruise.io", "CloneSet"): "OpenKruise",
    ("apps.kruise.io", "StatefulSet"): "OpenKruise",
    ("apps.openshift.io", "DeploymentConfig"): "OpenShift",
    ("argoproj.io", "Rollout"): "Argo Rollouts",
    ("argoproj.io", "Workflow"): "Argo Workflows",
    ("cassandra.datastax.com", "CassandraDatacenter"): "cass-operator",
    ("elasticsearch.k8s.elastic.co", "Elasticsearch"): "ECK",
    ("kafka.strimzi.io", "Kafka"): "Strimzi",
    ("kafka.strimzi.io", "KafkaConnect"): "Strimzi",
    ("kafka.strimzi.io", "KafkaNodePool"): "Strimzi",
    ("jobset.x-k8s.io", "JobSet"): "JobSet",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "LeaderWorkerSet",
    ("monitoring.coreos.com", "Alertmanager"): "Prometheus operator",
    ("monitoring.coreos.com", "Prometheus"): "Prometheus operator",
    ("monitoring.coreos.com", "PrometheusAgent"): "Prometheus operator",
    ("monitoring.coreos.com", "ThanosRuler"): "Prometheus operator",
    ("postgresql.cnpg.io", "Cluster"): "CloudNativePG",
    ("rabbitmq.com", "RabbitmqCluster"): "RabbitMQ operator",
    ("ray.io", "RayCluster"): "KubeRay",
    ("ray.io", "RayJob"): "KubeRay",
    ("ray.io", "RayService"): "KubeRay",
    ("serving.knative.dev", "Service"): "Knative",
    ("serving.kserve.io", "InferenceService"): "KServe",
}
"""(API group, kind) of what makes pods, and whose it is. Those that have a decoder are modelled all the same."""


def makes_pods(kind: str, api_version: str) -> bool:
    """Whether objects of this kind make pods of their own."""
    return (api_version.rpartition("/")[0], kind) in POD_MAKERS


def display_kind(kind: str, api_version: str) -> str:
    """What a kind is called in a count: with its group where the group is not one of Kubernetes' own."""
    group = api_version.rpartition("/")[0]
    return kind if group in CORE_GROUPS or group.endswith(".k8s.io") else f"{kind}.{group}"
