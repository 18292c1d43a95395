"""From options and configuration to scenarios."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconverge.cli.config import Config
from reconverge.cli.errors import UsageError, unknown
from reconverge.reports.scenarios import is_scenario_file, read_scenario, says_scenario, scenario_files

if TYPE_CHECKING:
    from argparse import Namespace

    from reconverge.checker import Scenario

NOTHING = (
    "nothing to check: name manifests, a directory, *.scenario.yaml files, or - for standard input "
    "(see reconverge check --help)"
)
FOR_MANIFESTS = ("nodes", "may", "only", "skip", "invariants")
"""Options of which a scenario file has its own."""


def scenarios(options: Namespace, config: Config) -> list[Scenario]:
    """The scenarios that are asked for. Raises UsageError, LoadError."""
    paths = [*options.paths, *options.filename] or config.paths("paths")
    if not paths:
        raise UsageError(NOTHING)
    files, manifests = sorted_out(paths)
    if files:
        _refuse(options, bool(manifests))
    found = [_from_file(path, options) for path in files]
    if manifests:
        found.append(_from_manifests(manifests, options, config))
    return found


def sorted_out(paths: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The scenario files, and the paths of manifests. A directory with scenario files stands for those."""
    files: list[Path] = []
    manifests: list[str] = []
    for path in paths:
        if path != "-" and (is_scenario_file(path) or says_scenario(Path(path))):
            files.append(Path(path))
        elif path != "-" and Path(path).is_dir() and (inside := scenario_files(Path(path))):
            files += inside
        else:
            manifests.append(path)
    return list(dict.fromkeys(files)), list(dict.fromkeys(manifests))


def _refuse(options: Namespace, manifests: bool) -> None:
    """Options that a scenario file decides must not be silently ignored."""
    for name in FOR_MANIFESTS:
        if getattr(options, name, None) and not manifests:
            raise UsageError(f"--{name} is for manifests; a scenario file says that itself")


def _from_file(path: Path, options: Namespace) -> Scenario:
    return read_scenario(
        path,
        kubernetes=options.kubernetes,
        events=getattr(options, "events", None),
        deviations=getattr(options, "deviations", None),
    )


def _from_manifests(paths: Sequence[str], options: Namespace, config: Config) -> Scenario:
    from reconverge.checker import Scenario

    def chosen(name: str) -> Any:
        given = getattr(options, name, None)
        return given if given is not None else config.get(name)

    may = allowances(options.may) if options.may else config.get("may")
    return Scenario.from_manifests(
        paths,
        nodes=chosen("nodes"),
        stdin=_standard_input() if "-" in paths else None,
        kubernetes=chosen("kubernetes"),
        may=allowances([may]) if isinstance(may, str) else may,
        events=chosen("events"),
        deviations=chosen("deviations"),
        only=listed(getattr(options, "only", None)) or config.get("only", ()),
        skip=listed(getattr(options, "skip", None)) or config.get("skip", ()),
        invariants=invariant_files(options, config),
    )


def invariant_files(options: Namespace, config: Config) -> list[Path]:
    """The files of own invariants, of the options or else of the configuration."""
    given = listed(getattr(options, "invariants", None)) or config.paths("invariants")
    return [Path(path) for path in given]


def listed(given: Sequence[str] | None) -> list[str]:
    """An option that may be repeated and may hold several words with commas."""
    return [word.strip() for each in given or () for word in each.split(",") if word.strip()]


def allowances(given: Sequence[str]) -> Mapping[str, Any]:
    """`node-crash=1,drain` as counts by event; one if no count is given. Raises UsageError."""
    from reconverge.model.events import EVENTS

    may: dict[str, Any] = {}
    for word in listed(given):
        name, equals, number = (part.strip() for part in word.partition("="))
        if name not in EVENTS:
            raise unknown("event", name, EVENTS)
        if equals and not (number.isascii() and number.isdigit()):
            raise UsageError(f"--may {word}: the count of {name} must be a whole number")
        may[name] = int(number) if equals else 1
    return may


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 text (byte {error.start})") from None
    except AttributeError:  # a stand-in without bytes
        return sys.stdin.read()
