"""The StatefulSet controller: pods with ordinals, one after the other."""

from reconverge.model.loops.statefulset.controller import StatefulSetController

__all__ = ["StatefulSetController"]
