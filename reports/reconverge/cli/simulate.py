"""`reconverge simulate`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from reconverge.cli.config import find
from reconverge.cli.inputs import scenarios
from reconverge.cli.output import Output
from reconverge.reports.terminal import trace_report
from reconverge.reports.trace_json import trace_text


def simulate_command(options: Namespace, output: Output) -> int:
    """Shows one random run of each scenario; it judges nothing, so it succeeds."""
    from reconverge.checker import simulate

    config = find(Path.cwd())
    seed = options.seed if options.seed is not None else config.get("seed", 0)
    length = {} if options.events is None else {"length": options.events}
    for scenario in scenarios(options, config):
        trace = simulate(scenario, seed, **length)
        if options.output == "json":
            output.write(trace_text(trace))
        else:
            output.lines(trace_report(trace, output.page(), everything=options.full))
    return 0
