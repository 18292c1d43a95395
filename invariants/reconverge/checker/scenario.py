"""A scenario: a cluster, what may happen to it, which rules it follows, and what is to hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import evolve, field, frozen

from reconverge.checker.autoscaler_settings import loops_of_pools
from reconverge.checker.node_sources import describes_nodes
from reconverge.checker.optional_loops import asked_for, extended
from reconverge.checker.placements import require_places
from reconverge.checker.start import Placement, published, settled, started
from reconverge.checker.world import Allowance, World
from reconverge.invariants import Invariant, Registry
from reconverge.invariants.stock import stock
from reconverge.loading import Loaded, LoadError, load, nearest, parse_pools
from reconverge.loading.decoders.storage import about_claims
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import EVENTS, Event, ManifestApplied, RestartsOnOldStore
from reconverge.model.events.base import choices
from reconverge.model.loop import ControlLoop
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import ApiObject, CronJob, Node, Pod
from reconverge.model.old_store import remembering
from reconverge.model.rules import Rules
from reconverge.model.standard import cronjob_loops, standard_control_plane, storage_loops

DEFAULT_NODES = "3x4cpu,16Gi@a,b,c"
"""The nodes that are assumed when nothing describes any."""

DEFAULT_EVENTS = 2
DEFAULT_DEVIATIONS = 1

Start = Literal["settled", "empty", "as-is"]


class ScenarioError(LoadError):
    """A scenario that cannot be used; one line with file:line and a suggestion, like all input errors."""


@frozen
class Expected:
    """An invariant that a scenario names, for one object or (object "") for all."""

    invariant: str
    object: str = ""

    def covers(self, invariant: str, object_: str) -> bool:
        """Whether a verdict is one that is meant."""
        return self.invariant == invariant and self.object in ("", object_)

    def __str__(self) -> str:
        return f"{self.invariant} of {self.object}" if self.object else self.invariant


@frozen
class Scenario:
    """Everything that a check needs. Build one with `from_manifests`, `from_file` or `from_document`."""

    name: str
    objects: tuple[ApiObject, ...]
    rules: Rules = Rules()
    loops: tuple[ControlLoop[Any], ...] = ()
    """Control loops beside the standard ones."""
    groups: tuple[NodeGroup, ...] = ()
    start: Start = "settled"
    placement: Placement = field(factory=dict)
    steps: tuple[Event, ...] = ()
    allowances: tuple[Allowance, ...] | None = None
    """What may happen freely; None for every kind that makes sense for what is there."""
    events: int = DEFAULT_EVENTS
    deviations: int = DEFAULT_DEVIATIONS
    only: tuple[Expected, ...] = ()
    skip: tuple[str, ...] = ()
    extra: tuple[Invariant, ...] = ()
    expect: tuple[Expected, ...] | None = None
    """What is expected to be violated, exactly; None if the scenario expects nothing in particular."""
    document: Mapping[str, Any] = field(factory=dict, repr=False)
    """The scenario as plain data with its objects inline: what a trace keeps to be replayed."""
    loaded: Loaded | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    file: str = ""
    bounds_given: bool = False
    """Whether the numbers of events and deviations were asked for; if not, as much is explored as fits."""

    @classmethod
    def from_manifests(
        cls,
        paths: Sequence[str | Path],
        *,
        nodes: str | None = None,
        stdin: str | None = None,
        kubernetes: str | None = None,
        may: Mapping[str, Any] | None = None,
        events: int | None = None,
        deviations: int | None = None,
        only: Sequence[str] = (),
        skip: Sequence[str] = (),
        invariants: Sequence[str | Path] = (),
        name: str = "",
    ) -> Scenario:
        """A scenario of manifests or a dump. Raises LoadError for input that cannot be used.

        Without `nodes`, and without Node objects among the manifests, three nodes in three zones are assumed.
        """
        from reconverge.checker.scenario_file import manifests_document, scenario_from

        loaded = load(list(paths), stdin)
        document = manifests_document(
            name or _name_of(paths), loaded, nodes=nodes, kubernetes=kubernetes, may=may, events=events,
            deviations=deviations, only=only, skip=skip, invariants=invariants,
        )  # fmt: skip
        require_something(loaded, ", ".join(str(path) for path in paths))
        scenario = scenario_from(document, loaded=loaded)
        return evolve(scenario, warnings=(*scenario.warnings, *_assumptions(loaded, nodes)))

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """The scenario of a `*.scenario.yaml` file. Raises LoadError for one that cannot be used."""
        from reconverge.checker.scenario_file import read_scenario

        return read_scenario(Path(path))

    @classmethod
    def from_document(cls, document: Mapping[str, Any], folder: Path | None = None) -> Scenario:
        """The scenario of plain data, as a trace keeps it. Raises LoadError for one that cannot be used."""
        from reconverge.checker.scenario_file import scenario_from

        return scenario_from(document, folder=folder)

    def with_invariants(self, *more: Invariant) -> Scenario:
        """The scenario with invariants of one's own, judged beside the others."""
        return evolve(self, extra=(*self.extra, *more))

    # What a check uses ---------------------------------------------------------------------------------------

    def invariants(self) -> tuple[Invariant, ...]:
        """The invariants to be judged. Raises ScenarioError for an id that does not exist."""
        registry = self.registry()
        named = [each.invariant for each in (*self.only, *(self.expect or ()))]
        for id_ in (*named, *self.skip):
            require_known(id_, registry, self.file)
        wanted = {each.invariant for each in self.only}
        expected = {each.invariant for each in self.expect or ()}
        there = {each.kind for each in self.objects} | {each.name for each in self.optional()}
        return tuple(
            each
            for each in registry
            if (each.id in wanted if wanted else _by_default(each, there) or each.id in expected)
            and each.id not in self.skip
        )

    def optional(self) -> tuple[ControlLoop[Any], ...]:
        """The control loops beside the standard ones: those given, and those of what happens and is to hold."""
        events = self.event_kinds()
        named = {each.invariant for each in (*self.only, *(self.expect or ()))} - set(self.skip)
        asked = asked_for(events, (each for each in self.registry() if each.id in named))
        there = {each.name for each in self.loops}
        given = (*self.loops, *(each for each in asked if each.name not in there))
        allowed = self.allowances if self.allowances is not None else self.ordinary()
        return (
            *given,
            *loops_of_pools(self.groups, given, events),
            *storage_loops(self.objects),
            *cronjob_loops((*self.objects, *_applied(self.steps, allowed))),
        )

    def event_kinds(self) -> set[type[Event]]:
        """The kinds of events that may happen, the fixed ones too."""
        allowed = self.allowances if self.allowances is not None else self.ordinary()
        return {*(type(each) for each in self.steps), *(EVENTS[each.event] for each in allowed)}

    def registry(self) -> Registry:
        """The stock invariants and the scenario's own. Raises ScenarioError for an id that is taken."""
        try:
            return stock().extended(self.extra)
        except ValueError as error:
            raise ScenarioError(str(error), self.file) from None

    def scopes(self) -> dict[str, frozenset[str]]:
        """By invariant id: the objects to which `check` narrows it."""
        scopes: dict[str, frozenset[str]] = {}
        for id_ in {each.invariant for each in self.only}:
            objects = frozenset(each.object for each in self.only if each.invariant == id_)
            if "" not in objects:
                scopes[id_] = objects
        return scopes

    def world(self, plane: ControlPlane | None = None, *, symmetry: bool = True) -> World:
        """The model to be checked."""
        allowances = self.allowances if self.allowances is not None else self.ordinary()
        plane = extended(plane if plane is not None else standard_control_plane(), self.optional())
        cluster = started(plane, self.objects, self.rules, self.groups)
        require_places(cluster.store, self.placement, self.file)
        if self.start == "settled":
            rested = settled(plane, cluster, self.placement)
            cluster = rested if rested is not None else cluster
        elif self.start == "as-is":
            cluster = published(plane, cluster)
        if RestartsOnOldStore in self.event_kinds():
            cluster = remembering(cluster, _furthest_back(self.steps, allowances))
        return World(self.name, plane, cluster, self.invariants(), allowances, self.steps, self.scopes(), symmetry)

    def ordinary(self) -> tuple[Allowance, ...]:
        """Every kind of event that makes sense for what is there, without limit of its own."""
        zones = {node.zone for node in self.objects if isinstance(node, Node) and node.zone}
        kinds = {each.kind for each in self.objects}
        names = ["node-crash", "node-recover", "drain", "uncordon"]
        if len(zones) > 1:
            names += ["zone-outage", "zone-recover"]
        if kinds & {"Deployment", "StatefulSet", "DaemonSet"}:
            names.append("rollout")
        if kinds & {"Deployment", "StatefulSet", "ReplicaSet"}:
            names.append("scale")
        if "HorizontalPodAutoscaler" in kinds:
            names.append("load")
        return tuple(Allowance(name) for name in names)


