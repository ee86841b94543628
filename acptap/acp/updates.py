"""Every `session/update` of ACP, by its discriminator.

Source: the schemas of @agentclientprotocol/sdk 2.4.0 (version 1 is a closed set, version 2 open).
"""

from dataclasses import dataclass

from acptap.acp.methods import Status

_S, _U, _X = Status.STABLE, Status.UNSTABLE, Status.ABSENT


@dataclass(frozen=True, slots=True)
class UpdateKind:
    """One row.

    Attributes:
        v1: Its status in version 1.
        v2: Its status in version 2.
        in_turn: Whether it is part of an answer, so that in version 1, where a prompt's response
            ends the turn, it is odd to see one with no prompt open.
    """

    v1: Status
    v2: Status
    in_turn: bool = False

    def status(self, version: int) -> Status:
        """Return how settled the update is in a protocol version."""
        return self.v2 if version >= 2 else self.v1  # noqa: PLR2004 the version's number


UPDATES: dict[str, UpdateKind] = {
    name: UpdateKind(*row)
    for name, row in {
        # discriminator               v1, v2, in turn
        "user_message_chunk": (_S, _S, True),
        "agent_message_chunk": (_S, _S, True),
        "agent_thought_chunk": (_S, _S, True),
        "user_message": (_X, _S, True),
        "agent_message": (_X, _S, True),
        "agent_thought": (_X, _S, True),
        "state_update": (_X, _S, False),
        "tool_call": (_S, _X, True),
        "tool_call_update": (_S, _S, True),
        "tool_call_content_chunk": (_X, _S, True),
        "terminal_update": (_X, _S, False),
        "terminal_output_chunk": (_X, _S, False),
        "plan": (_S, _X, True),
        "plan_update": (_U, _S, True),
        "plan_removed": (_U, _U, True),
        "available_commands_update": (_S, _S, False),
        "current_mode_update": (_S, _X, False),
        "config_option_update": (_S, _S, False),
        "session_info_update": (_S, _S, False),
        "usage_update": (_S, _S, False),
        "notice": (_S, _S, False),
        "compaction_update": (_S, _S, False),
        "compaction_summary_chunk": (_S, _S, False),
        "subagent_update": (_U, _U, False),
        "session_message": (_U, _U, False),
        "session_message_chunk": (_U, _U, False),
    }.items()
}
