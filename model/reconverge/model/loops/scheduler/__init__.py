"""The scheduler as a control loop.

`Scheduler` takes filters, scores, preemption and accounting as arguments; the parts are here to be replaced.
"""

from reconverge.model.loops.scheduler.accounting import Accounting
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.memory import SchedulerMemory
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter, Score
from reconverge.model.loops.scheduler.plugins import FILTERS, SCORES
from reconverge.model.loops.scheduler.preemption import Candidate, Outcome, Preemption
from reconverge.model.loops.scheduler.scheduler import Scheduler

__all__ = [
    "FILTERS",
    "SCORES",
    "Accounting",
    "Candidate",
    "Check",
    "Cycle",
    "Delta",
    "Failure",
    "Filter",
    "Outcome",
    "Preemption",
    "Scheduler",
    "SchedulerMemory",
    "Score",
]
