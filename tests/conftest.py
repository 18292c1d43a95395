"""Hypothesis draws the same examples in every run, on any machine: a failure is never one that cannot be seen again.

`HYPOTHESIS_PROFILE=search pytest` draws new ones each time.
"""

from __future__ import annotations

import gc
import os

from hypothesis import settings

# Values of the model hold no cycles: what is not needed goes by itself, and looking for it often takes time.
gc.set_threshold(200_000, 50, 50)

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, print_blob=False)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
