"""What was read to make a result: objects, what was left out, nodes; the part of a report above the findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from reconverge.checker.result import Result
from reconverge.reports import words


@frozen
class Account:
    """What became of the input. `notes` and `unsupported` are lines that begin with `file:line`."""

    modelled: Mapping[str, int]
    """Objects by kind."""
    files: int
    skipped: Mapping[str, int]
    """Objects left out because the model has no such kind, by kind."""
    notes: tuple[str, ...]
    unsupported: tuple[str, ...]
    """Fields that would matter and are not modelled."""
    ignored: int
    """Fields that nothing modelled depends on."""

    @property
    def total(self) -> int:
        """How many objects are modelled."""
        return sum(self.modelled.values())


def account(result: Result) -> Account | None:
    """What the loader said of the input; None for a scenario that was built in Python."""
    loaded = result.input
    if loaded is None or not hasattr(loaded, "objects"):
        return None
    accounting = loaded.accounting
    return Account(
        modelled=_sorted(Counter(each.kind for each in (*loaded.objects, *loaded.pool_documents))),
        files=len({document.file for document in (*loaded.raw, *loaded.pool_documents) if document.file}),
        skipped=_sorted(loaded.skipped),
        notes=tuple(str(note) for note in loaded.notes),
        unsupported=tuple(_field(each) for each in accounting.unsupported),
        ignored=accounting.ignored,
    )


def _sorted(counted: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))


def _field(field: Any) -> str:
    return f"{field.where} {field.path}" + (f" ({field.object})" if field.object else "")


def kinds(counted: Mapping[str, int], most: int = 0) -> str:
    """`10 Deployments, 1 Service`."""
    return words.listed((words.count(number, kind, words.plural(kind)) for kind, number in counted.items()), most)


def nodes(result: Result) -> str:
    """The nodes of a scenario in words; empty if the document names none."""
    spec = result.document.get("spec", {})
    pools = [_pool(pool) for pool in spec.get("nodePools") or ()]
    single = sum(1 for each in spec.get("objects") or () if isinstance(each, Mapping) and each.get("kind") == "Node")
    if single:
        pools.append(words.count(single, "single node") if pools else words.count(single, "node"))
    return "; ".join(pools)


def _pool(pool: Mapping[str, Any]) -> str:
    has = pool.get("allocatable") or {}
    each = [f"{cpu(str(has['cpu']))} CPU"] if "cpu" in has else []
    each += [memory(str(has["memory"]))] if "memory" in has else []
    zones = pool.get("zones") or ()
    text = words.count(int(pool.get("count", 1)), "node") + f" in pool {pool.get('name', '')}"
    text += f" of {', '.join(each)}" if each else ""
    text += f" in {'zone' if len(zones) == 1 else 'zones'} {', '.join(map(str, zones))}" if zones else ""
    if "min" in pool and "max" in pool and pool["min"] != pool["max"]:
        text += f", {pool['min']} to {pool['max']} by autoscaling"
    return text


def cpu(quantity: str) -> str:
    """An amount of CPU without thousandths where they are none: 4 for 4000m."""
    return quantity[:-4] if re.fullmatch(r"\d+000m", quantity) else quantity


def memory(quantity: str) -> str:
    """An amount of memory in the largest binary unit that keeps it whole: 16Gi for 17179869184."""
    if not quantity.isdigit():
        return quantity
    amount, units = int(quantity), ["", "Ki", "Mi", "Gi", "Ti"]
    while amount and amount % 1024 == 0 and len(units) > 1:
        amount //= 1024
        units.pop(0)
    return f"{amount}{units[0]}"
