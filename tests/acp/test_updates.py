import pytest

from acptap.acp.updates import UPDATES

# One row an update, as acp.md 2 lists them: status in version 1, in version 2, part of an answer.
TABLE = """
user_message_chunk         stable    stable    answer
agent_message_chunk        stable    stable    answer
agent_thought_chunk        stable    stable    answer
user_message               absent    stable    answer
agent_message              absent    stable    answer
agent_thought              absent    stable    answer
state_update               absent    stable    -
tool_call                  stable    absent    answer
tool_call_update           stable    stable    answer
tool_call_content_chunk    absent    stable    answer
terminal_update            absent    stable    -
terminal_output_chunk      absent    stable    -
plan                       stable    absent    answer
plan_update                unstable  stable    answer
plan_removed               unstable  unstable  answer
available_commands_update  stable    stable    -
current_mode_update        stable    absent    -
config_option_update       stable    stable    -
session_info_update        stable    stable    -
usage_update               stable    stable    -
notice                     stable    stable    -
compaction_update          stable    stable    -
compaction_summary_chunk   stable    stable    -
subagent_update            unstable  unstable  -
session_message            unstable  unstable  -
session_message_chunk      unstable  unstable  -
"""


def test_every_update_has_its_row():
    rows = [
        f"{name:<27}{row.v1:<10}{row.v2:<10}{'answer' if row.in_turn else '-'}"
        for name, row in UPDATES.items()
    ]
    assert rows == TABLE.strip().splitlines()


STATUS = {
    "version 1 reports no states": ("state_update", 1, "absent"),
    "version 2 reports states": ("state_update", 2, "stable"),
    "version 2 has no tool_call": ("tool_call", 2, "absent"),
    "a later version is read as 2": ("state_update", 7, "stable"),
}


@pytest.mark.parametrize(("update", "version", "status"), STATUS.values(), ids=STATUS)
def test_status(update, version, status):
    assert UPDATES[update].status(version) == status
