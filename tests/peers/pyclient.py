"""A client on the official Python SDK that plays scripts against any ACP v1 agent.

    python pyclient.py --script '[["new"], ["prompt", "hello"]]' -- COMMAND ARGS...
    python pyclient.py --script '[["new"], ["prompt", "hello"]]' --url URL

The steps are those of the TypeScript client (see steps.mjs), and so is the output: one JSON
object per line for everything the SDK showed, in order and without ids or times, and as the
last line how the connection, or the agent, ended. With several `--script` each has a connection
of its own. `--terminal PREFIX` changes the ids given to terminals, not the output. The SDK hands
a command a trimmed environment; `--env NAME` adds a variable.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import orjson
from acp import Client, RequestError, connect_to_agent, schema, spawn_agent_process, text_block
from pydantic import BaseModel

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Awaitable, Callable

    from acp.client.connection import ClientSideConnection

LIMIT = 30.0  # seconds
GRACE = 1.0  # seconds for the agent to leave by itself after a failure
CWD = "/project"
ANSWERS = ("allow", "reject", "cancel")


End = dict[str, Any]  # the last line of a transcript


class ScriptError(Exception):
    """The script cannot be played."""


def plain(model: Any) -> Any:
    """Return the JSON values of a model, or of what contains models."""
    match model:
        case BaseModel():
            return model.model_dump(mode="json", by_alias=True, exclude_none=True)
        case list():
            return [plain(item) for item in model]
        case _:
            return model


class Transcript:
    """The output: see transcript.mjs."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.held: dict[str, str] | None = None

    def write(self, event: str, session: str | None = None, **fields: Any) -> None:
        about = {"session": session} if session is not None else {}
        values = {name: plain(value) for name, value in fields.items()}
        line = orjson.dumps({"event": event, **about, **values}).decode()
        for value, name in self.names.items():
            line = line.replace(f'"{value}"', f'"{name}"')
        if self.held is None or session is None:
            sys.stdout.write(f"{line}\n")
        else:
            self.held[session] = f"{self.held.get(session, '')}{line}\n"

    def hold(self) -> None:
        self.held = {}

    def release(self, sessions: list[str]) -> None:
        held, self.held = self.held or {}, None
        sys.stdout.writelines(held.get(session, "") for session in sessions)


class Desk:
    """Answers the agent's requests and notes everything it sends.

    No subclass of `Client`: the SDK then refuses the methods that are missing here.
    """

    agent: ClientSideConnection

    def __init__(self, transcript: Transcript, prefix: str) -> None:
        self.transcript = transcript
        self.prefix = prefix
        self.permission = "allow"
        self.spoke: dict[str, asyncio.Event] = {}  # set by a session's next message chunk
        self.terminals: dict[str, str] = {}  # terminal id -> session, until it is released
        self.opened: list[str] = []  # the session of every terminal there ever was

    def on_connect(self, conn: ClientSideConnection) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.transcript.write("update", session_id, update=update)
        if update.session_update == "agent_message_chunk" and session_id in self.spoke:
            self.spoke.pop(session_id).set()

    async def request_permission(
        self, session_id: str, options: list[schema.PermissionOption], tool_call: Any, **_: Any
    ) -> dict[str, Any]:
        question = {"toolCall": tool_call, "options": options, "answer": self.permission}
        self.transcript.write("permission", session_id, **question)
        if self.permission == "cancel":
            await self.agent.cancel(session_id=session_id)
            return {"outcome": {"outcome": "cancelled"}}
        chosen = next(each for each in options if each.kind.startswith(self.permission))
        return {"outcome": {"outcome": "selected", "optionId": chosen.option_id}}

    def asked(self, session: str, method: str, **params: Any) -> None:
        present = {name: value for name, value in params.items() if value is not None}
        self.transcript.write("request", session, method=method, params=present)
        terminal = params.get("terminalId")
        if terminal is not None and self.terminals.get(terminal) != session:
            raise RequestError.resource_not_found(terminal)

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> dict[str, Any]:
        self.asked(session_id, "fs/read_text_file", path=path)
        return {"content": f"the text of {path}"}

    async def create_terminal(
        self, session_id: str, command: str, args: list[str] | None, cwd: str | None, **_: Any
    ) -> dict[str, Any]:
        self.asked(session_id, "terminal/create", command=command, args=args, cwd=cwd)
        self.opened.append(session_id)
        terminal = f"{self.prefix}-{len(self.opened)}"
        self.terminals[terminal] = session_id
        self.transcript.names[terminal] = f"<terminal {self.opened.count(session_id)}>"
        return {"terminalId": terminal}

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> dict[str, Any]:
        self.asked(session_id, "terminal/output", terminalId=terminal_id)
        return {"output": "all well\n", "truncated": False}

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> dict[str, Any]:
        self.asked(session_id, "terminal/wait_for_exit", terminalId=terminal_id)
        return {"exitCode": 0}

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self.asked(session_id, "terminal/release", terminalId=terminal_id)
        del self.terminals[terminal_id]


