import contextlib
import os
import socket
import threading
from pathlib import Path

import pytest

from acptap.transports import descriptors


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    for fd in (reader, writer):
        with contextlib.suppress(OSError):
            os.close(fd)


def in_background(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_read_takes_what_is_there(pipe):
    reader, writer = pipe
    os.write(writer, b"abc")
    assert descriptors.read(reader) == b"abc"


def test_read_takes_no_more_than_it_was_asked_for(pipe):
    reader, writer = pipe
    os.write(writer, b"abc")
    assert [descriptors.read(reader, 2), descriptors.read(reader, 2)] == [b"ab", b"c"]


def test_read_is_empty_at_the_end(pipe):
    reader, writer = pipe
    os.close(writer)
    assert descriptors.read(reader) == b""


def test_read_is_empty_where_nothing_can_be_read(pipe):
    reader, _ = pipe
    os.close(reader)
    assert descriptors.read(reader) == b""


def test_read_of_a_reset_connection_is_empty():
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(b"unread")
        assert descriptors.has_data(theirs.fileno())
        theirs.close()
        assert descriptors.read(ours.fileno()) == b""


def test_read_waits_on_a_non_blocking_descriptor(pipe):
    reader, writer = pipe
    os.set_blocking(reader, False)
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    found = []
    thread = in_background(lambda: found.append(descriptors.read(reader)))
    os.write(writer, b"abc")
    thread.join()
    assert found == [b"abc"]
    assert not os.get_blocking(reader)


@pytest.mark.parametrize("blocking", [True, False])
def test_write_all_waits_until_all_is_taken(pipe, blocking):
    reader, writer = pipe
    os.set_blocking(writer, blocking)
    data = bytes(range(256)) * 4096
    results = []
    thread = in_background(lambda: results.append(descriptors.write_all(writer, data)))
    with os.fdopen(reader, "rb", closefd=False) as file:
        assert file.read(len(data)) == data
    thread.join()
    assert results == [True]
    assert os.get_blocking(writer) is blocking


def test_write_all_says_that_nobody_reads(pipe):
    reader, writer = pipe
    os.close(reader)
    assert descriptors.write_all(writer, b"abc") is False
    assert descriptors.write_all(writer, b"") is True


def test_write_all_tells_each_time_the_reader_is_stuck(pipe):
    reader, writer = pipe
    os.set_blocking(writer, False)
    times = []

    def stuck():
        times.append(1)
        if len(times) == 3:
            os.close(reader)

    assert not descriptors.write_all(writer, b"x" * 1_000_000, stuck_after=0, when_stuck=stuck)
    assert len(times) == 3


def test_has_data(pipe):
    reader, writer = pipe
    assert not descriptors.has_data(reader)
    os.write(writer, b"a")
    assert descriptors.has_data(reader)
    os.read(reader, 1)
    os.close(writer)
    assert not descriptors.has_data(reader)


def test_a_pipe_is_hung_up_though_it_has_data(pipe):
    reader, writer = pipe
    os.write(writer, b"a")
    assert not descriptors.is_hung_up(reader)
    os.close(writer)
    assert descriptors.is_hung_up(reader)


def test_a_pipe_is_hung_up_when_its_reader_is_gone(pipe):
    reader, writer = pipe
    assert not descriptors.is_hung_up(writer)
    os.close(reader)
    assert descriptors.is_hung_up(writer)


def test_a_file_is_never_hung_up(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        assert not descriptors.is_hung_up(file.fileno())


def test_a_socket_is_hung_up_when_its_peer_is_gone():
    ours, theirs = socket.socketpair()
    with theirs:
        assert not descriptors.is_hung_up(theirs.fileno())
        ours.close()
        assert descriptors.is_hung_up(theirs.fileno())


def test_a_released_descriptor_ends_for_its_peer_and_keeps_its_number(pipe):
    reader, writer = pipe
    descriptors.release(writer)
    assert os.read(reader, 1) == b""
    os.write(writer, b"nowhere")
    with Path(os.devnull).open() as null:
        assert null.fileno() != writer


def test_standard_descriptors_are_there_already():
    before = [os.fstat(fd) for fd in range(3)]
    descriptors.occupy_standard()
    assert [os.fstat(fd) for fd in range(3)] == before
