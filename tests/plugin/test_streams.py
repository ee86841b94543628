"""An in-process agent, as an asyncio client sees it."""

import asyncio
import gc
import time
from typing import Any

import pytest

from acptap.app.play.options import ReplayOptions
from acptap.app.play.played import PlayedAgent
from acptap.jsonrpc import Side
from tests.plugin import tapes


@pytest.fixture
def agents(tmp_path):
    """Make agents; each is closed at the end."""
    made: list[PlayedAgent] = []

    def make(*conversations, step=10_000, cassette=None, **options):
        cassette = cassette or tapes.write(tmp_path / "c.jsonl", *conversations, step=step)
        folder = tmp_path / f"run-{len(made)}"
        folder.mkdir()
        made.append(PlayedAgent(cassette, ReplayOptions(**options), folder))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


async def ask(streams, line, answers=1):
    reader, writer = streams
    writer.write(line.encode() + b"\n")
    await writer.drain()
    return [(await reader.readline()).decode().removesuffix("\n") for _ in range(answers)]


async def test_a_conversation(agents):
    agent = agents()
    streams = agent.streams()
    heard = [*await ask(streams, tapes.SAID[0]), *await ask(streams, tapes.SAID[1])]
    assert heard + await ask(streams, tapes.SAID[2], 2) == tapes.HEARD
    assert agent.report.clean
    reader, writer = streams
    assert not writer.is_closing()
    writer.close()
    assert writer.is_closing()
    await writer.wait_closed()
    assert await reader.read() == b""
    assert agent.verdict() == []


async def test_a_client_that_only_ends_its_side_hears_the_rest(agents):
    reader, writer = agents().streams()
    assert writer.can_write_eof()
    writer.writelines([line.encode() + b"\n" for line in tapes.SAID])
    writer.write_eof()
    writer.write_eof()
    writer.write(b"too late\n")
    assert (await reader.read()).decode().splitlines() == tapes.HEARD


async def test_lines_may_come_in_any_pieces(agents):
    reader, writer = agents().streams()
    for byte in "".join(line + "\n" for line in tapes.SAID).encode():
        writer.write(bytes([byte]))
    writer.write_eof()
    assert (await reader.read()).decode().splitlines() == tapes.HEARD


async def test_each_read_of_the_recording_is_a_read(agents):
    streams = agents().streams()
    for line in tapes.SAID[:2]:
        await ask(streams, line)
    reader, writer = streams
    writer.write(tapes.SAID[2].encode() + b"\n")
    assert [await reader.read(1000), await reader.read(1000)] == [
        line.encode() + b"\n" for line in tapes.HEARD[2:]
    ]


LONG = tapes.CHUNK.replace("hi", "x" * 1000)
LOUD = [*tapes.HELLO[:5], *[(Side.AGENT, LONG)] * 50, tapes.HELLO[-1]]


async def steps(count):
    for _ in range(count):
        await asyncio.sleep(0)


async def loud(agent):
    """Ask a loud agent everything, and let a little of what it says pile up."""
    reader, writer = agent.streams(limit=2000)
    for line in tapes.SAID:
        writer.write(line.encode() + b"\n")
    await steps(100)
    assert 4000 < len(reader._buffer) < 6000
    return reader, writer


async def test_a_client_that_does_not_read_stops_the_agent(agents):
    reader, writer = await loud(agents(LOUD))
    heard = b""
    while not heard.endswith(tapes.STOPPED.encode() + b"\n"):
        heard += await reader.read(500)
    assert heard.count(b"\n") == 53
    writer.close()
    await writer.wait_closed()


async def test_a_client_that_does_not_read_may_close(agents):
    agent = agents(LOUD)
    _, writer = await loud(agent)
    writer.close()
    await writer.wait_closed()
    assert agent.report.clean


async def test_a_client_may_close_before_it_reads(agents):
    reader, writer = agents(LOUD).streams(limit=2000)
    for line in tapes.SAID:
        writer.write(line.encode() + b"\n")
    writer.close()
    await writer.wait_closed()
    assert (await reader.read()).count(b"\n") == 53


