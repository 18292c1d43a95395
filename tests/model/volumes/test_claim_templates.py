"""StatefulSets make claims for their pods and keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reconverge.model.labels import Selector, labels_of
from reconverge.model.objects import StatefulSet
from reconverge.model.objects.storage import CLAIM

Make = Callable[..., Any]


def test_claims_are_made_with_the_pods_and_outlive_them(start: Make, lab: Any, disk: Make, claim: Make) -> None:
    db = StatefulSet(
        name="db",
        replicas=2,
        selector=Selector(labels_of({"app": "db"})),
        template=lab.template(app="db"),
        claim_templates=("data",),
        claims=(claim(),),
    )
    nodes = [lab.node("n1", zone="a"), lab.node("n2", zone="b")]
    cluster = start(*nodes, disk(), db)
    written = [what for _, what in cluster.settle()]
    assert written.index("creates persistentvolumeclaim/data-db-0") < written.index("creates pod/db-0")
    assert cluster.get("Pod", "db-1").spec.claims == ("data-db-1",)
    home = cluster.get("Pod", "db-1").node
    cluster.edit("StatefulSet", "db", replicas=1)
    cluster.settle()
    assert cluster.get("Pod", "db-1") is None
    assert cluster.get(CLAIM, "data-db-1").bound
    cluster.edit("StatefulSet", "db", replicas=2)
    again = [what for _, what in cluster.settle()]
    assert not any("creates persistentvolumeclaim" in what for what in again)
    assert cluster.get("Pod", "db-1").node == home


def test_without_storage_there_are_no_claims(start: Make, lab: Any, claim: Make) -> None:
    selector = Selector(labels_of({"app": "db"}))
    db = StatefulSet(name="db", selector=selector, template=lab.template(app="db"), claims=(claim(),))
    cluster = start(lab.node("n1"), db)
    cluster.settle()
    assert cluster.get("Pod", "db-0").spec.claims == ()
    assert cluster.cluster.store.count(CLAIM) == 0
