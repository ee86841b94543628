"""Cassettes for the suites inside, annotated by the tap itself."""

from acptap.cassette import Header
from acptap.jsonrpc import Side
from acptap.tap import Tap

INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'
AGREED = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
NEW = '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}'
MADE = '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}'
PROMPT = (
    '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1",'
    '"prompt":[{"type":"text","text":"hello"}]}}'
)
CHUNK = (
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}'
)
STOPPED = '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'

HELLO = [
    (Side.CLIENT, INITIALIZE), (Side.AGENT, AGREED), (Side.CLIENT, NEW), (Side.AGENT, MADE),
    (Side.CLIENT, PROMPT), (Side.AGENT, CHUNK), (Side.AGENT, STOPPED),
]  # fmt: skip
SAID = [text for side, text in HELLO if side is Side.CLIENT]
HEARD = [text for side, text in HELLO if side is Side.AGENT]


def write(path, *conversations, step=10_000):
    """Write a cassette of conversations, a connection each; a read for each message."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = Header("acp", "stdio", "2026-01-01T00:00:00.000000Z", ["agent"], "test")
    lines = [header.encode()]
    for number, conversation in enumerate(conversations or [HELLO], 1):
        tap, at = Tap(), 0
        for side, text in conversation:
            at += step
            line = tap.observe(side, text.encode() + b"\n", at)
            if number > 1:
                place = line.index(b',"from":"') + len(f',"from":"{side}"')
                line = line[:place] + b',"conn":%d' % number + line[place:]
            lines.append(line)
    path.write_bytes(b"".join(lines))
    return path
