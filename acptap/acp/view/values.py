"""What a correct client shows of a session, and of a connection. All of it is plain data."""

from dataclasses import dataclass, field

from acptap.acp.view.things import Fields, Item, Message, Terminal, ToolCall
from acptap.session import SessionState
from acptap.updates import End


@dataclass(slots=True)
class State:
    """What stands beside a conversation.

    Attributes:
        plans: The plans by their ids; version 1 has one, without an id: `""`.
        usage: `used`, `size` and `cost` of the context.
        mode: The id of the mode.
        modes: The modes to choose from.
        model: The id of the model, where it is no config option.
        models: The models to choose from.
        config: The config options, each with its `currentValue`.
        commands: The commands to choose from.
        info: `title`, `updatedAt` and `_meta`.
    """

    plans: Fields = field(default_factory=dict)
    usage: Fields = field(default_factory=dict)
    mode: str | None = None
    modes: list[object] = field(default_factory=list)
    model: str | None = None
    models: list[object] = field(default_factory=list)
    config: list[object] = field(default_factory=list)
    commands: list[object] = field(default_factory=list)
    info: Fields = field(default_factory=dict)

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Subagent:
    """A child session, as its parent tells of it.

    Attributes:
        id: The child's session id.
        line: The number of the cassette's line that announced it.
        fields: What was said of it.
    """

    id: str
    line: int
    fields: Fields = field(default_factory=dict)

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {**self.fields, "id": self.id, "line": self.line}


@dataclass(slots=True)
class Interrupt:
    """Something a human is asked: a permission or an elicitation.

    Attributes:
        id: The request's id.
        method: The request's method.
        session: The session it belongs to; None for the connection.
        line: The number of the cassette's line that asks.
        params: What is asked.
        outcome: How it ended: the permission's outcome or the elicitation's action as answered,
            `error`, `withdrawn` or `lost`; None as long as it waits.
        answer: The result, or the error object.
        ended: The number of the line that ended it.
    """

    id: str | int | None
    method: str
    session: str | None
    line: int
    params: Fields = field(default_factory=dict)
    outcome: str | None = None
    answer: object = None
    ended: int | None = None

    @property
    def pending(self) -> bool:
        """Whether it still waits for an answer."""
        return self.outcome is None

    @property
    def option(self) -> Fields:
        """The option that was chosen; empty if there is none."""
        outcome = self.answer.get("outcome") if isinstance(self.answer, dict) else None
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        options = self.params.get("options")
        for option in options if isinstance(options, list) else []:
            if isinstance(option, dict) and chosen is not None and option.get("optionId") == chosen:
                return option
        return {}

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Failure:
    """Something that went wrong.

    Attributes:
        line: The number of the cassette's line that told.
        session: The session it belongs to; None for the connection.
        code: The JSON-RPC error code, if there is one.
        message: What was said about it, or what acptap has to say.
        rule: The rule that was broken, if that is what went wrong.
        fatal: Whether it ended a turn.
    """

    line: int
    session: str | None
    code: int | None = None
    message: str = ""
    rule: str | None = None
    fatal: bool = False

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Done:
    """The end of a turn.

    Attributes:
        line: The number of the cassette's line that told.
        began: The number of the line that began the turn.
        end: How it ended.
        reason: The stop reason, if there is one.
        usage: The tokens it took, as the agent counts them.
    """

    line: int
    began: int
    end: End
    reason: str | None = None
    usage: object = None

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class SessionView:
    """A session, as a correct client shows it.

    Attributes:
        id: Its id.
        line: The number of the cassette's line that brought it.
        conn: The number of its connection.
        parent: The session that it is a subagent of.
        session_state: `idle`, `running` and so on.
        confirmed: Whether that is certain.
        messages: Messages, reasoning, tool calls, terminals and activities, in their order.
        state: What stands beside them.
        subagents: Its child sessions.
        interrupts: What the user was asked, the pending and the answered.
        errors: What went wrong.
        done: The turns that ended.
        began: The number of the line that began the turn under way, or None.
        unknown: Updates that this version of the protocol does not have, as they came.
    """

    id: str
    line: int
    conn: int = 1
    parent: str | None = None
    session_state: SessionState = SessionState.IDLE
    confirmed: bool = True
    messages: list[Item] = field(default_factory=list)
    state: State = field(default_factory=State)
    subagents: dict[str, Subagent] = field(default_factory=dict)
    interrupts: list[Interrupt] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    began: int | None = None
    unknown: list[object] = field(default_factory=list)

    @property
    def pending(self) -> list[Interrupt]:
        """What waits for the user's answer."""
        return [interrupt for interrupt in self.interrupts if interrupt.pending]

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls alone."""
        return [item for item in self.messages if isinstance(item, ToolCall)]

    @property
    def terminals(self) -> dict[str, Terminal]:
        """The terminals by their ids."""
        return {item.id or "": item for item in self.messages if isinstance(item, Terminal)}

    @property
    def text(self) -> str:
        """All that the agent said."""
        said = [item for item in self.messages if isinstance(item, Message)]
        return "".join([item.text for item in said if item.role == "agent"])

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        plain = ("id", "line", "conn", "parent", "session_state", "confirmed", "began")
        lists = ("messages", "interrupts", "errors", "done")
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: [item.as_json() for item in getattr(self, name)] for name in lists},
            "state": self.state.as_json(),
            "subagents": [child.as_json() for child in self.subagents.values()],
            "unknown": self.unknown,
        }


@dataclass(slots=True)
class Folded:
    """All that a correct client shows at one moment.

    Attributes:
        line: The number of the last cassette line that was taken in.
        sessions: The sessions, in order of appearance.
        interrupts: What was asked outside of all sessions.
        errors: What went wrong outside of all sessions.
    """

    line: int = 1
    sessions: list[SessionView] = field(default_factory=list)
    interrupts: list[Interrupt] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)

    def session(self, id_: str | None = None) -> SessionView:
        """Return a session by its id, the last one if it was there on several connections.

        Args:
            id_: Its id; None for the only or the last session.

        Raises:
            KeyError: There is no such session.
        """
        for session in reversed(self.sessions):
            if id_ in (None, session.id):
                return session
        raise KeyError(id_)

    @property
    def pending(self) -> list[Interrupt]:
        """All that waits for the user's answer."""
        inside = [interrupt for session in self.sessions for interrupt in session.pending]
        return inside + [interrupt for interrupt in self.interrupts if interrupt.pending]

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {
            "line": self.line,
            "sessions": [session.as_json() for session in self.sessions],
            "interrupts": [interrupt.as_json() for interrupt in self.interrupts],
            "errors": [error.as_json() for error in self.errors],
        }
