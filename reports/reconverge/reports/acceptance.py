"""Violations that somebody has accepted, with a written reason: `"drain-completes node/n1" = "..."`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reconverge.checker.result import Result


def acceptances(reasons: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The reasons by (invariant, object); the object is "" where a reason is for all of them."""
    return {(key.partition(" ")[0], key.partition(" ")[2].strip()): reason for key, reason in reasons.items()}


def unused(results: Sequence[Result], reasons: Mapping[str, str]) -> list[str]:
    """The keys of `reasons` that accept nothing that is violated."""
    found = {
        (verdict.invariant, object_)
        for result in results
        for verdict in result.verdicts
        if verdict.status == "violated"
        for object_ in ("", verdict.object)
    }
    return [key for key, pair in zip(reasons, acceptances(reasons), strict=True) if pair not in found]
