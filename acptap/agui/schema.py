"""The protobuf messages of AG-UI 1.0, as the reference encoder writes them.

A line is a message: the number of an event in the envelope, its number in the enumeration of
types, its name, its fields. A field is a number and a name. What it holds stands behind a colon,
text if nothing does. Then `?`: it may be missing (else what is missing is empty text, or 0);
`*`: there are any number of it; `+`: the same, but none is the same as no member.
"""

from typing import NamedTuple, Self

from acptap.wire.protobuf import BYTES, VARINT

_EVENTS = """
 1  0 TEXT_MESSAGE_START: 2 messageId, 3 role?, 4 name?, 5 subagentRunId?
 2  1 TEXT_MESSAGE_CONTENT: 2 messageId, 3 delta, 4 subagentRunId?
 3  2 TEXT_MESSAGE_END: 2 messageId, 3 subagentRunId?
17 19 TEXT_MESSAGE_CHUNK: 2 messageId?, 3 role?, 4 delta?, 5 name?, 6 subagentRunId?
 4  3 TOOL_CALL_START: 2 toolCallId, 3 toolCallName, 4 parentMessageId?, 5 subagentRunId?
 5  4 TOOL_CALL_ARGS: 2 toolCallId, 3 delta, 4 subagentRunId?
 6  5 TOOL_CALL_END: 2 toolCallId, 3 subagentRunId?
18 20 TOOL_CALL_CHUNK: 2 toolCallId?, 3 toolCallName?, 4 parentMessageId?, 5 delta?, \
6 subagentRunId?
22 21 TOOL_CALL_RESULT: 2 subagentRunId?, 3 messageId, 4 toolCallId, 5 content?, 6 role?, \
7 contentParts:InputContent+
 7  6 STATE_SNAPSHOT: 2 snapshot:Value?, 3 subagentRunId?
 8  7 STATE_DELTA: 2 delta:JsonPatchOperation*, 3 subagentRunId?
 9  8 MESSAGES_SNAPSHOT: 2 messages:Message*
23 22 ACTIVITY_SNAPSHOT: 2 subagentRunId?, 3 messageId, 4 activityType, 5 content:Struct?, \
6 replace:bool?
24 23 ACTIVITY_DELTA: 2 subagentRunId?, 3 messageId, 4 activityType, 5 patch:JsonPatchOperation*
10  9 RAW: 2 event:Value?, 3 source?, 4 subagentRunId?
11 10 CUSTOM: 2 name, 3 value:Value?, 4 subagentRunId?
12 11 RUN_STARTED: 2 threadId, 3 runId, 4 parentRunId?, 5 input:RunAgentInput?, 6 protocolVersion?
13 12 RUN_FINISHED: 2 threadId, 3 runId, 4 result:Value?, 5 outcome, 6 interrupts:Interrupt+, \
7 usage:Usage+, 8 pendingToolCallIds+
14 13 RUN_ERROR: 2 code?, 3 message, 4 usage:Usage+
15 14 STEP_STARTED: 2 stepName, 3 subagentRunId?
16 15 STEP_FINISHED: 2 stepName, 3 subagentRunId?
25 24 REASONING_START: 2 subagentRunId?, 3 messageId
26 25 REASONING_MESSAGE_START: 2 subagentRunId?, 3 messageId, 4 role
27 26 REASONING_MESSAGE_CONTENT: 2 subagentRunId?, 3 messageId, 4 delta
28 27 REASONING_MESSAGE_END: 2 subagentRunId?, 3 messageId
29 28 REASONING_MESSAGE_CHUNK: 2 subagentRunId?, 3 messageId?, 4 delta?
30 29 REASONING_END: 2 subagentRunId?, 3 messageId
31 30 REASONING_ENCRYPTED_VALUE: 2 subagentRunId?, 3 subtype, 4 entityId, 5 encryptedValue
19 16 SUBAGENT_STARTED: 2 subagentRunId, 3 name, 4 description?, 5 parentSubagentRunId?, \
6 parentToolCallId?, 7 parentMessageId?
20 17 SUBAGENT_FINISHED: 2 subagentRunId, 3 result:Value?, 4 outcome, 5 interruptIds+
21 18 SUBAGENT_ERROR: 2 subagentRunId, 3 message, 4 code?
"""

