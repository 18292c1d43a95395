"""The CronJob controller: a Job at each moment of a schedule."""

from reconverge.model.loops.cronjob.controller import CronJobController

__all__ = ["CronJobController"]