async def test_a_client_that_goes_on_to_read_when_the_agent_is_taken_away(agents):
    faults: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: faults.append(context))
    agent = agents(LOUD)
    reader, _ = await loud(agent)
    agent.close()
    assert (await reader.read()).count(b"\n") == 6
    await steps(10)
    assert faults == []


async def test_the_recorded_pace(agents):
    streams = agents(step=50_000, speed=1.0).streams()
    begin = time.monotonic()
    for line in tapes.SAID[:2]:
        await ask(streams, line)
    await ask(streams, tapes.SAID[2], 2)
    assert time.monotonic() - begin >= 0.2


async def test_patience(agents):
    agent = agents(tapes.HELLO[:3], patience=0.05)
    streams = agent.streams()
    await ask(streams, tapes.SAID[0])
    [refusal] = await ask(streams, tapes.SAID[1])
    assert '"code":-32001' in refusal
    assert "session/new (line 4) is never answered" in agent.verdict()[0]


async def test_endless_patience(agents):
    streams = agents(tapes.HELLO[:3], patience=0.0).streams()
    await ask(streams, tapes.SAID[0])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ask(streams, tapes.SAID[1])


async def test_an_agent_that_left_first_leaves_first(agents, tmp_path):
    cassette = tapes.write(tmp_path / "left.jsonl", tapes.HELLO)
    with cassette.open("ab") as tape:
        tape.write(b'{"at":9.000000,"from":"agent","event":"exit","code":3}\n')
    reader, writer = agents(cassette=cassette).streams()
    for line in tapes.SAID:
        writer.write(line.encode() + b"\n")
    assert (await reader.read()).decode().splitlines() == tapes.HEARD
    writer.write(b"anybody there?\n")
    with pytest.raises(ConnectionResetError):
        await writer.drain()


async def test_a_client_that_breaks_off(agents):
    agent = agents()
    reader, writer = agent.streams()
    writer.write(tapes.SAID[0].encode() + b"\n")
    writer.transport.abort()
    writer.transport.abort()
    assert await reader.read() == b""
    assert agent.verdict()[0] == "never played: lines 4-8 (line 4 is session/new)"


async def test_an_agent_that_is_taken_away(agents):
    agent = agents()
    reader, writer = agent.streams()
    agent.close()
    assert await reader.read() == b""
    with pytest.raises(ConnectionResetError):
        await writer.drain()


async def test_what_is_no_message_is_no_message(agents):
    agent = agents()
    reader, writer = agent.streams()
    writer.write(b"\xff\xfe\nhello\n[]\n7\n" + tapes.SAID[0].encode())
    writer.write_eof()
    assert (await reader.read()).decode() == tapes.HEARD[0] + "\n"
    assert [message["method"] for message in agent.sent] == ["initialize"]
    assert len(agent.report.noted) == 3


def test_a_loop_that_is_closed_before_the_streams(agents, recwarn):
    agent = agents(patience=5.0)

    async def main():
        streams = agent.streams()
        await ask(streams, tapes.SAID[0])
        streams[1].write(tapes.SAID[1].encode() + b"\n")

    asyncio.run(main())
    agent.close()
    assert agent.report.unplayed == [6, 7, 8]
    gc.collect()
    assert not recwarn.list


def test_a_full_disk_does_not_change_what_the_client_hears(agents, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    async def main():
        streams = agents().streams()
        monkeypatch.setattr("acptap.app.play.journal.os.write", full)
        return await ask(streams, tapes.SAID[0])

    assert asyncio.run(main()) == [tapes.HEARD[0]]


def test_the_last_line_of_a_journal_may_be_on_its_way(agents, tmp_path):
    agent = agents()
    asyncio.run(_hello(agent))
    agent.close()
    [journal] = tmp_path.glob("run-0/*/1.jsonl")
    journal.write_bytes(journal.read_bytes()[:-1])
    assert len(agent.sent) == 2


async def _hello(agent):
    streams = agent.streams()
    for line in tapes.SAID:
        await ask(streams, line)