_PARTS = """
BaseEvent: 1 type:int32, 2 timestamp:int64?, 3 rawEvent:Value?, 4 metadata:Struct?
Interrupt: 1 id, 2 reason, 3 message?, 4 toolCallId?, 5 responseSchema:Value?, 6 expiresAt?, \
7 metadata:Value?, 8 subagentRunId?
Usage: 1 provider?, 2 model?, 3 inputTokens:int64?, 4 outputTokens:int64?, 5 totalTokens:int64?, \
6 reasoningTokens:int64?, 7 cachedInputTokens:int64?, 8 cacheWriteInputTokens:int64?
JsonPatchOperation: 1 op:int32, 2 path, 3 from?, 4 value:Value?
RunAgentInput: 1 threadId, 2 runId, 3 parentRunId?, 4 state:Value?, 5 messages:Message*, \
6 tools:Tool*, 7 context:Context*, 8 forwardedProps:Value?, 9 resume:ResumeEntry*, \
10 protocolVersion?
Tool: 1 name, 2 description, 3 parameters:Value?, 4 metadata:Struct?
Context: 1 description, 2 value
ResumeEntry: 1 interruptId, 2 status, 3 payload:Value?, 4 metadata:Struct?
Message: 1 id, 2 role, 3 content?, 4 name?, 5 toolCalls:ToolCall+, 6 toolCallId?, 7 error?, \
8 contentParts:InputContent+, 9 metadata:Struct?, 10 subagentRunId?, 11 encryptedValue?, \
12 activityType?, 13 activityContent:Struct?
ToolCall: 1 id, 2 type, 3 function:Function?, 4 metadata:Struct?, 5 encryptedValue?
Function: 1 name, 2 arguments
InputContent: 1 text:TextPart?, 2 image:MediaPart?, 3 audio:MediaPart?, 4 video:MediaPart?, \
5 document:MediaPart?
TextPart: 1 text, 2 id?, 3 metadata:Value?
MediaPart: 1 source:InputContentSource?, 2 metadata:Value?, 3 id?
InputContentSource: 1 data:DataSource?, 2 url:UrlSource?, 3 file:FileSource?
DataSource: 1 value, 2 mimeType
UrlSource: 1 value, 2 mimeType?
FileSource: 1 value, 2 provider?, 3 mimeType?
"""

OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")
"""The operations of JSON Patch, by number."""

_VARINTS = ("int32", "int64", "bool")
_MARKS = "?*+"


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        name: What it is called in JSON.
        kind: `text`, `int32`, `int64`, `bool`, `Value`, `Struct`, or the name of a message.
        mark: `?`, `*`, `+`, as above; empty if it is always there.
        is_repeated: Whether there may be any number of it.
        wire_type: What it stands in on the wire.
    """

    name: str
    kind: str
    mark: str
    is_repeated: bool
    wire_type: int

    @classmethod
    def of(cls, name: str, kind: str, mark: str) -> Self:
        """Return the field of a kind, with what follows from that."""
        return cls(name, kind, mark, mark in ("*", "+"), VARINT if kind in _VARINTS else BYTES)


Fields = dict[int, Field]  # by number


def _fields(text: str) -> Fields:
    return dict(_field(field) for field in text.split(","))


def _field(text: str) -> tuple[int, Field]:
    number, spelled = text.split()
    bare = spelled.rstrip(_MARKS)
    name, _, kind = bare.partition(":")
    return int(number), Field.of(name, kind or "text", spelled[len(bare) :])


def _messages(table: str) -> dict[str, Fields]:
    lines = (line.split(":", 1) for line in table.strip().splitlines())
    return {name: _fields(fields) for name, fields in lines}


def _numbered(column: int) -> dict[int, str]:
    heads = (head.split() for head in _BY_HEAD)
    return {int(head[column]): head[-1] for head in heads}


_BY_HEAD = _messages(_EVENTS)

EVENTS = _numbered(0)
"""The events, by their number in the envelope."""

TYPES = _numbered(1)
"""The events, by their number in the enumeration of types."""

MESSAGES = _messages(_PARTS) | {
    head.split()[-1]: {1: Field.of("base", "BaseEvent", "?"), **fields}
    for head, fields in _BY_HEAD.items()
}
"""All messages; that of an event has the event's name."""
