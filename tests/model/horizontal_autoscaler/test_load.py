"""Load: what it is at the start, how it is shared, how it changes."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import LoadChanges, Scale
from reconverge.model.labels import labels_of
from reconverge.model.load import LOAD, load_of, millicores, share_of
from reconverge.model.machines import Machines
from reconverge.model.objects import Deployment, HorizontalPodAutoscaler, Node
from reconverge.model.objects.autoscaling import Metric
from reconverge.model.standard import cluster_of


@pytest.mark.parametrize(("text", "amount"), [("800m", 800), ("1.5", 1500), ("2", 2000), ("0.1m", 1)])
def test_a_quantity_of_cpu(text: str, amount: int) -> None:
    assert millicores(text) == amount


def test_at_the_start_an_annotation_says_it(lab: Any) -> None:
    web = lab.web(3, annotations=labels_of({LOAD: "700m"}))
    assert load_of(cluster_of([web]).machines, web) == 700
    assert load_of(Machines(), web) == 700


@pytest.mark.parametrize(
    ("metric", "load"),
    [
        (Metric("Resource", "cpu", "Utilization", 50), 150),
        (Metric("Resource", "cpu", "AverageValue", 70), 210),
        (Metric("Resource", "memory", "Utilization", 50), 0),
    ],
)
def test_without_one_the_autoscaler_is_on_target(lab: Any, metric: Metric, load: int) -> None:
    web = lab.web(3)
    autoscaler = lab.autoscaler(metrics=(metric,))
    assert load_of(cluster_of([web, autoscaler]).machines, web) == load


def test_on_target_is_within_the_bounds(lab: Any) -> None:
    web = lab.web(1)
    autoscaler = lab.autoscaler(4, 10)
    assert load_of(cluster_of([web, autoscaler]).machines, web) == 200


def test_the_pods_that_serve_share_it(lab: Any) -> None:
    web = lab.web(4)
    lab.pods(2)
    lab.pods(1, ready=False)
    lab.pods(1, deletion_at=4030)
    lab.run(web=500, without=())
    assert share_of(lab.cluster.store, lab.cluster.machines, web) == 250


def test_by_default_it_doubles_and_halves(lab: Any) -> None:
    lab.web(4)
    lab.run(web=400)
    assert list(LoadChanges.candidates(lab.cluster, {})) == [
        LoadChanges("deployment/web", 800),
        LoadChanges("deployment/web", 200),
    ]
    assert list(LoadChanges.candidates(lab.cluster, {"millicores": [400, 90]})) == [LoadChanges("deployment/web", 90)]


def test_a_workload_without_load_has_no_ordinary_change_of_it(lab: Any) -> None:
    lab.web(4)
    lab.run()
    assert list(LoadChanges.candidates(lab.cluster, {})) == []


def test_nobody_scales_out_of_the_bounds_on_an_ordinary_day(lab: Any) -> None:
    lab.web(2)
    lab.autoscaler(2, 5)
    assert list(Scale.candidates(lab.cluster, {})) == [Scale("deployment/web", 3)]
    assert len(list(Scale.candidates(lab.cluster, {"replicas": [0, 9]}))) == 2


def test_clusters_without_autoscalers_have_no_load() -> None:
    cluster = cluster_of([Node(name="n1"), Deployment(name="web"), HorizontalPodAutoscaler(name="lost")])
    assert not cluster.machines.load
