"""Makes what is told from the code: fidelity.md, invariants.md, events.md here, and the transcripts in README.md.

    python docs/generate.py

writes them anew. A test compares the committed pages with what is made here. A transcript is the block after a line
`<!-- transcript: WORDS -->`: what `reconverge WORDS` prints, 80 characters wide.
"""

from __future__ import annotations

import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from reconverge.checker.event_words import signature
from reconverge.invariants import Invariant
from reconverge.invariants.stock import stock
from reconverge.loading.decoders.behaviour import SETTINGS
from reconverge.model import loops
from reconverge.model.events import EVENTS, Event
from reconverge.model.loop import ControlLoop
from reconverge.model.objects import BEHAVIOURS
from reconverge.model.rules import DEFAULT_VERSION, NEWEST, OLDEST
from reconverge.model.standard import loops_of_kinds, standard_control_plane

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MADE = "<!-- Made by docs/generate.py; do not edit. -->"
ERRS = {
    "misses": "misses failures",
    "invents": "invents failures",
    "both": "misses some, invents some",
    "neither": "neither",
}
NEEDS = {
    "kube-proxy": "checked only where kube-proxy is modelled: `loops: {kube-proxy: {}}` in a scenario, `--may "
    "proxy-stall`, or an invariant about it named by `--only`",
    "attach-detach": "checked only where a StorageClass or a PersistentVolume is described",
    "Ingress": "checked only where there is an Ingress",
    "ResourceQuota": "checked only where there is a ResourceQuota",
    "HorizontalPodAutoscaler": "checked only where there is a HorizontalPodAutoscaler",
    "LimitRange": "checked only where there is a LimitRange",
}
KINDS = {
    "always": "on every state",
    "on_step": "on every step",
    "eventually": "on the quiet run after the last event",
    "sometimes": "on the whole exploration",
}


FIDELITY = f"""\
What the model takes from Kubernetes, and what it leaves out. For every part: the rules that are modelled, each with the
upstream source file that it was taken from, and what is left out, with the direction in which that errs: it *misses
failures* that a real cluster could have, or *invents failures* that it would not have.

The rules are those of Kubernetes {DEFAULT_VERSION}. Where known versions differ, the difference is a switch of the
rules (`reconverge list rules`). Paths are from the root of kubernetes/kubernetes; those of a repository of its own
begin with its name.

A result is "no violation found within these bounds", never "safe"."""

INVARIANTS = """\
What is checked. A *law* holds for any configuration if the control loops are right; an *objective* is what a
configuration is for. `reconverge explain ID` prints one of them; `--only` and `--skip` choose among them."""

EVENTS_PAGE = """\
What can happen, by the names that scenarios use. In `steps:` an event is one mapping, as in `- drain: {node: n1}`. In
`may:` it is a name with the most times that it may happen in one sequence, as in `drain: 1` (on the command line
`--may drain=1`), and arguments narrow what is tried. Arguments in brackets have a default.

```yaml scenario
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {name: scale-then-drain}
spec:
  manifests: [examples/node-failure/web.yaml]
  nodePools:
    - {name: node, count: 3, zones: [a, b, c], allocatable: {cpu: "4", memory: 16Gi, pods: 110}}
  steps:
    - scale: {workload: deployment/web, replicas: 4}
  may:
    drain: {times: 1, node: [node-1, node-2]}
  events: 1
  deviations: 0
  check: [drain-completes]
  expect: {violated: []}
```
"""


PROGRAMS = """\
## What programs do

The model runs no program. Annotations on a pod template say how its containers behave; what they leave open is as
usual: an init container does its work at once, every other one runs and answers its probes. With a container's name
after a dot an annotation is about that container alone, as in `reconverge/behaviour.migrate: exit-1`. Durations are
seconds, or as in `90s`, `2m`, `1h`. `reconverge list annotations` prints the same."""


EXAMPLES_PAGE = """\
Each is small, says at its top what it shows, and is a test: `pytest examples` runs all of them,
`reconverge check examples/drain/one-replica-one-budget.scenario.yaml` runs one. What is expected to be violated is
violated, and beside every scenario in which something breaks there is one in which it does not."""


def page(path: str) -> str:
    """One of the PAGES, made anew."""
    return PAGES[path]()


