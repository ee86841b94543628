"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE."""

import os

from hypothesis import settings

pytest_plugins = ["pytester"]  # for tests/plugin

settings.register_profile("fast", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=1_000, derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=100_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
