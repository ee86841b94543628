"""Where acptap's tables and the official SDKs differ, and why both may stay as they are."""

from collections.abc import Iterator
from typing import NamedTuple

TYPESCRIPT, PYTHON = "TypeScript 2.4.0", "Python 0.12.1"


class Difference(NamedTuple):
    """One message of a kind, seen differently.

    Attributes:
        sdk: Which SDK.
        subject: What it is about: version, side, kind, method, update.
        ours: What acptap's tables say.
        theirs: What the SDK says.
    """

    sdk: str
    subject: str
    ours: str
    theirs: str


class Row(NamedTuple):
    """Differences with one explanation.

    Attributes:
        why: The explanation.
        sdks: Which SDKs it is about.
        ours: What acptap's tables say.
        theirs: What the SDKs say.
        subjects: A line each.
    """

    why: str
    sdks: tuple[str, ...]
    ours: str
    theirs: str
    subjects: str


EXPLAINED = (
    Row(
        "The agent asks with it and the client notifies with it, never the other way; one row holds"
        " both, and is wider than either.",
        (TYPESCRIPT,),
        "unstable",
        "unknown",
        """
        v1 agent notification mcp/message
        v1 agent response mcp/message
        v1 client request mcp/message
        v2 agent notification mcp/message
        v2 agent response mcp/message
        v2 client request mcp/message
        """,
    ),
    Row(
        "The same, and the SDK has no results of it.",
        (PYTHON,),
        "unstable",
        "unknown",
        """
        v1 agent notification mcp/message
        v1 agent response mcp/message
        v1 client request mcp/message
        v1 client response mcp/message
        """,
    ),
    Row(
        "The SDK's schema, 1.19.0, still had connections to MCP servers, opened by mcp/connect.",
        (PYTHON,),
        "unstable",
        "/connectionId Field required",
        """
        v1 agent request mcp/message
        v1 client notification mcp/message
        """,
    ),
    Row(
        "Gone from the schemas, and met in the wild: the TypeScript SDK keeps nes and document"
        " apart, frozen, and names session/set_model in its HTTP rules.",
        (TYPESCRIPT,),
        "legacy",
        "unknown",
        """
        v1 agent request mcp/connect
        v1 agent request mcp/disconnect
        v1 agent response nes/close
        v1 agent response nes/start
        v1 agent response nes/suggest
        v1 agent response session/set_model
        v1 client notification document/didChange
        v1 client notification document/didClose
        v1 client notification document/didFocus
        v1 client notification document/didOpen
        v1 client notification document/didSave
        v1 client notification nes/accept
        v1 client notification nes/reject
        v1 client request nes/close
        v1 client request nes/start
        v1 client request nes/suggest
        v1 client request session/set_model
        v1 client response mcp/connect
        v1 client response mcp/disconnect
        v2 agent request mcp/connect
        v2 agent request mcp/disconnect
        v2 client response mcp/connect
        v2 client response mcp/disconnect
        """,
    ),
    Row(
        "The definitions are looked up by the names of the TypeScript SDK, which has none of these"
        " any more; that the Python SDK lists them is held in test_tables.py.",
        (PYTHON,),
        "legacy",
        "unknown",
        """
        v1 agent request mcp/connect
        v1 agent request mcp/disconnect
        v1 agent response nes/close
        v1 agent response nes/start
        v1 agent response nes/suggest
        v1 agent response session/set_model
        v1 client notification document/didChange
        v1 client notification document/didClose
        v1 client notification document/didFocus
        v1 client notification document/didOpen
        v1 client notification document/didSave
        v1 client notification nes/accept
        v1 client notification nes/reject
        v1 client request nes/close
        v1 client request nes/start
        v1 client request nes/suggest
        v1 client request session/set_model
        v1 client response mcp/connect
        v1 client response mcp/disconnect
        """,
    ),
    Row(
        "Newer than the SDK's schema, 1.19.0.",
        (PYTHON,),
        "stable",
        "unknown",
        """
        v1 agent notification session/update compaction_summary_chunk
        v1 agent notification session/update compaction_update
        v1 agent notification session/update notice
        """,
    ),
    Row(
        "Newer than the SDK's schema, 1.19.0, or a conductor's business, which it has none of.",
        (PYTHON,),
        "unstable",
        "unknown",
        """
        v1 agent notification auth/status_update
        v1 agent notification proxy/successor
        v1 agent notification session/update session_message
        v1 agent notification session/update session_message_chunk
        v1 agent notification session/update subagent_update
        v1 agent request proxy/initialize
        v1 agent request proxy/successor
        v1 agent response auth/status
        v1 agent response proxy/initialize
        v1 agent response proxy/successor
        v1 agent response session/archive
        v1 agent response session/set_title
        v1 agent response session/status
        v1 agent response session/unarchive
        v1 client notification proxy/successor
        v1 client request auth/status
        v1 client request proxy/initialize
        v1 client request proxy/successor
        v1 client request session/archive
        v1 client request session/set_title
        v1 client request session/status
        v1 client request session/unarchive
        v1 client response proxy/initialize
        v1 client response proxy/successor
        """,
    ),
)


def explained(sdk: str) -> set[Difference]:
    """Return the differences from one SDK that are explained."""
    return set(_spread(sdk))


def _spread(sdk: str) -> Iterator[Difference]:
    for row in EXPLAINED:
        if sdk in row.sdks:
            for subject in row.subjects.strip().splitlines():
                yield Difference(sdk, subject.strip(), row.ours, row.theirs)
