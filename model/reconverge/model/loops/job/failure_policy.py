"""What a Job's podFailurePolicy says of a failed pod.

Source: `pkg/controller/job/pod_failure_policy.go` (matchPodFailurePolicy).
"""

from __future__ import annotations

from reconverge.model.objects import Pod
from reconverge.model.objects.job import FailureRule

FAIL_JOB = "FailJob"
FAIL_INDEX = "FailIndex"
IGNORE = "Ignore"
COUNT = "Count"


def action_on(policy: tuple[FailureRule, ...], pod: Pod) -> str:
    """The action of the first rule that matches a failed pod; Count if none does."""
    return next((rule.action for rule in policy if matches(rule, pod)), COUNT)


def matches(rule: FailureRule, pod: Pod) -> bool:
    """Whether a rule is about the way in which the pod has failed."""
    if rule.operator:
        return any(_exit_matches(rule, name, code) for name, code in pod.exit_codes)
    return any(condition_of(pod, type_) == status for type_, status in rule.conditions)


def _exit_matches(rule: FailureRule, container: str, code: int) -> bool:
    """Containers that ended well, or whose end is not known, match nothing."""
    if code == 0 or (rule.container is not None and rule.container != container):
        return False
    return (code in rule.codes) == (rule.operator == "In")


def condition_of(pod: Pod, type_: str) -> str:
    """The status of a condition of the pod; empty for one that it does not have."""
    if type_ == "DisruptionTarget":
        return "True" if pod.disruption_target else ""
    if type_ in ("Ready", "ContainersReady"):
        return "True" if pod.ready else "False"
    if type_ == "PodScheduled":
        return "True" if pod.node is not None else "False"
    return ""
