"""An ACP v1 agent on stdio, built on the official Python SDK.

It has no model: the words of a prompt choose what happens, and they are those of the
TypeScript agent beside it (see turn.mjs). Standard input and output must be pipes.

    python pyagent.py
"""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from acp import (
    PROTOCOL_VERSION,
    Agent,
    Client,
    RequestError,
    plan_entry,
    run_agent,
    schema,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
    update_user_message_text,
)
from acp.helpers import tool_terminal_ref, update_available_commands, update_current_mode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TICK = 1.0  # seconds; a cancel arrives sooner than the second tick, also on a busy machine
NOTES = "/project/notes.txt"
ARCHIVE = [("What is the capital of France?", "Paris."), ("And of Italy?", "Rome.")]
COMMANDS = [
    schema.AvailableCommand(name="plan", description="Show a plan"),
    schema.AvailableCommand(name="think", description="Think aloud"),
]
MODES = [schema.SessionMode(id="ask", name="Ask"), schema.SessionMode(id="code", name="Code")]
OPTIONS = [
    schema.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    schema.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]


@dataclass
class Session:
    """One conversation: its past turns, and whether one is running."""

    id: str
    cwd: str
    history: list[tuple[str, str]] = field(default_factory=list)
    mode: str = "ask"
    calls: int = 0
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.idle.set()

    @property
    def info(self) -> schema.SessionInfo:
        title = self.history[0][0] if self.history else "Nothing said yet"
        updated = "2026-01-02T03:04:05Z"
        return schema.SessionInfo(session_id=self.id, cwd=self.cwd, title=title, updated_at=updated)

    @property
    def modes(self) -> schema.SessionModeState:
        return schema.SessionModeState(current_mode_id=self.mode, available_modes=MODES)


class Turn:
    """What one prompt makes the agent do, in the order of `ACTS`."""

    def __init__(self, client: Client, session: Session, text: str) -> None:
        self.client = client
        self.session = session
        self.text = text
        self.reply = ""

    async def play(self) -> str:
        """Return the stop reason.

        Raises:
            RequestError: the turn fails, as the word "boom" asks.
        """
        words = set(re.split(r"\W+", self.text.lower()))
        for word, act in ACTS:
            if word is None or word in words:
                stop_reason = await act(self)
                if stop_reason is not None:
                    return stop_reason
        return "end_turn"

    async def say(self, text: str) -> None:
        self.reply += text
        await self.client.session_update(self.session.id, update_agent_message_text(text))

    def next_call(self) -> str:
        self.session.calls += 1
        return f"call-{self.session.calls}"

    async def noise(self) -> None:
        """Write a line that is no message at all, as agents do while they load."""
        sys.stdout.write("Loading the model, please wait\n")
        sys.stdout.flush()

    async def think(self) -> None:
        for text in ("The user wants something. ", "I had better answer."):
            await self.client.session_update(self.session.id, update_agent_thought_text(text))

    async def plan(self) -> None:
        read, answer = plan_entry("Read the notes"), plan_entry("Answer")
        await self.client.session_update(self.session.id, update_plan([read, answer]))
        done = plan_entry("Read the notes", status="completed")
        await self.client.session_update(self.session.id, update_plan([done, answer]))

    async def read(self) -> None:
        file = await self.client.read_text_file(session_id=self.session.id, path=NOTES)
        await self.say(f"The notes say: {file.content}")

    async def terminal(self) -> None:
        """Run a command in a terminal of the client, which also chooses the terminal's id."""
        client, session = self.client, self.session.id
        made = await client.create_terminal(session, "make", args=["test"], cwd=self.session.cwd)
        call, terminal = self.next_call(), made.terminal_id
        content = [tool_terminal_ref(terminal)]
        begun = start_tool_call(
            call, "make test", kind="execute", status="pending", content=content
        )
        await client.session_update(session, begun)
        await client.terminal_output(session, terminal)
        ended = await client.wait_for_terminal_exit(session, terminal)
        printed = await client.terminal_output(session, terminal)
        await client.release_terminal(session, terminal)
        status: Literal["completed", "failed"] = "completed" if ended.exit_code == 0 else "failed"
        await client.session_update(session, update_tool_call(call, status=status))
        await self.say(f"The command printed: {printed.output}")

    async def tool(self) -> str | None:
        client, session, call = self.client, self.session.id, self.next_call()
        begun = start_tool_call(
            call,
            "Write notes.txt",
            kind="edit",
            status="pending",
            locations=[schema.ToolCallLocation(path=NOTES)],
            raw_input={"path": NOTES, "text": "new"},
        )
        await client.session_update(session, begun)
        question = schema.ToolCallUpdate(tool_call_id=call, title="Write notes.txt?")
        outcome = (await client.request_permission(session, question, OPTIONS)).outcome
        if not isinstance(outcome, schema.AllowedOutcome):
            await client.session_update(session, update_tool_call(call, status="failed"))
            return "cancelled"
        if outcome.option_id == "reject":
            await client.session_update(session, update_tool_call(call, status="failed"))
            await self.say("Then I leave the notes alone. ")
            return None
        await client.session_update(session, update_tool_call(call, status="in_progress"))
        content = [tool_content(text_block("3 bytes written"))]
        done = update_tool_call(call, status="completed", content=content)
        await client.session_update(session, done)
        return None

    async def echo(self) -> None:
        for chunk in ("You said: ", self.text, "."):
            await self.say(chunk)

    async def slow(self) -> str | None:
        """Say three chunks at once, then one a second, four times; a cancel ends it early."""
        for number in range(1, 8):
            if number > 3:
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        await self.session.cancelled.wait()
                if self.session.cancelled.is_set():
                    return "cancelled"
            await self.say(f" tick {number}")
        return None

    async def boom(self) -> None:
        raise RequestError(-32603, "The model is down", {"retry": False})