def _by_default(invariant: Invariant, there: Collection[str]) -> bool:
    """Whether an invariant is checked where these kinds and loops are and nothing else is said."""
    return invariant.default and (not invariant.needs or invariant.needs in there)


def _applied(steps: Sequence[Event], allowances: Sequence[Allowance]) -> tuple[ApiObject, ...]:
    """The objects that events may bring."""
    fixed = [each for step in steps if isinstance(step, ManifestApplied) for each in step.objects]
    return (*fixed, *(each for allowance in allowances for each in allowance.options.get("objects", ())))


def _furthest_back(steps: Sequence[Event], allowances: Sequence[Allowance]) -> int:
    """How many events ago the oldest state of the store lies that somebody may see again."""
    fixed = [step.events for step in steps if isinstance(step, RestartsOnOldStore)]
    free: list[int] = [each for allowance in allowances for each in choices(allowance.options, "events", (1,))]
    return max((*fixed, *free))


def require_known(id_: str, registry: Registry, where: str = "") -> None:
    """Raises ScenarioError with the nearest id if there is no such invariant."""
    if id_ not in registry:
        close = nearest(id_, registry.ids())
        raise ScenarioError(f'there is no invariant "{id_}"', where, f'"{close}"' if close else "")


def require_something(loaded: Loaded, where: str) -> None:
    """Raises ScenarioError if nothing that was read runs pods: there would be nothing to check."""
    if any(isinstance(each, Pod) or hasattr(each, "template") for each in loaded.objects):
        return
    counts = Counter(each.kind for each in loaded.objects) + loaded.skipped
    read = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    found = f"only {read}, and nothing that runs pods" if read else "nothing that runs pods"
    hint = "; a scenario in a folder is found by its name, *.scenario.yaml" if "Scenario.reconverge" in counts else ""
    raise ScenarioError(f"nothing to check: {found}{hint}", where)


