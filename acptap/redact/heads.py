"""Where secrets stand in heads of HTTP messages and in URLs: a table of headers, one reader."""

from collections.abc import Iterator

from acptap.http import Headers, HttpRequest, HttpResponse
from acptap.redact.hits import Hit
from acptap.redact.names import is_credential, is_telling
from acptap.redact.redactor import Redactor
from acptap.redact.shapes import whole
from acptap.redact.slots import in_url

_CREDENTIALS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "apikey",
        "x-auth",
        "x-auth-key",
    }
    | {"x-access-key", "x-amz-security-token", "x-amz-signature", "x-goog-iap-jwt-assertion"}
    | {"x-csrf", "x-signature", "x-hub-signature", "sec-websocket-protocol"}
)
_COOKIES = frozenset({"cookie", "set-cookie"})
_PUBLIC = frozenset(
    {"sec-websocket-key", "idempotency-key", "x-idempotency-key", "surrogate-key", "cache-key"}
    | {"x-cache-key", "key", "keys", "public-key-pins", "public-key-pins-report-only"}
)
"""Keys that open nothing."""

_LINKS = frozenset({"location", "content-location", "referer", "link", "refresh", "origin"})
_ATTRIBUTES = frozenset(
    {"path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment"}
)
_PUBLIC_PROTOCOLS = 24
"""A subprotocol of fewer characters names a protocol; browsers put tokens there for want of
headers."""


def clear_request(redactor: Redactor, request: HttpRequest) -> HttpRequest:
    """Return the head of a request without its secrets; itself if there are none."""
    target = redactor.value(request.target, list(in_url(request.target)))
    headers = clear_headers(redactor, request.headers)
    if target == request.target and headers == request.headers:
        return request
    return HttpRequest(request.method, target, headers, request.version)


def clear_response(redactor: Redactor, response: HttpResponse) -> HttpResponse:
    """Return the head of an answer without its secrets; itself if there are none."""
    headers = clear_headers(redactor, response.headers)
    if headers == response.headers:
        return response
    return HttpResponse(response.status, response.reason, headers, response.version)


def clear_headers(redactor: Redactor, headers: Headers) -> Headers:
    """Return headers without their secrets. Names stay."""
    return [(name, redactor.value(value, list(_in_header(name, value)))) for name, value in headers]


def clear_url(redactor: Redactor, url: str) -> str:
    """Return a URL without user info and token-like parameters."""
    return redactor.value(url, list(in_url(url)))


def _in_header(name: str, value: str) -> Iterator[Hit]:
    """Yield what is secret in a header because of its name."""
    name = name.lower()
    if name in _COOKIES:
        yield from _in_cookies(value, only_first=name == "set-cookie")
    elif name == "sec-websocket-protocol":
        yield from _in_protocols(value)
    elif name in _LINKS:
        yield from in_url(value)
    elif name in _CREDENTIALS or is_telling(name) or _is_key(name):
        yield from (hit._replace(is_named=True) for hit in whole(value))


def _is_key(name: str) -> bool:
    """Return whether a header is named like a key that opens something."""
    return is_credential(name) and name not in _PUBLIC and not name.endswith("-id")


def _in_cookies(value: str, *, only_first: bool) -> Iterator[Hit]:
    """Yield the values of cookies, without the attributes of one that is set."""
    start = 0
    for part in value.split(";"):
        name, equals, said = part.partition("=")
        begin = start + len(name) + len(equals)
        if said.strip() and name.strip().lower() not in _ATTRIBUTES:
            end = begin + len(said.rstrip())
            yield Hit(begin, end, value[begin:end], is_named=True)
        start += len(part) + 1
        if only_first:
            return


def _in_protocols(value: str) -> Iterator[Hit]:
    start = 0
    for part in value.split(","):
        word = part.strip()
        if len(word) >= _PUBLIC_PROTOCOLS:
            begin = start + part.index(word)
            yield Hit(begin, begin + len(word), word, is_named=True)
        start += len(part) + 1
