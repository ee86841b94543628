"""Cassettes for tests: recorded in memory from what two sides said, and revised."""

import base64
import json

from acptap.app.record.revision import Revision, WatchedTape, finish
from acptap.cassette import Header
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.storage import Recording
from acptap.tap import Tap

SECRET = "sk-FAKE-proj-4f9aBcD012"


def line(message):
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def update(**members):
    return line(
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "s", "update": members},
        }
    )


def chunk(text, kind="agent_message_chunk", **members):
    return update(sessionUpdate=kind, content={"type": "text", "text": text}, **members)


def output(data, terminal="t"):
    encoded = base64.b64encode(data).decode()
    return update(sessionUpdate="terminal_output_chunk", terminalId=terminal, data=encoded)


class Recorded:
    """A recording that was made in a file, and what became of it at its end.

    Attributes:
        before: The file before it was finished.
        after: The file once it was.
        redactor: Who recorded it.
    """

    def __init__(self, path, said, *, redactor=None):
        self.path = path
        self.redactor = redactor or Redactor()
        path.unlink(missing_ok=True)
        tape = WatchedTape.create(path)
        tape.watch(self.redactor)
        tap = Tap(self.redactor)
        tape.write(tap.begin(Header("acp", "stdio", "now", ["agent"], "acptap")))
        for at, (who, data) in enumerate(said):
            if who == "stderr":
                tape.write(tap.stderr(data, at))
            else:
                tape.write(tap.observe(Side(who), data, at))
        for side in Side:
            tape.write(tap.end(side, 10_000_000))
        tape.write(tap.exit(20_000_000, code=0))
        self.before = path.read_bytes()
        self.place = path.stat().st_ino
        finish(path, self.redactor, tape.learnt_at)
        tape.close()
        self.after = path.read_bytes()

    @property
    def is_rewritten(self):
        return self.path.stat().st_ino != self.place

    @property
    def entries(self):
        return entries(self.path)

    def units(self):
        return [entry.unit().decode("utf-8", "replace") for entry in self.entries if entry.key]


def entries(path):
    with Recording(path) as recording:
        return list(recording)


def revise(path, *patterns, first=1):
    """Redact a cassette as if nobody had looked at it; return what it becomes."""
    revision = Revision(path, Redactor(patterns, first=first))
    revision.learn()
    revision.examine()
    return b"".join(revision.lines())
