"""What is taken for granted about manifests, and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconverge.checker import Scenario

SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: db}]}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], storageClassName: disk, resources: {requests: {storage: 1Gi}}}
"""
CLASS = """\
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
"""


CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {{name: report}}
spec:
  schedule: "{schedule}"
  jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: a}}]}}}}}}}}
"""


@pytest.mark.parametrize(("schedule", "said"), [("0 3 31 2 *", True), ("0 3 29 2 *", False)])
def test_a_schedule_that_never_comes_is_told_of(tmp_path: Path, schedule: str, said: bool) -> None:
    (tmp_path / "cron.yaml").write_text(CRON.format(schedule=schedule))
    warnings = Scenario.from_manifests([tmp_path / "cron.yaml"], nodes="2x4cpu,8Gi").warnings
    assert (f'cronjob/report never runs: no day of its schedule "{schedule}" comes' in warnings) is said


@pytest.mark.parametrize(("text", "said"), [(SET, True), (SET + CLASS, False)])
def test_claims_without_their_class_are_said_to_constrain_nothing(tmp_path: Path, text: str, said: bool) -> None:
    (tmp_path / "db.yaml").write_text(text)
    warnings = Scenario.from_manifests([tmp_path / "db.yaml"], nodes="2x4cpu,8Gi").warnings
    assert any("with their StorageClass among the manifests" in each for each in warnings) is said
