"""Signals reach the agent once, by whichever way they come."""

import contextlib
import os
import signal

import pytest

from tests.proxy.client import PROXY, agent, await_end, puppet

NAMES = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]


@pytest.mark.parametrize("name", NAMES)
def test_p9_a_signal_is_passed_on_once(start_quietly, name):
    client = start_quietly(puppet("trap tell-here hear say exit-123"))
    assert client.told() == b"here"
    client.kill(signal.Signals[name])
    assert client.told() == name.encode()
    outcome = client.finish(b"that is all\n")
    assert outcome == (123, b"hello\n", b"")  # P2: neither 130 nor 143
    assert client.gone() == b"that is all\n"
    tape = client.tape()
    assert {"from": "client", "event": "signal", "signal": name} in tape.events
    assert tape.exit == {"code": 123}


@pytest.mark.parametrize("name", NAMES)
def test_p9_an_agent_may_die_of_a_signal(start_quietly, name):
    client = start_quietly(puppet("tell-here hang"))
    assert client.told() == b"here"
    client.kill(signal.Signals[name])
    assert client.finish().code == 128 + signal.Signals[name]
    assert client.tape().exit == {"signal": name}


def test_p9_signals_in_quick_succession_all_arrive(start_quietly):
    client = start_quietly(puppet("trap tell-here hang"), "--grace", "0.5")
    assert client.told() == b"here"
    for name in NAMES:
        client.kill(signal.Signals[name])
    assert sorted(client.gone().split()) == sorted(name.encode() for name in NAMES)
    assert client.wait() == 137  # it ignored SIGTERM


def test_p9_a_signal_reaches_the_agents_children(start_quietly):
    client = start_quietly(["sh", "-c", 'trap "" USR1; "$@"; exit 4', "sh", *puppet("pid hang")])
    child = int(client.told())
    client.kill(signal.SIGTERM)
    await_end(child)
    assert client.wait() == 143


def test_p9_an_agent_that_ignores_sigterm_is_gone_within_the_grace(start_quietly):
    client = start_quietly(puppet("ignore-SIGTERM tell-here hang"), "--grace", "0.2")
    assert client.told() == b"here"
    client.kill(signal.SIGTERM)
    assert client.gone() == b""
    assert client.wait() == 137


def test_p9_an_agent_may_go_on_after_sigint(start_quietly):
    client = start_quietly(puppet("trap tell-here hear hear say exit-0"), "--grace", "0")
    assert client.told() == b"here"
    client.kill(signal.SIGINT)
    assert client.told() == b"SIGINT"
    client.send(b"cancel\n")
    assert client.told() == b"cancel"
    assert client.finish(b"bye\n") == (0, b"hello\n", b"")


def test_p9_what_the_client_wants_ignored_stays_ignored(start_quietly):
    proxy = ["sh", "-c", 'trap "" INT HUP; exec "$@"', "nohup", *PROXY]
    client = start_quietly(puppet("trap tell-here hear exit-0"), proxy=proxy)
    assert client.told() == b"here"
    client.kill(signal.SIGINT)
    client.kill(signal.SIGHUP)
    client.kill(signal.SIGUSR1)
    assert client.told() == b"SIGUSR1"
    assert client.finish(b"a\n").code == 0
    assert [event.get("signal") for event in client.tape().events][:1] == ["SIGUSR1"]


@pytest.fixture
def terminal():
    """A pseudo terminal: the master's descriptor, and the path of the slave."""
    master, slave = os.openpty()
    yield master, os.ttyname(slave)
    for fd in (master, slave):
        with contextlib.suppress(OSError):
            os.close(fd)


def in_foreground(path):
    return [*agent("terminal", path), *PROXY]


def test_p9_ctrl_c_reaches_the_agent_once_each_time(start_quietly, terminal):
    master, path = terminal
    client = start_quietly(puppet("trap tell-here hear exit-0"), proxy=in_foreground(path))
    assert client.told() == b"here"
    for _ in range(3):
        os.write(master, b"\x03")
        assert client.told() == b"SIGINT"
    client.kill(signal.SIGINT)
    assert client.told() == b"SIGINT"
    client.send(b"that is all\n")
    assert client.gone() == b"that is all\n"
    assert client.wait() == 0


def test_p9_ctrl_c_ends_an_agent_that_knows_nothing_better(start_quietly, terminal):
    master, path = terminal
    client = start_quietly(puppet("tell-here hang"), proxy=in_foreground(path))
    assert client.told() == b"here"
    os.write(master, b"\x03")
    assert client.finish().code == 130
    assert {"from": "client", "event": "signal", "signal": "SIGINT"} in client.tape().events


def test_p9_ctrl_backslash_reaches_the_agent(start_quietly, terminal):
    master, path = terminal
    client = start_quietly(puppet("trap tell-here hear exit-0"), proxy=in_foreground(path))
    assert client.told() == b"here"
    os.write(master, b"\x1c")
    assert client.told() == b"SIGQUIT"
    assert client.finish(b"a\n").code == 0


def test_p9_a_terminal_that_is_closed_ends_the_agent(start_quietly, terminal):
    master, path = terminal
    client = start_quietly(puppet("tell-here hang"), proxy=in_foreground(path))
    assert client.told() == b"here"
    os.close(master)
    assert client.gone() == b""
    assert client.wait() == 129


def test_the_agent_may_use_the_terminal(start_quietly, terminal):
    master, path = terminal
    client = start_quietly(["sh", "-c", "echo password: >/dev/tty"], proxy=in_foreground(path))
    assert client.finish() == (0, b"", b"")
    assert os.read(master, 100) == b"password:\r\n"


def test_a_terminal_may_be_the_client(start_quietly, terminal):
    master, path = terminal
    client = start_quietly(
        ["cat"], proxy=["env", "TERMINAL=all", *in_foreground(path)], stdin=None, stdout=None
    )
    screen = b""
    os.write(master, b"hello\n")
    while not screen.endswith(b"hello\r\nhello\r\n"):  # the echo, and the agent's
        screen += os.read(master, 100)
    os.write(master, b"\x04")
    assert client.wait() == 0
    assert client.tape().stream("client") == client.tape().stream("agent") == b"hello\n"


def test_sigkill_leaves_an_agent_that_sees_the_end_of_its_input(start_quietly):
    client = start_quietly(puppet("tell-here hear exit-0"))
    assert client.told() == b"here"
    client.kill(signal.SIGKILL)
    assert client.gone() == b"end\n"


def test_a_signal_after_the_agents_end_is_no_harm(start_quietly):
    client = start_quietly(puppet("fill-100000 pid exit-3"), "--grace", "5")
    await_end(int(client.told()))
    client.kill(signal.SIGTERM)
    assert len(client.stdout.read()) == 100_001  # there is still time for that
    assert client.wait() == 3
