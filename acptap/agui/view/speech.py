"""What text, tool calls and activities do to a thread (agui.md 4.2, 4.3, 4.6)."""

from acptap.agui.events import Event, fields, optional, owner_of, word
from acptap.agui.patches import copied, patch
from acptap.agui.rules import note
from acptap.agui.values import Failure, Message, ToolCall
from acptap.agui.view.messages import ACTIVITY
from acptap.agui.view.scene import Scene
from acptap.updates import Change
from acptap.wire import jsontext

_ASSISTANT = "assistant"
_TOOL = "tool"

# Text


def message_started(scene: Scene, event: Event) -> None:
    """Open a message, which may be there."""
    id_, known = word(event, "messageId"), scene.document.messages.find(word(event, "messageId"))
    if known is None:
        message = Message(id_, optional(event, "role") or _ASSISTANT, scene.line)
        message.name, message.subagent = optional(event, "name"), owner_of(event)
        known = scene.document.messages.append(message), message
    if known[1].role != ACTIVITY:
        _describe(scene, known[1], event)
        scene.message(*known, Change.STARTED)


def message_content(scene: Scene, event: Event) -> None:
    """Append to a message."""
    id_ = word(event, "messageId")
    known = scene.document.messages.find(id_)
    if known is None:
        message = Message(id_, _ASSISTANT, scene.line, subagent=owner_of(event))
        known = scene.document.messages.append(message), message
        scene.meet(note("agui/message-dropped", id=id_))
    message = known[1]
    if message.role == ACTIVITY:
        scene.meet(note("agui/text-in-activity", id=id_))
        return
    _describe(scene, message, event)
    scene.append(message.text, word(event, "delta"), keep=scene.document.keep)
    scene.message(*known, Change.CONTENT)


def message_ended(scene: Scene, event: Event) -> None:
    """Close a message."""
    known = scene.document.messages.find(word(event, "messageId"))
    if known is not None and known[1].role != ACTIVITY:
        _describe(scene, known[1], event)
        scene.message(*known, Change.ENDED)


# Tool calls


def call_started(scene: Scene, event: Event) -> None:
    """Open a tool call: in its message, or in one that is made for it."""
    id_, messages = word(event, "toolCallId"), scene.document.messages
    found = messages.call(id_)
    parent = optional(event, "parentMessageId") or f"{id_}-message"
    known = messages.find(parent if found is None else found[0])
    if known is None:
        message = Message(parent, _ASSISTANT, scene.line, subagent=owner_of(event))
        known = messages.append(message), message
    if known[1].role != _ASSISTANT:
        scene.meet(note("agui/parent-not-assistant", id=id_, parent=parent))
        return
    if found is None:
        found = known[1].id, ToolCall(id_, word(event, "toolCallName"), scene.line)
        messages.attach(known[1], found[1])
    _describe(scene, found[1], event)
    scene.message(*known, Change.TOOL_STARTED, id_)


def call_arguments(scene: Scene, event: Event) -> None:
    """Append to the arguments of a tool call."""
    id_ = word(event, "toolCallId")
    found = scene.document.messages.call(id_)
    known = None if found is None else scene.document.messages.find(found[0])
    if found is None or known is None:
        scene.meet(note("agui/tool-call-not-open", id=id_))
        return
    _describe(scene, found[1], event)
    scene.append(found[1].text, word(event, "delta"), keep=True)  # until it is judged
    scene.message(*known, Change.TOOL_ARGS, id_)


def call_ended(scene: Scene, event: Event) -> None:
    """Close a tool call."""
    id_ = word(event, "toolCallId")
    found = scene.document.messages.call(id_)
    known = None if found is None else scene.document.messages.find(found[0])
    if found is None or known is None:
        return
    call = found[1]
    if call.arguments and not _is_json(call.arguments):
        scene.meet(note("agui/arguments-not-json", id=id_))
    if not scene.document.keep:
        call.text.clear()
    _describe(scene, call, event)
    scene.message(*known, Change.TOOL_ENDED, id_)


def call_answered(scene: Scene, event: Event) -> None:
    """Take in the result of a tool call, as a message of its own."""
    id_, call = word(event, "messageId"), word(event, "toolCallId")
    messages = scene.document.messages
    if messages.call(call) is None:
        scene.meet(note("agui/unknown-tool-call", id=call))
    known = messages.find(id_)
    if known is None or known[1].role != _TOOL:
        message = Message(id_, _TOOL, scene.line, call=call, subagent=owner_of(event))
        known = messages.append(message), message
    if scene.document.keep:
        known[1].put(event["content"])
    _describe(scene, known[1], event)
    scene.message(*known, Change.TOOL_RESULT, call)


# Activities


def activity_put(scene: Scene, event: Event) -> None:
    """Take in an activity: a new one, another content, or more of it."""
    id_, content = word(event, "messageId"), event["content"]
    known = scene.document.messages.find(id_)
    if known is None:
        known = _new_activity(scene, event, content)
    elif known[1].role != ACTIVITY:
        scene.meet(note("agui/activity-on-message", id=id_))
        scene.message(*known, Change.ACTIVITY)
        return
    message = known[1]
    if event.get("replace") is False:
        message.body = _merged(message.body, content)
    else:
        message.body, message.subagent = content, owner_of(event)
        message.activity = word(event, "activityType")
    _describe(scene, message, event)
    scene.message(*known, Change.ACTIVITY)


def activity_changed(scene: Scene, event: Event) -> None:
    """Patch an activity, which must stay an object."""
    id_, operations = word(event, "messageId"), event["patch"]
    assert isinstance(operations, list)
    known = scene.document.messages.find(id_)
    if known is not None and known[1].role != ACTIVITY:
        scene.meet(note("agui/activity-on-message", id=id_))
        scene.message(*known, Change.ACTIVITY)
        return
    patched = patch({} if known is None else copied(known[1].body), operations)
    scene.notes += patched.notes
    if patched.failed or not isinstance(patched.value, dict):
        scene.notes += [] if patched.failed else [note("agui/patch-failed")]
        scene.fail(Failure(scene.line, "patch", f"activity {id_}"))
        return
    known = known or _new_activity(scene, event, {})
    known[1].body, known[1].activity = patched.value, word(event, "activityType")
    _describe(scene, known[1], event)
    scene.message(*known, Change.ACTIVITY)


def _new_activity(scene: Scene, event: Event, content: object) -> tuple[int, Message]:
    message = Message(word(event, "messageId"), ACTIVITY, scene.line, content)
    message.activity, message.subagent = word(event, "activityType"), owner_of(event)
    return scene.document.messages.append(message), message


def _merged(known: object, new: object) -> object:
    """Return a value with what is new in it (RFC 7396)."""
    if not isinstance(new, dict):
        return new
    merged = dict(fields(known))
    for name, value in new.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def _describe(scene: Scene, thing: Message | ToolCall, event: Event) -> None:
    """Take in what an event says about what it builds: key by key, the last word counts."""
    if scene.document.keep and "metadata" in event:
        thing.metadata |= fields(event["metadata"])


def _is_json(text: str) -> bool:
    try:
        jsontext.parse(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return False
    return True
