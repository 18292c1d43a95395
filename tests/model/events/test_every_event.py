"""Every kind of event: when it can happen, what it says, and that scenarios can write it."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.checker import Scenario
from reconverge.checker.event_words import words_of
from reconverge.loading import LoadError
from reconverge.model import events as e
from reconverge.model.errors import ApiError
from reconverge.model.events import EVENTS, Event

WEB = "deployment/web"
FIRST = "deployment/web#0"

# What comes before, the event, what it says, and the arguments that a scenario writes.
CASES: list[tuple[list[Event], Event, str, dict[str, Any]]] = [
    ([], e.NodeCrashes("n1"), "node n1 crashes", {"node": "n1"}),
    ([e.NodeCrashes("n1")], e.NodeRecovers("n1"), "node n1 comes back", {"node": "n1"}),
    ([e.NodePartitioned("n1")], e.NodeRecovers("n1"), "node n1 comes back", {"node": "n1"}),
    ([e.RuntimeHangs("n1")], e.NodeRecovers("n1"), "node n1 comes back", {"node": "n1"}),
    ([], e.NodeReboots("n1"), "node n1 reboots", {"node": "n1"}),
    ([], e.NodePartitioned("n1"), "node n1 is cut off from the API server", {"node": "n1"}),
    ([], e.NodeDeleted("n1"), "the Node object n1 is deleted", {"node": "n1"}),
    ([], e.InstanceTerminated("n1"), "the instance of node n1 is terminated", {"node": "n1"}),
    ([], e.InstanceStopped("n1"), "the instance of node n1 is stopped", {"node": "n1"}),
    ([e.InstanceStopped("n1")], e.NodeRecovers("n1"), "node n1 comes back", {"node": "n1"}),
    ([], e.KubeletRestarts("n1"), "the kubelet of node n1 restarts", {"node": "n1"}),
    ([], e.RuntimeHangs("n1"), "the container runtime of node n1 hangs", {"node": "n1"}),
    ([], e.NetworkPluginFails("n1"), "the container network of node n1 fails", {"node": "n1"}),
    ([e.NetworkPluginFails("n1")], e.NodeRecovers("n1"), "node n1 comes back", {"node": "n1"}),
    ([], e.NetworkUnavailable("n1"), "node n1 has no route", {"node": "n1"}),
    (
        [e.NetworkUnavailable("n1")],
        e.NetworkUnavailable("n1", on=False),
        "node n1 has a route again",
        {"node": "n1", "on": False},
    ),
    ([], e.RegistryDown(), "the image registry stops answering", {}),
    ([e.RegistryDown()], e.RegistryBack(), "the image registry answers again", {}),
    ([], e.ContainerHangs(FIRST), f"a container of pod {FIRST} hangs", {"pod": FIRST}),
    ([], e.ContainerCrashes(FIRST, "c"), f"container c of pod {FIRST} crashes", {"pod": FIRST, "container": "c"}),
    ([], e.NodeOutOfMemory("n1"), "node n1 is out of memory and its kernel kills a container", {"node": "n1"}),
    ([], e.Cordon("n1"), "node n1 is cordoned", {"node": "n1"}),
    ([e.Cordon("n1")], e.Uncordon("n1"), "node n1 is uncordoned", {"node": "n1"}),
    ([], e.Drain("n1"), "drain of node n1", {"node": "n1"}),
    (
        [],
        e.LabelChanges("n1", (("disk", "ssd"), ("zone", None))),
        "node n1 is labelled disk=ssd, zone-",
        {"node": "n1", "labels": {"disk": "ssd", "zone": None}},
    ),
    ([], e.TaintAdded("n1", "db"), "node n1 is tainted db:NoSchedule", {"node": "n1", "key": "db"}),
    (
        [],
        e.TaintAdded("n1", "db", "x", "NoExecute"),
        "node n1 is tainted db=x:NoExecute",
        {"node": "n1", "key": "db", "value": "x", "effect": "NoExecute"},
    ),
    ([], e.TaintRemoved("n2", "db"), "node n2 loses its taint db", {"node": "n2", "key": "db"}),
    ([], e.ZoneFails("a"), "zone a goes down", {"zone": "a"}),
    ([e.ZoneFails("a")], e.ZoneRecovers("a"), "zone a comes back", {"zone": "a"}),
    ([], e.ControlPlaneCut(), "all kubelets are cut off from the API server", {}),
    ([], e.ControlPlaneCut("b"), "the kubelets of zone b are cut off from the API server", {"zone": "b"}),
    ([], e.Scale(WEB, 5), "deployment/web is scaled to 5", {"workload": WEB, "replicas": 5}),
    ([], e.RollOut(WEB), "rollout of deployment/web", {"workload": WEB}),
    (
        [],
        e.RollOut(WEB, "never-ready"),
        "rollout of deployment/web to a template that never gets ready",
        {"workload": WEB, "behaviour": "never-ready"},
    ),
    ([e.RollOut(WEB)], e.RollBack(WEB), "rollback of deployment/web", {"workload": WEB}),
    ([], e.RolloutPauses(WEB), "rollout of deployment/web is paused", {"workload": WEB}),
    ([e.RolloutPauses(WEB)], e.RolloutResumes(WEB), "rollout of deployment/web is resumed", {"workload": WEB}),
    ([], e.ObjectDeleted(WEB), "deployment/web is deleted", {"object": WEB}),
    ([], e.PodDeleted(FIRST), "pod deployment/web#0 is deleted", {"pod": FIRST}),
    ([], e.PodEvicted(FIRST), "pod deployment/web#0 is evicted", {"pod": FIRST}),
    ([], e.PodForceDeleted(FIRST), "pod deployment/web#0 is force-deleted", {"pod": FIRST}),
    ([], e.ContainerCrashes("pod/alone"), "a container of pod pod/alone crashes", {"pod": "pod/alone"}),
    ([], e.PodUnready(FIRST), "pod deployment/web#0 stops being ready", {"pod": FIRST}),
    ([e.PodUnready(FIRST)], e.PodReady(FIRST), "pod deployment/web#0 becomes ready", {"pod": FIRST}),
    ([], e.LoopPauses("scheduler"), "the scheduler loop stops making progress", {"loop": "scheduler"}),
    ([e.LoopPauses("scheduler")], e.LoopResumes("scheduler"), "the scheduler loop goes on", {"loop": "scheduler"}),
    ([], e.LoopRestarts("replicaset"), "the replicaset loop restarts", {"loop": "replicaset"}),
    (
        [],
        e.WatchStalls("replicaset", "Pod"),
        "the replicaset loop's watch of Pods stalls",
        {"loop": "replicaset", "kind": "Pod"},
    ),
    (
        [e.WatchStalls("replicaset", "Pod")],
        e.WatchCatchesUp("replicaset", "Pod"),
        "the replicaset loop's watch of Pods catches up",
        {"loop": "replicaset", "kind": "Pod"},
    ),
    ([], e.TimePasses(60), "60 seconds pass", {"seconds": 60}),
]
IDS = [f"{event.name}-{place}" for place, (_, event, _, _) in enumerate(CASES)]
ALWAYS = {"time", "control-plane-cut", "loop-restart", "delete", "rollout", "kubelet-restart", "node-reboot"}
"""Kinds that can happen again at once."""
ALWAYS |= {"drain", "force-delete-pod", "scale", "rollback", "container-crash", "pod-unready", "pod-ready"}
ALWAYS |= {"node-out-of-memory"}


@pytest.mark.parametrize(("before", "event", "words", "arguments"), CASES, ids=IDS)
def test_an_event_says_what_it_is(
    shop: Any, through_words: Any, before: list[Event], event: Event, words: str, arguments: Any
) -> None:
    made = shop()
    if before:
        assert not event.enabled(made.cluster), "nothing to do yet"
    made.happens(*before)
    assert event.enabled(made.cluster)
    assert event.describe() == str(event) == words
    assert words_of(event) == (event.name, arguments)
    assert through_words(event) == event
    struck, changes = made.plane.strike(made.cluster, event)
    assert struck is not made.cluster
    assert all(change.before != change.after for change in changes)
    if event.name not in ALWAYS:
        assert not event.enabled(struck), "it has happened"


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_candidates_can_happen_and_can_be_written(shop: Any, through_words: Any, name: str) -> None:
    made = shop()
    found = list(EVENTS[name].candidates(made.cluster, {}))
    assert len(set(map(str, found))) == len(found)
    for event in found:
        assert event.name == name
        assert event.enabled(made.cluster)
        assert through_words(event) == event
        try:
            made.plane.strike(made.cluster, event)
        except ApiError:
            assert name == "evict"


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_an_event_has_a_summary_and_is_one_of_will_accident_or_neither(name: str) -> None:
    kind = EVENTS[name]
    assert kind.name == name
    assert kind.summary
    assert kind.summary[0].islower()
    assert not kind.summary.endswith(".")
    assert not (kind.voluntary and kind.failure)


NOWHERE: list[Event] = [
    e.NodeCrashes("n9"), e.NodeRecovers("n9"), e.NodeReboots("n9"), e.NodePartitioned("n9"), e.NodeDeleted("n9"),
    e.InstanceTerminated("n9"), e.InstanceStopped("n9"), e.KubeletRestarts("n9"), e.RuntimeHangs("n9"),
    e.Cordon("n9"), e.Uncordon("n9"),
    e.Drain("n9"), e.LabelChanges("n9", (("a", "b"),)), e.TaintAdded("n9", "a"), e.TaintRemoved("n9", "a"),
    e.ZoneFails("z"), e.ZoneRecovers("z"), e.ControlPlaneCut("z"), e.Scale("deployment/no", 1),
    e.RollOut("deployment/no"), e.RollBack("deployment/no"), e.RolloutPauses("deployment/no"),
    e.RolloutResumes("deployment/no"), e.ObjectDeleted("deployment/no"), e.PodDeleted("deployment/no#0"),
    e.PodDeleted("deployment/web#7"), e.PodDeleted("deployment/web#x"), e.PodDeleted("pod/no"), e.PodEvicted("pod/no"),
    e.PodForceDeleted("no"), e.ContainerCrashes("pod/no"), e.PodUnready("pod/no"), e.PodReady("pod/no"),
    e.LoopPauses("no"), e.LoopResumes("no"), e.LoopRestarts("no"), e.WatchStalls("no", "Pod"),
    e.WatchCatchesUp("no", "Pod"), e.ManifestApplied(()), e.Scale("nothing/web", 1), e.ObjectDeleted("pod/alone"),
    e.RollOut("service/web"), e.Scale("node/n1", 3), e.RolloutPauses("pod/alone"), e.ProxyStalls("n1"),
    e.ProxyResumes("n9"),
]  # fmt: skip


@pytest.mark.parametrize("event", NOWHERE, ids=str)
def test_what_is_not_there_cannot_happen(shop: Any, event: Event) -> None:
    assert not event.enabled(shop().cluster)


def written(*steps: dict[str, Any]) -> None:
    Scenario.from_document(
        {
            "apiVersion": "reconverge/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "words"},
            "spec": {
                "nodePools": [{"name": "n", "count": 1, "allocatable": {"cpu": "1", "memory": "1Gi"}}],
                "steps": list(steps),
            },
        }
    )


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        ({"node-crush": {"node": "n1"}}, '"node-crash"'),
        ({"evicts": {"pod": "p"}}, '"evict"'),
        ({"drain": {"nodes": "n1"}}, "node"),
        ({"drain": {}}, "is required"),
        ({"scale": {"workload": WEB, "replicas": -1}}, "replicas"),
        ({"time": {"seconds": "long"}}, "seconds"),
    ],
)
def test_a_word_that_is_not_known_is_an_error_with_the_nearest_one(step: Any, complaint: str) -> None:
    with pytest.raises(LoadError, match=complaint):
        written(step)
