"""What the API answers to the script's requests: code, message and cause, compared with the recorded ones."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.recording import ScriptStep
from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError
from reconverge.model.loops.drain import DrainMemory

GRANTED = (201, None, ())


@frozen
class Answer:
    """(code, message, causes) that the model gives and that was recorded."""

    step: ScriptStep
    model: tuple[int, str | None, tuple[str, ...]]
    recorded: tuple[int, str | None, tuple[str, ...]]

    @property
    def same(self) -> bool:
        """Whether the model answers as the real API did."""
        return self.model == self.recorded

    def __str__(self) -> str:
        return f"{self.step}: the model answers {_words(self.model)}, recorded is {_words(self.recorded)}"


def answer_of(step: ScriptStep, cluster: Cluster, actions: Iterable[Action]) -> Answer:
    """The model's answer to a request at this moment; nothing is changed."""
    model: tuple[int, str | None, tuple[str, ...]] = GRANTED
    for action in actions:
        try:
            cluster, _ = action.apply(cluster)
        except ApiError as error:
            cause = getattr(error, "cause", None)
            model = (error.code, error.message, (cause,) if cause else ())
            break
    return Answer(step, model, recorded_answer(step))


def recorded_answer(step: ScriptStep) -> tuple[int, str | None, tuple[str, ...]]:
    """(code, message, messages of the causes) as they were recorded."""
    causes = tuple(each["message"] for each in step.get("causes") or ())
    return step.get("code"), step.get("message"), causes


def drained(step: ScriptStep, cluster: Cluster, names: Names) -> Answer:
    """Whether the drain is complete (1, else 0), and the pods that it waits for or has given up."""
    memory: DrainMemory = cluster.loops["drain"].memory
    drain = memory.get(step.get("node"))
    pods = () if drain is None else tuple(sorted(names.of_model("Pod", key.partition("/")[2]) for key in drain.pods))
    recorded = tuple(sorted(step.get("pods_left") or ()))
    return Answer(step, (int(not pods), None, pods), (int(bool(step.get("complete"))), None, recorded))


def missing_answer(step: ScriptStep, last: Answer) -> Answer:
    """The last answer of the model, which never gave the recorded one in time."""
    return Answer(step, last.model, last.recorded)


def _words(answer: tuple[int, str | None, tuple[str, ...]]) -> str:
    code, message, causes = answer
    return " ".join(str(part) for part in (code, message, *causes) if part)