def _fidelity() -> str:
    return fidelity(every_loop(), yaml.safe_load((DOCS / "omissions.yaml").read_text("utf-8")))


PAGES: dict[str, Callable[[], str]] = {
    "docs/fidelity.md": _fidelity,
    "docs/invariants.md": lambda: invariants(stock()),
    "docs/events.md": lambda: events(EVENTS),
    "examples/README.md": lambda: examples(sorted((ROOT / "examples").glob("*/*.scenario.yaml"))),
    "README.md": lambda: with_transcripts((ROOT / "README.md").read_text("utf-8")),
}
"""How to make every page, by its path from the root."""


# Transcripts -----------------------------------------------------------------------------------------------------


def with_transcripts(text: str) -> str:
    """A page with its transcripts made anew."""
    block = re.compile(r"(<!-- transcript: (.+?) -->\n```text\n).*?(```\n)", re.DOTALL)
    return block.sub(lambda found: found[1] + printed(found[2]) + found[3], text)


def printed(words: str) -> str:
    """What the command prints for some words, from the root of the checkout."""
    command = [sys.executable, "-m", "reconverge.cli", *shlex.split(words)]
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"reconverge {words}: {done.stderr}")
    return done.stdout


# Fidelity --------------------------------------------------------------------------------------------------------


def every_loop() -> list[type[ControlLoop[Any]]]:
    """The control loops of the standard control plane, and those that a scenario may add, by name."""
    found: dict[str, type[ControlLoop[Any]]] = {type(loop).name: type(loop) for loop in standard_control_plane().loops}
    for name in _names_below(loops):
        for kind in vars(import_module(name)).values():
            own = isinstance(kind, type) and issubclass(kind, ControlLoop) and kind.__module__ == name
            if own and "name" in vars(kind):
                found.setdefault(kind.name, kind)
    return [found[name] for name in sorted(found)]


def fidelity(kinds: Iterable[type[ControlLoop[Any]]], omissions: Mapping[str, Any]) -> str:
    """What is modelled of each loop, from its modules, and what is left out. Raises KeyError for a loop not listed."""
    lines = ["# Fidelity", "", MADE, "", *FIDELITY.splitlines(), ""]
    standard = {loop.name for loop in (*standard_control_plane().loops, *loops_of_kinds())}
    for loop in kinds:
        asked = "" if loop.name in standard else " Runs only where a scenario asks for it."
        lines += [f"## {loop.name}", "", f"{_first_paragraph(loop)}{asked} Source: `{loop.source}`.", ""]
        lines += ["| modelled | source |", "|---|---|"]
        lines += [f"| {_cell(what)} | {_cell(source)} |" for what, source in _rules_of(loop)]
        exercised = omissions["recordings"].get(loop.name, ())
        if exercised:
            lines += ["", f"Recordings that exercise it: {', '.join(exercised)}."]
        lines += ["", *_left_out(omissions["loops"][loop.name])]
    for name, part in omissions["parts"].items():
        source = f" Source: `{part['source']}`." if part["source"] else ""
        lines += [f"## {name}", "", f"{part['modelled']}{source}", "", *_left_out(part["left_out"])]
    lines += _versions(omissions["versions"])
    return _page(lines)


