"""The agent of pyagent.py on the network: HTTP and WebSocket on one port, by uvicorn.

    python -m tests.peers.pyserver

The first line of standard output is the port, on the loopback interface. It serves until its
standard input ends; every connection has an agent of its own.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import TYPE_CHECKING, cast

import uvicorn
from acp.http.asgi import create_asgi_app

from tests.peers.pyagent import PeerAgent

if TYPE_CHECKING:
    from acp import Agent

GRACE = 1  # seconds for open event streams to end


async def main() -> None:
    """Serve until standard input ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    async with asyncio.TaskGroup() as background:
        app = create_asgi_app(lambda _client: cast("Agent", PeerAgent(background)))
        config = uvicorn.Config(
            app, ws="websockets-sansio", log_level="warning", timeout_graceful_shutdown=GRACE
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
