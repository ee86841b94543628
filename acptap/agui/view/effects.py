"""What events do to a thread: a row for each type that does anything by itself."""

from collections.abc import Callable

from acptap.agui.events import Event
from acptap.agui.view import aside, speech
from acptap.agui.view.scene import Scene

EFFECTS: dict[str, Callable[[Scene, Event], None]] = {
    "TEXT_MESSAGE_START": speech.message_started,
    "TEXT_MESSAGE_CONTENT": speech.message_content,
    "TEXT_MESSAGE_END": speech.message_ended,
    "TOOL_CALL_START": speech.call_started,
    "TOOL_CALL_ARGS": speech.call_arguments,
    "TOOL_CALL_END": speech.call_ended,
    "TOOL_CALL_RESULT": speech.call_answered,
    "ACTIVITY_SNAPSHOT": speech.activity_put,
    "ACTIVITY_DELTA": speech.activity_changed,
    "STATE_SNAPSHOT": aside.state_put,
    "STATE_DELTA": aside.state_changed,
    "MESSAGES_SNAPSHOT": aside.messages_put,
    "REASONING_START": aside.thought_started,
    "REASONING_MESSAGE_START": aside.thought_started,
    "REASONING_MESSAGE_CONTENT": aside.thought_content,
    "REASONING_MESSAGE_END": aside.thought_ended,
    "REASONING_END": aside.thought_ended,
    "REASONING_ENCRYPTED_VALUE": aside.value_put,
    "SUBAGENT_STARTED": aside.agent_started,
    "SUBAGENT_FINISHED": aside.agent_finished,
    "SUBAGENT_ERROR": aside.agent_failed,
}
