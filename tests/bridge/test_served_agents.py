"""Agents' processes behind HTTP and WebSocket, an agent for each connection."""

import asyncio
import os
import signal

import orjson
import pytest

from acptap.jsonrpc import Side
from tests.bridge.clients import CLIENTS, HttpClient, WebSocketClient
from tests.bridge.editor import notification
from tests.bridge.server import INITIALIZED, LIMIT
from tests.bridge.stage import perform

both = pytest.mark.parametrize("kind", CLIENTS.values(), ids=CLIENTS)


def ask(method, *arguments) -> bytes:
    """Return a notification that has the agent do something."""
    params = {str(at): argument for at, argument in enumerate(arguments)}
    return notification(method, **params)


def write(text: str | bytes) -> bytes:
    return ask("_write", text.decode() if isinstance(text, bytes) else text)


UPDATE = b'{"jsonrpc":"2.0","method":"m","params":{"n":1.0}}'
OTHER = b'{"jsonrpc":"2.0","method":"other"}'


@both
async def test_a_conversation_is_recorded_and_both_ends_are_seen(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        assert await client.open() == INITIALIZED
        pid = int(await stage.told())
        await client.send(write(UPDATE + b"\n"))
        assert await client.read() == UPDATE
        await client.leave()
        assert await stage.told() == "end"
        await stage.stop()
        tape = stage.tape()
        assert stage.log() == ""
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert tape.header.transport == "stdio"
    assert tape.stream("agent") == INITIALIZED + b"\n" + UPDATE + b"\n"
    assert tape.stream("client").count(b"\n") == 2
    assert tape.events == [
        {"from": "client", "event": "end"},
        {"from": "agent", "event": "end"},
        {"from": "agent", "event": "exit", "code": 0},
    ]


async def test_each_connection_has_an_agent_of_its_own(tmp_path, monkeypatch):
    async with perform(tmp_path, monkeypatch) as stage:
        clients = [stage.client(kind) for _ in range(10) for kind in CLIENTS.values()]
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(client.open())
        pids = {await stage.told() for _ in clients}
        assert len(pids) == len(clients)
        async with asyncio.TaskGroup() as tasks:
            for number, client in enumerate(clients):
                tasks.create_task(client.send(write(b'{"method":"m%d"}\n' % number)))
        for number, client in enumerate(clients):
            assert await client.read() == b'{"method":"m%d"}' % number
        await stage.stop()
        entries = stage.tape().entries
    assert {entry.conn for entry in entries} == set(range(1, len(clients) + 1))
    for conn in range(1, len(clients) + 1):
        own = [entry for entry in entries if entry.conn == conn]
        assert own[-1].event == "exit"
        assert sum(entry.side == Side.AGENT and entry.event is None for entry in own) == 2
    times = [entry.at for entry in entries]
    assert times == sorted(times)


@both
async def test_a_message_becomes_one_line(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        await client.open()
        await client.send(b'{\r\n\t"method": "_tell" ,\n"params":{"0":"well"}}\n')
        assert (await stage.told()).isdigit()
        assert await stage.told() == "well"
        await stage.stop()
        line = stage.tape().stream("client").splitlines()[1]
    assert line.rstrip() == b'{  \t"method": "_tell" , "params":{"0":"well"}}'


LINES = {
    # name: what the agent writes, what the client hears
    "CR LF, blanks and a byte order mark": ("\ufeff %s\t\r\n\r\n\n%s\n", [UPDATE, OTHER]),
    "noise": ("Loading…\n7\n%s\n\nnull\n%s\n", [UPDATE, OTHER]),
}
NOISE = (
    "acptap: agent 1 wrote what is no message on its standard output; "
    "such lines are recorded and not passed on\n"
)


@both
@pytest.mark.parametrize(("text", "heard"), LINES.values(), ids=LINES)
async def test_what_the_agent_writes(tmp_path, monkeypatch, kind, text, heard):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        await client.open()
        text %= (UPDATE.decode(), OTHER.decode())
        await client.send(write(text))
        assert [await client.read() for _ in heard] == heard
        assert stage.log() == (NOISE if "…" in text else "")
        await stage.stop()
        assert stage.tape().stream("agent") == INITIALIZED + b"\n" + text.encode()


BATCHES = {
    "http": (HttpClient, [UPDATE, OTHER]),
    "websocket": (WebSocketClient, [b"[" + UPDATE + b", " + OTHER + b"]"]),
}


@pytest.mark.parametrize(("kind", "heard"), BATCHES.values(), ids=BATCHES)
async def test_a_batch_is_taken_apart_only_where_it_has_to_be(tmp_path, monkeypatch, kind, heard):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        await client.open()
        await client.send(write(b"[" + UPDATE + b", " + OTHER + b"]\n"))
        assert [await client.read() for _ in heard] == heard


async def test_a_session_has_a_stream_of_its_own(tmp_path, monkeypatch):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(HttpClient)
        await client.open()
        update = notification("session/update", sessionId="s1")
        await client.send(write(update + b"\n"))
        client.listen(**{"Acp-Session-Id": "s1"})
        assert await client.read() == update


@both
async def test_an_agent_says_something_without_a_line_end_and_goes(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        await client.open()
        await client.send(write(UPDATE))
        await client.send(ask("_exit", 0))
        assert await client.read() == UPDATE


@both
async def test_standard_error_passes_and_is_recorded(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        await client.open()
        await client.send(ask("_complain", "oops\n"))
        await client.send(write(UPDATE + b"\n"))
        await client.read()
        await stage.stop()
        assert stage.tape().stderr == b"oops\n"
        assert stage.log() == "oops\n"


@both
async def test_standard_error_may_stay_off_the_tape(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch, stderr=False) as stage:
        client = stage.client(kind)
        await client.open(["_complain", "oops\n"])
        await stage.stop()
        assert (stage.tape().stderr, stage.log()) == (b"", "oops\n")


# The agent goes

EXITS = {
    "well": (("_exit", 0), ""),
    "badly": (("_exit", 3), "acptap: agent 1 exited with code 3\n"),
    "by a signal": (("_kill",), "acptap: agent 1 was ended by signal 9\n"),
    "without a word more": (("_close",), "acptap: agent 1 closed its output\n"),
    "leaving somebody behind": (("_desert", 4), "acptap: agent 1 exited with code 4\n"),
}


@both
@pytest.mark.parametrize(("deed", "said"), EXITS.values(), ids=EXITS)
async def test_an_agent_that_goes_ends_the_connection(tmp_path, monkeypatch, kind, deed, said):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        await client.open()
        await client.send(ask(*deed))
        if kind is HttpClient:
            async with asyncio.timeout(LIMIT):
                await client.ended.wait()
            assert await client.send(ask("_tell", "more")) == 404
        else:
            assert await client.read() == b""
        assert stage.log() == said


@both
async def test_an_agent_goes_before_it_has_answered_initialize(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        error = orjson.loads(await client.open(["_exit", 3]))["error"]
        assert error["code"] == -32603
        assert "the agent exited with code 3" in str(error)


@both
async def test_a_program_that_is_gone(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch, [str(tmp_path / "gone")]) as stage:
        client = stage.client(kind)
        error = orjson.loads(await client.open())["error"]
        assert "the agent can't be started" in str(error)
        assert stage.log().startswith(
            f"acptap: {tmp_path}/gone: the agent can't be started (No such"
        )


async def test_no_more_files_can_be_opened(tmp_path, monkeypatch):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(WebSocketClient)

        def fail():
            raise OSError(24, "Too many open files")

        with monkeypatch.context() as patch:
            patch.setattr("os.pipe", fail)
            error = orjson.loads(await client.open())["error"]
        assert "no more agents can be started (Too many open files)" in str(error)
        assert "ulimit -n" in stage.log()
        other = stage.client(WebSocketClient)
        assert await other.open() == INITIALIZED


# The client goes


@both
async def test_an_agent_that_ignores_the_end_of_its_input(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch, grace=0.1) as stage:
        client = stage.client(kind)
        await client.open()
        await client.send(ask("_hang"))
        assert (await stage.told()).isdigit()
        assert await stage.told() == "hangs"
        await client.leave()
        await stage.stop()
        assert stage.tape().exit == {"signal": "SIGTERM"}
        assert stage.log() == ""


@both
async def test_w4_what_was_said_last_is_heard(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(kind)
        await client.open()
        for number in range(50):
            await client.send(ask("_tell", f"{number} " + "x" * 10_000))
        await client.leave()
        assert (await stage.told()).isdigit()
        assert [(await stage.told()).split()[0] for _ in range(50)] == list(map(str, range(50)))
        assert await stage.told() == "end"


async def test_a_client_is_lost(tmp_path, monkeypatch):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(WebSocketClient)
        await client.open()
        await stage.told()
        client.socket._response.connection.transport.abort()
        assert await stage.told() == "end"


# Pressure

LONG = "x" * 1_000_000


async def test_a_client_waits_for_an_agent_that_does_not_read(tmp_path, monkeypatch):
    async with perform(tmp_path, monkeypatch, grace=0.1) as stage:
        client = stage.client(HttpClient)
        await client.open()
        await stage.told()
        await client.send(ask("_hang"))
        assert await stage.told() == "hangs"
        async with asyncio.TaskGroup() as tasks:
            post = tasks.create_task(client.send(ask("_tell", LONG)))
            await asyncio.wait([post], timeout=0.2)
            assert not post.done()  # no 202 yet
            await client.leave()  # and the rest is never read
        await stage.stop()
        assert stage.tape().exit == {"signal": "SIGTERM"}


async def test_an_agent_waits_for_a_client_that_does_not_read(tmp_path, monkeypatch):
    async with perform(tmp_path, monkeypatch) as stage:
        client = stage.client(HttpClient)
        await client.open()
        await stage.told()
        await client.send(ask("_fill", 1_000_000, 80))
        filled = asyncio.ensure_future(stage.told())
        (served,) = stage.bridge._agents
        async with asyncio.timeout(LIMIT):
            while not served._outlet.is_full:  # noqa: ASYNC110 nobody tells
                await asyncio.sleep(0.01)
        assert not filled.done()
        client.listen(**{"Acp-Session-Id": "s1"})
        for _ in range(80):
            assert len(await client.read()) > 1_000_000
        assert await filled == "filled"


# Signals


@both
async def test_a_signal_ends_all(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch) as stage:
        clients = [stage.client(kind) for _ in range(3)]
        for client in clients:
            await client.open()
            assert (await stage.told()).isdigit()
        stage.signals.put(signal.SIGUSR1)  # nothing to us
        stage.signals.put(signal.SIGINT)
        await stage.served()
        assert [await stage.told() for _ in clients] == ["end"] * 3
        await stage.stop()
        exits = [event for event in stage.tape().events if event["event"] == "exit"]
        assert [event["code"] for event in exits] == [0, 0, 0]


@both
async def test_a_second_signal_does_not_wait_for_the_grace(tmp_path, monkeypatch, kind):
    async with perform(tmp_path, monkeypatch, grace=LIMIT * 2) as stage:
        client = stage.client(kind)
        await client.open()
        await client.send(ask("_hang"))
        await stage.told()
        assert await stage.told() == "hangs"
        stage.signals.put(signal.SIGTERM)
        stage.signals.put(signal.SIGTERM)
        await stage.served()
        await stage.stop()
        assert stage.tape().exit == {"signal": "SIGKILL"}
