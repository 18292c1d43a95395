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

from attrs import frozen

from reconverge.model.action import Action, DeletePod, Patch
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError, Conflict, NotFound, TooManyRequests
from reconverge.model.eviction import Evict, eviction
from reconverge.model.labels import label
from reconverge.model.likeness import At, node_likeness, pod_likeness
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import Node, Pod, PodDisruptionBudget
from reconverge.model.objects.pod import pod_selector_matches
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds, Value

MIRROR = "kubernetes.io/config.mirror"
DAEMON_SET_POD = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "cannot delete Pods that declare no controller (use --force to override)"

ASKING, REFUSED, EVICTED, ERROR = "asking", "refused", "evicted", "error"
NEW, LISTING, EVICTING, DONE = "new", "listing", "evicting", "done"


@frozen
class DrainOptions:
    """The command's options; the defaults are what people write to get a node empty. `timeout` in seconds or None.

    `until_empty` lists the pods again when those listed are gone, until none is left, as machine controllers do that
    drain on their own (cluster-api); kubectl lists once.
    """

    ignore_daemonsets: bool = True
    force: bool = True
    delete_emptydir_data: bool = True
    timeout: Seconds | None = None
    grace: Seconds | None = None
    until_empty: bool = False


@frozen
class PodDrain(Value):
    """How far one pod has come: asking, refused (parked), evicted (Terminating), error (given up)."""

    uid: int
    state: str = ASKING
    answer: str = ""
    """What the eviction API last answered."""
    asked_at: Seconds = 0
    retry_at: Seconds | None = None
    """When a refused request is repeated; None while nothing has changed since."""


@frozen
class Drain(Value):
    """One drain: new (not cordoned yet), listing, evicting, done. `begun_at` is its first pass."""

    options: DrainOptions = DrainOptions()
    state: str = NEW
    begun_at: Seconds = 0
    pods: Map[str, PodDrain] = EMPTY
    """The pods that it waits for, by key."""
    error: str = ""


@frozen
class DrainStatus:
    """What is to be said of a drain: draining, drained or failed; the pods it waits for, each with the last answer."""

    state: str
    waiting: tuple[tuple[str, str], ...] = ()
    error: str = ""


DrainMemory = Map[str, Drain]
"""Drains by node, those that have ended too, until the node goes or is drained again."""


def begin_drain(memory: DrainMemory, node: str, options: DrainOptions | None = None) -> DrainMemory:
    """The memory with a drain of the node begun; whoever begins it wakes the key `node`."""
    return memory.set(node, Drain(options or DrainOptions()))


def cancel_drain(memory: DrainMemory, node: str) -> DrainMemory:
    """The memory without the node's drain: the process is interrupted. The node stays as it is."""
    return memory.discard(node)


def drain_status(memory: DrainMemory, node: str) -> DrainStatus | None:
    """The state of the node's drain; None if there is none."""
    drain = memory.get(node)
    if drain is None:
        return None
    waiting = tuple((key, _answer(drain.pods[key])) for key in sorted(drain.pods) if drain.pods[key].state != ERROR)
    if drain.error:
        return DrainStatus("failed", waiting, drain.error)
    return DrainStatus("drained" if drain.state == DONE else "draining", waiting)


def _answer(pod: PodDrain) -> str:
    if pod.state == EVICTED:
        return "evicted, and still Terminating: its kubelet has not reported that it has stopped"
    return pod.answer or "not asked for yet"


