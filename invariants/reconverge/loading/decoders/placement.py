"""Affinity, tolerations, topology spread.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from reconverge.loading.decoders.meta import OPERATORS, requirements, selector
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_AFFINITY = schema("affinity", read="nodeAffinity podAffinity podAntiAffinity")
_RULES = schema("affinity rules", read=f"{REQUIRED} {PREFERRED}")
_NODE_SELECTOR = schema("node selector", read="nodeSelectorTerms")
_NODE_TERM = schema("node selector term", read="matchExpressions matchFields")
_PREFERRED_NODE = schema("preferred node term", read="weight preference")
_POD_TERM = schema(
    "pod affinity term",
    read="labelSelector topologyKey namespaces namespaceSelector matchLabelKeys mismatchLabelKeys",
)
_WEIGHTED = schema("weighted pod affinity term", read="weight podAffinityTerm")
_TOLERATION = schema("toleration", read="key operator value effect tolerationSeconds")
_SPREAD = schema(
    "topology spread constraint",
    read="topologyKey maxSkew whenUnsatisfiable labelSelector minDomains matchLabelKeys nodeAffinityPolicy "
    "nodeTaintsPolicy",
)


def affinity(fields: Fields) -> Affinity:
    """All affinity rules of a pod spec."""
    level = fields.child("affinity", _AFFINITY)
    node, pod, anti = (level.child(key, _RULES) for key in ("nodeAffinity", "podAffinity", "podAntiAffinity"))
    return Affinity(
        node_required=_node_required(node),
        node_preferred=tuple(_preferred_node(each) for each in node.children(PREFERRED, _PREFERRED_NODE)),
        pod_required=tuple(_pod_term(each) for each in pod.children(REQUIRED, _POD_TERM)),
        pod_preferred=tuple(_weighted(each) for each in pod.children(PREFERRED, _WEIGHTED)),
        anti_required=tuple(_pod_term(each) for each in anti.children(REQUIRED, _POD_TERM)),
        anti_preferred=tuple(_weighted(each) for each in anti.children(PREFERRED, _WEIGHTED)),
    )


def _node_required(fields: Fields) -> tuple[NodeSelectorTerm, ...] | None:
    if REQUIRED not in fields:
        return None
    level = fields.child(REQUIRED, _NODE_SELECTOR)
    terms = tuple(_node_term(each) for each in level.children("nodeSelectorTerms", _NODE_TERM))
    if not terms:
        raise level.error("must have at least one term", "nodeSelectorTerms")
    return terms


def _node_term(fields: Fields) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        expressions=requirements(fields, "matchExpressions", (*OPERATORS, "Gt", "Lt")),
        fields=requirements(fields, "matchFields", ("In", "NotIn")),
    )


def _preferred_node(fields: Fields) -> PreferredNodeTerm:
    return PreferredNodeTerm(_weight(fields), _node_term(fields.child("preference", _NODE_TERM)))


def _weight(fields: Fields) -> int:
    return fields.integer("weight", 0, least=1, most=100) if "weight" in fields else _no_weight(fields)


def _no_weight(fields: Fields) -> int:
    raise fields.error("is required, from 1 to 100", "weight")


def _pod_term(fields: Fields) -> PodAffinityTerm:
    namespaces = fields.raw("namespaceSelector")
    if namespaces:
        # A selector over namespaces' labels: the labels of namespaces are not modelled.
        fields.unsupported("namespaceSelector")
    return PodAffinityTerm(
        topology_key=fields.required_text("topologyKey"),
        selector=selector(fields, "labelSelector"),
        namespaces=fields.texts("namespaces"),
        all_namespaces=isinstance(namespaces, dict) and not namespaces,
        match_label_keys=fields.texts("matchLabelKeys"),
        mismatch_label_keys=fields.texts("mismatchLabelKeys"),
    )


def _weighted(fields: Fields) -> WeightedPodAffinityTerm:
    return WeightedPodAffinityTerm(_weight(fields), _pod_term(fields.child("podAffinityTerm", _POD_TERM)))


def tolerations(fields: Fields) -> tuple[Toleration, ...]:
    """The tolerations as written; the API server adds its own when a pod is created."""
    return tuple(_toleration(each) for each in fields.children("tolerations", _TOLERATION))


def _toleration(fields: Fields) -> Toleration:
    key, value = fields.text("key"), fields.text("value")
    operator = fields.choice("operator", ("Equal", "Exists"), default="Equal")
    effect = fields.choice("effect", EFFECTS, default="")
    seconds = fields.optional_integer("tolerationSeconds", least=None)
    if not key and operator != "Exists":
        raise fields.error("must be Exists where there is no key", "operator")
    if operator == "Exists" and value:
        raise fields.error("must be absent for operator Exists", "value")
    if seconds is not None and effect != "NoExecute":
        raise fields.error("must be NoExecute where tolerationSeconds is set", "effect")
    return Toleration(key, operator, value, effect, seconds)


def spread(fields: Fields) -> tuple[TopologySpreadConstraint, ...]:
    """The topology spread constraints of a pod spec."""
    seen: set[tuple[str, bool]] = set()
    constraints = []
    for each in fields.children("topologySpreadConstraints", _SPREAD):
        constraint = _spread_constraint(each)
        identity = (constraint.topology_key, constraint.hard)
        if identity in seen:
            raise each.error("repeats topologyKey and whenUnsatisfiable of another constraint")
        seen.add(identity)
        constraints.append(constraint)
    return tuple(constraints)


def _spread_constraint(fields: Fields) -> TopologySpreadConstraint:
    hard = fields.choice("whenUnsatisfiable", ("DoNotSchedule", "ScheduleAnyway")) == "DoNotSchedule"
    if "minDomains" in fields and not hard:
        raise fields.error("can be given only with whenUnsatisfiable: DoNotSchedule", "minDomains")
    if "maxSkew" not in fields:
        raise fields.error("is required", "maxSkew")
    return TopologySpreadConstraint(
        topology_key=fields.required_text("topologyKey"),
        max_skew=fields.integer("maxSkew", 1, least=1),
        hard=hard,
        selector=selector(fields, "labelSelector"),
        min_domains=fields.integer("minDomains", 1, least=1),
        match_label_keys=fields.texts("matchLabelKeys"),
        honor_affinity=fields.choice("nodeAffinityPolicy", ("Honor", "Ignore"), default="Honor") == "Honor",
        honor_taints=fields.choice("nodeTaintsPolicy", ("Honor", "Ignore"), default="Ignore") == "Honor",
    )
