"""The proxy begins and ends with its agent, and leaves nobody behind."""

import contextlib
import os
import select
import signal
import sys
import time

import pytest

from tests.proxy.client import PROXY, Client, agent, await_end, puppet

EXITS = {
    # name: a shell's command line, the proxy's exit code, what the tape says
    "P2 well": ("cat", 0, {"code": 0}),
    "P2 seven": ("exit 7", 7, {"code": 7}),
    "P2 like a signal": ("exit 143", 143, {"code": 143}),
    "P2 the largest": ("exit 255", 255, {"code": 255}),
    "P2 SIGTERM": ("kill -TERM $$", 143, {"signal": "SIGTERM"}),
    "P2 SIGKILL": ("kill -KILL $$", 137, {"signal": "SIGKILL"}),
    "P2 SIGHUP": ("kill -HUP $$", 129, {"signal": "SIGHUP"}),
    "P2 SIGPIPE": ("kill -PIPE $$", 141, {"signal": "SIGPIPE"}),
    "P2 a signal without a name": ("kill -40 $$", 168, {"signal": "SIG40"}),
}


@pytest.mark.parametrize(("line", "code", "told"), EXITS.values(), ids=EXITS)
def test_the_exit_code_is_the_agents(start_quietly, line, code, told):
    client = start_quietly(["sh", "-c", line])
    assert client.finish() == (code, b"", b"")
    assert client.tape().exit == told


def test_p1_the_agent_is_killed_in_the_middle_of_a_turn(start_quietly):
    client = start_quietly(["sh", "-c", 'read line; echo "{}"; kill -KILL $$'])
    client.send(b'{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1"}}\n')
    assert client.stdout.read() == b"{}\n"  # and the end, although we keep its input open
    assert client.wait() == 137
    assert client.tape().exit == {"signal": "SIGKILL"}


def test_p1_the_agent_exits_while_we_keep_its_input_open(start_quietly):
    client = start_quietly(["true"])
    assert client.stdout.read() == b""
    assert client.wait() == 0


def test_p3_an_agent_that_ignores_the_end_of_its_input_is_ended(start_quietly):
    client = start_quietly(puppet("hear hang"), "--grace", "0.2")
    client.stdin.close()
    assert client.told() == b"end"
    assert client.gone() == b""
    assert client.wait() == 143
    assert client.tape().exit == {"signal": "SIGTERM"}


def test_p3_so_is_one_that_ignores_the_polite_signal_too(start_quietly):
    client = start_quietly(puppet("ignore-SIGTERM tell-here hang"), "--grace", "0")
    assert client.told() == b"here"
    client.stdin.close()
    assert client.gone() == b""
    assert client.wait() == 137


def test_p3_so_is_one_that_is_stopped(start_quietly):
    client = start_quietly(puppet("tell-here stop hang"), "--grace", "0.2")
    assert client.told() == b"here"
    client.stdin.close()
    assert client.gone() == b""
    assert client.wait() == 143


LAUNCHER = (
    "import subprocess as s, sys; "
    "s.Popen(sys.argv[1:], stdin=s.PIPE, stdout=s.PIPE, close_fds=False).wait()"
)


def test_p3_the_client_is_killed(start_quietly):
    proxy = [sys.executable, "-I", "-S", "-c", LAUNCHER, *PROXY]
    client = start_quietly(puppet("tell-here hang"), "--grace", "0.2", proxy=proxy)
    assert client.told() == b"here"
    client.kill(signal.SIGKILL)
    assert client.gone() == b""
    assert client.tape().exit == {"signal": "SIGTERM"}


def fill(client):
    """Write until neither the agent nor the pipes take more."""
    os.set_blocking(client.stdin.fileno(), False)
    while select.select([], [client.stdin], [], 0.3)[1]:
        with contextlib.suppress(BlockingIOError):
            os.write(client.stdin.fileno(), b"x" * 65_536)


def test_p3_the_client_leaves_an_agent_that_does_not_read(start_quietly):
    client = start_quietly(puppet("tell-here hang"), "--grace", "0.2")
    assert client.told() == b"here"
    fill(client)
    client.stdin.close()
    assert client.gone() == b""
    assert client.wait() == 143


def test_p3_an_agent_that_reads_late_is_left_alone_while_the_client_is_there(start_quietly):
    client = start_quietly(puppet("tell-here tug exit-5"), "--grace", "0")
    assert client.told() == b"here"
    fill(client)  # takes longer than the 0.05 s after which a deserted agent is ended
    client.tug()
    assert client.wait() == 5


def test_p3_the_client_leaves_an_agent_that_closed_its_input(start_quietly):
    client = start_quietly(puppet("close-0 tell-here hang"), "--grace", "0.2")
    assert client.told() == b"here"
    client.send_until_broken()
    client.stdout.close()
    assert client.gone() == b""
    assert client.wait() == 143


@pytest.mark.parametrize("ends", ["input", "signal"])
def test_p4_a_launchers_child_is_ended_too(start_quietly, ends):
    client = start_quietly(
        ["sh", "-c", '"$@"; :', "sh", *puppet("tell-here hang")], "--grace", "0.2"
    )
    assert client.told() == b"here"
    if ends == "input":
        client.stdin.close()
    else:
        client.kill(signal.SIGTERM)
    assert client.gone() == b""
    assert client.wait() == 143
    assert client.tape().exit == {"signal": "SIGTERM"}


