"""What reasoning, subagents, state and snapshots do to a thread (agui.md 4.4 to 4.9)."""

from acptap.agui.events import OWNER, Event, fields, items, owner_of, word
from acptap.agui.patches import copied, patch
from acptap.agui.values import Failure, Subagent
from acptap.agui.view.messages import ACTIVITY
from acptap.agui.view.scene import Scene
from acptap.updates import Change, UpdateKind

_NOT_SAID_OF_IT = frozenset({"type", OWNER, "name", "timestamp", "rawEvent"})

# State, and the conversation as a whole


def state_put(scene: Scene, event: Event) -> None:
    """Replace the state."""
    scene.document.value.state = copied(event["snapshot"])
    scene.tell(UpdateKind.STATE)


def state_changed(scene: Scene, event: Event) -> None:
    """Patch the state."""
    operations = event["delta"]
    assert isinstance(operations, list)
    patched = patch(scene.document.value.state, operations)
    scene.notes += patched.notes
    if patched.failed:
        scene.fail(Failure(scene.line, "patch", "state"))
        return
    scene.document.value.state = patched.value
    scene.tell(UpdateKind.STATE)


def messages_put(scene: Scene, event: Event) -> None:
    """Restate the conversation."""
    scene.document.restate(items(event["messages"]), scene.line)
    scene.tell(UpdateKind.MESSAGES)


# Reasoning


def thought_started(scene: Scene, event: Event) -> None:
    """Open a reasoning: as a span, as a message, or as the message in a span of the same id."""
    id_ = word(event, "messageId")
    known = scene.document.thought(id_)
    if known is None:
        thought = scene.document.think(id_, scene.line)
        thought.subagent = owner_of(event)
        known = len(scene.document.value.reasoning) - 1, thought
    elif known[1].is_open:
        return
    known[1].is_open = True
    scene.thought(*known, Change.STARTED)


def thought_content(scene: Scene, event: Event) -> None:
    """Append to a reasoning."""
    known = scene.document.thought(word(event, "messageId"))
    assert known is not None  # it is open
    scene.append(known[1].text, word(event, "delta"), keep=scene.document.keep)
    if scene.document.keep:
        known[1].metadata |= fields(event.get("metadata"))
    scene.thought(*known, Change.CONTENT)


def thought_ended(scene: Scene, event: Event) -> None:
    """Close a reasoning; of span and message the first one does."""
    known = scene.document.thought(word(event, "messageId"))
    if known is not None and known[1].is_open:
        known[1].is_open = False
        scene.thought(*known, Change.ENDED)


def value_put(scene: Scene, event: Event) -> None:
    """Keep what the agent wants back unread."""
    id_, value = word(event, "entityId"), word(event, "encryptedValue")
    messages = scene.document.messages
    if event["subtype"] == "tool-call":
        found = messages.call(id_)
        known = None if found is None else messages.find(found[0])
        if found is not None and known is not None:
            found[1].encrypted = value
            scene.message(*known, Change.ENCRYPTED, id_)
        return
    thought, message = scene.document.thought(id_), messages.find(id_)
    if thought is not None:
        thought[1].encrypted = value
        scene.thought(*thought, Change.ENCRYPTED)
    elif message is not None:
        message[1].encrypted = None if message[1].role == ACTIVITY else value
        scene.message(*message, Change.ENCRYPTED)


# Subagents


def agent_started(scene: Scene, event: Event) -> None:
    """Announce a subagent, or that it goes on."""
    known = _agent(scene, event)
    change = Change.STARTED
    if known is not None and known.status == "suspended":
        change = Change.RESUMED
    if known is None:
        known = Subagent(word(event, OWNER), "", scene.line)
        scene.document.value.subagents.append(known)
    known.name, known.status, known.fields = word(event, "name"), "running", {}
    _describe(scene, known, event)
    scene.subagent(known, change)


def agent_finished(scene: Scene, event: Event) -> None:
    """Take in that a subagent is done for this run."""
    is_suspended = fields(event.get("outcome")).get("type") == "suspended"
    _ended(scene, event, Change.SUSPENDED if is_suspended else Change.FINISHED)


def agent_failed(scene: Scene, event: Event) -> None:
    """Take in that a subagent failed; the run may go on."""
    _ended(scene, event, Change.FAILED)


def _ended(scene: Scene, event: Event, change: Change) -> None:
    known = _agent(scene, event)
    assert known is not None  # it is active
    known.status = change.value
    _describe(scene, known, event)
    scene.subagent(known, change)


def _agent(scene: Scene, event: Event) -> Subagent | None:
    id_ = word(event, OWNER)
    return next((agent for agent in scene.document.value.subagents if agent.id == id_), None)


def _describe(scene: Scene, agent: Subagent, event: Event) -> None:
    """Take in what an event says of a subagent."""
    for name, value in event.items():
        if name == "parentSubagentRunId" or (scene.document.keep and name not in _NOT_SAID_OF_IT):
            agent.fields[name] = value
