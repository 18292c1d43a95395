"""Scenario files: `apiVersion: reconverge/v1alpha1, kind: Scenario`, read with file:line for every mistake."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from attrs import fields as fields_of

from reconverge.checker.event_words import argument_values, event_class, event_from
from reconverge.checker.node_sources import describes_nodes, pools_of
from reconverge.checker.optional_loops import OptionalLoop, optional_loops, with_objects_of
from reconverge.checker.rollout_templates import changed_template
from reconverge.checker.scenario import (
    DEFAULT_DEVIATIONS,
    DEFAULT_EVENTS,
    DEFAULT_NODES,
    Expected,
    Scenario,
    ScenarioError,
    require_known,
    stands_as_is,
)
from reconverge.checker.user_invariants import load_invariants
from reconverge.checker.world import Allowance
from reconverge.loading import (
    Fields,
    Loaded,
    LoadError,
    NodePool,
    load,
    load_documents,
    parse_document_text,
    parse_pools,
    pool_document,
)
from reconverge.loading.decoders.storage import settled
from reconverge.model.events import Event, RollOut, TimePasses
from reconverge.model.objects import ApiObject, Node
from reconverge.model.rules import DEFAULT_VERSION, Rules

API_VERSION = "reconverge/v1alpha1"
SPEC = (
    "kubernetes", "rules", "manifests", "objects", "nodePools", "start", "placement", "loops", "invariants", "steps",
    "may", "events", "deviations", "check", "skip", "expect",
)  # fmt: skip
SWITCHES = {
    "evict-unready-pods": ("evict_unready_pods", ("healthy-budget", "budget-always")),
    "autoscaler-base": ("autoscaler_base", ("spec", "status")),
    "autoscaler-expander": ("autoscaler_expander", ("least-waste", "random")),
}
"""Single rules that a scenario may switch: the field of Rules, and its values."""
FLAGS = {each.name.replace("_", "-"): each.name for each in fields_of(Rules) if isinstance(each.default, bool)}
"""Rules that a scenario may switch on or off: the field of Rules."""


GRACES = {
    "shutdown-grace": "shutdown_grace",
    "shutdown-grace-critical": "shutdown_grace_critical",
    "kubelet-release": "release",
}
"""Times in seconds that a scenario may set for all kubelets: the field of KubeletTimings."""


def read_scenario(path: Path) -> Scenario:
    """The scenario of a file. Raises LoadError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScenarioError(error.strerror or "cannot be read", str(path)) from None
    except UnicodeDecodeError:
        raise ScenarioError("is not UTF-8 text", str(path)) from None
    fields = parse_document_text(text, str(path))
    return evolve(_scenario(fields, path.parent, None), file=str(path))


def scenario_from(document: Mapping[str, Any], *, folder: Path | None = None, loaded: Loaded | None = None) -> Scenario:
    """The scenario of plain data; `loaded` are its objects if they have been read already. Raises LoadError."""
    # Plain data has no file or lines, so messages about it name none.
    return _scenario(parse_document_text(json.dumps(document), ""), folder, loaded)


def manifests_document(
    name: str,
    loaded: Loaded,
    *,
    nodes: str | None,
    kubernetes: str | None,
    may: Mapping[str, Any] | None,
    events: int | None,
    deviations: int | None,
    only: Sequence[str],
    skip: Sequence[str],
    invariants: Sequence[str | Path],
) -> dict[str, Any]:
    """The scenario document that stands for some manifests and options."""
    spec: dict[str, Any] = {"kubernetes": kubernetes or DEFAULT_VERSION}
    spec["objects"] = [document.value for document in loaded.raw]
    if nodes is not None or not describes_nodes(loaded):
        spec["nodePools"] = [pool_document(pool) for pool in parse_pools(nodes or DEFAULT_NODES)]
    optional = {
        "may": dict(may) if may is not None else None,
        "events": events,
        "deviations": deviations,
        "check": list(only) or None,
        "skip": list(skip) or None,
        "invariants": [str(path) for path in invariants] or None,
    }
    spec.update({key: value for key, value in optional.items() if value is not None})
    return {"apiVersion": API_VERSION, "kind": "Scenario", "metadata": {"name": name}, "spec": spec}


