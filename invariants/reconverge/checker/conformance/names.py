"""Which recorded object is which object of the model: a bijection that grows as objects are created."""

from __future__ import annotations

from attrs import frozen

from reconverge.model.persistent import EMPTY, Map


@frozen
class Names:
    """Names by kind, recorded to the model's and back. Names that are real in the recording stand for themselves."""

    recorded: Map[str, str] = EMPTY
    """`Kind/name` in the model to the recorded name."""
    model: Map[str, str] = EMPTY
    """`Kind/name` in the recording to the model's name."""

    def of_model(self, kind: str, name: str) -> str:
        """The recorded name of a model's object; its own name if none is known."""
        return self.recorded.get(f"{kind}/{name}", name)

    def of_recording(self, kind: str, name: str) -> str:
        """The model's name of a recorded object; its own name if none is known."""
        return self.model.get(f"{kind}/{name}", name)

    def known(self, kind: str, name: str) -> bool:
        """Whether the model's object has been given a recorded name."""
        return f"{kind}/{name}" in self.recorded

    def bound(self, kind: str, model: str, recorded: str) -> Names | None:
        """The names with one pair more; None if either is paired with something else.

        A name that exists in the recording as it is (a StatefulSet's pod) may be used again by a later incarnation.
        """
        here, there = f"{kind}/{model}", f"{kind}/{recorded}"
        if self.recorded.get(here, recorded) != recorded or self.model.get(there, model) != model:
            return None
        return Names(self.recorded.set(here, recorded), self.model.set(there, model))
