"""Which kinds there are: which make pods though they are not modelled, and what a kind is called.

Source: kinds that create pods, with their API groups, from the projects that define them.
"""

from __future__ import annotations

CORE_GROUPS = frozenset({"", "apps", "extensions", "batch", "policy", "autoscaling", "scheduling.k8s.io"})

POD_MAKERS: dict[tuple[str, str], str] = {
    ("", "ReplicationController"): "Kubernetes",
    ("acid.zalan.do", "postgresql"): "Zalando Postgres operator",
    ("agent.k8s.elastic.co", "Agent"): "ECK",
    ("apm.k8s.elastic.co", "ApmServer"): "ECK",
    ("apps.kruise.io", "BroadcastJob"): "OpenKruise",
    ("apps.kruise.io", "CloneSet"): "OpenKruise",
    ("apps.kruise.io", "DaemonSet"): "OpenKruise",
    ("apps.kruise.io", "StatefulSet"): "OpenKruise",
    ("apps.openshift.io", "DeploymentConfig"): "OpenShift",
    ("argoproj.io", "ArgoCD"): "Argo CD operator",
    ("argoproj.io", "CronWorkflow"): "Argo Workflows",
    ("argoproj.io", "Rollout"): "Argo Rollouts",
    ("argoproj.io", "Workflow"): "Argo Workflows",
    ("batch.volcano.sh", "Job"): "Volcano",
    ("beat.k8s.elastic.co", "Beat"): "ECK",
    ("cassandra.datastax.com", "CassandraDatacenter"): "cass-operator",
    ("ceph.rook.io", "CephCluster"): "Rook",
    ("ceph.rook.io", "CephFilesystem"): "Rook",
    ("ceph.rook.io", "CephObjectStore"): "Rook",
    ("clickhouse.altinity.com", "ClickHouseInstallation"): "ClickHouse operator",
    ("core.strimzi.io", "StrimziPodSet"): "Strimzi",
    ("crdb.cockroachlabs.com", "CrdbCluster"): "CockroachDB operator",
    ("databases.spotahome.com", "RedisFailover"): "Redis operator",
    ("elasticsearch.k8s.elastic.co", "Elasticsearch"): "ECK",
    ("flink.apache.org", "FlinkDeployment"): "Flink operator",
    ("grafana.integreatly.org", "Grafana"): "Grafana operator",
    ("jaegertracing.io", "Jaeger"): "Jaeger operator",
    ("jobset.x-k8s.io", "JobSet"): "JobSet",
    ("k8s.keycloak.org", "Keycloak"): "Keycloak operator",
    ("kafka.strimzi.io", "Kafka"): "Strimzi",
    ("kafka.strimzi.io", "KafkaBridge"): "Strimzi",
    ("kafka.strimzi.io", "KafkaConnect"): "Strimzi",
    ("kafka.strimzi.io", "KafkaMirrorMaker2"): "Strimzi",
    ("kafka.strimzi.io", "KafkaNodePool"): "Strimzi",
    ("keda.sh", "ScaledJob"): "KEDA",
    ("kibana.k8s.elastic.co", "Kibana"): "ECK",
    ("kubeflow.org", "MPIJob"): "Kubeflow",
    ("kubeflow.org", "Notebook"): "Kubeflow",
    ("kubeflow.org", "PyTorchJob"): "Kubeflow",
    ("kubeflow.org", "TFJob"): "Kubeflow",
    ("kubevirt.io", "VirtualMachine"): "KubeVirt",
    ("kubevirt.io", "VirtualMachineInstance"): "KubeVirt",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "LeaderWorkerSet",
    ("logstash.k8s.elastic.co", "Logstash"): "ECK",
    ("minio.min.io", "Tenant"): "MinIO operator",
    ("mongodbcommunity.mongodb.com", "MongoDBCommunity"): "MongoDB operator",
    ("monitoring.coreos.com", "Alertmanager"): "Prometheus operator",
    ("monitoring.coreos.com", "Prometheus"): "Prometheus operator",
    ("monitoring.coreos.com", "PrometheusAgent"): "Prometheus operator",
    ("monitoring.coreos.com", "ThanosRuler"): "Prometheus operator",
    ("mysql.oracle.com", "InnoDBCluster"): "MySQL operator",
    ("opensearch.opster.io", "OpenSearchCluster"): "OpenSearch operator",
    ("opentelemetry.io", "OpenTelemetryCollector"): "OpenTelemetry operator",
    ("operator.victoriametrics.com", "VMAgent"): "VictoriaMetrics operator",
    ("operator.victoriametrics.com", "VMAlert"): "VictoriaMetrics operator",
    ("operator.victoriametrics.com", "VMAlertmanager"): "VictoriaMetrics operator",
    ("operator.victoriametrics.com", "VMCluster"): "VictoriaMetrics operator",
    ("operator.victoriametrics.com", "VMSingle"): "VictoriaMetrics operator",
    ("pingcap.com", "TidbCluster"): "TiDB operator",
    ("postgres-operator.crunchydata.com", "PostgresCluster"): "Crunchy Postgres operator",
    ("postgresql.cnpg.io", "Cluster"): "CloudNativePG",
    ("postgresql.cnpg.io", "Pooler"): "CloudNativePG",
    ("psmdb.percona.com", "PerconaServerMongoDB"): "Percona operator",
    ("pxc.percona.com", "PerconaXtraDBCluster"): "Percona operator",
    ("rabbitmq.com", "RabbitmqCluster"): "RabbitMQ operator",
    ("ray.io", "RayCluster"): "KubeRay",
    ("ray.io", "RayJob"): "KubeRay",
    ("ray.io", "RayService"): "KubeRay",
    ("redis.redis.opstreelabs.in", "Redis"): "Redis operator",
    ("redis.redis.opstreelabs.in", "RedisCluster"): "Redis operator",
    ("scylla.scylladb.com", "ScyllaCluster"): "ScyllaDB operator",
    ("serving.knative.dev", "Configuration"): "Knative",
    ("serving.knative.dev", "Revision"): "Knative",
    ("serving.knative.dev", "Service"): "Knative",
    ("serving.kserve.io", "InferenceService"): "KServe",
    ("solr.apache.org", "SolrCloud"): "Solr operator",
    ("sparkoperator.k8s.io", "ScheduledSparkApplication"): "Spark operator",
    ("sparkoperator.k8s.io", "SparkApplication"): "Spark operator",
    ("tekton.dev", "PipelineRun"): "Tekton",
    ("tekton.dev", "TaskRun"): "Tekton",
    ("zookeeper.pravega.io", "ZookeeperCluster"): "ZooKeeper operator",
}
"""(API group, kind) of what makes pods, and whose it is. Those that have a decoder are modelled all the same."""


def makes_pods(kind: str, api_version: str) -> bool:
    """Whether objects of this kind make pods of their own."""
    return (api_version.rpartition("/")[0], kind) in POD_MAKERS


def display_kind(kind: str, api_version: str) -> str:
    """What a kind is called in a count: with its group where the group is not one of Kubernetes' own."""
    group = api_version.rpartition("/")[0]
    return kind if group in CORE_GROUPS or group.endswith(".k8s.io") else f"{kind}.{group}"