def _name_of(paths: Sequence[str | Path]) -> str:
    if len(paths) != 1 or str(paths[0]) == "-":
        return "manifests"
    path = Path(paths[0])
    return path.stem if path.suffix else (path.name or path.resolve().name)


def _assumptions(loaded: Loaded, nodes: str | None) -> Iterator[str]:
    if nodes is None and not describes_nodes(loaded):
        pool = parse_pools(DEFAULT_NODES)[0]
        yield (
            f"no nodes are described: {pool.count} of 4 CPU and 16Gi in zones {', '.join(pool.zones)} are assumed "
            f"(--nodes {DEFAULT_NODES})"
        )
    if any(map(about_claims, loaded.accounting.unsupported)):
        yield (
            "volume claims are taken to fit any node and to be free at once: neither a StorageClass nor a "
            "PersistentVolume is described; with their StorageClass among the manifests they count"
        )
    for each in loaded.objects:
        if isinstance(each, CronJob) and each.schedule.next(each.origin) is None:
            yield f'{each.reference} never runs: no day of its schedule "{each.written}" comes'


def stands_as_is(objects: Sequence[ApiObject]) -> bool:
    """Whether the objects are a dump that says where its pods run."""
    return any(isinstance(each, Pod) and each.node is not None for each in objects)
