"""One run, held against the rules about what comes before what (agui.md 3).

What the Rust client refuses changes nothing here either: the next event is judged as if it had not
been.
"""

from enum import Enum
from typing import NamedTuple

from acptap.agui.events import OWNER, Event, fields, owner_of, word
from acptap.agui.owners import Owners, Thing, nulls_in
from acptap.agui.rules import TYPESCRIPT, note
from acptap.notes import Note

_UNVERIFIED = frozenset({"RAW", "CUSTOM"})
_OUTCOMES = frozenset({"success", "suspended"})


class Bracket(NamedTuple):
    """Something that is opened and closed by name.

    Attributes:
        what: What it is.
        id: The member that names it.
        thing: What its owner is recorded for.
        twice: The rule about opening it while it is open.
        missing: The rule about going on with it, or closing it, while it is not.
    """

    what: str
    id: str
    thing: Thing
    twice: str
    missing: str


MESSAGE = Bracket(
    "message", "messageId", Thing.MESSAGE, "agui/message-twice", "agui/message-not-open"
)
CALL = Bracket(
    "tool call", "toolCallId", Thing.CALL, "agui/tool-call-twice", "agui/tool-call-not-open"
)
THOUGHT = Bracket(
    "reasoning message", "messageId", Thing.REASONING, "agui/reasoning-twice",
    "agui/reasoning-not-open",
)  # fmt: skip
SPAN = Bracket("reasoning", "messageId", Thing.REASONING, "agui/span-twice", "agui/span-not-open")


class Step(Enum):
    """What an event does to a bracket."""

    OPEN = 1
    GO_ON = 2
    CLOSE = 3


STEPS: dict[str, tuple[Bracket, Step]] = {
    "TEXT_MESSAGE_START": (MESSAGE, Step.OPEN),
    "TEXT_MESSAGE_CONTENT": (MESSAGE, Step.GO_ON),
    "TEXT_MESSAGE_END": (MESSAGE, Step.CLOSE),
    "TOOL_CALL_START": (CALL, Step.OPEN),
    "TOOL_CALL_ARGS": (CALL, Step.GO_ON),
    "TOOL_CALL_END": (CALL, Step.CLOSE),
    "REASONING_START": (SPAN, Step.OPEN),
    "REASONING_END": (SPAN, Step.CLOSE),
    "REASONING_MESSAGE_START": (THOUGHT, Step.OPEN),
    "REASONING_MESSAGE_CONTENT": (THOUGHT, Step.GO_ON),
    "REASONING_MESSAGE_END": (THOUGHT, Step.CLOSE),
}

_LENIENT = SPAN
"""What the Rust client does not count: only its owner is verified."""


