"""Where to listen and whom to let in: tables, and the sockets themselves."""

import errno
import socket
from typing import ClassVar

import pytest

from acptap.errors import UsageError
from acptap.transports import listening
from acptap.transports.listening import (
    DEFAULT,
    Admission,
    Listen,
    address_of,
    check_reach,
    is_loopback,
    open_sockets,
    parse_listen,
    url_of,
)

LISTENS = {
    "8484": ("127.0.0.1", 8484),
    "0": ("127.0.0.1", 0),
    ":9000": ("127.0.0.1", 9000),
    "127.0.0.1:65535": ("127.0.0.1", 65535),
    "localhost:1": ("localhost", 1),
    "0.0.0.0:80": ("0.0.0.0", 80),
    "*:80": ("*", 80),
    "[::1]:8484": ("::1", 8484),
    "[::]:0": ("::", 0),
    "[fe80::1%eth0]:80": ("fe80::1%eth0", 80),
    "box.example:0080": ("box.example", 80),
}


@pytest.mark.parametrize(("text", "listen"), LISTENS.items(), ids=LISTENS)
def test_parse_listen(text, listen):
    assert parse_listen(text) == listen


HOST_PORT = "write HOST:PORT, as in 127.0.0.1:8484, or a port alone"
BRACKETS = "put an IPv6 address in brackets, as in [::1]:8484"
NO_ADDRESS = "this is no address to listen on"
MISSPELT = {
    "": (NO_ADDRESS, HOST_PORT),
    "localhost": (NO_ADDRESS, HOST_PORT),
    "localhost:": (NO_ADDRESS, HOST_PORT),
    ":": (NO_ADDRESS, HOST_PORT),
    "a:b": (NO_ADDRESS, HOST_PORT),
    "-1": (NO_ADDRESS, HOST_PORT),
    " 80": (NO_ADDRESS, HOST_PORT),
    "٣": (NO_ADDRESS, HOST_PORT),
    "[]:80": (NO_ADDRESS, HOST_PORT),
    "[box]:80": (NO_ADDRESS, HOST_PORT),
    "::1:80": (NO_ADDRESS, BRACKETS),
    "::1": (NO_ADDRESS, BRACKETS),
    "[::1]": (NO_ADDRESS, BRACKETS),
    "http://127.0.0.1:80": (NO_ADDRESS, BRACKETS),
    "65536": ("there is no port 65536", "choose one up to 65535, or 0 for any"),
    "a:999999999": ("there is no port 999999999", "choose one up to 65535, or 0 for any"),
}


@pytest.mark.parametrize(("text", "said"), MISSPELT.items(), ids=MISSPELT)
def test_parse_listen_misspelt(text, said):
    with pytest.raises(UsageError) as error:
        parse_listen(text)
    assert str(error.value) == f"--listen {text}: {said[0]}; {said[1]}"


LOOPBACK = {
    "localhost": True,
    "LOCALHOST.": True,
    "app.localhost": True,
    "127.0.0.1": True,
    "127.255.0.9": True,
    "::1": True,
    "::ffff:127.0.0.1": True,
    "": False,
    "*": False,
    "0.0.0.0": False,
    "::": False,
    "::ffff:10.0.0.1": False,
    "10.0.0.1": False,
    "localhost.evil.example": False,
    "notlocalhost": False,
    "127.0.0.1.evil.example": False,
    "127.1": False,
}


@pytest.mark.parametrize(("host", "answer"), LOOPBACK.items(), ids=LOOPBACK)
def test_is_loopback(host, answer):
    assert is_loopback(host) is answer
    assert Listen(host, 1).is_loopback is answer


def test_check_reach():
    check_reach(DEFAULT, allow_remote=False)
    check_reach(Listen("0.0.0.0", 80), allow_remote=True)
    with pytest.raises(UsageError) as error:
        check_reach(Listen("::", 80), allow_remote=False)
    assert str(error.value) == (
        "--listen [::]:80: other machines could connect there; "
        "listen on 127.0.0.1:80, or add --allow-remote if you mean it"
    )


URLS = {
    Listen("127.0.0.1", 8484): "http://127.0.0.1:8484/",
    Listen("localhost", 1): "http://localhost:1/",
    Listen("::1", 8484): "http://[::1]:8484/",
    Listen("0.0.0.0", 80): "http://127.0.0.1:80/",
    Listen("::", 80): "http://[::1]:80/",
    Listen("*", 80): "http://127.0.0.1:80/",
}


@pytest.mark.parametrize(("listen", "url"), URLS.items(), ids=map(str, URLS))
def test_url_of(listen, url):
    assert url_of(listen) == url
    assert url_of(listen, "ws") == url.replace("http", "ws")


# Sockets

HERE, THERE = ("127.0.0.1", 0), ("127.0.0.2", 0)
V6 = ("::1", 0, 0, 0)


