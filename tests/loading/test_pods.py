"""Pods and pod specs: requests, placement, volumes, behaviour, and the rules of the API server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.labels import Requirement, Selector
from reconverge.model.objects import Behaviour, Pod, PodSpec, Probe, Toleration
from reconverge.model.resources import Resources

Read = Callable[[str], Any]
Text = Callable[..., str]
GIB = 2**30


def resources(requests: str = "", limits: str = "") -> str:
    return f"resources: {{requests: {{{requests}}}, limits: {{{limits}}}}}"


def test_requests_are_in_millicores_and_bytes_rounded_up(spec_of: Callable[..., PodSpec]) -> None:
    given = "cpu: .5, memory: 1.5Gi, ephemeral-storage: 1G, nvidia.com/gpu: 1, hugepages-2Mi: 4Mi"
    assert spec_of(container=resources(given)).requests == Resources(
        500, 3 * GIB // 2, 10**9, (("hugepages-2Mi", 4 * 2**20), ("nvidia.com/gpu", 1))
    )
    assert spec_of(container=resources("cpu: 0.0001, memory: 512m")).requests == Resources(1, 1)


def test_a_request_defaults_to_its_limit(spec_of: Callable[..., PodSpec]) -> None:
    spec = spec_of(container=resources("cpu: 100m", "cpu: 1, memory: 1Gi, nvidia.com/gpu: '2'"))
    assert spec.requests == Resources(100, GIB, 0, (("nvidia.com/gpu", 2),))
    assert spec.containers[0].limits.cpu == 1000


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (resources("cpu: 2", "cpu: 1"), "requests for cpu must not be more than its limit"),
        (resources("memory: 512MB"), '.requests.memory is no quantity: "512MB". Did you mean "512M"?'),
        (resources("memory: -1"), "must not be negative"),
        (resources("memory: [1]"), "must be a quantity such as 500m or 1Gi, not a list"),
        (resources("cpus: 1"), 'requests.cpus is no resource that Kubernetes knows. Did you mean "cpu"?'),
        (resources("cpu: '${CPU}'"), "this is a template"),
        (resources("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"), "must equal its limit"),
        ("resources: {request: {cpu: 1}}", 'resources.request". Did you mean "requests"?'),
        ("restartPolicy: Sometimes", "must be one of Always, Never, OnFailure"),
        ("readinessProbe: {httpget: {}}", 'Did you mean "httpGet"?'),
        ("ports: [{containerPort: 80, protocol: tcp}]", 'Did you mean "TCP"?'),
        ("env: {}\nreadynessProbe: {}", 'Did you mean "readinessProbe"?'),
    ],
)
def test_bad_containers_are_refused(error_of: Read, deployment: Text, given: str, said: str) -> None:
    assert said in error_of(deployment(container=given))


def test_a_name_is_needed_and_used_once(error_of: Read, deployment: Text) -> None:
    assert "containers[0].name is required" in error_of(deployment().replace("name: main", "name:"))
    twice = deployment(container="") + "      - {name: main, image: x}\n"
    assert 'repeats the name "main"' in error_of(twice)


def test_host_ports_are_read_and_implied_by_the_hosts_network(spec_of: Callable[..., PodSpec]) -> None:
    ports = "ports: [{containerPort: 80, hostPort: 8080}, {containerPort: 53, protocol: UDP, hostIP: 10.0.0.1}]"
    assert spec_of(container=ports).containers[0].host_ports == (("0.0.0.0", "TCP", 8080),)
    assert spec_of("hostNetwork: true", ports).containers[0].host_ports == (
        ("0.0.0.0", "TCP", 8080),
        ("10.0.0.1", "UDP", 53),
    )


def test_probes_are_known_by_kind(spec_of: Callable[..., PodSpec]) -> None:
    spec = spec_of(container="readinessProbe: {httpGet: {port: 80}}\nstartupProbe: {exec: {command: [x]}}")
    container = spec.containers[0]
    assert (container.readiness, container.liveness, container.startup) == (Probe(), None, Probe())


def test_sidecars_are_init_containers_that_restart(spec_of: Callable[..., PodSpec]) -> None:
    spec = spec_of("initContainers:\n- {name: a, image: x, restartPolicy: Always}\n- {name: b, image: x}")
    assert [each.restart_policy for each in spec.init_containers] == ["Always", ""]


def test_a_pod_level_limit_stands_in_only_where_no_container_asks(spec_of: Callable[..., PodSpec]) -> None:
    level = "resources: {requests: {memory: 2Gi}, limits: {cpu: 3}}"
    assert spec_of(level, resources("memory: 1Gi")).requests == Resources(3000, 2 * GIB)
    assert spec_of(level, resources("cpu: 100m")).requests == Resources(100, 2 * GIB)


def test_placement_is_read_whole(spec_of: Callable[..., PodSpec]) -> None:
    spec = spec_of(
        """\