ACTS: list[tuple[str | None, Callable[[Turn], Awaitable[str | None]]]] = [
    ("noise", Turn.noise),
    ("think", Turn.think),
    ("plan", Turn.plan),
    ("read", Turn.read),
    ("terminal", Turn.terminal),
    ("tool", Turn.tool),
    (None, Turn.echo),  # always
    ("slow", Turn.slow),
    ("boom", Turn.boom),
]


class PeerAgent:
    """Answers the client's requests; `background` owns what happens after an answer.

    No subclass of `Agent`: the SDK then refuses the methods that are missing here.
    """

    client: Client

    def __init__(self, background: asyncio.TaskGroup) -> None:
        self.background = background
        self.sessions = {"archived-1": Session("archived-1", "/project", list(ARCHIVE))}
        self.created = 0

    def on_connect(self, conn: Client) -> None:
        self.client = conn

    def session(self, session_id: str) -> Session:
        try:
            return self.sessions[session_id]
        except KeyError:
            data = {"sessionId": session_id}
            raise RequestError(-32002, "Resource not found", data) from None

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        capabilities = schema.SessionCapabilities(
            list=schema.SessionListCapabilities(),
            resume=schema.SessionResumeCapabilities(),
            close=schema.SessionCloseCapabilities(),
        )
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="acptap-peer", version="1.0.0"),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True, session_capabilities=capabilities
            ),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        self.created += 1
        session = Session(f"session-{self.created}", cwd)
        self.sessions[session.id] = session
        self.background.create_task(self.announce(session), name="announce commands")
        return schema.NewSessionResponse(session_id=session.id, modes=session.modes)

    async def announce(self, session: Session) -> None:
        with suppress(ConnectionError):  # the client left
            await self.client.session_update(session.id, update_available_commands(COMMANDS))

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        session = self.session(session_id)
        for prompt, reply in session.history:
            await self.client.session_update(session_id, update_user_message_text(prompt))
            await self.client.session_update(session_id, update_agent_message_text(reply))
        return schema.LoadSessionResponse(modes=session.modes)

    async def resume_session(self, session_id: str, **_: Any) -> schema.ResumeSessionResponse:
        return schema.ResumeSessionResponse(modes=self.session(session_id).modes)

    async def list_sessions(self, **_: Any) -> schema.ListSessionsResponse:
        return schema.ListSessionsResponse(sessions=[each.info for each in self.sessions.values()])

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        session = self.session(session_id)
        session.cancelled.set()
        await session.idle.wait()
        del self.sessions[session_id]
        return schema.CloseSessionResponse()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        if mode_id not in {mode.id for mode in MODES}:
            raise RequestError.invalid_params({"modeId": mode_id})
        self.session(session_id).mode = mode_id
        await self.client.session_update(session_id, update_current_mode(mode_id))
        return schema.SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        session = self.session(session_id)
        text = "".join(getattr(block, "text", "") for block in prompt)
        turn = Turn(self.client, session, text)
        session.cancelled.clear()
        session.idle.clear()
        try:
            stop_reason = await turn.play()
        finally:
            session.idle.set()
        session.history.append((text, turn.reply))
        return schema.PromptResponse.model_validate({"stopReason": stop_reason})

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session := self.sessions.get(session_id):
            session.cancelled.set()


async def main() -> None:
    """Serve one client until it closes standard input."""
    async with asyncio.TaskGroup() as background:
        agent = cast("Agent", PeerAgent(background))
        await run_agent(agent, use_unstable_protocol=True)  # for session/close and session/resume


if __name__ == "__main__":
    asyncio.run(main())
