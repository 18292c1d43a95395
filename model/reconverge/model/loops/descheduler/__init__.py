"""The descheduler as an optional loop.

`Descheduler` takes a policy; strategies, the fit test and the choice of whom to evict are classes to be replaced.
"""

from reconverge.model.loops.descheduler.evictor import Evictor
from reconverge.model.loops.descheduler.fit import NodeFit
from reconverge.model.loops.descheduler.loop import Descheduler, DeschedulerMemory
from reconverge.model.loops.descheduler.policy import (
    DeschedulerPolicy,
    EvictorSettings,
    LowUtilizationSettings,
    NodeAffinitySettings,
    RemoveDuplicatesSettings,
    SpreadSettings,
)

__all__ = [
    "Descheduler",
    "DeschedulerMemory",
    "DeschedulerPolicy",
    "Evictor",
    "EvictorSettings",
    "LowUtilizationSettings",
    "NodeAffinitySettings",
    "NodeFit",
    "RemoveDuplicatesSettings",
    "SpreadSettings",
]