nodeSelector: {disk: ssd}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions: [{key: cores, operator: Gt, values: ["4"]}]
        matchFields: [{key: metadata.name, operator: In, values: [n1]}]
    preferredDuringSchedulingIgnoredDuringExecution:
    - {weight: 5, preference: {matchExpressions: [{key: zone, operator: Exists}]}}
  podAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 10
      podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {app: db}}, namespaceSelector: {}}
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      namespaces: [a, b]
      matchLabelKeys: [pod-template-hash]
      labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [x]}]}
tolerations:
- {operator: Exists}
- {key: a, value: b, effect: NoExecute, tolerationSeconds: 30}
topologySpreadConstraints:
- {topologyKey: zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeTaintsPolicy: Honor}
- {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}
priorityClassName: system-node-critical
preemptionPolicy: Never
schedulerName: mine
schedulingGates: [{name: wait}]
terminationGracePeriodSeconds: 5"""
    )
    affinity = spec.affinity
    assert spec.node_selector == (("disk", "ssd"),)
    assert affinity.node_required is not None
    assert affinity.node_required[0].expressions == (Requirement("cores", "Gt", ("4",)),)
    assert affinity.node_required[0].fields == (Requirement("metadata.name", "In", ("n1",)),)
    assert (affinity.node_preferred[0].weight, affinity.pod_preferred[0].weight) == (5, 10)
    assert affinity.pod_preferred[0].term.all_namespaces
    anti = affinity.anti_required[0]
    assert (anti.namespaces, anti.match_label_keys, anti.all_namespaces) == (("a", "b"), ("pod-template-hash",), False)
    assert anti.selector == Selector(match_expressions=(Requirement("app", "NotIn", ("x",)),))
    assert spec.tolerations == (Toleration(operator="Exists"), Toleration("a", "Equal", "b", "NoExecute", 30))
    first, second = spec.spread
    assert (first.max_skew, first.hard, first.selector, first.min_domains, first.honor_taints) == (
        2,
        True,
        None,
        3,
        True,
    )
    assert (second.hard, second.min_domains, second.honor_affinity) == (False, 1, True)
    assert (spec.priority_class, spec.preemption_policy) == ("system-node-critical", "Never")
    assert (spec.scheduler_name, spec.scheduling_gates, spec.termination_grace) == ("mine", ("wait",), 5)


_ANTI = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [%s]}}"
_SPREAD = "topologySpreadConstraints: [%s]"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (_ANTI % "{labelSelector: {}}", "topologyKey is required"),
        (_ANTI % "{topologyKey: z, labelSelector: {matchExpressions: [{key: a, operator: in, values: [b]}]}}", '"In"?'),
        (_ANTI % "{topologyKey: z, labelSelector: {matchExpressions: [{key: a, operator: In}]}}", "at least one value"),
        (_ANTI % "{topologyKey: z, labelSelector: {app: web}}", "belong under matchLabels"),
        (_SPREAD % "{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSCHEDULE}", 'Did you mean "DoNotSchedule"?'),
        (_SPREAD % "{topologyKey: z, maxSkew: 0, whenUnsatisfiable: DoNotSchedule}", "must be at least 1, not 0"),
        (_SPREAD % "{topologyKey: z, whenUnsatisfiable: DoNotSchedule}", "maxSkew is required"),
        (_SPREAD % "{topologyKey: z, maxSkew: 1}", "whenUnsatisfiable is required"),
        (_SPREAD % "{topologyKey: z, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}", "only with"),
        ("tolerations: [{key: a, operator: Exists, value: b}]", "must be absent for operator Exists"),
        ("tolerations: [{operator: Equal, value: b}]", "must be Exists where there is no key"),
        ("tolerations: [{key: a, operator: Exists, tolerationSeconds: 3}]", "must be NoExecute"),
        ("tolerations: [{key: a, operator: Exists, effect: NoSchedul}]", 'Did you mean "NoSchedule"?'),
        ("nodeSelector: {disk: 1}", 'must be a string, not 1 (put it in quotes: "1")'),
        ("nodeSelector: {disk: 'a b'}", "is no valid label value"),
        ("nodeSelector: [a]", "must be a mapping, not a list"),
        ("volumes: [{name: a, emptydir: {}}]", 'Did you mean "emptyDir"?'),
        ("initContainers: [3]", "initContainers[0] must be a mapping, not 3"),
        ("terminationGracePeriodSeconds: 30s", 'must be a whole number, not "30s"'),
    ],
)
def test_bad_pod_specs_are_refused(error_of: Read, deployment: Text, given: str, said: str) -> None:
    assert said in error_of(deployment(pod=given))


def test_volumes_matter_by_kind(spec_of: Callable[..., PodSpec]) -> None:
    spec = spec_of(
        "volumes:\n- {name: a, emptyDir: {}}\n- {name: b, configMap: {name: x}}\n- {name: c, hostPath: {path: /x}}\n"
        "- {name: d, persistentVolumeClaim: {claimName: data}}"
    )
    assert (spec.volumes, spec.claims) == (("emptyDir", "hostPath", "persistentVolumeClaim"), ("data",))


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ("", Behaviour()),
        ("reconverge/behaviour: never-ready", Behaviour("never-ready")),
        ("reconverge/serves-after: 30", Behaviour(serves_after=30)),
        ("reconverge/stops-after: '2m'", Behaviour(stops_after=120)),
        ("reconverge/behaviour: exit-1, reconverge/exits-after: '0.5'", Behaviour("exit-1", exits_after=0.5)),
    ],
)
def test_annotations_say_how_containers_behave(
    read_one: Read, deployment: Text, annotations: str, expected: Behaviour
) -> None:
    text = deployment().replace("{labels: {app: web}}", f"{{labels: {{app: web}}, annotations: {{{annotations}}}}}")
    assert read_one(text).template.spec.behaviour == expected


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ("reconverge/behaviour: redy", 'Did you mean "ready"?'),
        ("reconverge/behavior: ready", 'Did you mean "reconverge/behaviour"?'),
        ("reconverge/serves-after: soon", 'must be a number of seconds, not "soon"'),
        ("reconverge/load: 800m", "belongs on the workload"),
    ],
)
def test_bad_behaviour_is_an_error(error_of: Read, deployment: Text, annotation: str, said: str) -> None:
    text = deployment().replace("{labels: {app: web}}", f"{{labels: {{app: web}}, annotations: {{{annotation}}}}}")
    assert said in error_of(text)


def test_behaviour_belongs_on_the_template_and_load_on_the_workload(
    read_one: Read, error_of: Read, deployment: Text
) -> None:
    def annotated(annotation: str) -> str:
        return deployment().replace("  name: web\n", f"  name: web\n  annotations: {{{annotation}}}\n")

    assert "belongs on the pod template" in error_of(annotated("reconverge/behaviour: ready"))
    assert read_one(annotated("reconverge/load: 800m")).annotations == (("reconverge/load", "800m"),)
    assert "is no quantity" in error_of(annotated("reconverge/load: much"))


def test_annotations_are_free_text(read_one: Read, deployment: Text) -> None:
    text = deployment().replace("  name: web\n", "  name: web\n  annotations: {a: '{{ x }} ${Y}'}\n")
    assert read_one(text).annotations == (("a", "{{ x }} ${Y}"),)


POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a%s}\nspec:\n  containers: [{name: m, image: x}]\n%s"


def test_a_bare_pod_keeps_the_node_its_author_chose(read_one: Read) -> None:
    pod = read_one(POD % (", namespace: x", "  nodeName: n1\n"))
    assert isinstance(pod, Pod)
    assert (pod.key, pod.node, pod.spec.node_name, pod.phase, pod.ready) == ("x/a", "n1", "n1", "Pending", False)


def test_generated_names_are_numbered(read_all: Read) -> None:
    text = (POD % ("", "")).replace("name: a}", "generateName: job-}")
    assert [each.name for each in read_all(f"{text}---\n{text}").objects] == ["job-0", "job-1"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My_App", 'Did you mean "my-app"?'),
        ("'{{ .Release.Name }}'", "this is a template"),
        ("'@NAME@'", "this is a template"),
        ("3", "must be a string, not 3"),
        ("''", "metadata.name is required"),
    ],
)
def test_names_are_checked(error_of: Read, name: str, said: str) -> None:
    assert said in error_of((POD % ("", "")).replace("name: a", f"name: {name}"))


def test_a_file_of_pods_reports_a_template_in_labels(error_of: Read) -> None:
    assert "this is a template" in error_of(POD % (", labels: {app: '${APP}'}", ""))
