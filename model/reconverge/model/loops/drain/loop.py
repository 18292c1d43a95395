"""`kubectl drain`: cordons a node, evicts its pods through the eviction API, waits until they are gone.

A process, not a controller; it is a loop here because it keeps at it. kubectl asks for all pods at once and repeats a
refused request every five seconds. Repeating what must get the same answer is left out, so that a cluster whose drain
is blocked comes to rest: a refused pod is asked for again at the next of those moments after its budget or the pod
itself has changed.
Source: kubectl `pkg/drain/drain.go`, `pkg/drain/filters.go`, `pkg/drain/cordon.go`, `pkg/cmd/drain/drain.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Any

from reconverge.model.action import Action, DeletePod, Patch
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError, Conflict, NotFound, TooManyRequests
from reconverge.model.eviction import Evict, eviction
from reconverge.model.likeness import At, node_likeness, pod_likeness
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.drain.filters import DrainFilters, filter_message
from reconverge.model.loops.drain.memory import (
    ASKING,
    DONE,
    EVICTED,
    EVICTING,
    LISTING,
    NEW,
    REFUSED,
    Drain,
    DrainMemory,
    DrainOptions,
    PodDrain,
    ends_at,
    given_up,
    is_due,
    next_look,
    note,
    waiting,
)
from reconverge.model.objects import Node, Pod, PodDisruptionBudget
from reconverge.model.objects.pod import pod_selector_matches
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds


class DrainLoop(DrainFilters, ControlLoop[DrainMemory]):
    """All drains that run. Keys are nodes: one pass makes all requests of a drain that are due."""

    name = "drain"
    watches = frozenset({"Node", "Pod", "PodDisruptionBudget"})
    source = "kubectl/pkg/drain/drain.go"

    def start(self) -> DrainMemory:
        """No drain runs; one that was running when its process ended is not taken up again."""
        return EMPTY

    # What wakes it -------------------------------------------------------------------------------------------

    def observe(self, memory: DrainMemory, change: Change, reading: Reading) -> tuple[DrainMemory, Iterable[str]]:
        """A node wakes its drain; a pod or a budget the drains that wait for it, and refused requests are due again."""
        if not memory:
            return memory, ()
        if change.kind == "Node":
            drain = memory.get(change.key)
            return memory, (change.key,) if drain is not None and (drain.state != DONE or change.after is None) else ()
        if change.kind == "Pod":
            return self._touched(memory, {node: [change.key] for node in sorted(memory)}, reading)
        touched = {node: self._under(change, drain, reading.store) for node, drain in memory.items()}
        return self._touched(memory, touched, reading)

    def _under(self, change: Change, drain: Drain, store: Store) -> list[str]:
        """The refused pods whose answer a change of a budget may change."""
        budgets: list[PodDisruptionBudget] = [each for each in (change.before, change.after) if each is not None]
        parked = sorted(key for key, pod in drain.pods.items() if pod.state == REFUSED)
        pods = [pod for pod in map(store.pod, parked) if pod is not None and pod.namespace == budgets[0].namespace]
        return [pod.key for pod in pods if any(pod_selector_matches(budget.selector, pod) for budget in budgets)]

    def _touched(
        self, memory: DrainMemory, touched: dict[str, list[str]], reading: Reading
    ) -> tuple[DrainMemory, Iterable[str]]:
        woken = []
        for node in sorted(touched):
            drain = memory[node]
            keys = [key for key in touched[node] if key in drain.pods]
            for key in keys:
                pod = drain.pods[key]
                if pod.state == REFUSED and pod.retry_at is None:
                    again = self.retry_at(pod.asked_at, reading)
                    drain = drain.with_(pods=drain.pods.set(key, pod.with_(retry_at=again)))
            if keys:
                woken.append(node)
                memory = memory.set(node, drain)
        return memory, woken

    def retry_at(self, asked_at: Seconds, reading: Reading) -> Seconds:
        """The next moment from now on at which kubectl repeats a request: every 5 s after the first refusal."""
        every = reading.rules.drain_retry
        return asked_at + every * max(1, ceil((reading.now - asked_at) / every))

    def order(self, reading: Reading, memory: DrainMemory, keys: Iterable[str]) -> list[str]:
        """Nodes by what they are, for drains compete for one budget."""
        store = reading.store

        def likeness(name: str) -> tuple[str, str]:
            node = store.node(name)
            return (node_likeness(store, node, reading.now) if node is not None else "", name)

        return sorted(keys, key=likeness)

    # One pass ------------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: DrainMemory, key: str) -> Sequence[Plan[DrainMemory]]:
        """Cordons, then lists the pods, asks for all of them, and looks on until they are gone."""
        drain = memory.get(key)
        if drain is None or (drain.state == DONE and reading.store.node(key) is not None):
            return (Plan(memory),)
        node = reading.store.node(key)
        if node is None:
            return (Plan(memory.discard(key), note="the node is gone: its drain is over"),)
        if drain.state == NEW:
            drain = drain.with_(state=LISTING, begun_at=reading.now)
            if not node.unschedulable:
                return (Plan(memory.set(key, drain), (self.cordon(node),)),)
        if drain.state == LISTING:
            drain = self._listed(reading, drain, key)
        if drain.state == DONE:
            return (Plan(memory.set(key, drain)),)
        return self._evicting(reading, memory, key, self._progress(reading, drain))

    def _listed(self, reading: Reading, drain: Drain, node: str) -> Drain:
        errors: dict[str, list[str]] = {}
        pods: dict[str, PodDrain] = {}
        for pod in reading.store.pods_on(node):
            refusal = self.filter_error(reading.store, pod, drain.options)
            if refusal:
                errors.setdefault(refusal, []).append(pod.key)
            elif self.to_evict(reading.store, pod):
                pods[pod.key] = PodDrain(pod.uid)
        if errors:
            return drain.with_(state=DONE, error=filter_message(errors))
        return drain.with_(state=EVICTING, pods=Map(pods))

    def _progress(self, reading: Reading, drain: Drain) -> Drain:
        """The drain after a look at its pods: those gone are done with, and when its time is up it gives up."""
        pods = drain.pods
        for key in sorted(drain.pods):
            progress = drain.pods[key]
            pod = reading.store.pod(key)
            if pod is None or pod.uid != progress.uid:
                pods = pods.delete(key)
            elif pod.deletion_at is not None and progress.state in (ASKING, REFUSED):
                pods = pods.set(key, progress.with_(state=EVICTED, retry_at=None))
        drain = drain.with_(pods=pods)
        deadline = ends_at(drain)
        if deadline is None or deadline > reading.now:
            return drain
        late = f"global timeout reached: {drain.options.timeout:g}s"
        for key in waiting(drain):
            doing = "waiting for" if drain.pods[key].state == EVICTED else "evicting"
            drain = given_up(drain, key, f"error when {doing} {_kubectl_name(key)}: {late}")
        return drain

    def _evicting(self, reading: Reading, memory: DrainMemory, node: str, drain: Drain) -> Sequence[Plan[DrainMemory]]:
        due = [key for key in waiting(drain) if is_due(drain.pods[key], reading.now)]
        if due:
            return self._requests(reading, memory, node, drain, due)
        if not waiting(drain):
            if drain.options.until_empty and not drain.error:
                drain = self._listed(reading, drain, node)
                if drain.pods:
                    return self._evicting(reading, memory, node, drain)
            return (Plan(memory.set(node, drain.with_(state=DONE))),)
        return (Plan(memory.set(node, drain), requeue_at=next_look(drain), note=note(drain)),)

    def _requests(
        self, reading: Reading, memory: DrainMemory, node: str, drain: Drain, due: Iterable[str]
    ) -> Sequence[Plan[DrainMemory]]:
        """One pass with all requests, for kubectl sends them at once: no other loop comes in between by default.

        Where a budget lets some of the pods go and not all, the order decides which, and any may be first: one
        alternative for each kind of pod.
        """
        pods = [pod for pod in map(reading.store.pod, due) if pod is not None]
        pods.sort(key=lambda pod: (repr(pod_likeness(pod, reading.now)), pod.key))
        asked = drain.pods
        for pod in pods:
            asked = asked.set(pod.key, PodDrain(pod.uid, ASKING, asked_at=reading.now))
        memory = memory.set(node, drain.with_(pods=asked))
        first, contested = self._asks(reading, memory, node, pods)
        if not contested:
            return (first,)
        kinds: dict[str, Pod] = {}
        for pod in pods:
            kinds.setdefault(repr((pod_likeness(pod, reading.now), pod.spec)), pod)
        others = [[pod, *(each for each in pods if each is not pod)] for pod in kinds.values()][1:]
        return (first, *(self._asks(reading, memory, node, order)[0] for order in others))

    def _asks(
        self, reading: Reading, memory: DrainMemory, node: str, pods: Sequence[Pod]
    ) -> tuple[Plan[DrainMemory], bool]:
        """The requests in this order, and whether some of them but not all will be granted.

        A refused write ends a pass, so those that will be granted come before, and of those that will be refused only
        the first is made: the rest get, unasked, the answer that they would get.
        """
        rehearsal = Cluster(store=reading.store, now=reading.now, rules=reading.rules)
        granted: list[Action] = []
        refused: list[tuple[tuple[Action, ...], ApiError]] = []
        for pod in pods:
            view = Reading(rehearsal.store, reading.now, reading.rules)
            actions = self.evicts(view, pod, node, memory[node].options)
            try:
                rehearsal = _rehearsed(rehearsal, actions)
            except ApiError as error:
                refused.append((actions, error))
            else:
                granted.extend(actions)
        for actions, answer in refused[1:]:
            memory = self.failed(memory, actions[0], answer)
        last = refused[0][0] if refused else ()
        contested = bool(granted and refused)
        choice = pods[0].name if contested else ""
        return Plan(memory, (*granted, *last), next_look(memory[node]), choice), contested

    def failed(self, memory: DrainMemory, action: Action, error: ApiError) -> DrainMemory:
        """Keeps the answer: 429 parks the pod, 404 and another uid mean that it is gone, all else is given up.

        A cordon that fails, for the node has been replaced, is made again.
        """
        if isinstance(action, Patch) and action.key in memory:
            return memory.set(action.key, memory[action.key].with_(state=NEW))
        if not isinstance(action, Evict | DeletePod) or isinstance(error, NotFound | Conflict):
            return memory
        for node in sorted(memory):
            drain = memory[node]
            pod = drain.pods.get(action.key)
            if pod is None or pod.uid != action.uid or pod.state != ASKING:
                continue
            if isinstance(error, TooManyRequests):
                refused = pod.with_(state=REFUSED, answer=str(error))
                memory = memory.set(node, drain.with_(pods=drain.pods.set(action.key, refused)))
            else:
                message = f"error when evicting {_kubectl_name(action.key)}: {error.message}"
                memory = memory.set(node, given_up(drain, action.key, message, str(error)))
        return memory

    # The rules, one each -------------------------------------------------------------------------------------

    def cordon(self, node: Node) -> Action:
        """The write that keeps new pods away."""
        fields = (("unschedulable", True),)
        return Patch("Node", node.name, node.uid, fields, f"kubectl drain {node.name}", f"cordons {node.name}")

    def evicts(self, reading: Reading, pod: Pod, node: str, options: DrainOptions) -> tuple[Action, ...]:
        """The writes of one eviction request."""
        return eviction(reading.store, pod, reading.rules, f"kubectl drain {node}", options.grace)

    # What sets states apart ----------------------------------------------------------------------------------

    def marks(self, memory: DrainMemory, reading: Reading) -> Iterator[tuple[str, str, Any]]:
        """How far each drain is, and each pod that it waits for."""
        for node in sorted(memory):
            drain = memory[node]
            deadline = ends_at(drain) if drain.state != DONE else None
            yield "Node", node, (drain.state, drain.options, bool(drain.error), _at(deadline))
            for key in sorted(drain.pods):
                pod = drain.pods[key]
                current = reading.store.pod(key)
                same = current is not None and current.uid == pod.uid
                asked = _at(pod.asked_at if pod.state == REFUSED else None)
                yield "Pod", key, (pod.state, same, pod.answer, asked, _at(pod.retry_at))


def _rehearsed(cluster: Cluster, actions: Iterable[Action]) -> Cluster:
    for action in actions:
        cluster, _ = action.apply(cluster)
    return cluster


def _at(moment: Seconds | None) -> At | None:
    return None if moment is None else At(moment)


def _kubectl_name(key: str) -> str:
    namespace, _, name = key.partition("/")
    return f'pods/"{name}" -n "{namespace}"'
