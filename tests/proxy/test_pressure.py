"""Much data, slow readers and readers that are gone: nothing is lost, nothing grows."""

import os
import subprocess
from time import perf_counter

import pytest

from tests.proxy.client import puppet, python

MEMORY = 120_000_000
"""Bytes the proxy may use, however much passes."""


def read_all_x(stream, size):
    """Read `size` times the letter x without keeping it."""
    block = b"x" * 1_000_000
    while size:
        data = stream.read(min(size, len(block)))
        assert data == block[: len(data)]
        assert data
        size -= len(data)


def test_f8_600_mb_without_a_newline(start_quietly):
    size = 600_000_000
    flood = f"head -c {size} /dev/zero | tr '\\0' x; echo; echo '{{}}'; read line"
    client = start_quietly(["sh", "-c", flood])
    read_all_x(client.stdout, size)
    assert client.stdout.readline() == b"\n"
    assert client.stdout.readline() == b"{}\n"
    assert client.peak_memory() < MEMORY
    assert client.finish(b"\n") == (0, b"", b"")
    with client.path.open("rb") as tape:
        tape.seek(-1000, os.SEEK_END)
        end = tape.read()
    assert b'\\n"}\n' in end  # of the long line
    assert b'"msg":{}}\n' in end
    client.path.unlink()


def test_f8_the_other_two_directions(start_quietly):
    size = 64_000_000
    client = start_quietly(["sh", "-c", f"head -c {size} >&2; echo done; read line"])
    with subprocess.Popen(["cat"], stdin=client.process.stderr, stdout=subprocess.DEVNULL):
        for _ in range(size // 1_000_000):
            client.send(b"x" * 1_000_000)
        assert client.stdout.readline() == b"done\n"
        assert client.peak_memory() < MEMORY
        client.stdin.close()
    assert client.wait() in (0, 1)  # `read` met the end
    client.path.unlink()


IN_SMALL_WRITES = "import os\nfor _ in range({}): os.write(1, b'x' * 4096)\nos.write(1, b'\\n')"


def test_f9_a_large_message_costs_linear_time(start_quietly):
    def seconds(size):
        client = start_quietly(python(IN_SMALL_WRITES.format(size // 4096)))
        start = perf_counter()
        read_all_x(client.stdout, size)
        assert client.finish() == (0, b"\n", b"")
        client.path.unlink()
        return perf_counter() - start

    assert seconds(32 << 20) < 100 * seconds(2 << 20)  # 16 times the size


UPDATE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
    b'{"sessionUpdate":"tool_call_update","toolCallId":"t1","rawOutput":"%b"}}}\n'
)
CHATTY = {
    "F9 35,000 updates of 200 bytes": UPDATE % (b"a" * 55) * 35_000,
    "F9 updates that repeat all that was": b"".join(
        UPDATE % (b"a" * 100 * number) for number in range(600)
    ),
    "C4 1,000 updates of 100 KB": UPDATE % (b"a" * 100_000) * 1_000,
}


@pytest.mark.parametrize("updates", CHATTY.values(), ids=CHATTY)
def test_many_updates(start_quietly, tmp_path, updates):
    file = tmp_path / "updates"
    file.write_bytes(updates)
    client = start_quietly(["sh", "-c", 'cat "$0"; read line; cat', str(file)])
    assert client.stdout.read(len(updates)) == updates
    assert client.peak_memory() < MEMORY
    assert client.finish(b"\n") == (0, b"", b"")
    assert client.tape().stream("agent") == updates


NOISE = b"012345678\n" * 20_000 + b"e" * 4_800_000
MAKE_NOISE = "import os; os.write(2, b'012345678\\n' * 20_000 + b'e' * 4_800_000); "
SAY_HELLO = "os.write(1, b'hello\\n'); "


def test_p6_a_flood_on_standard_error_before_and_after_the_answer(start_quietly):
    client = start_quietly(python(MAKE_NOISE + SAY_HELLO + MAKE_NOISE))
    assert client.stdout.readline() == b"hello\n"  # though nobody has read the noise
    assert client.finish() == (0, b"", NOISE * 2)
    assert client.tape().stderr == NOISE * 2


def test_p6_nobody_ever_reads_standard_error(start_quietly):
    client = start_quietly(python(MAKE_NOISE + SAY_HELLO))
    assert client.stdout.read() == b"hello\n"
    assert client.wait() == 0
    assert client.tape().stderr == NOISE


def test_p6_the_reader_of_standard_error_is_gone(start_quietly):
    client = start_quietly(python(MAKE_NOISE + SAY_HELLO))
    assert client.process.stderr
    client.process.stderr.close()
    assert client.stdout.read() == b"hello\n"
    assert client.wait() == 0
    assert client.tape().stderr == NOISE


TALK_AND_HEAR = """
import os
tether = int(os.environ["TETHER"])
if not os.fork():
    for _ in range(20): os.write(1, b"x" * 1_000_000)
    os._exit(0)
os.write(tether, os.read(0, 100))
os.wait()
"""


def test_p7_a_cancel_arrives_while_the_client_does_not_read(start_quietly):
    client = start_quietly(python(TALK_AND_HEAR))
    client.send(b"cancel\n")
    assert client.told() == b"cancel"
    assert client.peak_memory() < MEMORY
    read_all_x(client.stdout, 20_000_000)
    assert client.finish() == (0, b"", b"")


def test_p7_an_answer_arrives_while_the_agent_does_not_read(start_quietly):
    client = start_quietly(puppet("tug say tug exit-0"))
    with subprocess.Popen(["head", "-c", "20000000", "/dev/zero"], stdout=client.stdin):
        client.tug()
        assert client.stdout.readline() == b"hello\n"
        assert client.peak_memory() < MEMORY
        client.tug()
    assert client.finish().code == 0
