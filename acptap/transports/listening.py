"""Where to listen, and who may talk to us there.

A server on loopback is not private: any page in the user's browser can reach it. Two headers give
such a page away. `Origin` names the page's own site. `Host` names what the browser took for our
address, which after DNS rebinding is the page's site too, and then `Origin` alone would look right.
"""

import errno
import ipaddress
import os
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from acptap.errors import UsageError

BACKLOG = 1024
"""Clients that may wait to be accepted."""

EVERYWHERE = "*"
"""The host that stands for every interface."""

_HIGHEST_PORT = 65_535
_LISTEN = re.compile(r"(?:(?P<host>\[[^\[\]]*\]|[^\[\]:/]*):)?(?P<port>[0-9]{1,9})")
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^\[\]:]*)(?::[0-9]*)?")
_ORIGIN = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?#@]+)")
_WEB = ("http", "https")


class Listen(NamedTuple):
    """An address to listen on.

    Attributes:
        host: A name or an address without brackets; `*` for every interface.
        port: 0 for any that is free.
    """

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


DEFAULT = Listen("127.0.0.1", 8484)


def parse_listen(text: str) -> Listen:
    """Return the address that a `--listen` option names: `[HOST:]PORT`.

    Raises:
        UsageError: It names none.
    """
    where = f"--listen {text}"
    found = _LISTEN.fullmatch(text)
    if found is None:
        raise _misspelt(text, where)
    port = int(found["port"])
    if port > _HIGHEST_PORT:
        raise UsageError(
            f"there is no port {port}", where=where, fix="choose one up to 65535, or 0 for any"
        )
    host = (found["host"] or DEFAULT.host).strip("[]")
    if not host or (":" in host) != (found["host"] or "").startswith("["):
        raise _misspelt(text, where)
    return Listen(host, port)


def _misspelt(text: str, where: str) -> UsageError:
    fix = "write HOST:PORT, as in 127.0.0.1:8484, or a port alone"
    if text.count(":") > 1:
        fix = "put an IPv6 address in brackets, as in [::1]:8484"
    return UsageError("this is no address to listen on", where=where, fix=fix)


def check_reach(listen: Listen, *, allow_remote: bool) -> None:
    """Make sure that the user knows who can reach an address.

    Raises:
        UsageError: Other machines can, and that was not allowed.
    """
    if not listen.is_loopback and not allow_remote:
        raise UsageError(
            "other machines could connect there",
            where=f"--listen {listen}",
            fix=f"listen on 127.0.0.1:{listen.port}, or add --allow-remote if you mean it",
        )


def is_loopback(host: str) -> bool:
    """Return whether a host name or address, without brackets, always means this machine."""
    name = host.lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):  # RFC 6761, 6.3
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback if mapped is None else mapped.is_loopback


# Sockets

_REFUSALS: dict[int, tuple[str, str]] = {
    errno.EADDRINUSE: (
        "port {port} is in use", "choose another one with --listen, or end the program that has it",
    ),
    errno.EACCES: (
        "port {port} may not be used", "choose one above 1023 with --listen",
    ),
    errno.EADDRNOTAVAIL: (
        "this machine has no such address", "listen on 127.0.0.1:{port}",
    ),
}  # fmt: skip
"""What the system says to an address, in words, and what to do about it."""

_REUSES = os.name == "posix"
"""Whether `SO_REUSEADDR` is harmless; elsewhere it would take a port from who has it."""

_LACKING = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT)
"""What it says when an interface, or a version of IP, is not there."""


def open_sockets(listen: Listen) -> list[socket.socket]:
    """Return the sockets that listen on an address, at least one.

    A name may stand for several addresses (`localhost`, `*`). Of those the ones that this machine
    lacks are left out, and all of them get the same port.

    Raises:
        UsageError: The address can't be used.
    """
    opened: list[socket.socket] = []
    lacking: OSError | None = None
    port = listen.port
    try:
        for family, address in _addresses(listen):
            try:
                opened.append(_open(family, (address[0], port, *address[2:])))
            except OSError as error:
                if error.errno not in _LACKING:
                    raise
                lacking = error
            else:
                port = opened[0].getsockname()[1]
        if lacking is not None and not opened:
            raise lacking
    except (OSError, UnicodeError) as error:  # the latter from what is no name of a host
        for listener in opened:
            listener.close()
        raise _refused(listen._replace(port=port), error) from error
    return opened


