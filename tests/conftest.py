"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE; and signals as a shell in front has them."""

import os
import signal

from hypothesis import settings

pytest_plugins = ["pytester"]  # for tests/plugin

settings.register_profile("fast", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=100_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

# Whoever runs the suite in the background, or under nohup, has these ignored, and children inherit
# that. Tests that send them expect what a client does.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