def _versions(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """What changed between the versions that can be chosen: the rules that switch it, or why nothing shows it."""
    first, last = (".".join(map(str, each)) for each in (OLDEST, NEWEST))
    lines = ["## Versions", "", f"What changed from Kubernetes {first} to {last} (`--kubernetes`), and the rule that"]
    lines[-1] += " switches it, in a scenario's `rules:` too; or why nothing modelled shows it."
    lines += ["", "| change | since | rule |", "|---|---|---|"]
    for row in rows:
        rules = ", ".join(f"`{rule}`" for rule in row.get("rules", ()))
        lines.append(f"| {_cell(row['change'])} | {row['since']} | {rules or _cell('none: ' + row['why'])} |")
    return [*lines, ""]


def _left_out(entries: Iterable[Mapping[str, str]]) -> list[str]:
    rows = [f"| {_cell(each['what'])} | {ERRS[each['errs']]} |" for each in entries]
    return ["| left out | errs |", "|---|---|", *rows, ""]


def _rules_of(loop: type[ControlLoop[Any]]) -> Iterator[tuple[str, str]]:
    """(what it says, its upstream sources) for each module of a loop that names its sources."""
    for module in _modules_of(loop):
        text = module.__doc__ or ""
        said = re.search(r"\bSource: (.+?)(?:\n\n|\Z)", text, re.DOTALL)
        if said is not None:
            yield " ".join(text.split("\n\n")[0].split()).rstrip("."), " ".join(said[1].split()).rstrip(".")


def _modules_of(loop: type[ControlLoop[Any]]) -> Iterator[ModuleType]:
    """The module of a loop, or all modules of its package, in alphabetical order."""
    package = loop.__module__.rpartition(".")[0]
    if package == loops.__name__:
        yield import_module(loop.__module__)
        return
    for name in _names_below(import_module(package)):
        yield import_module(name)


def _names_below(package: ModuleType) -> list[str]:
    """The names of all modules in a package, in alphabetical order."""
    return sorted(each.name for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


# Invariants and events ---------------------------------------------------------------------------------------------


def invariants(every: Iterable[Invariant]) -> str:
    """All stock invariants: what each promises, when it is judged, why it matters, what to change."""
    ordered = sorted(every, key=lambda each: each.id)
    lines = ["# Invariants", "", MADE, "", *INVARIANTS.splitlines(), ""]
    lines += ["| id | family | judged | promise |", "|---|---|---|---|"]
    for each in ordered:
        lines += [f"| [{each.id}](#{each.id}) | {each.family} | {KINDS[each.kind]} | {_cell(each.statement)} |"]
    lines += [""]
    for each in ordered:
        whom = f"for each {each.for_each}" if each.for_each else "for the cluster as a whole"
        lines += [f"## {each.id}", "", each.statement, ""]
        lines += [f"* judged: {KINDS[each.kind]}, {whom}"]
        lines += [f"* {word}: {text}" for word, text in (("matters", each.why), ("remedy", each.remedy)) if text]
        lines += [f"* source: {each.source}"] if each.source else []
        lines += [] if each.default else ["* checked only where a scenario or `--only` names it"]
        lines += [f"* {NEEDS[each.needs]}"] if each.needs and each.default else []
        lines += [""]
    return _page(lines)


def events(every: Mapping[str, type[Event]]) -> str:
    """All events: name, arguments, what each is."""
    lines = ["# Events", "", MADE, "", *EVENTS_PAGE.splitlines(), ""]
    lines += ["| event | arguments | what it is | nature |", "|---|---|---|---|"]
    for name, kind in sorted(every.items()):
        arguments = ", ".join(word if needed else f"[{word}]" for word, needed in signature(kind).items())
        nature = "failure" if kind.failure else "on purpose" if kind.voluntary else ""
        lines.append(f"| {name} | {arguments} | {_cell(kind.summary)} | {nature} |")
    lines += ["", *PROGRAMS.splitlines(), "", *_table("annotation", SETTINGS)]
    return _page([*lines, "", *_table("behaviour", BEHAVIOURS)])


def _table(what: str, every: Mapping[str, str]) -> list[str]:
    return [f"| {what} | what it says |", "|---|---|", *(f"| {name} | {_cell(told)} |" for name, told in every.items())]


# Examples -----------------------------------------------------------------------------------------------------------


def examples(files: Iterable[Path]) -> str:
    """All scenarios by folder: what the comment at the top of each says, and what is violated in it."""
    lines = ["# Examples", "", MADE, "", *EXAMPLES_PAGE.splitlines()]
    folder = ""
    for file in files:
        if file.parent.name != folder:
            folder = file.parent.name
            lines += ["", f"## {folder}", "", "| scenario | what it shows | violated |", "|---|---|---|"]
        text = file.read_text("utf-8")
        comment = " ".join(line.removeprefix("#").strip() for line in text.split("apiVersion:")[0].splitlines())
        expected = yaml.safe_load(text)["spec"].get("expect", {}).get("violated", ())
        broken = ", ".join(each if isinstance(each, str) else next(iter(each)) for each in expected)
        name = file.name.removesuffix(".scenario.yaml")
        lines.append(f"| [{name}]({folder}/{file.name}) | {_cell(comment)} | {broken or 'nothing'} |")
    return _page(lines)


# Text ---------------------------------------------------------------------------------------------------------------


def _first_paragraph(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    for path in PAGES:
        (ROOT / path).write_text(page(path), "utf-8")