class DrainLoop(ControlLoop[DrainMemory]):
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
            return drain.with_(state=DONE, error=_filter_message(errors))
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
        deadline = _deadline(drain)
        if deadline is None or deadline > reading.now:
            return drain
        late = f"global timeout reached: {drain.options.timeout:g}s"
        for key in _waiting(drain):
            doing = "waiting for" if drain.pods[key].state == EVICTED else "evicting"
            drain = _given_up(drain, key, f"error when {doing} {_kubectl_name(key)}: {late}")
        return drain

    def _evicting(self, reading: Reading, memory: DrainMemory, node: str, drain: Drain) -> Sequence[Plan[DrainMemory]]:
        due = [key for key in _waiting(drain) if _due(drain.pods[key], reading.now)]
        if due:
            return self._requests(reading, memory, node, drain, due)
        if not _waiting(drain):
            if drain.options.until_empty and not drain.error:
                drain = self._listed(reading, drain, node)
                if drain.pods:
                    return self._evicting(reading, memory, node, drain)
            return (Plan(memory.set(node, drain.with_(state=DONE))),)
        return (Plan(memory.set(node, drain), requeue_at=_next_look(drain), note=_note(drain)),)

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
        return Plan(memory, (*granted, *last), _next_look(memory[node]), choice), contested

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
                memory = memory.set(node, _given_up(drain, action.key, message, str(error)))
        return memory

    # The rules, one each -------------------------------------------------------------------------------------

    def cordon(self, node: Node) -> Action:
        """The write that keeps new pods away."""
        fields = (("unschedulable", True),)
        return Patch("Node", node.name, node.uid, fields, f"kubectl drain {node.name}", f"cordons {node.name}")

    def evicts(self, reading: Reading, pod: Pod, node: str, options: DrainOptions) -> tuple[Action, ...]:
        """The writes of one eviction request."""
        return eviction(reading.store, pod, reading.rules, f"kubectl drain {node}", options.grace)

    def filter_error(self, store: Store, pod: Pod, options: DrainOptions) -> str:
        """Why a pod stops the drain of its node before anything is evicted; empty if it does not (makeFilters)."""
        if self.of_daemon_set(pod):
            if not self.daemon_set_gone(store, pod):
                return "" if options.ignore_daemonsets else DAEMON_SET_POD
            if not options.force:
                return f'daemonsets.apps "{pod.owner.name if pod.owner else ""}" not found'
        if label(pod.annotations, MIRROR) is not None or pod.terminal:
            return ""
        if "emptyDir" in pod.spec.volumes and not options.delete_emptydir_data:
            return LOCAL_STORAGE
        return UNMANAGED if pod.owner is None and not options.force else ""

    def to_evict(self, store: Store, pod: Pod) -> bool:
        """Whether a pod that passed the filters is evicted: not a mirror pod, not one of an existing DaemonSet."""
        if label(pod.annotations, MIRROR) is not None:
            return False
        return not self.of_daemon_set(pod) or self.daemon_set_gone(store, pod)

    def of_daemon_set(self, pod: Pod) -> bool:
        """Whether a DaemonSet controls the pod; a finished one is like any other pod (daemonSetFilter)."""
        return pod.owner is not None and pod.owner.kind == "DaemonSet" and not pod.terminal

    def daemon_set_gone(self, store: Store, pod: Pod) -> bool:
        """Whether the pod's DaemonSet has been deleted. Where the store has never held one, it counts as there."""
        owner = pod.owner
        if owner is None or "DaemonSet" not in store.tables:
            return False
        return store.get("DaemonSet", f"{pod.namespace}/{owner.name}") is None

    # What sets states apart ----------------------------------------------------------------------------------

    def marks(self, memory: DrainMemory, reading: Reading) -> Iterator[tuple[str, str, Any]]:
        """How far each drain is, and each pod that it waits for."""
        for node in sorted(memory):
            drain = memory[node]
            deadline = _deadline(drain) if drain.state != DONE else None
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


def _waiting(drain: Drain) -> list[str]:
    return sorted(key for key, pod in drain.pods.items() if pod.state != ERROR)


def _due(pod: PodDrain, now: Seconds) -> bool:
    return pod.state == ASKING or (pod.state == REFUSED and pod.retry_at is not None and pod.retry_at <= now)


def _deadline(drain: Drain) -> Seconds | None:
    return None if drain.options.timeout is None or drain.state == NEW else drain.begun_at + drain.options.timeout


def _next_look(drain: Drain) -> Seconds | None:
    """When there is something to do again: the next repeated request, or the end of the drain's time."""
    moments = [pod.retry_at for pod in drain.pods.values() if pod.retry_at is not None]
    deadline = _deadline(drain)
    return min((*moments, *(() if deadline is None else (deadline,))), default=None)


def _given_up(drain: Drain, key: str, message: str, answer: str = "") -> Drain:
    """The drain with a pod given up. kubectl goes on with the others, and reports all errors at the end."""
    pod = drain.pods[key]
    given_up = pod.with_(state=ERROR, answer=answer or pod.answer, retry_at=None)
    error = f"{drain.error}; {message}" if drain.error else message
    return drain.with_(pods=drain.pods.set(key, given_up), error=error)


def _kubectl_name(key: str) -> str:
    namespace, _, name = key.partition("/")
    return f'pods/"{name}" -n "{namespace}"'


def _filter_message(errors: dict[str, list[str]]) -> str:
    parts = []
    for refusal, keys in sorted(errors.items()):
        text = refusal if refusal.startswith("cannot delete") else f"cannot delete {refusal}"
        parts.append(f"{text}: {', '.join(sorted(keys))}")
    return "; ".join(parts)


def _note(drain: Drain) -> str:
    return "; ".join(f"{key}: {_answer(drain.pods[key])}" for key in _waiting(drain))
