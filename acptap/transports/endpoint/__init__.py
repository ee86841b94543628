"""Floor 4, the server side of ACP over HTTP and WebSocket, on aiohttp.

`Endpoint` answers requests by the rules of `answers` and leads each connection to a `Peer`;
`connection` and `websocket` are the two ways in which a client can be connected.
"""

from acptap.transports.endpoint.endpoint import Endpoint, Other
from acptap.transports.endpoint.peer import Frame, Kind, MakePeer, Outlet, Peer

__all__ = ["Endpoint", "Frame", "Kind", "MakePeer", "Other", "Outlet", "Peer"]
