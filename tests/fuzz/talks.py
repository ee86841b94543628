"""Hypothesis strategies for conversations, sound and spoilt."""

from hypothesis import strategies as st

from tests.fuzz.author import Line, conversation
from tests.fuzz.chance import Decisions
from tests.fuzz.damage import damaged

MOVES = 30
HARMS = 8
_SAID = 400  # decisions; a conversation takes about that many
_HARMED = 60


def chances(size: int = _HARMED) -> st.SearchStrategy[Decisions]:
    """Return sources of that many decisions."""
    return st.binary(min_size=size, max_size=size).map(Decisions)


def sound() -> st.SearchStrategy[list[Line]]:
    """Return conversations that a real client and a real agent could have."""
    return st.builds(conversation, chances(_SAID), st.integers(0, MOVES))


def spoilt() -> st.SearchStrategy[list[Line]]:
    """Return the same with some harm done."""
    return st.builds(damaged, sound(), chances(), st.integers(0, HARMS))
