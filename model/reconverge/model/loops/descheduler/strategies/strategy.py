"""What a strategy is.

Source: the descheduler's `pkg/framework/types/types.go` (DeschedulePlugin, BalancePlugin).
"""

from __future__ import annotations

from typing import ClassVar

from reconverge.model.loops.descheduler.run import Run


class Strategy:
    """One reason to evict pods. Stateless."""

    name: ClassVar[str]

    def balance(self, run: Run) -> None:
        """Evicts what is out of place, through `run.evict`."""
        raise NotImplementedError