class Verifier:
    """What is open in a run, and who owns what.

    Attributes:
        is_started: Whether RUN_STARTED was seen.
        calls: The tool calls that were started, in order, and whether there is a result.
    """

    def __init__(self) -> None:
        self.is_started = False
        self.calls: dict[str, bool] = {}
        self._owners = Owners()
        self._open: dict[Bracket, dict[str, None]] = {
            bracket: {} for bracket in (MESSAGE, CALL, THOUGHT, SPAN)
        }
        self._steps: dict[tuple[str | None, str], None] = {}
        self._agents: dict[str, bool] = {}  # announced in this run; whether it is active
        self._others = {
            "RUN_STARTED": self._started,
            "RUN_FINISHED": self._finished,
            "RUN_ERROR": self._failed,
            "STEP_STARTED": self._step_started,
            "STEP_FINISHED": self._step_finished,
            "TOOL_CALL_RESULT": self._answered,
            "REASONING_ENCRYPTED_VALUE": self._valued,
            "ACTIVITY_SNAPSHOT": self._activity_put,
            "ACTIVITY_DELTA": self._activity_changed,
            "SUBAGENT_STARTED": self._agent_started,
            "SUBAGENT_FINISHED": self._agent_ended,
            "SUBAGENT_ERROR": self._agent_ended,
            "MESSAGES_SNAPSHOT": self._restated,
        }

    def check(self, event: Event) -> list[Note]:
        """Take in an event that is no chunk, and return the rules it breaks."""
        type_ = str(event["type"])
        notes = [note("agui/null-subagent")] if nulls_in(event) else []
        if not self.is_started and type_ != "RUN_STARTED":
            return [*notes, _early(type_)]
        if type_ in STEPS:
            return notes + self._bracket(event, *STEPS[type_])
        other = self._others.get(type_)
        return notes if other is None else notes + other(event)

    def left_open(self) -> Note | None:
        """Return what is open, as a note: the first thing in the order of the Rust client."""
        rows: list[tuple[str, list[str]]] = [
            *((bracket.what, list(self._open[bracket])) for bracket in (MESSAGE, CALL, THOUGHT)),
            ("step", [name for _, name in self._steps]),
            ("subagent", [id_ for id_, is_active in self._agents.items() if is_active]),
        ]
        for what, names in rows:
            if names:
                return note("agui/left-open", what=what, id=names[0])
        for id_ in self._open[SPAN]:
            return note("agui/left-open-span", what=SPAN.what, id=id_)
        return None

    def pending(self) -> list[str]:
        """Return the tool calls of this run that nobody has answered."""
        return [id_ for id_, is_answered in self.calls.items() if not is_answered]

    # Brackets

    def _bracket(self, event: Event, bracket: Bracket, step: Step) -> list[Note]:
        id_, opened = word(event, bracket.id), self._open[bracket]
        notes = self._foreign(event, bracket, step, id_)
        is_wrong = (id_ in opened) is (step is Step.OPEN)
        if is_wrong:
            notes.insert(0, note(bracket.twice if step is Step.OPEN else bracket.missing, id=id_))
        if notes and (bracket is not _LENIENT or len(notes) > is_wrong):
            return notes
        if step is Step.OPEN:
            opened[id_] = None
            self._claim(event, bracket, id_)
        elif step is Step.CLOSE:
            opened.pop(id_, None)
        return notes

    def _foreign(self, event: Event, bracket: Bracket, step: Step, id_: str) -> list[Note]:
        is_foreign = self._owners.is_foreign(bracket.thing, id_, event)
        if bracket is not CALL or step is not Step.OPEN:
            return [note("agui/wrong-owner", id=id_)] if is_foreign else []
        tag, parent = owner_of(event), self._parent(event)
        if is_foreign or (tag is not None and parent not in (None, (tag,))):
            return [note("agui/call-owner", id=id_)]
        return []

    def _claim(self, event: Event, bracket: Bracket, id_: str) -> None:
        owner = owner_of(event)
        if bracket is CALL:
            self.calls.setdefault(id_, False)
            parent = self._parent(event)
            if owner is None and parent is not None:  # it is inherited
                owner = parent[0]
        self._owners.claim(bracket.thing, id_, owner)

    def _parent(self, event: Event) -> tuple[str | None] | None:
        """Return the owner of a call's message, if anything is known of it."""
        return self._owners.find(Thing.MESSAGE, word(event, "parentMessageId"))

    # Runs and steps

    def _started(self, event: Event) -> list[Note]:
        if self.is_started:
            return [note("agui/run-in-run")]
        self.is_started = True
        self._owners.restate(fields(event.get("input")).get("messages"), fill=True)
        return []

    def _finished(self, _event: Event) -> list[Note]:
        said = self.left_open()
        return [] if said is None else [said]

    def _failed(self, _event: Event) -> list[Note]:
        said = self.left_open()
        if said is None:
            return []
        return [note("agui/open-at-error", what=said.detail["what"], id=said.detail["id"])]

    def _step_started(self, event: Event) -> list[Note]:
        key = owner_of(event), word(event, "stepName")
        if key in self._steps:
            return [note("agui/step-twice", step=key[1])]
        self._steps[key] = None
        return []

    def _step_finished(self, event: Event) -> list[Note]:
        key = owner_of(event), word(event, "stepName")
        if key in self._steps:
            del self._steps[key]
            return []
        others = [owner for owner, name in self._steps if name == key[1]]
        detail: dict[str, object] = {"owner": others[0]} if others else {}
        return [note("agui/step-not-open", step=key[1], **detail)]

    # What tools and the conversation have to say

    def _answered(self, event: Event) -> list[Note]:
        id_ = word(event, "toolCallId")
        if id_ in self._open[CALL]:
            return [note("agui/result-before-end", id=id_)]
        if id_ in self.calls:
            self.calls[id_] = True
        self._owners.move(Thing.MESSAGE, word(event, "messageId"), owner_of(event))
        return []

    def _valued(self, event: Event) -> list[Note]:
        id_ = word(event, "entityId")
        is_message = event.get("subtype") == "message"
        things = (Thing.MESSAGE, Thing.REASONING) if is_message else (Thing.CALL,)
        known = [thing for thing in things if self._owners.find(thing, id_) is not None]
        if known and all(self._owners.is_foreign(thing, id_, event) for thing in known):
            return [note("agui/value-owner", id=id_)]
        return []

    def _restated(self, event: Event) -> list[Note]:
        self._owners.restate(event.get("messages"))
        return []

    def _activity_put(self, event: Event) -> list[Note]:
        put = self._owners.claim if event.get("replace") is False else self._owners.move
        put(Thing.ACTIVITY, word(event, "messageId"), owner_of(event))
        return []

    def _activity_changed(self, event: Event) -> list[Note]:
        id_ = word(event, "messageId")
        is_foreign = self._owners.is_foreign(Thing.ACTIVITY, id_, event)
        return [note("agui/activity-owner", id=id_)] if is_foreign else []

    # Subagents

    def _agent_started(self, event: Event) -> list[Note]:
        id_, parent = word(event, OWNER), event.get("parentSubagentRunId")
        if id_ in self._agents:
            return [note("agui/subagent-twice", id=id_)]
        if isinstance(parent, str) and parent not in self._agents:
            return [note("agui/unknown-parent", id=id_, parent=parent)]
        self._agents[id_] = True
        return []

    def _agent_ended(self, event: Event) -> list[Note]:
        id_, outcome = word(event, OWNER), event.get("outcome")
        notes = []
        if outcome is not None and fields(outcome).get("type") not in _OUTCOMES:
            notes.append(note("agui/subagent-outcome", id=id_))
        if not self._agents.get(id_):
            return [note("agui/subagent-not-active", id=id_), *notes]
        self._agents[id_] = False
        return notes


def _early(type_: str) -> Note:
    """Return what is wrong with an event before RUN_STARTED."""
    if type_ == "RUN_ERROR":
        return note("agui/error-first")
    said = note("agui/first-event")
    if type_ in _UNVERIFIED:  # the Rust client lets them pass
        said.detail["fails"] = [TYPESCRIPT]
    return said
