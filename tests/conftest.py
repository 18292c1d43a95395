"""Hypothesis draws the same examples in every run, on any machine: a failure is never one that cannot be seen again.

`HYPOTHESIS_PROFILE=search pytest` draws new ones each time.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, print_blob=False)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