def _addresses(
    listen: Listen,
) -> list[tuple[socket.AddressFamily, tuple[str, int, *tuple[int, ...]]]]:
    host = None if listen.host == EVERYWHERE else listen.host
    found = socket.getaddrinfo(host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))  # type: ignore[misc]


def _open(family: socket.AddressFamily, address: tuple[object, ...]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if _REUSES:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _refused(listen: Listen, error: OSError | UnicodeError) -> UsageError:
    if isinstance(error, (socket.gaierror, UnicodeError)):
        what, fix = "there is no such host", "check its name, or listen on 127.0.0.1:{port}"
    else:
        what, fix = _REFUSALS.get(
            error.errno or 0, (f"it can't be listened on ({error.strerror})", "choose another one")
        )
    return UsageError(
        what.format(port=listen.port),
        where=f"--listen {listen}",
        fix=fix.format(port=listen.port),
    )


def address_of(sockets: Sequence[socket.socket]) -> Listen:
    """Return where the first of the sockets listens, with the port it really has."""
    host, port = sockets[0].getsockname()[:2]
    return Listen(host, port)


def url_of(listen: Listen, scheme: str = "http") -> str:
    """Return the URL by which a client on this machine reaches an address."""
    host = {EVERYWHERE: "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(  # noqa: S104
        listen.host, listen.host
    )
    return f"{scheme}://{listen._replace(host=host)}/"


# Who may talk to us


@dataclass(frozen=True, slots=True)
class Admission:
    """Whom a server lets in.

    Attributes:
        is_local: Whether it can be reached from this machine alone. Then `Host` must say so too.
        hosts: Other names of ours that `Host` may give.
        origins: Other sites whose pages may talk to us; `*` for every site.
    """

    is_local: bool = True
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, listen: Listen, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> "Admission":
        """Return the rules for an address, with what the user allows besides.

        Raises:
            UsageError: A host or an origin is misspelt.
        """
        return cls(
            listen.is_loopback,
            frozenset(map(_read_host, hosts)),
            frozenset(map(_read_origin, origins)),
        )

    def refusal(self, hosts: Sequence[str], origins: Sequence[str]) -> str | None:
        """Return why a request is refused, in a sentence; None if it is let in.

        Args:
            hosts: The values of its `Host` headers. Whoever sends none is no browser.
            origins: The values of its `Origin` headers. Only pages send one.
        """
        for values, is_allowed, sentence in (
            (hosts, self._knows_host, _FOREIGN_HOST),
            (origins, self._knows_origin, _FOREIGN_ORIGIN),
        ):
            for value in values:
                if not is_allowed(value):
                    return sentence.format(value)
        return None

    def _knows_host(self, value: str) -> bool:
        if not self.is_local:
            return True
        host = _host_of(value)
        return host is not None and (is_loopback(host) or host in self.hosts)

    def _knows_origin(self, value: str) -> bool:
        origin = value.lower()
        if not self.origins.isdisjoint((EVERYWHERE, origin)):
            return True
        found = _ORIGIN.fullmatch(origin)
        if found is None or found["scheme"] not in _WEB:
            return False
        host = _host_of(found["authority"])
        return host is not None and is_loopback(host)


_Check = Callable[[str], bool]

_FOREIGN_HOST = (
    "acptap: refused, for the Host header says {!r} and this server is for this machine alone; "
    "--allow-host lets a name in"
)
_FOREIGN_ORIGIN = "acptap: refused, for the page comes from {!r}; --allow-origin lets a site in"


def _host_of(authority: str) -> str | None:
    """Return the host in lower case, without port, brackets and the final dot."""
    found = _AUTHORITY.fullmatch(authority.strip().lower())
    return None if found is None else found["host"].strip("[]").removesuffix(".")


def _read_host(text: str) -> str:
    host = _host_of(text)
    if not host or "/" in host:
        raise UsageError(
            "this is no host name", where=f"--allow-host {text}", fix="write it as in box.example"
        )
    return host


def _read_origin(text: str) -> str:
    origin = text.strip().lower().removesuffix("/")
    if origin not in (EVERYWHERE, "null") and _ORIGIN.fullmatch(origin) is None:
        raise UsageError(
            "this is no origin",
            where=f"--allow-origin {text}",
            fix="write scheme, host and port as the browser does, as in https://app.example:8443",
        )
    return origin