# Reading -----------------------------------------------------------------------------------------------------


def _scenario(top: Fields, folder: Path | None, loaded: Loaded | None) -> Scenario:
    top.only("apiVersion", "kind", "metadata", "spec")
    top.choice("apiVersion", (API_VERSION,))
    top.choice("kind", ("Scenario",))
    name = top.child("metadata").only("name", "labels", "annotations").required_text("name")
    spec = top.child("spec").only(*SPEC)
    loaded = loaded if loaded is not None else _objects(spec, folder)
    loops = optional_loops(spec.child("loops"), folder)
    pools, remarks = pools_of(spec, loaded)
    groups = tuple(pool.group for pool in pools if pool.group is not None)
    if "cluster-autoscaler" in loops and not any(group.scales for group in groups):
        raise spec.child("loops").error("needs a node pool whose max is above its min", "cluster-autoscaler")
    objects = with_objects_of(loops, (*(node for pool in pools for node in pool.nodes), *loaded.objects))
    if not any(isinstance(each, Node) for each in objects) and not groups:
        raise spec.error("has no nodes: give nodePools, or Node objects among the manifests")
    rules = _rules(spec)
    extra = tuple(load_invariants((folder or Path()) / each for each in spec.texts("invariants")))
    scenario = Scenario(
        name=name,
        objects=objects,
        rules=rules,
        start=_start(spec, objects),
        placement={key: spec.child("placement").texts(key) for key in spec.child("placement").names()},
        steps=_steps(spec, loaded),
        allowances=_allowances(spec, loaded) if "may" in spec else (() if "steps" in spec else None),
        events=spec.integer("events", DEFAULT_EVENTS),
        deviations=spec.integer("deviations", DEFAULT_DEVIATIONS),
        only=_named(spec, "check"),
        skip=spec.texts("skip"),
        extra=extra,
        expect=_expected(spec),
        loops=tuple(each.loop for each in loops.values()),
        groups=groups,
        document=_inline(top, spec, loaded, loops, pools),
        loaded=loaded,
        warnings=remarks,
        file="",
        bounds_given="events" in spec or "deviations" in spec,
    )
    _check_ids(scenario, spec)
    return scenario


def _objects(spec: Fields, folder: Path | None) -> Loaded:
    """What the scenario's manifests and inline objects hold together."""
    base = folder or Path()
    paths = []
    for index, each in enumerate(spec.texts("manifests")):
        if not (base / each).exists():
            raise LoadError(f'there is no manifest "{each}"', spec.reader.document.where(("spec", "manifests", index)))
        paths.append(base / each)
    inline = load_documents(spec.documents("objects"))
    if not paths:
        return inline
    from_files = load(paths)
    objects, raw = (*from_files.objects, *inline.objects), (*from_files.raw, *inline.raw)
    return evolve(
        from_files,
        objects=objects,
        raw=raw,
        accounting=settled(from_files.accounting + inline.accounting, objects, raw),
        notes=(*from_files.notes, *inline.notes),
        skipped=from_files.skipped + inline.skipped,
        pod_makers=(*from_files.pod_makers, *inline.pod_makers),
        pool_documents=(*from_files.pool_documents, *inline.pool_documents),
    )


def _rules(spec: Fields) -> Rules:
    version = spec.text("kubernetes", DEFAULT_VERSION)
    try:
        rules = Rules.for_version(version)
    except ValueError as error:
        raise ScenarioError(str(error), spec.where("kubernetes")) from None
    switches = spec.child("rules").only(*SWITCHES, *FLAGS, *GRACES)
    words = switches.names()
    changes: dict[str, Any] = {
        SWITCHES[word][0]: switches.choice(word, SWITCHES[word][1]) for word in words if word in SWITCHES
    }
    changes |= {FLAGS[word]: switches.flag(word) for word in words if word in FLAGS}
    graces = {GRACES[word]: switches.integer(word, 0) for word in words if word in GRACES}
    if graces:
        changes["kubelet"] = evolve(rules.kubelet, **graces)
    return rules.with_(**changes) if changes else rules


