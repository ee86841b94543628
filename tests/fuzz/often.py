"""How often the fuzz tests run: more often than others in CI, where nobody waits."""

from hypothesis import settings

_IN_CI = 1_000
_here = settings()  # those of the profile

often = settings(max_examples=_IN_CI if _here.derandomize else _here.max_examples)
"""A thousand examples in CI; else what the profile says."""