LEFT_BEHIND = {
    # name: what the child of an agent that has exited does, whether the proxy ends it
    "P4 it hangs": ("hang", True),
    "P4 it ignores the polite signal": ("ignore-SIGTERM tell-here hang", True),
    "P4 it floods the client": ("flood", True),
    "P4 it left the group and holds the pipes": ("setsid tell-here hang", False),
    "P4 it left the group and floods the client": ("setsid tell-here flood", False),
    "P4 it left the group and closed the pipes": ("setsid close-0 close-1 close-2 hang", False),
}


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory):
    """Proxies whose agents have left something behind: all at once, for they take their time."""
    clients = {
        name: Client(tmp_path_factory.mktemp("tape"), puppet(f"say leave-7 {deeds}"), "-q")
        for name, (deeds, _) in LEFT_BEHIND.items()
    }
    yield clients
    for client in clients.values():
        client.close()


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_what_an_agent_leaves_behind_does_not_hold_the_proxy(left_behind, name):
    client = left_behind[name]
    out = client.stdout.read()
    assert client.wait() == 7
    tape = client.tape()
    assert tape.exit == {"code": 7}
    assert out.startswith(b"hello\n")
    assert tape.stream("agent").startswith(out)  # nothing passed unseen
    _, is_ended = LEFT_BEHIND[name]
    if is_ended:
        client.gone()


def test_p4_the_dead_in_an_agents_group_do_not_hold_the_proxy(start_quietly):
    client = start_quietly(agent("zombie"))
    assert client.finish() == (7, b"", b"")


def test_p8_what_is_said_after_the_end_of_input_arrives(start_quietly):
    client = start_quietly(puppet("hear hear tug say say say say exit-0"))
    client.send(b'{"jsonrpc":"2.0","id":9,"method":"session/prompt"}\n')
    client.stdin.close()
    assert client.told().startswith(b'{"jsonrpc"')
    assert client.told() == b"end"
    client.tug()
    assert client.stdout.read() == b"hello\n" * 4
    assert client.wait() == 0
    tape = client.tape()
    assert tape.stream("agent") == b"hello\n" * 4
    assert [event["from"] for event in tape.events] == ["client", "agent", "agent"]


def test_an_agent_that_closes_its_output_can_still_be_talked_to(start_quietly):
    client = start_quietly(puppet("say close-1 hear exit-5"))
    assert client.stdout.read() == b"hello\n"  # and the end
    client.send(b"still there?\n")
    assert client.told() == b"still there?"
    assert client.wait() == 5


def test_an_agent_that_closes_its_input_can_still_talk(start_quietly):
    client = start_quietly(puppet("close-0 tell-here tug say exit-5"))
    assert client.told() == b"here"
    client.send_until_broken()
    time.sleep(0.7)  # longer than the proxy waits between two looks at the client
    client.tug()
    assert client.finish() == (5, b"hello\n", b"")
    assert {"from": "agent", "event": "abort"} in client.tape().events


def test_an_agent_that_closes_standard_error_can_still_talk(start_quietly):
    client = start_quietly(puppet("close-2 hear say exit-5"))
    assert client.finish(b"a\n") == (5, b"hello\n", b"")


def test_a_client_that_stops_reading_can_still_talk(start_quietly):
    client = start_quietly(puppet("flood hear exit-5"))
    client.stdout.close()
    assert client.told() == b"nobody reads"
    client.send(b"still there?\n")
    assert client.told() == b"still there?"
    assert client.wait() == 5
    assert {"from": "client", "event": "abort"} in client.tape().events


def test_an_agent_nobody_listens_to_ends_of_it_as_it_would_without_us(start_quietly):
    client = start_quietly(["yes", "x" * 1000])
    client.stdout.close()
    assert client.wait() == 141
    assert client.tape().exit == {"signal": "SIGPIPE"}


FILL = "fill-100000 pid"
"""More than one pipe holds, and less than the two between agent and client."""


def test_p7_a_client_that_pauses_gets_all_from_an_agent_that_has_ended(start_quietly):
    client = start_quietly(puppet(f"{FILL} exit-0"))
    await_end(int(client.told()))
    time.sleep(3)  # longer than the proxy waits for pipes that are idle
    assert client.stdout.read() == b"x" * 100_000 + b"\n"
    assert client.wait() == 0
    assert client.tape().stream("agent") == b"x" * 100_000 + b"\n"


def test_p7_a_client_that_never_reads_can_send_the_proxy_away(start_quietly, tmp_path):
    clients = {}
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        folder = tmp_path / number.name
        folder.mkdir()
        clients[number] = start_quietly(puppet(f"{FILL} exit-3"), "--grace", "0.1", cwd=folder)
    for number, client in clients.items():
        await_end(int(client.told()))
        client.kill(number)
    for client in clients.values():
        assert client.wait() == 3
        assert client.tape().exit == {"code": 3}


DEAF_TO_CHILDREN = (
    "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def test_p2_a_client_that_ignores_the_ends_of_its_children(start_quietly):
    proxy = [sys.executable, "-I", "-S", "-c", DEAF_TO_CHILDREN, *PROXY]
    client = start_quietly(["sh", "-c", "exit 7"], proxy=proxy)
    assert client.finish() == (7, b"", b"")
