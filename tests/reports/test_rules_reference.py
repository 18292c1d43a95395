"""What is told of rules: each one is listed, with the versions that change it."""

from __future__ import annotations

from itertools import pairwise

import attrs

from reconverge.model.rules import NEWEST, OLDEST, AutoscalerSettings, KubeletTimings, Rules
from reconverge.reports import reference

NESTED = {"kubelet": KubeletTimings, "autoscaler": AutoscalerSettings}


def by_id() -> dict[str, reference.Entry]:
    return {entry.id: entry for entry in reference.rules()}


def test_every_rule_is_listed_those_of_one_loop_too() -> None:
    names = {field.name for field in attrs.fields(Rules)} - {"version", *NESTED}
    names |= {f"{one}_{field.name}" for one, kind in NESTED.items() for field in attrs.fields(kind)}
    assert sorted(by_id()) == sorted(name.replace("_", "-") for name in names)


def test_every_rule_says_what_it_is() -> None:
    assert all(len(entry.headline.split()) > 3 and entry.headline.endswith(".") for entry in reference.rules())


def test_rules_name_the_versions_that_change_them() -> None:
    entries = by_id()
    assert entries["node-monitor-grace"].note == "50, changed in 1.31"
    assert ("versions", "40 from 1.25, 50 from 1.31") in entries["node-monitor-grace"].details
    assert entries["autoscaler-own-tolerances"].note == "false, changed in 1.35"
    assert entries["gc-period"].note == "20"


def test_no_version_changes_a_rule_in_silence() -> None:
    entries = by_id()
    versions = [f"1.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    for older, newer in pairwise(versions):
        before, after = Rules.for_version(older), Rules.for_version(newer)
        for path, text in _leaves(after).items():
            if _leaves(before)[path] != text:
                assert newer in entries[path].note


def _leaves(rules: Rules) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in attrs.asdict(rules).items():
        if isinstance(value, dict):
            found |= {f"{name}-{key}".replace("_", "-"): repr(each) for key, each in value.items()}
        elif name != "version":
            found[name.replace("_", "-")] = repr(value)
    return found
