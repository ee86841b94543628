"""Where requests go: the upstream's URL, and request heads rewritten for it.

Bytes in, bytes out: of a head only the target, the values of Host and added headers change, and
nothing is decoded, normalised or put in another order on the way.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from acptap.wire.heads import RequestHead

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_HTTP = {"http": b"http", "https": b"https", "ws": b"http", "wss": b"https"}
_LAST_PORT = 65535

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)(?:%(?:25)?([^%\[\]]+))?\]|([^\[\]:]*))(?::(.*))?")
_PORT = re.compile(r"[0-9]{1,5}")
_NOT_IN_URL = re.compile(r"[\x00-\x20\x7f]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.\-]*://[^/?]*")
_LOCATION = re.compile(
    rb"""(?:([A-Za-z][A-Za-z0-9+.\-]*):)?//  # scheme
    (?:[^/?\#]*@)?                           # user and password
    (\[[^/?\#\]]*\]|[^/?\#:]*)              # host
    (?::([0-9]*))?                          # port
    (?:[/?\#]|\Z)""",
    re.VERBOSE,
)
_HOST = re.compile(rb"(?i:host):[ \t]*")
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NOT_IN_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_CLIENTS_OWN = {"connection", "content-length", "host", "transfer-encoding", "upgrade"}


class Upstream(NamedTuple):
    """Where requests go.

    Attributes:
        scheme: http, https, ws or wss.
        host: Name or address to connect to, an IPv6 address without its brackets.
        port: Port to connect to.
        authority: Host and port as Host names them: the port only if it is not the scheme's own.
        path: What is put in front of targets, as spelled; empty if the URL has none or only `/`.
    """

    scheme: str
    host: str
    port: int
    authority: bytes
    path: bytes

    @property
    def authority_host(self) -> bytes:
        """The host alone as Host names it, in lower case."""
        return re.sub(rb":[0-9]+\Z", b"", self.authority).lower()

    @property
    def is_tls(self) -> bool:
        """Whether it is spoken to over TLS."""
        return self.scheme in ("https", "wss")

    @classmethod
    def parse(cls, url: str) -> "Upstream":
        """Read an upstream's URL.

        Raises:
            ValueError: It can't be one; the words say why and don't repeat it, as it may hold
                secrets.
        """
        if _NOT_IN_URL.search(url):
            raise ValueError("it holds a blank or a control character; write it as %20 or the like")
        parts = _URL.fullmatch(url)
        if not parts:
            raise ValueError("it has no scheme; begin it with http://, https://, ws:// or wss://")
        scheme, authority, path, query, fragment = parts.groups()
        scheme = scheme.lower()
        if scheme not in _PORTS:
            raise ValueError(f"its scheme is {scheme}; use http, https, ws or wss")
        _refuse(authority, query, fragment)
        host, literal, port = _host_and_port(authority)
        number = _port(port) if port else _PORTS[scheme]
        spelled = literal if number == _PORTS[scheme] else f"{literal}:{number}"
        return cls(scheme, host, number, spelled.encode(), _path(path))


def _refuse(authority: str, query: str | None, fragment: str | None) -> None:
    """Raise a ValueError for what a URL may have and an upstream's can't."""
    if "@" in authority:
        raise ValueError(
            "it holds a user name or password; send them with --header 'Authorization: …'"
        )
    if fragment is not None:
        raise ValueError("it has a fragment, which no server would see; leave out the # part")
    if query is not None:
        raise ValueError("it has a query; put the ? part into the URL the client asks for")


def _host_and_port(authority: str) -> tuple[str, str, str | None]:
    """Return the host to connect to, the host as URLs spell it, and the port's text."""
    if authority.count(":") > 1 and not authority.startswith("["):
        raise ValueError("its host looks like an IPv6 address; put that in brackets: [::1]")
    parts = _AUTHORITY.fullmatch(authority)
    if not parts:
        raise ValueError("its host has brackets that hold no IPv6 address, like [::1]")
    address, zone, name, port = parts.groups()
    if address:
        return address + (f"%{zone}" if zone else ""), f"[{address}]", port
    if not name:
        raise ValueError("it has no host; write one behind the //")
    if not name.isascii():
        name = _ascii(name)
    return name, name, port


def _ascii(name: str) -> str:
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        raise ValueError("its host is no name that a server can have") from None


def _port(text: str) -> int:
    if not _PORT.fullmatch(text) or not 0 < int(text) <= _LAST_PORT:
        raise ValueError(f"its port must be a number from 1 to {_LAST_PORT}")
    return int(text)


def _path(path: str) -> bytes:
    """Return a path as it goes on the wire; only characters beyond ASCII must be escaped there."""
    raw = path.encode("utf-8", "surrogateescape")
    raw = _BEYOND_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], raw)
    return b"" if raw == b"/" else raw


def parse_header(text: str) -> tuple[bytes, bytes]:
    """Read a header to add to requests, spelled `Name: value`.

    Raises:
        ValueError: It can't be added; the words say why and don't repeat its value.
    """
    name, colon, value = text.partition(":")
    raw = value.strip(" \t").encode("utf-8", "surrogateescape")
    if not colon or not _NAME.fullmatch(name):
        raise ValueError("it is no header; write it as 'Name: value'")
    if _NOT_IN_VALUE.search(raw):
        raise ValueError("its value holds a control character")
    if name.lower() in _CLIENTS_OWN:
        raise ValueError(f"{name} can't be added, as it belongs to the client's own request")
    return name.encode(), raw


def rewrite_head(
    head: RequestHead,
    upstream: Upstream,
    *,
    keep_host: bool,
    extra: Iterable[tuple[bytes, bytes]] = (),
) -> bytes:
    """Return a request head as the upstream is to get it.

    Args:
        head: The head, its framing certain.
        upstream: Who gets it.
        keep_host: Leave the client's Host, and the authority of a target in absolute form.
        extra: Headers to add at its end.
    """
    lines = head.raw.split(b"\n")  # the last two are the empty line and nothing
    first = next(at for at, line in enumerate(lines) if line not in (b"", b"\r"))
    target = _target(head, upstream, keep_host=keep_host)
    method, _, version = lines[first].split(b" ")
    lines[first] = b" ".join((method, target, version))
    if not keep_host and head.method != b"CONNECT":
        lines = _with_host(lines, upstream.authority)
    line_end = lines[-2]  # a CR or nothing
    lines[-2:-2] = [b"%b: %b%b" % (name, value, line_end) for name, value in extra]
    return b"\n".join(lines)


def _with_host(lines: list[bytes], authority: bytes) -> list[bytes]:
    """Return a head's lines with the value of each Host replaced; its folded lines go with it.

    Where a client sends several, the server gets as many, to refuse them as it would have done.
    """
    new: list[bytes] = []
    in_host = False
    for line in lines:
        if in_host and line.startswith((b" ", b"\t")):
            continue
        host = _HOST.match(line)
        in_host = host is not None
        new.append(host[0] + authority + b"\r" * line.endswith(b"\r") if host else line)
    return new


def _target(head: RequestHead, upstream: Upstream, *, keep_host: bool) -> bytes:
    """Return a request's target as the upstream is to get it."""
    target = head.target
    if head.method == b"CONNECT":
        return target
    absolute = _ABSOLUTE.match(target)
    if absolute:
        ours = b"%b://%b" % (_HTTP[upstream.scheme], upstream.authority)
        path = target[absolute.end() :]
        return (absolute[0] if keep_host else ours) + _with_path(path, upstream.path)
    return _with_path(target, upstream.path) if target.startswith(b"/") else target


def _with_path(target: bytes, base: bytes) -> bytes:
    """Put the upstream's path in front of a target that does not begin with it.

    Every target begins with the path of an upstream that has none.
    """
    path, mark, query = target.partition(b"?")
    stem = base.removesuffix(b"/")
    if path == stem or path.startswith(stem + b"/"):
        return target
    if path in (b"", b"/"):
        return base + mark + query
    return stem + target


def points_at(location: bytes, upstream: Upstream) -> bool:
    """Return whether the value of a Location header names the upstream's own authority.

    A client that follows it goes past whoever stands in front of the upstream.
    """
    parts = _LOCATION.match(location)
    if not parts:
        return False
    scheme = (parts[1] or b"").decode().lower() or upstream.scheme
    if scheme not in _PORTS:
        return False
    host, port = parts[2].lower(), parts[3] or b"%d" % _PORTS[scheme]
    return (host, port) == (upstream.authority_host, b"%d" % upstream.port)