def names(monkeypatch, *found):
    """Let every name stand for some addresses."""
    answers = [
        (socket.AF_INET6 if len(address) > 2 else socket.AF_INET, 1, 6, "", address)
        for address in found
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)


def close(sockets):
    for listener in sockets:
        listener.close()


def test_open_sockets():
    sockets = open_sockets(Listen("127.0.0.1", 0))
    listen = address_of(sockets)
    with socket.create_connection(listen) as client:
        assert client.getpeername() == listen
    assert not sockets[0].getblocking()
    assert listen.host == "127.0.0.1"
    close(sockets)
    close(open_sockets(listen))  # at once, though a connection lingers


def test_every_interface():
    sockets = open_sockets(Listen("*", 0))
    with socket.create_connection(("127.0.0.1", address_of(sockets).port)):
        close(sockets)


def test_a_name_of_several_addresses_has_one_port(monkeypatch):
    names(monkeypatch, HERE, THERE, HERE)
    sockets = open_sockets(Listen("localhost", 0))
    assert [listener.getsockname()[0] for listener in sockets] == ["127.0.0.1", "127.0.0.2"]
    assert len({listener.getsockname()[1] for listener in sockets}) == 1
    close(sockets)


class Stub:
    """A socket of a machine that has IP version 6."""

    options: ClassVar[list[tuple[int, int, int]]] = []

    def __init__(self, *_):
        self.is_closed = False

    def setsockopt(self, *option):
        self.options.append(option)

    def bind(self, address):
        self.address = address

    def listen(self, backlog):
        assert backlog == 1024

    def setblocking(self, flag):
        assert not flag

    def getsockname(self):
        return ("::1", 5, 0, 0)


def test_ip_version_6_alone(monkeypatch):
    names(monkeypatch, V6)
    monkeypatch.setattr(socket, "socket", Stub)
    sockets = open_sockets(Listen("::1", 0))
    assert address_of(sockets) == ("::1", 5)
    assert (socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1) in Stub.options
    assert (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1) in Stub.options


def test_elsewhere_no_port_is_taken_from_who_has_it(monkeypatch):
    names(monkeypatch, HERE)
    monkeypatch.setattr(socket, "socket", Stub)
    monkeypatch.setattr(listening, "_REUSES", False)
    Stub.options.clear()
    open_sockets(Listen("127.0.0.1", 0))
    assert Stub.options == []


def test_addresses_that_the_machine_lacks_are_left_out(monkeypatch):
    names(monkeypatch, ("192.0.2.1", 0), HERE)
    sockets = open_sockets(Listen("localhost", 0))
    assert [listener.getsockname()[0] for listener in sockets] == ["127.0.0.1"]
    close(sockets)


def test_no_address_that_the_machine_has():
    with pytest.raises(UsageError) as error:
        open_sockets(Listen("192.0.2.1", 8484))
    assert str(error.value) == (
        "--listen 192.0.2.1:8484: this machine has no such address; listen on 127.0.0.1:8484"
    )


def test_port_in_use():
    sockets = open_sockets(DEFAULT._replace(port=0))
    port = address_of(sockets).port
    with pytest.raises(UsageError) as error:
        open_sockets(DEFAULT._replace(port=port))
    assert str(error.value) == (
        f"--listen 127.0.0.1:{port}: port {port} is in use; "
        "choose another one with --listen, or end the program that has it"
    )
    close(sockets)


def test_port_in_use_at_the_second_address(monkeypatch):
    names(monkeypatch, THERE)
    taken = open_sockets(Listen("localhost", 0))
    port = address_of(taken).port
    names(monkeypatch, HERE, THERE)
    with pytest.raises(UsageError, match=f"port {port} is in use"):
        open_sockets(Listen("localhost", port))
    close(taken)


REFUSALS = {
    "not permitted": (
        PermissionError(errno.EACCES, "Permission denied"),
        "port 80 may not be used; choose one above 1023 with --listen",
    ),
    "anything else": (
        OSError(errno.EMFILE, "Too many open files"),
        "it can't be listened on (Too many open files); choose another one",
    ),
    "without a number": (OSError(), "it can't be listened on (None); choose another one"),
    "no such host": (
        socket.gaierror(-2, "Name or service not known"),
        "there is no such host; check its name, or listen on 127.0.0.1:80",
    ),
}


@pytest.mark.parametrize(("error", "said"), REFUSALS.values(), ids=REFUSALS)
def test_what_the_system_refuses(error, said, monkeypatch):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(UsageError) as raised:
        open_sockets(Listen("box.example", 80))
    assert str(raised.value) == f"--listen box.example:80: {said}"


# Admission

