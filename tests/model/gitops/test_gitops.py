"""A second writer of specs (automated sync with self-healing)."""

from __future__ import annotations

import pytest

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait
from reconverge.model.events import ManifestApplied, Scale
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loops.gitops import GitOps, Manifest
from reconverge.model.objects import Deployment, PodTemplate
from reconverge.model.store import Store

WEB = labels_of({"app": "web"})
SAID = Deployment(name="web", replicas=3, selector=Selector(WEB), template=PodTemplate(WEB, digest="one"))
SILENT = frozenset({"replicas"})


class Lab:
    """deployment/web as its manifest says, under a GitOps controller that syncs every three minutes."""

    def __init__(self, leaving: frozenset[str] = frozenset()) -> None:
        self.plane = ControlPlane([GitOps([Manifest(SAID, leaving)], 180)])
        store, _ = Store({}).put(SAID)
        self.cluster = self.plane.start(Cluster(store, now=1000))
        self.settle()

    def settle(self) -> None:
        while (move := self.plane.next(self.cluster)) is not None:
            if isinstance(move, Wait):
                self.cluster = self.plane.wait(self.cluster, move.until)
            elif isinstance(move, Read):
                self.cluster = self.plane.begin(self.cluster, move, self.plane.plans(self.cluster, move)[0])
            else:
                self.cluster = self.plane.write(self.cluster, move).cluster

    def strike(self, event: Scale | ManifestApplied) -> None:
        self.cluster, _ = self.plane.strike(self.cluster, event)

    @property
    def web(self) -> Deployment:
        found = self.cluster.store.deployment("default/web")
        assert found is not None
        return found


def test_with_everything_in_order_it_rests() -> None:
    lab = Lab()
    assert lab.cluster.now == 1000
    assert lab.web.generation == 1


def test_what_differs_is_applied_at_the_next_sync() -> None:
    lab = Lab()
    lab.strike(Scale("deployment/web", 5))
    lab.settle()
    assert (lab.web.replicas, lab.cluster.now) == (3, 1180)


def test_what_the_manifest_does_not_say_is_left_alone() -> None:
    lab = Lab(SILENT)
    lab.strike(Scale("deployment/web", 5))
    lab.settle()
    assert (lab.web.replicas, lab.cluster.now) == (5, 1000)
    lab.strike(ManifestApplied((SAID.with_(template=PodTemplate(WEB, digest="two")),), leaving=("deployment/web",)))
    assert (lab.web.replicas, lab.web.template.digest) == (5, "two")
    lab.settle()
    assert (lab.web.replicas, lab.web.template.digest) == (5, "one")


def test_a_deleted_object_is_created_again() -> None:
    lab = Lab()
    store, change = lab.cluster.store.remove("Deployment", "default/web")
    lab.cluster = lab.plane.notify(lab.cluster.with_(store=store), (change,))
    lab.settle()
    assert (lab.web.replicas, lab.cluster.now) == (3, 1180)


def test_a_drift_that_goes_away_in_time_is_not_noticed() -> None:
    lab = Lab()
    lab.strike(Scale("deployment/web", 5))
    while not isinstance(move := lab.plane.next(lab.cluster), Wait):
        assert isinstance(move, Read)
        lab.cluster = lab.plane.begin(lab.cluster, move, lab.plane.plans(lab.cluster, move)[0])
    lab.strike(Scale("deployment/web", 3))
    lab.settle()
    assert (lab.cluster.now, lab.web.generation) == (1000, 3)


@pytest.mark.parametrize("leaving", [(), ("deployment/web",)])
def test_an_apply_sets_replicas_only_where_the_manifest_has_them(leaving: tuple[str, ...]) -> None:
    lab = Lab(SILENT)
    lab.strike(Scale("deployment/web", 5))
    lab.strike(ManifestApplied((SAID,), leaving))
    assert lab.web.replicas == (5 if leaving else 3)
