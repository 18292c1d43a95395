"""Recordings that the model makes of itself, with everything at once and in a random order, as a real one would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

from reconverge.checker.conformance.answers import answer_of
from reconverge.checker.conformance.batches import orders
from reconverge.checker.conformance.finish import objects_of
from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.projections import PROJECTIONS
from reconverge.checker.conformance.recording import Recording, read_recording
from reconverge.checker.conformance.run import Ask, Begin, Entry, Happen, Make, Move, Mover, Pass, Point
from reconverge.checker.conformance.script import strokes
from reconverge.checker.conformance.simulated import recorded_control_plane
from reconverge.checker.conformance.start import start_cluster
from reconverge.model.control_plane import Read

SETTINGS = {
    "apiserver": ["--default-not-ready-toleration-seconds=3", "--default-unreachable-toleration-seconds=3"],
    "controller_manager": ["--node-monitor-period=500ms", "--node-monitor-grace-period=4s"],
    "scheduler": [],
    "kubelet_seconds": {
        "start_delay": 0.5, "stop_delay": 1.0, "stop_delay_not_started": 0.3, "not_ready_first_delay": 2.0,
        "node_ready_delay": 0.3,
    },
}  # fmt: skip
QUIET = 3.3
"""Seconds without anything after which the script goes on."""
MOST_MOVES = 6000


def node(name: str, zone: str, cpu: str = "4") -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    allocatable = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": allocatable}}  # fmt: skip


class Recorder:
    """Plays a script on the model in a random order of everything that may happen, and keeps what is seen."""

    def __init__(self, objects: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]], seed: int) -> None:
        self.random = Random(seed)
        self.document: dict[str, Any] = {
            "name": f"own-{seed}", "kubernetes": "1.36", "settings": SETTINGS, "objects": list(objects),
            "initial": {"Node": {each["metadata"]["name"]: {} for each in objects if each["kind"] == "Node"}},
            "steps": [{"t": 0.0, **step} for step in steps], "history": [], "final": {},
        }  # fmt: skip
        self.plane = recorded_control_plane()
        self.mover = Mover(self.plane)
        self.number = count(1)
        recording = read_recording(self.document)
        self.strokes = strokes(recording)
        self.point = Point(start_cluster(recording, self.plane), (), Names())

    def recording(self) -> Recording:
        """The recording of the whole script."""
        for stroke in self.strokes:
            self._strike(stroke)
            self._play()
        self.document["steps"].append({"t": self.now, "do": "quiet"})
        final = {kind: objects_of(self.point, kind) for kind in PROJECTIONS}
        self.document["final"] = {kind: found for kind, found in final.items() if found}
        return read_recording(self.document)

    @property
    def now(self) -> float:
        return round(self.point.cluster.now, 3)

    def _strike(self, stroke: Any) -> None:
        step = self.document["steps"][stroke.step.index]
        step["t"] = self.now
        if stroke.incident is not None:
            self._take(Happen(stroke.step.index, stroke.incident))
        elif stroke.request is not None:
            actions = stroke.request(self.point.cluster, self.point.names)
            if not actions:
                raise ValueError(f"nothing to be done for {stroke.step}")
            if step["do"] == "evict":
                code, message, causes = answer_of(stroke.step, self.point.cluster, actions[:1]).model
                step.update(code=code)
                if code != 201:
                    step.update(message=message, causes=[{"message": cause} for cause in causes])
                    return
            self._take(Ask(next(self.number), stroke.step.index, actions))

    def _play(self) -> None:
        """Until nothing has happened for a while."""
        quiet_from = self.now
        for _ in range(MOST_MOVES):
            moves = self._moves()
            if moves:
                if self._take(self.random.choice(moves)):
                    quiet_from = self.now
                    self._pass(self.random.choice((0.0, 0.0, 0.002, 0.01)))
                continue
            due = self.plane.next_deadline(self.point.cluster)
            if due is None or due > quiet_from + QUIET:
                self._pass(quiet_from + QUIET - self.now)
                return
            self._take(Pass(max(due, self.point.cluster.now)))

    def _pass(self, seconds: float) -> None:
        self._take(Pass(self.point.cluster.now + seconds))

    def _take(self, move: Move) -> bool:
        """Makes a move; whether something was seen."""
        entry: Entry | None = self.mover.move(self.point, move)
        assert entry is not None, move
        self.point = entry.point
        for each in entry.seen:
            rv = len(self.document["history"])
            self.document["history"].append(
                {"t": self.now, "rv": rv, "ev": each.event, "kind": each.kind, "name": each.name,
                 **each.fields}
            )  # fmt: skip
        return bool(entry.seen)

    def _moves(self) -> list[Move]:
        moves: list[Move] = []
        for flight in self.point.flights:
            moves += [Make(flight.number, order[0]) for order in orders(flight.actions)]
        for loop in self.plane.names:
            for key in self.point.awake(loop):
                if not self.point.flights_of(loop, key):
                    moves.append(self._begin(loop, key))
        return moves

    def _begin(self, loop: str, key: str) -> Begin:
        plans = list(self.plane.plans(self.point.cluster, Read(loop, key)))
        choice = self.random.randrange(len(plans))
        return Begin(next(self.number), loop, key, plans[choice].actions, choice)
