"""The API objects of the model: frozen values, one module per family."""

from reconverge.model.objects.autoscaling import HorizontalPodAutoscaler
from reconverge.model.objects.daemonset import DaemonSet, DaemonSetStatus
from reconverge.model.objects.ingress import Ingress, IngressBackend, IngressClass
from reconverge.model.objects.job import CronJob, CronJobStatus, Job, JobStatus
from reconverge.model.objects.meta import ApiObject, OwnerReference
from reconverge.model.objects.node import Lease, Node, Taint
from reconverge.model.objects.placement import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from reconverge.model.objects.pod import BEHAVIOURS, Behaviour, Container, Pod, PodSpec, PodTemplate, Probe
from reconverge.model.objects.policy import BudgetStatus, PodDisruptionBudget, PriorityClass
from reconverge.model.objects.revision import ControllerRevision
from reconverge.model.objects.service import Endpoint, EndpointSlice, Service, ServicePort
from reconverge.model.objects.statefulset import StatefulSet, StatefulSetStatus
from reconverge.model.objects.workloads import (
    Condition,
    Deployment,
    DeploymentStatus,
    IntOrPercent,
    ReplicaSet,
    ReplicaSetStatus,
)

__all__ = [
    "BEHAVIOURS",
    "Affinity",
    "ApiObject",
    "Behaviour",
    "BudgetStatus",
    "Condition",
    "Container",
    "ControllerRevision",
    "CronJob",
    "CronJobStatus",
    "DaemonSet",
    "DaemonSetStatus",
    "Deployment",
    "DeploymentStatus",
    "Endpoint",
    "EndpointSlice",
    "HorizontalPodAutoscaler",
    "Ingress",
    "IngressBackend",
    "IngressClass",
    "IntOrPercent",
    "Job",
    "JobStatus",
    "Lease",
    "Node",
    "NodeSelectorTerm",
    "OwnerReference",
    "Pod",
    "PodAffinityTerm",
    "PodDisruptionBudget",
    "PodSpec",
    "PodTemplate",
    "PreferredNodeTerm",
    "PriorityClass",
    "Probe",
    "ReplicaSet",
    "ReplicaSetStatus",
    "Service",
    "ServicePort",
    "StatefulSet",
    "StatefulSetStatus",
    "Taint",
    "Toleration",
    "TopologySpreadConstraint",
    "WeightedPodAffinityTerm",
]