LOCAL = Admission()
OPEN = Admission.of(Listen("0.0.0.0", 1))
ALLOWING = Admission.of(
    DEFAULT, ["Box.Example", "[fe80::1]"], ["https://App.example/", "http://a:8080", "null"]
)
ANYONE = Admission.of(DEFAULT, [], ["*"])
EVIL = "https://evil.example"

LET_IN = {
    "no headers": (LOCAL, [], []),
    "an address": (LOCAL, ["127.0.0.1:8484"], []),
    "a name": (LOCAL, ["LocalHost:8484"], []),
    "without a port": (LOCAL, ["localhost"], []),
    "IP version 6": (LOCAL, ["[::1]:8484"], ["http://[::1]:5173"]),
    "a page of this machine": (LOCAL, ["127.0.0.1"], ["http://localhost:5173"]),
    "a secure one": (LOCAL, [], ["https://127.0.0.1"]),
    "an allowed host": (ALLOWING, ["box.example:99"], []),
    "an allowed address": (ALLOWING, ["[FE80::1]:99"], []),
    "an allowed origin": (ALLOWING, ["localhost"], ["https://app.example"]),
    "one with a port": (ALLOWING, ["localhost"], ["http://a:8080"]),
    "an allowed null": (ALLOWING, ["localhost"], ["null"]),
    "any origin": (ANYONE, ["localhost"], [EVIL]),
    "beyond loopback": (OPEN, ["box.example"], []),
}


@pytest.mark.parametrize(("admission", "hosts", "origins"), LET_IN.values(), ids=LET_IN)
def test_let_in(admission, hosts, origins):
    assert admission.refusal(hosts, origins) is None


KEPT_OUT = {
    "a foreign host": (LOCAL, ["evil.example:8484"], [], "Host"),
    "the same as origin": (LOCAL, ["evil.example"], ["http://evil.example"], "Host"),
    "a second host": (LOCAL, ["localhost", "evil.example"], [], "Host"),
    "any address": (LOCAL, ["0.0.0.0:8484"], [], "Host"),
    "an empty host": (LOCAL, [""], [], "Host"),
    "no host at all": (LOCAL, ["a@b:c:d"], [], "Host"),
    "a name that only begins well": (LOCAL, ["localhost.evil.example"], [], "Host"),
    "any origin, foreign host": (ANYONE, ["evil.example"], [EVIL], "Host"),
    "a foreign origin": (LOCAL, ["localhost"], [EVIL], "page"),
    "a second origin": (LOCAL, [], ["http://localhost", EVIL], "page"),
    "null": (LOCAL, [], ["null"], "page"),
    "an empty origin": (LOCAL, [], [""], "page"),
    "another scheme": (LOCAL, [], ["app://localhost"], "page"),
    "a user in it": (LOCAL, [], ["http://localhost@evil.example"], "page"),
    "a path in it": (LOCAL, [], ["http://localhost/"], "page"),
    "an authority that is none": (LOCAL, [], ["http://localhost:x"], "page"),
    "another port": (ALLOWING, [], ["http://a:8081"], "page"),
    "another scheme of an allowed one": (ALLOWING, [], ["http://app.example"], "page"),
    "beyond loopback": (OPEN, ["box.example"], [EVIL], "page"),
}


@pytest.mark.parametrize(("admission", "hosts", "origins", "word"), KEPT_OUT.values(), ids=KEPT_OUT)
def test_kept_out(admission, hosts, origins, word):
    sentence = admission.refusal(hosts, origins)
    assert sentence is not None
    assert word in sentence


ORIGIN = (
    "this is no origin; "
    "write scheme, host and port as the browser does, as in https://app.example:8443"
)
WRONG = {
    "no host": ([""], [], "--allow-host : this is no host name; write it as in box.example"),
    "a URL": (["http://a"], [],
        "--allow-host http://a: this is no host name; write it as in box.example"),
    "a path": (["a/b"], [], "--allow-host a/b: this is no host name; write it as in box.example"),
    "no scheme": ([], ["app.example"], f"--allow-origin app.example: {ORIGIN}"),
    "an origin with a path": ([], ["https://a/b"], f"--allow-origin https://a/b: {ORIGIN}"),
}  # fmt: skip


@pytest.mark.parametrize(("hosts", "origins", "said"), WRONG.values(), ids=WRONG)
def test_what_can_not_be_allowed(hosts, origins, said):
    with pytest.raises(UsageError) as error:
        Admission.of(DEFAULT, hosts, origins)
    assert str(error.value) == said


NO_NAMES = ["..", "a..b", "a" * 300, "xn--a", "."]


@pytest.mark.parametrize("host", NO_NAMES)
def test_what_no_host_can_be_called(host):
    with pytest.raises(UsageError) as error:
        open_sockets(Listen(host, 1))
    assert str(error.value) == (
        f"--listen {host}:1: there is no such host; check its name, or listen on 127.0.0.1:1"
    )
