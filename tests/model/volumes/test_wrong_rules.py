"""Wrong rules of the loops of volumes show in the examples that hold with the right ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconverge.checker import Scenario, check
from reconverge.model.loop import ControlLoop
from reconverge.model.loops.attach_detach import AttachDetachController
from reconverge.model.loops.persistent_volume import PersistentVolumeController, Terms
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.storage import StorageClass
from reconverge.model.standard import standard_control_plane
from reconverge.model.value import Seconds

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "volumes"


class NeverDetaches(AttachDetachController):
    """A disk stays where it was attached first."""

    def may_detach(self, node: Node | None, mounted: bool, waited: Seconds) -> str:
        return ""


class AttachesForNobody(AttachDetachController):
    """Pods that have not started do not count."""

    def wants(self, pod: Pod) -> bool:
        return super().wants(pod) and pod.phase == "Running"


class ForgetsZones(PersistentVolumeController):
    """A disk is made for a zone that has no nodes."""

    def topology(self, found: StorageClass, node: Node) -> Terms:
        return super().topology(found, node.with_(labels=(("topology.kubernetes.io/zone", "z"),)))


@pytest.mark.parametrize(
    ("loop", "example", "violated"),
    [
        (NeverDetaches(), "recreate-frees-the-disk", "replicas-restored"),
        (AttachesForNobody(), "recreate-frees-the-disk", "replicas-restored"),
        (ForgetsZones(), "disk-in-a-zone-that-comes-back", "replicas-restored"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, ControlLoop) else str(each),
)
def test_a_wrong_rule_is_found(loop: ControlLoop[object], example: str, violated: str) -> None:
    document = Scenario.from_file(EXAMPLES / f"{example}.scenario.yaml").document
    spec = document["spec"]
    if not spec.get("steps"):
        spec = {**spec, "may": {"drain": 1}}
    scenario = Scenario.from_document({**document, "spec": spec})
    assert violated not in {each.invariant for each in check(scenario).violated}
    result = check(scenario, plane=standard_control_plane().including(loop))
    assert violated in {each.invariant for each in result.violated}
