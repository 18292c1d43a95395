"""The kubelet: runs on every machine, starts and stops what is bound to its node, and reports."""

from reconverge.model.loops.kubelet.loop import Kubelet

__all__ = ["Kubelet"]
