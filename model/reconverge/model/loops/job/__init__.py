"""The Job controller: pods until enough have succeeded, each counted once."""

from reconverge.model.loops.job.controller import JobController

__all__ = ["JobController"]
