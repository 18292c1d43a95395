"""Random search: long walks where exhaustive search does not fit.

Hypothesis draws one byte string per walk, of which each byte is one choice: ten times the steps per second of a rule
each. Half of the walks take every enabled event alike, half weigh the kinds at random, so that rare ones come often.
Hypothesis only finds; reducing is ours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import sha256

from attrs import field, frozen
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from reconverge.checker.explore import Counterexample, Kinds
from reconverge.checker.judge import Judge
from reconverge.checker.runner import Observer, Play, Player, hindered
from reconverge.checker.schedule import Course, Deviation, Interruption, Taken, Tie
from reconverge.checker.world import World
from reconverge.model.canonical import fingerprint
from reconverge.model.events import Event

EVENTS_PER_WALK = 12
BYTES_PER_EVENT = 4
DEVIATION_IN = 4
"""One stretch in so many departs from the default schedule."""


@frozen
class Walks:
    """What random walks have found and seen."""

    counterexamples: dict[tuple[str, str], Counterexample]
    walks: int
    steps: int
    transitions: int
    states: int
    events: Counter[str]
    actions: Counter[str]
    judge: Judge
    kinds: Kinds


class _Choices:
    """A byte string as a supply of choices; zeros when it is used up."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        value = self._data[self._at] if self._at < len(self._data) else 0
        self._at += 1
        return value


@frozen
class _Campaign:
    world: World
    judge: Judge
    deviations: int
    found: dict[tuple[str, str], Counterexample] = field(factory=dict)
    events: Counter[str] = field(factory=Counter)
    actions: Counter[str] = field(factory=Counter)
    seen: set[bytes] = field(factory=set)
    counts: Counter[str] = field(factory=Counter)
    kinds: Kinds = field(factory=lambda: defaultdict(set))

    def walk(self, data: bytes, length: int) -> None:
        """One walk: events and deviations as the bytes say."""
        choices = _Choices(data)
        weights = {name: choices.byte() % 4 for name in self._kinds()} if choices.byte() % 2 else {}
        player = Player(self.world, self.judge, observer=Observer(taken=self._taken))
        spent = 0
        self.counts["walks"] += 1
        player.begin()
        for event in self.world.prefix:
            player.strike(Play(event))
            player.settle(Course(), last=False)
        for number in range(length):
            used = Counter(event.name for event in player.events)
            enabled = list(self.world.candidates(player.cluster, used))
            if not enabled:
                break
            event = self._pick(enabled, weights, choices)
            deviations = self._deviations(choices, spent)
            spent += len(deviations)
            if not player.strike(Play(event, deviations)):
                continue
            self.events[event.name] += 1
            self.counts["transitions"] += 1
            last = number == length - 1
            player.settle(Course.of(() if last else deviations), last=last)
            if player.rested is not None and player.rested.outcome != "rest":
                break
            if last or not any(isinstance(each, Interruption) for each in deviations):
                self.seen.add(fingerprint(self.world.plane, player.cluster))
                # A quiet run ends with all loops recovered: what rests with one hindered is no end yet.
                if last or not hindered(player.cluster):
                    player.judge_end()
        self._keep(player)

    def _kinds(self) -> list[str]:
        return [allowance.event for allowance in self.world.allowances]

    def _pick(self, enabled: Sequence[Event], weights: dict[str, int], choices: _Choices) -> Event:
        byte = choices.byte()
        weighted = [event for event in enabled for _ in range(weights.get(event.name, 1))] if weights else []
        pool = weighted or enabled
        return pool[byte % len(pool)]

    def _deviations(self, choices: _Choices, spent: int) -> tuple[Deviation, ...]:
        first, second, third = choices.byte(), choices.byte(), choices.byte()
        if spent >= self.deviations or first % DEVIATION_IN:
            return ()
        if second % 2:
            return (Interruption(third),)
        return (Tie(third % 8, 1 + third // 128),)

    def _taken(self, taken: Taken) -> None:
        self.counts["steps"] += 1
        if taken.changes:
            self.actions[f"{taken.move.loop} {type(taken.action).__name__}"] += 1  # type: ignore[union-attr]

    def _keep(self, player: Player) -> None:
        if not player.quiet and (player.rested is None or player.rested.outcome == "rest"):
            player.settle(Course(), last=True)
        player.judge_end()
        for count, found in player.found:
            self.kinds[found.identity].add(frozenset(play.event.name for play in player.plays[:count]))
            if found.identity not in self.found:
                self.found[found.identity] = Counterexample(found, player.plays[:count])


def random_walks(world: World, *, walks: int, seed: int, deviations: int, length: int = EVENTS_PER_WALK) -> Walks:
    """Plays `walks` random walks of `length` events; the same seed gives the same walks on any machine."""
    judge = world.judge()
    campaign = _Campaign(world, judge, deviations)
    size = 1 + len(world.allowances) + BYTES_PER_EVENT * length

    @with_seed(seed)
    @settings(
        max_examples=walks,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(st.binary(min_size=size, max_size=size))
    def one(data: bytes) -> None:
        campaign.walk(data, length)

    one()
    counts = campaign.counts
    return Walks(
        campaign.found, counts["walks"], counts["steps"], counts["transitions"], len(campaign.seen),
        campaign.events, campaign.actions, judge, campaign.kinds,
    )  # fmt: skip


def random_plays(world: World, *, seed: int, length: int) -> tuple[Play, ...]:
    """The fixed steps and `length` random events after them, each struck when everything has settled."""
    player = Player(world, world.judge("none"))
    digest = sha256(str(seed).encode()).digest()
    player.begin()
    for event in world.prefix:
        player.strike(Play(event))
        player.settle(Course(), last=False)
    for number in range(length):
        used = Counter(event.name for event in player.events)
        enabled = list(world.candidates(player.cluster, used))
        if not enabled or (player.rested is not None and player.rested.outcome != "rest"):
            break
        kinds = sorted({event.name for event in enabled})
        kind = kinds[digest[2 * number % 32] % len(kinds)]
        alike = [event for event in enabled if event.name == kind]
        player.strike(Play(alike[digest[(2 * number + 1) % 32] % len(alike)]))
        player.settle(Course(), last=False)
    return player.plays
