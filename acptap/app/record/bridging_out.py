"""`acptap proxy --stdio --upstream URL`: an agent on the network, recorded, for a stdio client."""

from collections.abc import Sequence
from pathlib import Path

from acptap.app.record.proxying import ProxyOptions, proxy_agent
from acptap.app.record.upstream import read_header, read_trust, read_upstream
from acptap.transports.acpclient import NetworkAgent, Reach
from acptap.transports.stderr import Stderr


def bridge_stdio(
    upstream: str,
    options: ProxyOptions,
    *,
    headers: Sequence[str] = (),
    ca: Path | None = None,
    insecure: bool = False,
) -> int:
    """Be an agent on our own stdin and stdout that speaks to one on the network.

    Must be called on the main thread.

    Args:
        upstream: The agent's URL: http or https for Streamable HTTP, ws or wss for WebSocket.
        options: What the user asked for.
        headers: What is added to every request: `Name: value`.
        ca: A PEM file of authorities beside those of the system.
        insecure: Believe every certificate, of anybody.

    Returns:
        Our exit code: 0 when the client has left, 1 when the connection to the agent was lost.

    Raises:
        UsageError: The URL, a header or a pattern is misspelt, or a file can't be used.
    """
    url = read_upstream(upstream.partition("?")[0])
    trust = read_trust(url, ca, insecure=insecure)
    reach = Reach(
        upstream,
        is_websocket=url.scheme in ("ws", "wss"),
        headers=[_decoded(read_header(header)) for header in headers],
        trust=trust if url.is_tls else None,
    )

    def start(stderr: Stderr) -> NetworkAgent:
        return NetworkAgent(reach, stderr.say)

    return proxy_agent(start, upstream, options)


def _decoded(header: tuple[bytes, bytes]) -> tuple[str, str]:
    name, value = header
    return name.decode(), value.decode("utf-8", "surrogateescape")
