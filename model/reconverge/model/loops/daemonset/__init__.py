"""The DaemonSet controller: one pod on every node that is fit for it."""

from reconverge.model.loops.daemonset.controller import DaemonSetController
from reconverge.model.loops.daemonset.manage import Manager
from reconverge.model.loops.daemonset.rolling import RollingUpdate

__all__ = ["DaemonSetController", "Manager", "RollingUpdate"]
