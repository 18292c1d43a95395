"""The arguments of the command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from reconverge.cli.errors import UsageError, unknown

COMMANDS = ("check", "replay", "explain", "list", "simulate", "export-test", "conform", "audit")
LISTS = ("invariants", "events", "loops", "rules", "annotations")
REPORTS = ("dot", "html", "itf", "json", "junit", "markdown", "sarif", "text")

DESCRIPTION = """\
Plays short sequences of failures, drains, scalings and rollouts on a model of your cluster, lets the
control loops react, and shows the shortest sequence that breaks an invariant."""

EXAMPLES = """\
examples:
  reconverge check k8s/ --nodes 3x4cpu,16Gi@a,b,c     what can go wrong, on nodes that you describe
  kubectl get all,pdb,nodes -o yaml | reconverge check -      the same for a live cluster
  reconverge check drain.scenario.yaml                one scenario and its expectation
  reconverge replay .reconverge/traces/shop-drain-completes.json
  reconverge explain drain-completes

exit codes: 0 nothing violated, 1 violated, 2 bad usage or input, 3 internal error"""


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of ending the process, and says what was probably meant."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        choice = re.fullmatch(r"argument (.+): invalid choice: '?(.*?)'? \(choose from (.+)\)", message, re.DOTALL)
        if choice:
            what = {"COMMAND": "command", "WHAT": "list"}.get(choice[1], choice[1].split("/")[-1])
            raise unknown(what, choice[2], re.findall(r"[\w-]+", choice[3]))
        raise UsageError(f"{message} (see {self.prog} --help)")

    def options(self) -> list[str]:
        """All options by their long names."""
        return [name for action in self._actions for name in action.option_strings if name.startswith("--")]


def parser() -> tuple[Parser, dict[str, Parser]]:
    """The parser of the command and those of its parts."""
    top = Parser("reconverge", description=DESCRIPTION, epilog=EXAMPLES)
    top.add_argument("--version", action="store_true", help="print the version and stop")
    _add_general(top, default=True)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    parts = {}
    for name, help_text, adds in (
        ("check", "explore what can happen and judge it", _add_check),
        ("replay", "play a kept trace again, without any search", _add_replay),
        ("explain", "say what an invariant, event, control loop or rule is", _add_explain),
        ("list", "list all invariants, events, control loops, rules or annotations", _add_list),
        ("simulate", "play one random run and show it", _add_simulate),
        ("export-test", "make a test of a kept trace", _add_export),
        ("conform", "hold the model against recordings of a real control plane", _add_history),
        ("audit", "judge the invariants along a recording or a watch of a cluster", _add_history),
    ):
        part = commands.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.")
        _add_general(part, default=False)
        adds(part)
        parts[name] = part
    return top, parts


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments. Raises UsageError; ends the process for --help only."""
    top, parts = parser()
    known, rest = top.parse_known_args(argv)
    if rest:
        part = parts.get(known.command, top)
        word = rest[0].partition("=")[0]
        if word.startswith("--"):
            raise unknown("option", word, [*part.options(), *top.options()])
        raise UsageError(f"unexpected argument {rest[0]!r} (see {part.prog} --help)")
    return known


def _add_general(part: Parser, *, default: bool) -> None:
    """Options that may stand before or after the name of the command."""
    missing: Any = None if default else argparse.SUPPRESS
    part.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto" if default else missing, help="default: auto"
    )
    part.add_argument(
        "--traceback",
        action="store_true",
        default=False if default else missing,
        help="show the Python traceback of an internal error",
    )


def _add_input(part: Parser) -> None:
    part.add_argument("paths", nargs="*", metavar="PATH", help="manifests, directories, *.scenario.yaml, - for stdin")
    part.add_argument("-f", "--filename", action="append", default=[], metavar="PATH", help="the same as PATH")
    part.add_argument("--nodes", metavar="NODES", help="nodes, like 3x4cpu,16Gi@a,b,c; they replace described pools")
    part.add_argument(
        "--may", action="append", metavar="EVENT=N,...", help="what may happen, and how often in one sequence"
    )
    part.add_argument("--kubernetes", metavar="VERSION", help="rules of this Kubernetes version, like 1.34")
    part.add_argument("--seed", type=_whole, metavar="N", help="seed of everything random (default 0)")


def _add_check(part: Parser) -> None:
    _add_input(part)
    part.add_argument("--events", type=_whole, metavar="N", help="most events in one sequence")
    part.add_argument("--deviations", type=_whole, metavar="N", help="most departures from the default schedule")
    mode = part.add_mutually_exclusive_group()
    mode.add_argument("--exhaustive", action="store_true", help="every sequence within the bounds, or inconclusive")
    mode.add_argument("--random", action="store_true", help="random sequences")
    part.add_argument("--max-examples", type=_whole, metavar="N", help="random sequences to try")
    part.add_argument("--budget", type=_whole, metavar="STEPS", help="steps after which an exhaustive search is cut")
    part.add_argument("--only", action="append", metavar="ID", help="check only these invariants")
    part.add_argument("--skip", action="append", metavar="ID", help="leave out these invariants")
    part.add_argument("--invariants", action="append", metavar="FILE.py", help="invariants of your own")
    part.add_argument("--output", choices=("text", "json"), help="what standard output gets (default text)")
    part.add_argument(
        "--report",
        action="append",
        metavar="KIND=FILE",
        help=f"write a report as well; kinds: {', '.join(REPORTS)}",
    )
    part.add_argument("--strict", action="store_true", help="fail also for what was inconclusive or never happened")


def _add_replay(part: Parser) -> None:
    part.add_argument("trace", metavar="TRACE", nargs="?", help="a file of .reconverge/traces")
    part.add_argument("--recording", metavar="FILE", help="show a recording of a real control plane as a trace")
    part.add_argument("--full", action="store_true", help="show every step, unfolded")
    part.add_argument("--output", choices=("text", "json"), default="text", help="default: text")


def _add_history(part: Parser) -> None:
    part.add_argument("files", metavar="FILE", nargs="+", help="a recording (docs/recordings.md says what that is)")
    part.add_argument("--output", choices=("text", "json"), default="text", help="default: text")


def _add_explain(part: Parser) -> None:
    part.add_argument("id", metavar="ID", help="an invariant, event, control loop or rule")
    part.add_argument("--invariants", action="append", metavar="FILE.py", help="invariants of your own")


def _add_list(part: Parser) -> None:
    part.add_argument("what", choices=LISTS, metavar="WHAT", help=", ".join(LISTS))
    part.add_argument("--invariants", action="append", metavar="FILE.py", help="invariants of your own")


def _add_simulate(part: Parser) -> None:
    _add_input(part)
    part.add_argument("--events", type=_whole, metavar="N", help="events in the run")
    part.add_argument("--full", action="store_true", help="show every step, unfolded")
    part.add_argument("--output", choices=("text", "json"), default="text", help="default: text")


def _add_export(part: Parser) -> None:
    part.add_argument("trace", metavar="TRACE", help="a file of .reconverge/traces")
    part.add_argument("--to", metavar="FILE", help="*.scenario.yaml or test_*.py; default: standard output")
    part.add_argument(
        "--as", dest="form", choices=("scenario", "pytest"), help="default: scenario, or pytest for odd schedules"
    )


def _whole(text: str) -> int:
    """A whole number that is not negative."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)