def _start(spec: Fields, objects: Sequence[ApiObject]) -> Any:
    default = "as-is" if stands_as_is(objects) else "settled"
    return spec.choice("start", ("settled", "empty", "as-is"), default)


def _steps(spec: Fields, loaded: Loaded) -> tuple[Event, ...]:
    return tuple(step_event(step, loaded) for step in spec.children("steps"))


def step_event(step: Fields, loaded: Loaded) -> Event:
    """The one event of a step; `loaded` are the manifests of which a rollout may set fields. Raises LoadError."""
    names = step.names() or list(step.value)
    if len(names) != 1:
        raise step.error(f"must be one event with its arguments, not {len(names)}")
    name = names[0]
    arguments = step.child(name)
    if "set" not in arguments:
        return event_from(name, arguments, step)
    if event_class(name, step) is not RollOut:
        raise arguments.error("belongs to rollout only", "set")
    values = argument_values(RollOut, arguments, extra=("set",))
    return RollOut(
        values.get("workload", ""), values.get("behaviour", ""), *changed_template(arguments, values, loaded)
    )


def _allowances(spec: Fields, loaded: Loaded) -> tuple[Allowance, ...]:
    may = spec.child("may")
    allowances = []
    for name in may.names():
        kind = event_class(name, may)
        if kind is TimePasses:
            raise may.error(
                "belongs to steps: between free events everything settles, or the next one strikes early", name
            )
        raw = may.raw(name)
        if not isinstance(raw, dict):
            allowances.append(Allowance(name, may.integer(name, 1)))
            continue
        arguments = may.child(name)
        options = argument_values(kind, arguments, extra=("times", "set"))
        if "set" in arguments:
            options["template"], options["changes"] = changed_template(arguments, options, loaded)
        allowances.append(Allowance(name, arguments.optional_integer("times"), options))
    return tuple(allowances)


def _named(spec: Fields, key: str) -> tuple[Expected, ...]:
    """A list of invariant ids; a mapping scopes an id to an object."""
    named = []
    for index, each in enumerate(spec.items(key)):
        if isinstance(each, str):
            named.append(Expected(each))
        elif (
            isinstance(each, dict) and len(each) == 1 and all(isinstance(part, str) for part in (*each, *each.values()))
        ):
            named.extend(Expected(id_, object_) for id_, object_ in each.items())
        else:
            raise ScenarioError(
                f"{spec.name(key)}[{index}] must be an invariant's id, or one id with an object",
                spec.reader.document.where((*spec.path, key, index)),
            )
    return tuple(named)


def _expected(spec: Fields) -> tuple[Expected, ...] | None:
    if "expect" not in spec:
        return None
    return _named(spec.child("expect").only("violated"), "violated")


def _check_ids(scenario: Scenario, spec: Fields) -> None:
    registry = scenario.registry()
    for key, named in (("check", scenario.only), ("expect", scenario.expect or ())):
        for each in named:
            require_known(each.invariant, registry, spec.where(key))
    for id_ in scenario.skip:
        require_known(id_, registry, spec.where("skip"))


def _inline(
    top: Fields, spec: Fields, loaded: Loaded, loops: Mapping[str, OptionalLoop], pools: Sequence[NodePool]
) -> dict[str, Any]:
    """The scenario with its manifests and the pools that they describe inline, as plain data."""
    kept = {key: spec.raw(key) for key in SPEC if key in spec and key not in ("manifests", "objects")}
    if pools and "nodePools" not in spec:
        kept["nodePools"] = [pool_document(pool) for pool in pools]
    kept["objects"] = [document.value for document in loaded.raw]
    if loops:
        kept["loops"] = {name: dict(each.document) for name, each in loops.items()}
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": top.child("metadata").text("name")},
        "spec": kept,
    }
