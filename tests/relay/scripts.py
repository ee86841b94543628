"""What the two sides of a connection do, step by step, and what became of it.

A script is played twice, directly and through the relay; both sides must have heard the same bytes
and come to the same kind of end. The client writes `{host}`, `{base}` and `{scheme}` for what it
would have to say to the upstream itself, and says it to the relay's own address without the base.
"""

import socket
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.relay.wires import Cut, Wire

PATIENCE = 10.0


class Names(NamedTuple):
    """What a client puts for the placeholders."""

    host: bytes
    base: bytes = b""
    scheme: bytes = b"http"

    def fill(self, data: bytes) -> bytes:
        for name, value in zip(self._fields, self, strict=True):
            data = data.replace(b"{%b}" % name.encode(), value)
        return data


@dataclass
class Part:
    """One side while it plays.

    Attributes:
        heard: All the bytes that came.
        end: `open`, `fin`, `rst` or `cut`.
    """

    wire: Wire
    names: Names
    marks: dict[str, threading.Event]
    heard: bytearray = field(default_factory=bytearray)
    end: str = "open"

    def hear(self, is_enough: Callable[[bytearray], bool]) -> None:
        while self.end == "open" and not is_enough(self.heard):
            try:
                data = self.wire.receive()
            except Cut:
                self.end = "cut"
            except ConnectionResetError:
                self.end = "rst"
            else:
                self.heard += data
                if not data:
                    self.end = "fin"

    def say(self, data: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # heard as an end
            self.wire.send(self.names.fill(data))


Step = Callable[[Part], None]


def say(data: bytes) -> Step:
    return lambda part: part.say(data)


def dribble(data: bytes, size: int = 1) -> Step:
    """Say something in small pieces, each a segment of its own."""

    def step(part: Part) -> None:
        filled = part.names.fill(data)
        for at in range(0, len(filled), size):
            part.say(filled[at : at + size])

    return step


def hear(data: bytes) -> Step:
    """Read until what comes now ends with something."""

    def step(part: Part) -> None:
        start = len(part.heard)
        part.hear(lambda heard: heard.endswith(data, start))

    return step


def hear_all(data: bytes) -> Step:
    """Read until all that has come ends with something."""
    return lambda part: part.hear(lambda heard: heard.endswith(data))


def hear_heads(count: int) -> Step:
    """Read until so many empty lines have come in all."""
    return lambda part: part.hear(lambda heard: heard.count(b"\r\n\r\n") >= count)


def hear_size(size: int) -> Step:
    """Read until so many bytes more have come."""

    def step(part: Part) -> None:
        goal = len(part.heard) + size
        part.hear(lambda heard: len(heard) >= goal)

    return step


def hear_total(size: int) -> Step:
    """Read until so many bytes have come in all."""
    return lambda part: part.hear(lambda heard: len(heard) >= size)


def hear_out(data: bytes) -> Step:
    """Read until as much has come in all as something has with its placeholders filled."""

    def step(part: Part) -> None:
        size = len(part.names.fill(data))
        part.hear(lambda heard: len(heard) >= size)

    return step


def see(part: Part) -> None:
    """Wait until something has come, and don't read it."""
    part.wire.sock.recv(1, socket.MSG_PEEK)


def hear_end(part: Part) -> None:
    part.hear(lambda _: False)


def fin(part: Part) -> None:
    part.wire.fin()


def rst(part: Part) -> None:
    part.wire.rst()


def close(part: Part) -> None:
    part.wire.close()


def desert(part: Part) -> None:
    """Close the connection as a process that dies: over TLS, without a word."""
    part.wire.sock.close()


def mark(name: str) -> Step:
    """Let the other side go on."""
    return lambda part: part.marks[name].set()


def after(name: str) -> Step:
    """Wait for the other side."""

    def step(part: Part) -> None:
        assert part.marks[name].wait(PATIENCE), name

    return step


HEAD = hear(b"\r\n\r\n")


class Case(NamedTuple):
    """A script for each side.

    Attributes:
        client: The client's.
        agent: The upstream's.
        verbatim: The client says the same to the relay as to the upstream: nothing is rewritten.
    """

    client: tuple[Step, ...]
    agent: tuple[Step, ...]
    verbatim: bool = False


class Outcome(NamedTuple):
    """What became of a case."""

    client_heard: bytes
    client_end: str
    agent_heard: bytes
    agent_end: str


def play(
    case: Case, client: Wire, accept: Callable[[], Wire], names: Names, relay: bytes = b""
) -> Outcome:
    """Play a case over a client's connection and the one that the upstream accepts.

    Args:
        case: What the sides do.
        client: The client's connection.
        accept: Returns the upstream's.
        names: What the upstream is to read for placeholders.
        relay: The address that the client knows, if it is not the upstream's own.
    """
    marks: defaultdict[str, threading.Event] = defaultdict(threading.Event)
    said = Names(relay) if relay and not case.verbatim else names
    client_part = Part(client, said, marks)
    agents: list[Part] = []
    faults: list[BaseException] = []

    def play_agent() -> None:
        try:
            part = Part(accept(), names, marks)
            agents.append(part)
            for step in case.agent:
                step(part)
        except BaseException as error:  # raised on the test's own thread
            faults.append(error)

    thread = threading.Thread(target=play_agent)
    thread.start()
    try:
        for step in case.client:
            step(client_part)
    finally:
        thread.join(2 * PATIENCE)
        client.sock.close()
        for part in agents:
            part.wire.sock.close()
    if faults:
        raise faults[0]
    agent = agents[0]
    return Outcome(bytes(client_part.heard), client_part.end, bytes(agent.heard), agent.end)