class Script:
    """Plays steps over one connection. `step_*` are the steps."""

    def __init__(self, agent: ClientSideConnection, desk: Desk, transcript: Transcript) -> None:
        self.agent = agent
        self.desk = desk
        self.transcript = transcript
        self.current: str | None = None

    async def play(self, steps: list[list[Any]]) -> None:
        hello = self.agent.initialize(
            protocol_version=1,
            client_info=schema.Implementation(name="acptap-peer-client", version="1.0.0"),
            client_capabilities=schema.ClientCapabilities(
                fs=schema.FileSystemCapabilities(read_text_file=True), terminal=True
            ),
        )
        if await self.call("initialize", None, hello) is None:
            raise ScriptError("the agent refused initialize")
        for name, *args in steps:
            step = getattr(self, f"step_{name.replace('-', '_')}", None)
            if step is None:
                raise ScriptError(f'there is no step "{name}"')
            await step(*args)

    async def call(self, method: str, session: str | None, answer: Awaitable[Any]) -> Any:
        """Note the outcome of a request; return its result, or None after an error answer."""
        try:
            result = await answer
        except RequestError as error:
            parts = {"code": error.code, "message": str(error), "data": error.data}
            present = {name: value for name, value in parts.items() if value is not None}
            self.transcript.write("error", session, method=method, error=present)
            return None
        self.transcript.write("result", session, method=method, result=result)
        return result

    @property
    def session(self) -> str:
        if self.current is None:
            raise ScriptError("this step needs a session")
        return self.current

    async def open(self) -> str | None:
        made = await self.call("session/new", None, self.agent.new_session(cwd=CWD, mcp_servers=[]))
        return None if made is None else str(made.session_id)

    async def turn(self, session: str, text: str) -> None:
        prompt = self.agent.prompt(session_id=session, prompt=[text_block(text)])
        await self.call("session/prompt", session, prompt)

    async def interrupt(self, text: str, act: Callable[[], Awaitable[Any]]) -> None:
        """Play a turn during which `act` happens once the agent has begun to speak."""
        spoke = self.desk.spoke[self.session] = asyncio.Event()

        async def wait_and_act() -> None:
            await spoke.wait()
            await act()

        async with asyncio.TaskGroup() as group:
            acting = group.create_task(wait_and_act(), name="interrupt the turn")
            await self.turn(self.session, text)
            if not spoke.is_set():
                acting.cancel()  # a turn that failed at once had no chunk

    async def step_new(self) -> None:
        self.current = await self.open()

    async def step_load(self, session: str) -> None:
        request = self.agent.load_session(cwd=CWD, session_id=session, mcp_servers=[])
        await self.call("session/load", session, request)
        self.current = session

    async def step_resume(self, session: str, _replay: object = None) -> None:
        request = self.agent.resume_session(cwd=CWD, session_id=session, mcp_servers=[])
        await self.call("session/resume", session, request)
        self.current = session

    async def step_prompt(self, text: str) -> None:
        await self.turn(self.session, text)

    async def step_cancel_during(self, text: str) -> None:
        await self.interrupt(text, lambda: self.agent.cancel(session_id=self.session))

    async def step_close_during(self, text: str) -> None:
        await self.interrupt(text, self.step_close)

    async def step_two_sessions(self, *texts: str) -> None:
        self.transcript.hold()
        sessions = [await self.open() or "", await self.open() or ""]
        async with asyncio.TaskGroup() as group:
            for session, text in zip(sessions, texts, strict=True):
                group.create_task(self.turn(session, text), name=f"turn in {session}")
        self.transcript.release(sessions)
        self.current = sessions[1]

    async def step_permission(self, answer: str) -> None:
        if answer not in ANSWERS:
            raise ScriptError(f"permission is one of {', '.join(ANSWERS)}")
        self.desk.permission = answer

    async def step_set_mode(self, mode: str) -> None:
        request = self.agent.set_session_mode(session_id=self.session, mode_id=mode)
        await self.call("session/set_mode", self.session, request)

    async def step_list(self) -> None:
        await self.call("session/list", None, self.agent.list_sessions())

    async def step_close(self) -> None:
        request = self.agent.close_session(session_id=self.session)
        await self.call("session/close", self.session, request)


async def converse(agent: ClientSideConnection, process: Process, play: Awaitable[None]) -> None:
    """Play a script, close the agent's standard input, and read all it says on its way out."""
    try:
        await play
        if process.stdin is not None:
            process.stdin.write_eof()
        await process.wait()
        await asyncio.wait([cast("asyncio.Task[None]", agent._conn._recv_task)])  # to the EOF
        await asyncio.sleep(0)  # the SDK handles the last message in a task of its own
    except BaseException:
        await let_go(process)
        raise


