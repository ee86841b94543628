"""All that traffic is held against, whatever the protocol: a row a rule."""

from acptap.acp import rules as acp
from acptap.agui import rules as agui
from acptap.notes import Rule

RULES: dict[str, Rule] = {**acp.RULES, **agui.RULES}
"""The rules by their ids."""
