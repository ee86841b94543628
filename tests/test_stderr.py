import os
import threading

import pytest

from acptap.transports.stderr import Stderr


@pytest.fixture
def pipe():
    """The file that a human reads, and how to begin to write for it."""
    reader, fd = os.pipe()
    file = os.fdopen(reader, "rb")
    begun = []

    def begin(**options):
        begun.append(Stderr(fd, **options))
        return begun[-1]

    yield file, begin
    file.close()
    for stderr in begun:
        stderr.drain(60)  # its thread must not write to whoever gets the number next
    os.close(fd)


BLOCK = b"x" * 70_000
"""More than a pipe holds."""


def test_what_is_put_arrives_in_order(pipe):
    reader, begin = pipe
    stderr = begin()
    stderr.put(b"one ")
    stderr.put(b"two\n")
    stderr.say("three")
    assert reader.readline() == b"one two\n"
    assert reader.readline() == b"acptap: three\n"


def test_what_no_encoding_can_say_is_escaped(pipe):
    reader, begin = pipe
    begin().say("half \ud83d, whole 👩")
    assert reader.readline() == "acptap: half \\ud83d, whole 👩\n".encode()


def test_drain_waits_until_all_is_read(pipe):
    reader, begin = pipe
    stderr = begin()
    stderr.put(BLOCK)
    found = []
    thread = threading.Thread(target=lambda: found.append(reader.read(len(BLOCK))))
    thread.start()
    stderr.drain(60)
    thread.join()
    assert found == [BLOCK]


def test_drain_does_not_wait_for_ever(pipe):
    reader, begin = pipe
    stderr = begin()
    stderr.put(BLOCK)
    stderr.drain(0.01)
    assert reader.read(len(BLOCK)) == BLOCK


def test_nobody_waits_for_a_reader_and_what_was_dropped_is_told(pipe):
    reader, begin = pipe
    stderr = begin(backlog=len(BLOCK) + 10)
    stderr.put(BLOCK)
    stderr.put(b"0123456789")
    stderr.put(b"dropped")
    stderr.put(b"too")
    stderr.say("this must be said")
    assert reader.read(len(BLOCK)) == BLOCK
    assert reader.readline() == b"0123456789acptap: 10 bytes of standard error were left out here\n"
    assert reader.readline() == b"acptap: this must be said\n"


def test_what_was_dropped_is_told_at_the_end_at_the_latest(pipe):
    reader, begin = pipe
    stderr = begin(backlog=len(BLOCK))
    stderr.put(BLOCK)
    stderr.put(b"dropped")
    stderr.drain(0)
    assert reader.read(len(BLOCK)) == BLOCK
    assert reader.readline() == b"acptap: 7 bytes of standard error were left out here\n"


def test_after_a_while_there_is_room_again(pipe):
    reader, begin = pipe
    stderr = begin(backlog=len(BLOCK))
    for _ in range(3):
        stderr.put(BLOCK)
        assert reader.read(len(BLOCK)) == BLOCK
        stderr.drain(60)


def test_a_reader_that_is_gone_is_no_harm(pipe):
    reader, begin = pipe
    reader.close()
    stderr = begin()
    stderr.put(b"nowhere")
    stderr.drain(60)
