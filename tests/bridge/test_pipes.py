"""The event loop's ends of pipes, with the other end in the test's hands."""

import asyncio
import os

import pytest

from acptap.transports.pipes import ROOM, Sink, Source


@pytest.fixture
def pipe():
    ends = list(os.pipe())
    yield ends
    for fd in ends:
        os.close(fd)


async def test_a_source_reads_to_the_end(pipe):
    source = Source(pipe.pop(0))
    reading = asyncio.ensure_future(source.read())
    await asyncio.sleep(0)
    os.write(pipe[0], b"one")
    assert await reading == b"one"
    os.write(pipe[0], b"two")
    os.close(pipe.pop())
    assert [await source.read(), await source.read()] == [b"two", b""]
    source.close()


async def test_a_source_may_be_ended_although_somebody_could_still_write(pipe):
    source = Source(pipe.pop(0))
    os.write(pipe[0], b"rest")
    source.end()
    assert [await source.read(), await source.read()] == [b"rest", b""]
    source.close()


async def test_a_source_that_waits_may_be_ended(pipe):
    source = Source(pipe.pop(0))
    reading = asyncio.ensure_future(source.read())
    await asyncio.sleep(0)
    source.end()
    assert await reading == b""
    source.close()


async def test_a_sink_writes_all_and_closes(pipe):
    sink = Sink(pipe.pop())
    data = os.urandom(3 * ROOM)
    sink.write(data)
    sink.write(data)
    sink.end()
    reading = asyncio.ensure_future(asyncio.to_thread(read_all, pipe[0]))
    await sink.run()
    assert await reading == data * 2


def read_all(fd):
    with open(fd, "rb", closefd=False) as file:
        return file.read()


async def test_who_writes_more_than_is_read_has_to_wait(pipe):
    sink = Sink(pipe.pop())
    writing = asyncio.ensure_future(sink.run())
    sink.write(b"x" * ROOM)
    await sink.drain()
    sink.write(b"x" * ROOM)
    waiting = asyncio.ensure_future(sink.drain())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    sink.end()
    await asyncio.to_thread(read_all, pipe[0])
    await writing
    await waiting


async def test_a_sink_that_nobody_reads_takes_anything(pipe):
    sink = Sink(pipe.pop())
    os.close(pipe.pop())
    sink.write(b"x" * 2 * ROOM)
    await sink.run()
    sink.write(b"x" * 2 * ROOM)
    await sink.drain()
