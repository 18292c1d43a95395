"""The Deployment controller: rolls templates out by scaling ReplicaSets."""

from reconverge.model.loops.deployment.controller import DeploymentController

__all__ = ["DeploymentController"]
