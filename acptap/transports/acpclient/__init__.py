"""Floor 4, the client side of ACP over HTTP and WebSocket, on aiohttp.

`NetworkAgent` looks like an agent's process to a stdio proxy, and speaks to a server.
"""

from acptap.transports.acpclient.agent import NetworkAgent
from acptap.transports.acpclient.reach import Reach

__all__ = ["NetworkAgent", "Reach"]
