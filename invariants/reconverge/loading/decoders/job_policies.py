"""What a Job says of failures and of success: podFailurePolicy, successPolicy, limits per index.

Source: `pkg/apis/batch/validation/validation.go` (validatePodFailurePolicy, validateSuccessPolicy, validateJobSpec),
`pkg/apis/batch/v1/defaults.go`.
"""

from __future__ import annotations

import re
from typing import Any

from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import PodTemplate
from reconverge.model.objects.job import FailureRule, SuccessRule

_FAILURE_POLICY = schema("pod failure policy", read="rules")
_FAILURE_RULE = schema("rule", read="action onExitCodes onPodConditions")
_EXIT_CODES = schema("exit codes", read="containerName operator values")
_CONDITION = schema("condition", read="type status")
_SUCCESS_POLICY = schema("success policy", read="rules")
_SUCCESS_RULE = schema("rule", read="succeededIndexes succeededCount")

REPLACEMENTS = ("TerminatingOrFailed", "Failed")
ACTIONS = ("FailJob", "FailIndex", "Ignore", "Count")
OPERATORS = ("In", "NotIn")
STATUSES = ("True", "False", "Unknown")
KNOWN_CONDITIONS = ("DisruptionTarget", "Ready", "ContainersReady", "PodScheduled")
MOST_COMPLETIONS = 100_000
"""Most completions of an Indexed Job whose indexes are told of one by one."""
_INDEXES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def job_policies(spec: Fields, template: PodTemplate, indexed: bool, completions: int | None) -> dict[str, Any]:
    """The policies of a Job as constructor arguments. Raises LoadError for what the API server refuses."""
    per_index = spec.optional_integer("backoffLimitPerIndex")
    most = spec.optional_integer("maxFailedIndexes")
    if per_index is not None and not indexed:
        raise spec.error("requires completionMode Indexed", "backoffLimitPerIndex")
    if per_index is not None and template.spec.restart_policy != "Never":
        raise spec.error('requires restartPolicy "Never"', "backoffLimitPerIndex")
    if most is not None and per_index is None:
        raise spec.error("requires backoffLimitPerIndex", "maxFailedIndexes")
    if most is not None and completions is not None and most > completions:
        raise spec.error(f"must be at most {completions}, the number of completions", "maxFailedIndexes")
    failure = _failure_policy(spec, template, per_index is not None)
    return {
        "limit_per_index": per_index,
        "most_failed_indexes": most,
        "failure_policy": failure,
        "success_policy": _success_policy(spec, indexed, completions),
        "replacement": _replacement(spec, bool(failure)),
    }


def _replacement(spec: Fields, with_policy: bool) -> str:
    """podReplacementPolicy: where a pod failure policy is set there is only the other one."""
    found = spec.choice("podReplacementPolicy", REPLACEMENTS, default=REPLACEMENTS[1 if with_policy else 0])
    if with_policy and found != REPLACEMENTS[1]:
        raise spec.error('must be "Failed" where a podFailurePolicy is set', "podReplacementPolicy")
    return found


def _failure_policy(spec: Fields, template: PodTemplate, per_index: bool) -> tuple[FailureRule, ...]:
    if "podFailurePolicy" not in spec:
        return ()
    if template.spec.restart_policy != "Never":
        raise spec.error('requires restartPolicy "Never"', "podFailurePolicy")
    policy = spec.child("podFailurePolicy", _FAILURE_POLICY)
    rules = tuple(_failure_rule(each, template, per_index) for each in policy.children("rules", _FAILURE_RULE))
    if not rules:
        raise policy.error("must have at least one rule", "rules")
    return rules


def _failure_rule(rule: Fields, template: PodTemplate, per_index: bool) -> FailureRule:
    action = rule.choice("action", ACTIONS)
    if action == "FailIndex" and not per_index:
        raise rule.error("FailIndex requires backoffLimitPerIndex", "action")
    by_code, by_condition = "onExitCodes" in rule, bool(rule.items("onPodConditions"))
    if by_code == by_condition:
        raise rule.error("must have one of onExitCodes and onPodConditions")
    if by_condition:
        return FailureRule(action, conditions=tuple(_conditions(rule)))
    exits = rule.child("onExitCodes", _EXIT_CODES)
    operator, codes = exits.choice("operator", OPERATORS), tuple(exits.items("values"))
    if not codes:
        raise exits.error("must have at least one exit code", "values")
    for code in codes:
        if isinstance(code, bool) or not isinstance(code, int):
            raise exits.wrong("values", code, "whole numbers")
    if operator == "In" and 0 in codes:
        raise exits.error("must not have 0 for the operator In", "values")
    container = exits.text("containerName") or None
    names = [each.name for each in (*template.spec.containers, *template.spec.init_containers)]
    if container is not None and container not in names:
        raise exits.error(f'must be one of the containers ({", ".join(names)}), not "{container}"', "containerName")
    return FailureRule(action, operator, codes, container)


def _conditions(rule: Fields) -> list[tuple[str, str]]:
    """(type, status) of each pattern. The model's pods have no conditions but those of KNOWN_CONDITIONS."""
    found = []
    for each in rule.children("onPodConditions", _CONDITION):
        type_ = each.required_text("type")
        if type_ not in KNOWN_CONDITIONS:
            each.unsupported("type")
        found.append((type_, each.choice("status", STATUSES, default="True")))
    return found


def _success_policy(spec: Fields, indexed: bool, completions: int | None) -> tuple[SuccessRule, ...]:
    if "successPolicy" not in spec:
        return ()
    if not indexed:
        raise spec.error("requires completionMode Indexed", "successPolicy")
    policy = spec.child("successPolicy", _SUCCESS_POLICY)
    rules = tuple(_success_rule(each, completions or 0) for each in policy.children("rules", _SUCCESS_RULE))
    if not rules:
        raise policy.error("must have at least one rule", "rules")
    return rules


def _success_rule(rule: Fields, completions: int) -> SuccessRule:
    count = rule.optional_integer("succeededCount", least=1)
    wanted = indexes(rule, "succeededIndexes") if "succeededIndexes" in rule else None
    if count is None and wanted is None:
        raise rule.error("must have succeededIndexes or succeededCount")
    if wanted and wanted[-1] >= completions:
        raise rule.error(f"must be below {completions}, the number of completions", "succeededIndexes")
    most = completions if wanted is None else len(wanted)
    if count is not None and count > most:
        raise rule.error(f"must be at most {most}", "succeededCount")
    return SuccessRule(wanted, count)


def indexes(fields: Fields, key: str) -> tuple[int, ...]:
    """Completion indexes as Kubernetes writes them, such as "0,2-4", in order."""
    text = fields.text(key)
    if not text:
        return ()
    if not _INDEXES.fullmatch(text):
        raise fields.wrong(key, text, 'indexes such as "0,2-4"')
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if int(last or first) > MOST_COMPLETIONS:
            raise fields.error(f"must be at most {MOST_COMPLETIONS}", key)
        found.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(found))
