"""StatefulSets as they are written and dumped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Loaded
from reconverge.model.objects import Pod, StatefulSet

Text = Callable[..., str]
Read = Callable[[str], Any]

STATEFUL_SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
      - name: main
        image: postgres
"""


@pytest.fixture
def written(deployment: Text) -> Text:
    """The text of a StatefulSet with lines added."""
    return lambda spec="", pod="": deployment(spec, pod, base=STATEFUL_SET)


def test_the_defaults_are_those_of_the_api_server(read_one: Read, written: Text) -> None:
    db = read_one(written())
    assert isinstance(db, StatefulSet)
    assert (db.replicas, db.policy, db.strategy, db.partition) == (1, "OrderedReady", "RollingUpdate", 0)
    assert (db.min_ready, db.history_limit, db.first_ordinal, db.claim_templates) == (0, 10, 0, ())


def test_what_is_written_is_read(read_one: Read, written: Text) -> None:
    db = read_one(
        written(
            "replicas: 3\npodManagementPolicy: Parallel\nminReadySeconds: 5\nrevisionHistoryLimit: 2\n"
            "ordinals: {start: 4}\nupdateStrategy: {rollingUpdate: {partition: 2}}"
        )
    )
    assert (db.replicas, db.policy, db.partition, db.min_ready) == (3, "Parallel", 2, 5)
    assert (db.history_limit, db.first_ordinal) == (2, 4)


def test_the_oldest_version_waits_for_deletions(read_one: Read, written: Text) -> None:
    text = written().replace("apps/v1", "apps/v1beta1").replace("  selector: {matchLabels: {app: db}}\n", "")
    db = read_one(text)
    assert (db.strategy, db.partition) == ("OnDelete", None)
    assert dict(db.selector.match_labels) == {"app": "db"}
    rolling = read_one(text.replace("spec:\n  serv", "spec:\n  updateStrategy: {type: RollingUpdate}\n  serv"))
    assert (rolling.strategy, rolling.partition) == ("RollingUpdate", None)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("podManagementPolicy: parallel", 'Did you mean "Parallel"?'),
        ("updateStrategy: {type: Recreate}", "must be one of RollingUpdate, OnDelete"),
        ("updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}", "must be absent for strategy OnDelete"),
        ("updateStrategy: {rollingUpdate: {partition: -1}}", "partition must be at least 0"),
        ("updateStrategy: {rollingUpdate: {maxUnavailable: 0}}", "maxUnavailable must not be 0"),
        ("updateStrategy: {rollingUpdate: {maxUnavailable: two}}", "must be a whole number or a percentage"),
        ("strategy: {}", 'unknown field "spec.strategy". Did you mean "updateStrategy"?'),
        ("volumeClaimTemplates: [{spec: {}}]", "volumeClaimTemplates[0].metadata.name is required"),
    ],
)
def test_what_the_api_server_refuses_is_refused(error_of: Read, written: Text, spec: str, said: str) -> None:
    assert said in error_of(written(spec))


@pytest.mark.parametrize(("given", "most"), [("2", 2), ('"50%"', "50%")])
def test_how_many_an_update_may_take_is_a_count_or_a_share(
    read_one: Read, written: Text, given: str, most: int | str
) -> None:
    assert read_one(written(f"updateStrategy: {{rollingUpdate: {{maxUnavailable: {given}}}}}")).max_unavailable == most


def test_a_restart_policy_other_than_always_is_refused(error_of: Read, written: Text) -> None:
    assert "restartPolicy must be Always" in error_of(written(pod="restartPolicy: Never"))


def test_claims_are_named_and_accounted_as_not_supported(read_all: Callable[[str], Loaded], written: Text) -> None:
    loaded = read_all(written("volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]"))
    (db,) = loaded.objects
    assert isinstance(db, StatefulSet)
    assert db.claim_templates == ("data",)
    assert [each.path for each in loaded.accounting.unsupported] == ["spec.volumeClaimTemplates"]


def test_a_dump_has_its_status(read_all: Callable[[str], Loaded], written: Text, read_one: Read) -> None:
    spec = {
        "selector": {"matchLabels": {"app": "db"}},
        "template": {
            "metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "main", "image": "postgres"}]},
        },
    }
    status = {
        "replicas": 2, "readyReplicas": 1, "availableReplicas": 1, "currentReplicas": 1, "updatedReplicas": 1,
        "currentRevision": "db-1", "updateRevision": "db-2", "observedGeneration": 3,
    }  # fmt: skip
    meta = {"name": "db", "uid": "u-db", "generation": 3}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u-db", "controller": True}
    labels = {"app": "db", "controller-revision-hash": "db-2"}
    pod = {"name": "db-0", "uid": "u-0", "labels": labels, "ownerReferences": [owner]}
    items = [
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec, "status": status},
        {"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": {"containers": [{"name": "main"}]}},
    ]
    items[1]["spec"]["containers"][0]["image"] = "postgres"  # type: ignore[index]
    db, first = read_all(json.dumps({"apiVersion": "v1", "kind": "List", "items": items})).objects
    assert isinstance(db, StatefulSet)
    assert isinstance(first, Pod)
    assert (db.status.replicas, db.status.ready, db.status.current, db.status.updated) == (2, 1, 1, 1)
    assert (db.status.current_revision, db.status.update_revision) == ("db-1", "db-2")
    assert db.status.observed_generation == db.generation == 3
    assert first.owner is not None
    assert (first.owner.uid, first.template_digest) == (db.uid, db.template.digest)
