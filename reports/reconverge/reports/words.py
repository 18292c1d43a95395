"""Sentences and numbers that every renderer shares, so that all say the same in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from reconverge.checker.result import Bounds, Exploration, Result, Verdict
from reconverge.checker.trace import Trace
from reconverge.model.value import Seconds


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 event`, `4,120 states`; the plural is the noun with an s unless one is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def plural(kind: str) -> str:
    """The plural of a kind of object: Deployments, Ingresses, NetworkPolicies."""
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(("s", "x", "ch")) else f"{kind}s"


def duration(seconds: Seconds) -> str:
    """`50s`, `5m50s`, `1h`, `0.5s`: seconds in the way kubectl writes them."""
    whole = int(seconds)
    if seconds != whole:
        return f"{seconds:.3f}".rstrip("0") + "s" if seconds < 60 else duration(round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    parts = [f"{amount}{unit}" for amount, unit in ((hours, "h"), (minutes, "m"), (left, "s")) if amount]
    return "".join(parts) or "0s"


def moment(seconds: Seconds) -> str:
    """`t+5m50s`: a time since the first event."""
    return f"t-{duration(-seconds)}" if seconds < 0 else f"t+{duration(seconds)}"


def listed(words: Iterable[str], most: int = 0) -> str:
    """`a, b and 3 more`; all of them if `most` is 0."""
    every = list(words)
    if not most or len(every) <= most + 1:
        return ", ".join(every)
    return f"{', '.join(every[:most])} and {len(every) - most:,} more"


def sentence(text: str) -> str:
    """The text with a capital at its beginning (unless that is a name) and a full stop at its end."""
    text = text.strip()
    if text and text.split(maxsplit=1)[0].isalpha():
        text = text[0].upper() + text[1:]
    return text if not text or text[-1] in ".!?" else f"{text}."


def value(thing: Any) -> str:
    """A value of a field or fact, in one line."""
    if thing is None or thing == "":
        return "none"
    if isinstance(thing, bool):
        return "true" if thing else "false"
    if isinstance(thing, float) and thing == int(thing):
        return str(int(thing))
    if isinstance(thing, dict):
        return ", ".join(f"{key}={value(each)}" for key, each in thing.items()) or "none"
    if isinstance(thing, (list, tuple, set, frozenset)):
        every = sorted(thing, key=str) if isinstance(thing, (set, frozenset)) else thing
        return ", ".join(value(each) for each in every) or "none"
    return str(thing)


def field_name(name: str) -> str:
    """A field or fact as people write it: `min_available` is "min available"; dotted paths stay as they are."""
    return name if "." in name else name.replace("_", " ")


# --- what was explored -----------------------------------------------------------------------------------------------


def bounds(limits: Bounds) -> str:
    """`at most 2 events and 1 deviation`."""
    if not limits.events and not limits.deviations:
        return "no event and no deviation"
    deviations = count(limits.deviations, "deviation") if limits.deviations else "no deviation"
    events = count(limits.events, "event")
    return f"at most {events} and {deviations}" if limits.events else f"no event and at most {deviations}"


def scope(result: Result) -> str:
    """`every sequence of at most 2 events and 1 deviation`, or how many random sequences there were."""
    explored = result.exploration
    if explored.mode == "random":
        seed = "" if explored.seed is None else f" from seed {explored.seed}"
        return count(explored.sequences, "random sequence") + seed
    if explored.complete:
        return _every(result, [explored.bounds])
    return f"sequences of {bounds(explored.bounds)}"


def claimed(result: Result) -> str:
    """What a result may claim of a search: all of it, or the bounds below that were explored completely."""
    explored = result.exploration
    covered = [explored.bounds] if explored.complete else explored.covered
    return scope(result) if explored.mode == "random" or not covered else _every(result, covered)


def _every(result: Result, limits: Sequence[Bounds]) -> str:
    """In words: what is fixed alone, or every sequence within one of these bounds."""
    if all(not each.events and not each.deviations for each in limits):
        fixed = len(result.document.get("spec", {}).get("steps") or ())
        what = f"the {count(fixed, 'fixed step')} alone" if fixed else "the start itself"
        return f"{what}, with no free event and no deviation"
    return f"every sequence of {', and of '.join(bounds(each) for each in limits)}"


def size(exploration: Exploration) -> str:
    """`4,120 states, complete`."""
    states = count(exploration.states, "state")
    if exploration.mode == "random":
        return f"{states}, {count(exploration.steps, 'step')}"
    return f"{states}, {'complete' if exploration.complete else 'cut short'}"


def claim(result: Result) -> str:
    """What the result claims, in one sentence, with its bounds."""
    explored = result.exploration
    findings = [verdict for verdict in result.verdicts if verdict.status == "violated"]
    if findings:
        wanted = ", as expected" if result.expectation is not None and result.expectation.met else ""
        return f"{_violations(findings)}{wanted}. Explored: {reach(result)}."
    if explored.mode == "random":
        return f"No violation found in {reach(result)}; what was not drawn is not judged."
    if inconclusive(result):
        return f"Inconclusive: no violation found, but the search was cut short. Explored: {reach(result)}."
    return f"No violation found for {claimed(result)} ({count(explored.states, 'state')}, complete)."


def reach(result: Result) -> str:
    """How far a search went: what was explored completely, and what in part."""
    explored = result.exploration
    if explored.mode == "random" or explored.complete or not explored.covered:
        return f"{scope(result)} ({size(explored)})"
    if explored.bounds in explored.covered:
        states = count(explored.states, "state")
        return f"{claimed(result)} ({states}), but not every quiet run came to its end"
    part = f"part of those of {bounds(explored.bounds)}"
    return f"{claimed(result)}, complete, and {part} ({count(explored.states, 'state')} in all)"


def _violations(findings: list[Verdict]) -> str:
    accepted = sum(1 for verdict in findings if verdict.accepted)
    kinds = count(len({verdict.invariant for verdict in findings}), "invariant")
    whose = "all" if accepted == len(findings) else f"{accepted} of them"
    note = f", {whose} accepted" if accepted else ""
    return f"{count(len(findings), 'violation')} of {kinds}{note}"


def inconclusive(result: Result) -> bool:
    """Whether something stayed open: the search was cut short before what it should claim, or a verdict is lacking."""
    explored = result.exploration
    nothing = explored.mode == "exhaustive" and not explored.complete and not explored.covered
    return nothing or any(verdict.status == "inconclusive" for verdict in result.verdicts)


# --- a counterexample ------------------------------------------------------------------------------------------------


def headline(trace: Trace) -> str:
    """The message as a sentence, without the reasons that the pods that wait at the end are told with."""
    covered = any(each.reason in trace.message for each in trace.waiting)
    return sentence(trace.message.partition(": ")[0] if covered else trace.message)


def facts(trace: Trace) -> str:
    """The facts that neither the message nor the waiting pods tell, on one line; often none."""
    reasons = [each.reason for each in trace.waiting]
    told = " ".join([headline(trace), *reasons])
    known = {word.rstrip("./-") for word in re.findall(r"[\w./-]+", told)}
    rest = []
    for name, each in trace.facts.items():
        if name == "outcome":
            continue
        parts = [value(part) for part in (each if isinstance(each, (list, tuple)) else [each])]
        new = [
            part
            for part in parts
            if part not in known and not (len(part) > 3 and part in told) and not any(why in part for why in reasons)
        ]
        if new:
            rest.append(f"{field_name(name)}: {', '.join(new)}")
    return ", ".join(rest)


def waiting(trace: Trace) -> list[tuple[str, str]]:
    """The pods that wait at the end as (who waits, why), those with one reason together."""
    groups: dict[str, list[str]] = {}
    for each in trace.waiting:
        groups.setdefault(each.reason, []).append(each.pod)
    return [(f"{listed(pods, 4)} {'waits' if len(pods) == 1 else 'wait'}", reason) for reason, pods in groups.items()]


def minimality(trace: Trace) -> str:
    """What is known about the length of a counterexample; empty if nothing is."""
    if trace.shortest:
        return "shortest within these bounds"
    return "no single event can be dropped" if trace.minimal and trace.strokes else ""


def events_heading(trace: Trace) -> str:
    """`2 events, shortest within these bounds`."""
    if not trace.strokes:
        return "No event is needed: the start itself breaks it"
    known = minimality(trace)
    return f"{count(len(trace.strokes), 'event')}, {known}" if known else count(len(trace.strokes), "event")


def stroke(event: str, arguments: Any) -> str:
    """An event as a scenario writes it, on one line: `scale: workload=deployment/web, replicas=4`."""
    told = ", ".join(f"{key}={value(each)}" for key, each in arguments.items())
    return f"{event}: {told}" if told else event


def outcome(trace: Trace) -> str:
    """How the run ended, as a sentence; empty for an invariant that broke in a step, which the step itself shows."""
    if trace.outcome == "rest" and not trace.invariant:
        return "Everything is at rest here."
    return {
        "rest": f"Everything is at rest here, and {trace.invariant} does not hold.",
        "loop": "Nothing else ever happens: the cluster repeats these steps for ever.",
        "growth": "This goes on without end, with more objects each time.",
        "unfinished": "The run was cut off here, before it came to rest.",
    }.get(trace.outcome, "")