async def let_go(process: Process) -> None:
    """Close the agent's standard input, and kill it when it does not leave by itself."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(GRACE):
            await process.wait()
    except TimeoutError:
        process.kill()


async def play_spawned(
    options: argparse.Namespace, desk: Desk, steps: list[list[Any]], end: End
) -> None:
    """Play a script against a command. Its end is how it exited."""
    spawned = spawn_agent_process(
        cast("Client", desk),
        *options.command,
        env={name: os.environ[name] for name in options.env if name in os.environ},
        transport_kwargs={"stderr": None},  # ours: nobody reads the pipe the SDK would make
    )
    end |= {"exit": None, "signal": None}
    async with asyncio.timeout(LIMIT), spawned as (agent, process):
        try:
            await converse(agent, process, Script(agent, desk, desk.transcript).play(steps))
        finally:
            code = await process.wait()
            end |= {"exit": code} if code >= 0 else {"signal": signal.Signals(-code).name}


class OneByOne:
    """A transport that passes one message per turn of the event loop.

    The SDK may show the answer to a prompt sooner than it calls the handlers of updates that
    came before, if the end of our POST falls into the same turn. This way the order is that
    of the wire, always.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def send(self, message: dict[str, Any]) -> None:
        await self._transport.send(message)

    async def receive(self) -> dict[str, Any] | None:
        await asyncio.sleep(0)  # the handler of the message before runs now
        return cast("dict[str, Any] | None", await self._transport.receive())

    async def close(self) -> None:
        await self._transport.close()


@asynccontextmanager
async def over_http(desk: Desk, url: str, end: End) -> AsyncIterator[ClientSideConnection]:
    """Connect over HTTP. Its end is the answer to our DELETE."""
    import httpx  # noqa: PLC0415 - half a second that a conversation over stdio need not wait
    from acp.http import create_http_stream  # noqa: PLC0415

    async def note(response: httpx.Response) -> None:
        if response.request.method == "DELETE":
            end["deleted"] = response.status_code

    end["deleted"] = None
    endless = httpx.Timeout(None)  # as in the client that the SDK would make
    hooks = {"response": [note]}
    async with httpx.AsyncClient(http2=True, timeout=endless, event_hooks=hooks) as client:
        stream = OneByOne(create_http_stream(url, client=client))
        agent = connect_to_agent(cast("Client", desk), stream)
        try:
            yield agent
        finally:
            await agent.close()


@asynccontextmanager
async def over_websocket(desk: Desk, url: str, end: End) -> AsyncIterator[ClientSideConnection]:
    """Connect over WebSocket. Its end is the code of the close."""
    from acp.ws import create_websocket_stream  # noqa: PLC0415 - as above

    stream: Any = await create_websocket_stream(url)
    agent = connect_to_agent(cast("Client", desk), OneByOne(stream))
    try:
        yield agent
    finally:
        await agent.close()
        end["closed"] = stream._ws.close_code


async def play_remote(
    options: argparse.Namespace, desk: Desk, steps: list[list[Any]], end: End
) -> None:
    """Play a script against a URL.

    Raises:
        ScriptError: a message of ours that answers the agent was refused: what it would have
            led to never comes, and only the SDK's error handler hears of it.
    """
    connect = over_websocket if options.url.startswith("ws") else over_http
    lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def refuse(_task: object, error: BaseException) -> None:
        if not lost.done():
            lost.set_exception(ScriptError(str(error)))

    async with asyncio.timeout(LIMIT), connect(desk, options.url, end) as agent:
        agent._conn._tasks.add_error_handler(refuse)
        playing = asyncio.ensure_future(Script(agent, desk, desk.transcript).play(steps))
        await asyncio.wait({playing, lost}, return_when=asyncio.FIRST_COMPLETED)
        if lost.done():
            playing.cancel()
            await asyncio.wait({playing})
            lost.result()
        lost.cancel()
        playing.result()


def reason(error: BaseException) -> str:
    """Say why the script failed."""
    match error:
        case BaseExceptionGroup():
            return reason(error.exceptions[0])
        case TimeoutError():
            return f"over the limit of {LIMIT:.0f} s"
        case ConnectionError():
            return "the connection broke"
        case _:
            return str(error)


async def hold(options: argparse.Namespace, steps: list[list[Any]]) -> int:
    """Play one script within the limit and return the exit status: 0 unless it failed."""
    desk = Desk(Transcript(), options.terminal)
    play = play_remote if options.url else play_spawned
    end: End = {}
    status = 0
    try:
        await play(options, desk, steps, end)
    except (OSError, RuntimeError, ScriptError, ExceptionGroup) as error:
        desk.transcript.write("failure", message=reason(error))  # RuntimeError: a refused POST
        status = 1
    sys.stdout.write(f"{orjson.dumps(end).decode()}\n")
    return status


async def main(options: argparse.Namespace) -> int:
    """Play the scripts one after the other and return the exit status."""
    return max([await hold(options, orjson.loads(script)) for script in options.script])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", required=True, action="append")
    parser.add_argument("--terminal", default="terminal")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--url")
    parser.add_argument("command", nargs="*")
    sys.exit(asyncio.run(main(parser.parse_args())))
