"""Decoders by kind. A new family is a module with its own `DECODERS`, added to the list here."""

from __future__ import annotations

from reconverge.loading.decoders import (
    autoscaling,
    cron_jobs,
    daemonset,
    ingress,
    jobs,
    nodes,
    pods,
    policy,
    quota,
    services,
    statefulset,
    storage,
    workloads,
)
from reconverge.loading.decoders.registry import Decoder

DECODERS: dict[str, tuple[Decoder, ...]] = {}
"""The decoders of each kind; several where one kind's name stands for different API groups."""

for _module in (
    nodes, pods, policy, services, workloads, statefulset, daemonset, jobs, cron_jobs, autoscaling, quota, storage,
    ingress,
):  # fmt: skip
    for _each in _module.DECODERS:
        DECODERS[_each.kind] = (*DECODERS.get(_each.kind, ()), _each)


def decoder_for(kind: str, api_version: str) -> Decoder | None:
    """The decoder whose API groups include that of `api_version`, whatever the version; None if there is none."""
    group = api_version.rpartition("/")[0]
    for each in DECODERS.get(kind, ()):
        if any(version.rpartition("/")[0] == group for version in each.versions):
            return each
    return None


__all__ = ["DECODERS", "Decoder", "decoder_for"]
