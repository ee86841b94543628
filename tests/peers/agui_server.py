"""An AG-UI server on pydantic-ai, which has no model: what it says is scripted.

    python -m tests.peers.agui_server

The first line of standard output is the port, on the loopback interface. It serves until its
standard input ends. The path chooses what happens:

* `/text` says something;
* `/tool` calls a tool of the server;
* `/state` changes the state of the application: a snapshot and two patches;
* `/approval` asks before it calls a tool: the run ends with an interrupt, and another resumes;
* `/boom` fails in the middle of a sentence;
* `/slow` begins to count, and then waits to be cancelled.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from ag_ui.core import CustomEvent, StateDeltaEvent, StateSnapshotEvent
from pydantic_ai import Agent, DeferredToolRequests, ToolReturn
from pydantic_ai.messages import ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models.function import AgentInfo, DeltaToolCalls
    from starlette.requests import Request
    from starlette.responses import Response

    Stream = Callable[[list[ModelMessage], AgentInfo], AsyncIterator[str | DeltaToolCalls]]

PAUSE = 0.005  # seconds between two deltas, so that they come in reads of their own
GRACE = 1  # seconds for open event streams to end


def has_answer(messages: list[ModelMessage]) -> bool:
    """Return whether a tool was called since the user last said something."""
    return any(isinstance(part, ToolReturnPart) for part in messages[-1].parts)


def says(*words: str) -> Stream:
    """Return a model that says the same whatever it hears."""

    async def stream(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
        for word in words:
            await asyncio.sleep(PAUSE)
            yield word

    return stream


def calls(tool: str, arguments: list[str], *words: str) -> Stream:
    """Return a model that calls a tool, its arguments in fragments, and then says something."""

    async def stream(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        if has_answer(messages):
            async for word in says(*words)(messages, info):
                yield word
            return
        yield {0: DeltaToolCall(name=tool, tool_call_id=f"call-{tool}-{len(messages)}")}
        for fragment in arguments:
            await asyncio.sleep(PAUSE)
            yield {0: DeltaToolCall(json_args=fragment)}

    return stream


async def hangs_up(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
    """Fail in the middle of a sentence."""
    yield "The answer "
    await asyncio.sleep(PAUSE)
    raise RuntimeError("the model hung up")


async def counts(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
    """Count to three, and wait until the client has had enough."""
    for number in ("one", " two", " three"):
        await asyncio.sleep(PAUSE)
        yield number
    await asyncio.Event().wait()


@dataclass
class Shared:
    """What the agent knows of the client's application."""

    state: Any = None


def agent(stream: Stream, **more: Any) -> Agent[Shared, Any]:
    """Return an agent with a scripted model."""
    return Agent(FunctionModel(stream_function=stream), deps_type=Shared, **more)


text = agent(says("Hello", " — ", "naïve ", "🎈", "\u2028", "world."))
tool = agent(calls("get_weather", ['{"ci', 'ty":"Os', 'lo"}'], "It is ", "7 °C."))
state = agent(calls("make_plan", ['{"goal":', '"tea"}'], "The plan", " is ready."))
approval = agent(
    calls("delete_file", ['{"path":', '"/project/a"}'], "So ", "be it."),
    output_type=[str, DeferredToolRequests],
)


@tool.tool_plain
async def get_weather(city: str) -> str:
    """Tell the weather."""
    return json.dumps({"city": city, "celsius": 7})


@state.tool_plain
async def make_plan(goal: str) -> ToolReturn[str]:
    """Make a plan, and show it in the state of the application."""
    first = {"do": "boil water", "done": False}
    return ToolReturn(
        "made",
        metadata=[
            StateSnapshotEvent(snapshot={"goal": goal, "steps": []}),
            patch({"op": "add", "path": "/steps/-", "value": first}),
            patch(
                {"op": "replace", "path": "/steps/0/done", "value": True},
                {"op": "add", "path": "/a~1b", "value": None},
            ),
            CustomEvent(name="plan.made", value={"steps": 1}),
        ],
    )


@approval.tool_plain(requires_approval=True)
async def delete_file(path: str) -> str:
    """Pretend to delete a file."""
    return f"{path} is gone"


def patch(*operations: dict[str, Any]) -> StateDeltaEvent:
    """Return the event that patches the state."""
    return StateDeltaEvent.model_validate({"delta": operations})


def endpoint(behind: Agent[Shared, Any]) -> Callable[[Request], Any]:
    """Return what answers the requests for an agent."""

    async def answer(request: Request) -> Response:
        return await AGUIAdapter.dispatch_request(request, agent=behind, deps=Shared())

    return answer


AGENTS = {
    "/text": text,
    "/tool": tool,
    "/state": state,
    "/approval": approval,
    "/boom": agent(hangs_up),
    "/slow": agent(counts),
}
ROUTES = [Route(path, endpoint(behind), methods=["POST"]) for path, behind in AGENTS.items()]


async def main() -> None:
    """Serve until standard input ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        Starlette(routes=ROUTES), log_level="warning", timeout_graceful_shutdown=GRACE
    )
    server = uvicorn.Server(config)

    def end() -> None:
        asyncio.get_running_loop().remove_reader(sys.stdin)
        server.should_exit = True

    asyncio.get_running_loop().add_reader(sys.stdin, end)  # nothing is ever written to it
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(main())
