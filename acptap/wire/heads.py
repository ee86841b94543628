"""Heads of HTTP/1 messages, and what they say.

Requests are read strictly, because a head is rewritten before it goes on: where two servers could
disagree about what a head means, there is a `Doubt`. Responses are read leniently, because they
pass as they come and only the copy suffers. Lines end at LF, with or without a CR before it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

HEAD_LIMIT = 1024 * 1024
"""Bytes a head may have, its leading empty lines included."""

Headers = list[tuple[bytes, bytes]]
"""Names and values as they were spelled, in order; blanks around a value are no part of it."""

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_NAME = re.compile(rb"[^\x00-\x20\x7f:]+")
_FRAMING_NAME = re.compile(rb"(?i:content-length|transfer-encoding)[ \t]*(?::|\Z)")
_BLANKS = (b" ", b"\t")


class Doubt(ValueError):
    """Where a message ends is not certain. The only argument is the reason, in words."""


@dataclass(slots=True)
class Head:
    """What stands before the body of a message.

    Attributes:
        raw: All its bytes, from the empty lines in front of it to the one that ends it.
        headers: Its fields. A folded value is joined with single spaces.
    """

    raw: bytes
    headers: Headers

    def value(self, name: bytes) -> bytes | None:
        """Return the first value of a field, or None; names are equal in any case."""
        values = self.values(name)
        return values[0] if values else None

    def values(self, name: bytes) -> list[bytes]:
        """Return all values of a field, in order."""
        name = name.lower()
        return [value for known, value in self.headers if known.lower() == name]


@dataclass(slots=True)
class RequestHead(Head):
    """The head of a request.

    Attributes:
        method: As spelled.
        target: As spelled.
        version: `1.1`, or what else stands behind `HTTP/`.
    """

    method: bytes
    target: bytes
    version: bytes

    @property
    def is_upgrade(self) -> bool:
        """Whether its answer may end HTTP on this connection: it has Upgrade, or is a CONNECT."""
        return self.method == b"CONNECT" or self.value(b"upgrade") is not None


@dataclass(slots=True)
class ResponseHead(Head):
    """The head of a response.

    Attributes:
        status: Its three digits.
        reason: The words behind it, possibly empty.
        version: `1.1`, or what else stands behind `HTTP/`.
        request: The request it answers; None if none was waiting for an answer.
    """

    status: int
    reason: bytes
    version: bytes
    request: RequestHead | None

    @property
    def is_interim(self) -> bool:
        """Whether the answer proper is still to come: a 1xx, but not 101."""
        return self.status < HTTPStatus.OK and self.status != HTTPStatus.SWITCHING_PROTOCOLS

    @property
    def switches(self) -> bool:
        """Whether it ends HTTP on this connection, as its request had asked."""
        request = self.request
        if request is None or not request.is_upgrade:
            return False
        if self.status == HTTPStatus.SWITCHING_PROTOCOLS:
            return True
        return request.method == b"CONNECT" and self.is_success

    @property
    def is_success(self) -> bool:
        """Whether it is a 2xx."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class FirstLine(NamedTuple):
    """How the first line of a head is told from anything else.

    Attributes:
        start: What its beginning must match, however little of it is there.
        whole: What all of it must match, without its line end.
        name: What it is called.
    """

    start: re.Pattern[bytes]
    whole: re.Pattern[bytes]
    name: str


_VERSION = b"HTTP/1."
REQUEST_LINE = FirstLine(
    start=re.compile(rb"\r?\Z|%b++(?: |\Z)" % _TOKEN),
    whole=re.compile(rb"(%b+) ([^\x00-\x20\x7f]+) HTTP/(1\.[0-9])" % _TOKEN),
    name="request line",
)
STATUS_LINE = FirstLine(
    start=re.compile(
        rb"\r?\Z|%b|" % re.escape(_VERSION)
        + b"|".join(rb"%b\Z" % re.escape(_VERSION[:size]) for size in range(1, len(_VERSION)))
    ),
    whole=re.compile(rb"HTTP/(1\.[0-9])[ \t]+([1-9][0-9]{2})(?:[ \t](.*))?", re.DOTALL),
    name="status line",
)


def request_head(raw: bytes) -> RequestHead:
    """Read the head of a request.

    Args:
        raw: What a `HeadBuffer` found, its first line a request line.

    Raises:
        Doubt: One of its fields may be read in two ways.
    """
    first, *lines = _lines(raw)
    method, target, version = _groups(REQUEST_LINE.whole.fullmatch(first))
    return RequestHead(raw, read_fields(lines, strict=True), method, target, version)


def response_head(raw: bytes, request: RequestHead | None) -> ResponseHead:
    """Read the head of a response.

    Args:
        raw: What a `HeadBuffer` found, its first line a status line.
        request: What it answers.
    """
    first, *lines = _lines(raw)
    version, status, reason = _groups(STATUS_LINE.whole.fullmatch(first))
    fields = read_fields(lines, strict=False)
    return ResponseHead(raw, fields, int(status), reason, version, request)


def read_fields(lines: Iterable[bytes], *, strict: bool) -> Headers:
    """Read field lines, of a head or of trailers.

    Args:
        lines: Without their line ends.
        strict: Whether to refuse what others may read otherwise; else such lines are skipped, or
            read as most do.

    Raises:
        Doubt: A line is refused.
    """
    fields: list[tuple[bytes, list[bytes]]] = []
    for line in lines:
        if strict:
            _refuse(line, fields[-1][0] if fields else None)
        if line.startswith(_BLANKS):
            if fields:
                fields[-1][1].append(line.strip(b" \t"))
            continue
        name, colon, value = line.partition(b":")
        if colon:
            fields.append((name.rstrip(b" \t"), [value.strip(b" \t")]))
    return [(name, b" ".join(parts).strip(b" ")) for name, parts in fields]


def _refuse(line: bytes, above: bytes | None) -> None:
    """Raise a doubt if a line may be read in two ways.

    Args:
        line: The line.
        above: The name of the field above it, None if there is none.
    """
    if b"\r" in line:
        raise Doubt("a CR inside a header line")
    if line.startswith(_BLANKS):
        folded = line.strip(b" \t")
        if above is None or _FRAMING_NAME.match(above) or _FRAMING_NAME.match(folded):
            raise Doubt("a folded header line where it matters")
        return
    name, colon, _ = line.partition(b":")
    if not colon:
        raise Doubt("a header line without a colon")
    if name.endswith(_BLANKS):
        raise Doubt("a blank before a header's colon")
    if not _NAME.fullmatch(name):
        raise Doubt("a header without a proper name")


def _lines(raw: bytes) -> list[bytes]:
    """Return the lines of a head without their ends, but for the empty ones around it."""
    lines = raw.lstrip(b"\r\n").split(b"\n")[:-2]
    return [line.removesuffix(b"\r") for line in lines]


def _groups(match: re.Match[bytes] | None) -> tuple[bytes, bytes, bytes]:
    assert match, "the buffer has checked the first line"
    first, second, third = match.groups(b"")
    return first, second, third
