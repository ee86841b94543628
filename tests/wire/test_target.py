import re
from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.heads import request_head
from acptap.wire.http1 import RequestReader
from acptap.wire.target import Upstream, parse_header, points_at, rewrite_head

UPSTREAMS = {
    "no path": ("http://h", Upstream("http", "h", 80, b"h", b"")),
    "a path of nothing": ("http://h/", Upstream("http", "h", 80, b"h", b"")),
    "a path": ("http://h/acp", Upstream("http", "h", 80, b"h", b"/acp")),
    "a path that ends in a slash": ("http://h/acp/", Upstream("http", "h", 80, b"h", b"/acp/")),
    "H10 an escaped path": ("http://h/a%2fB%21", Upstream("http", "h", 80, b"h", b"/a%2fB%21")),
    "a path beyond ASCII": ("http://h/é~%", Upstream("http", "h", 80, b"h", b"/%C3%A9~%")),
    "a path that is no text": ("http://h/\udcff", Upstream("http", "h", 80, b"h", b"/%FF")),
    "a port": ("http://h:9000/", Upstream("http", "h", 9000, b"h:9000", b"")),
    "the scheme's own port": ("http://h:80", Upstream("http", "h", 80, b"h", b"")),
    "an empty port": ("https://h:", Upstream("https", "h", 443, b"h", b"")),
    "the last port": ("ws://h:65535", Upstream("ws", "h", 65535, b"h:65535", b"")),
    "https": ("HTTPS://H.example", Upstream("https", "H.example", 443, b"H.example", b"")),
    "ws": ("ws://h", Upstream("ws", "h", 80, b"h", b"")),
    "wss": ("wss://h:443", Upstream("wss", "h", 443, b"h", b"")),
    "H10 an IPv6 address": ("http://[::1]:90/a", Upstream("http", "::1", 90, b"[::1]:90", b"/a")),
    "an IPv6 address alone": ("http://[::1]", Upstream("http", "::1", 80, b"[::1]", b"")),
    "an IPv6 address with a zone": (
        "http://[fe80::1%25eth0]:9", Upstream("http", "fe80::1%eth0", 9, b"[fe80::1]:9", b""),
    ),
    "a zone that is not escaped": (
        "http://[fe80::1%eth0]", Upstream("http", "fe80::1%eth0", 80, b"[fe80::1]", b""),
    ),
    "a name beyond ASCII": (
        "http://bücher.example", Upstream(
            "http", "xn--bcher-kva.example", 80, b"xn--bcher-kva.example", b""
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("url", "upstream"), UPSTREAMS.values(), ids=UPSTREAMS)
def test_upstream(url, upstream):
    assert Upstream.parse(url) == upstream


@pytest.mark.parametrize(
    ("scheme", "is_tls"), [("http", False), ("ws", False), ("https", True), ("wss", True)]
)
def test_is_tls(scheme, is_tls):
    assert Upstream.parse(f"{scheme}://h").is_tls is is_tls


NO_SCHEME = "it has no scheme; begin it with http://, https://, ws:// or wss://"
NO_BLANKS = "it holds a blank or a control character; write it as %20 or the like"
NO_PORT = "its port must be a number from 1 to 65535"
BAD_URLS = {
    "nothing": ("", NO_SCHEME),
    "no scheme": ("h/acp", NO_SCHEME),
    "host and port alone": ("localhost:9000", NO_SCHEME),
    "no slashes": ("http:h", NO_SCHEME),
    "another scheme": ("FTP://h", "its scheme is ftp; use http, https, ws or wss"),
    "no host": ("http://", "it has no host; write one behind the //"),
    "no host, but a port": ("http://:80", "it has no host; write one behind the //"),
    "no host, but a path": ("http:///acp", "it has no host; write one behind the //"),
    "port 0": ("http://h:0", NO_PORT),
    "port 65536": ("http://h:65536", NO_PORT),
    "a port of many digits": ("http://h:" + "1" * 5000, NO_PORT),
    "a port that is no number": ("http://h:http", NO_PORT),
    "a port with a sign": ("http://h:+80", NO_PORT),
    "a port in other digits": ("http://h:٣", NO_PORT),
    "a user": (
        "http://me@h",
        "it holds a user name or password; send them with --header 'Authorization: …'",
    ),
    "a password": (
        "http://me:secret@h:9",
        "it holds a user name or password; send them with --header 'Authorization: …'",
    ),
    "a query": (
        "http://h/?k=1", "it has a query; put the ? part into the URL the client asks for",
    ),
    "a fragment": (
        "http://h#", "it has a fragment, which no server would see; leave out the # part",
    ),
    "an IPv6 address without brackets": (
        "http://::1:9000", "its host looks like an IPv6 address; put that in brackets: [::1]",
    ),
    "a bracket": ("http://[::1", "its host has brackets that hold no IPv6 address, like [::1]"),
    "a name in brackets": (
        "http://[host]", "its host has brackets that hold no IPv6 address, like [::1]",
    ),
    "something behind brackets": (
        "http://[::1]9", "its host has brackets that hold no IPv6 address, like [::1]",
    ),
    "a name that can't be": (f"http://{'é' * 64}", "its host is no name that a server can have"),
    "a blank": ("http://h/a b", NO_BLANKS),
    "a line end": ("http://h/\r\nX: y", NO_BLANKS),
}  # fmt: skip


@pytest.mark.parametrize(("url", "words"), BAD_URLS.values(), ids=BAD_URLS)
def test_bad_urls(url, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        Upstream.parse(url)


def parsed(url):
    """Return an upstream, or the error that refuses it."""
    try:
        return Upstream.parse(url)
    except ValueError as error:
        return error


@given(st.text(max_size=20) | st.text("htpws:/@[]%#?.\x00é:1", max_size=20).map("http://".__add__))
def test_any_url_is_read_or_refused_in_words(url):
    upstream = parsed(url)
    if not isinstance(upstream, Upstream):
        assert type(upstream) is ValueError
    else:
        assert 0 < upstream.port <= 65535
        assert upstream.path.isascii()


# Targets. A row is the target, and what becomes of it behind no path, /acp, /acp/ and /pre/fix.

TARGETS = {
    "nothing but a slash": (b"/", b"/", b"/acp", b"/acp/", b"/pre/fix"),
    "a slash and a query": (b"/?k=1", b"/?k=1", b"/acp?k=1", b"/acp/?k=1", b"/pre/fix?k=1"),
    "another path": (b"/x", b"/x", b"/acp/x", b"/acp/x", b"/pre/fix/x"),
    "the path itself": (b"/acp", b"/acp", b"/acp", b"/acp", b"/pre/fix/acp"),
    "the path and a query": (b"/acp?a", b"/acp?a", b"/acp?a", b"/acp?a", b"/pre/fix/acp?a"),
    "the path and a slash": (b"/acp/", b"/acp/", b"/acp/", b"/acp/", b"/pre/fix/acp/"),
    "more behind the path": (b"/acp/x", b"/acp/x", b"/acp/x", b"/acp/x", b"/pre/fix/acp/x"),
    "a path that only begins so": (
        b"/acpx", b"/acpx", b"/acp/acpx", b"/acp/acpx", b"/pre/fix/acpx",
    ),
    "an escaped slash": (
        b"/acp%2Fx", b"/acp%2Fx", b"/acp/acp%2Fx", b"/acp/acp%2Fx", b"/pre/fix/acp%2Fx",
    ),
    "another case": (b"/ACP", b"/ACP", b"/acp/ACP", b"/acp/ACP", b"/pre/fix/ACP"),
    "the path in a query": (
        b"/?/acp", b"/?/acp", b"/acp?/acp", b"/acp/?/acp", b"/pre/fix?/acp",
    ),
    "two slashes": (b"//x", b"//x", b"/acp//x", b"/acp//x", b"/pre/fix//x"),
    "H10 all kinds of escapes": (
        b"/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9",
        b"/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9",
        b"/acp/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9",
        b"/acp/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9",
        b"/pre/fix/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9",
    ),
    "bytes that are no ASCII": (b"/\xe9", b"/\xe9", b"/acp/\xe9", b"/acp/\xe9", b"/pre/fix/\xe9"),
    "dots": (b"/../x", b"/../x", b"/acp/../x", b"/acp/../x", b"/pre/fix/../x"),
    "the server": (b"*", b"*", b"*", b"*", b"*"),
    "what is no form of a target": (b"x", b"x", b"x", b"x", b"x"),
    "an absolute URL": (
        b"http://c:1/x?y", b"http://h:9/x?y", b"http://h:9/acp/x?y", b"http://h:9/acp/x?y",
        b"http://h:9/pre/fix/x?y",
    ),
    "an absolute URL without a path": (
        b"WS://u@[::1]:1", b"http://h:9", b"http://h:9/acp", b"http://h:9/acp/",
        b"http://h:9/pre/fix",
    ),
    "an absolute URL with only a query": (
        b"http://c?y", b"http://h:9?y", b"http://h:9/acp?y", b"http://h:9/acp/?y",
        b"http://h:9/pre/fix?y",
    ),
    "an absolute URL with the path": (
        b"http://c/acp", b"http://h:9/acp", b"http://h:9/acp", b"http://h:9/acp",
        b"http://h:9/pre/fix/acp",
    ),
}  # fmt: skip


def rewritten(raw, url, *, keep_host=False, extra=()):
    read: list[Any] = RequestReader(deque(), lambda head: head.raw).feed(raw)[1]
    return rewrite_head(read[0], Upstream.parse(url), keep_host=keep_host, extra=extra)


@pytest.mark.parametrize(("target", "bare", "acp", "slash", "pre"), TARGETS.values(), ids=TARGETS)
def test_targets(target, bare, acp, slash, pre):
    for path, new in (("", bare), ("/acp", acp), ("/acp/", slash), ("/pre/fix", pre)):
        raw = b"POST %b HTTP/1.1\r\n\r\n"
        assert rewritten(raw % target, f"http://h:9{path}") == raw % new


SCHEMES = {"http": b"http", "https": b"https", "ws": b"http", "wss": b"https"}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_absolute_target_is_an_http_url(scheme):
    new = rewritten(b"GET http://c/ HTTP/1.1\r\n\r\n", f"{scheme}://h/a")
    assert new == b"GET %b://h/a HTTP/1.1\r\n\r\n" % SCHEMES[scheme]


# Heads. The upstream is http://up:9/acp.

REWRITTEN = {
    "Host keeps its spelling, its place and its blanks": (
        b"GET /x HTTP/1.1\r\nA: 1\r\nhOsT:\t 127.0.0.1:1\r\nB:2 \r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nA: 1\r\nhOsT:\t up:9\r\nB:2 \r\n\r\n",
    ),
    "Host without a blank": (
        b"GET /x HTTP/1.1\r\nHost:c\r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nHost:up:9\r\n\r\n",
    ),
    "Host that names nothing": (
        b"GET /x HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nHost:up:9\r\n\r\n",
    ),
    "Host is never added": (
        b"GET /x HTTP/1.1\r\nX-Host: c\r\nHosts: c\r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nX-Host: c\r\nHosts: c\r\n\r\n",
    ),
    "HTTP/1.0": (b"GET /x HTTP/1.0\r\n\r\n", b"GET /acp/x HTTP/1.0\r\n\r\n"),
    "several Hosts are as many behind": (
        b"GET /x HTTP/1.1\r\nHost: c\r\nA: 1\r\nhost: d\r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nHost: up:9\r\nA: 1\r\nhost: up:9\r\n\r\n",
    ),
    "a folded Host": (
        b"GET /x HTTP/1.1\r\nHost:\r\n c\r\n\td\r\nA: 1\r\n  2\r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nHost:up:9\r\nA: 1\r\n  2\r\n\r\n",
    ),
    "a line folded under another looks like Host": (
        b"GET /x HTTP/1.1\r\nA: 1\r\n Host: c\r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nA: 1\r\n Host: c\r\n\r\n",
    ),
    "line ends stay what they are": (
        b"GET /x HTTP/1.1\nHost: c\nA: 1\r\nhost: d\r\n\n",
        b"GET /acp/x HTTP/1.1\nHost: up:9\nA: 1\r\nhost: up:9\r\n\n",
    ),
    "empty lines in front stay": (
        b"\r\n\nGET /x HTTP/1.1\r\nHost: c\r\n\r\n",
        b"\r\n\nGET /acp/x HTTP/1.1\r\nHost: up:9\r\n\r\n",
    ),
    "odd bytes stay": (
        b"g~T /\xe9?\xff HTTP/1.1\r\nX@\xe9:\x00\xe9\x80\r\n\r\n",
        b"g~T /acp/\xe9?\xff HTTP/1.1\r\nX@\xe9:\x00\xe9\x80\r\n\r\n",
    ),
    "CONNECT stays": (
        b"CONNECT c:1 HTTP/1.1\r\nHost: c:1\r\n\r\n",
        b"CONNECT c:1 HTTP/1.1\r\nHost: c:1\r\n\r\n",
    ),
    "CONNECT to a path stays": (
        b"CONNECT / HTTP/1.1\r\nHost: c:1\r\n\r\n",
        b"CONNECT / HTTP/1.1\r\nHost: c:1\r\n\r\n",
    ),
    "a request about the server has its Host replaced": (
        b"OPTIONS * HTTP/1.1\r\nHost: c\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: up:9\r\n\r\n",
    ),
}


@pytest.mark.parametrize(("raw", "new"), REWRITTEN.values(), ids=REWRITTEN)
def test_rewrite_head(raw, new):
    assert rewritten(raw, "http://up:9/acp") == new


KEPT = {
    "Host": (
        b"GET /x HTTP/1.1\r\nHost: c\r\n\r\n",
        b"GET /acp/x HTTP/1.1\r\nHost: c\r\n\r\n",
    ),
    "the authority of an absolute URL": (
        b"GET HTTP://c:1/x HTTP/1.1\r\nHost: c:1\r\n\r\n",
        b"GET HTTP://c:1/acp/x HTTP/1.1\r\nHost: c:1\r\n\r\n",
    ),
}


@pytest.mark.parametrize(("raw", "new"), KEPT.values(), ids=KEPT)
def test_keep_host(raw, new):
    assert rewritten(raw, "http://up:9/acp", keep_host=True) == new


EXTRA = {
    "none": ([], b"GET / HTTP/1.1\r\nA: 1\r\n\r\n", b"GET / HTTP/1.1\r\nA: 1\r\n\r\n"),
    "two": (
        [(b"X", b"1"), (b"X", b"")],
        b"GET / HTTP/1.1\r\nA: 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: 1\r\nX: 1\r\nX: \r\n\r\n",
    ),
    "to a head without fields": (
        [(b"X", b"\xe9")], b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.0\r\nX: \xe9\r\n\r\n",
    ),
    "to a head of bare LFs": ([(b"X", b"1")], b"GET / HTTP/1.1\n\n", b"GET / HTTP/1.1\nX: 1\n\n"),
}  # fmt: skip


@pytest.mark.parametrize(("extra", "raw", "new"), EXTRA.values(), ids=EXTRA)
def test_extra(extra, raw, new):
    assert rewritten(raw, "http://up:9", extra=extra) == new


HEADERS = {
    "as usual": ("X-Key: v", (b"X-Key", b"v")),
    "blanks around the value": ("X:\t a b ", (b"X", b"a b")),
    "no value": ("X:", (b"X", b"")),
    "colons in the value": ("X:a:b", (b"X", b"a:b")),
    "a value beyond ASCII": ("X: é\udcff", (b"X", b"\xc3\xa9\xff")),
}


@pytest.mark.parametrize(("text", "header"), HEADERS.values(), ids=HEADERS)
def test_parse_header(text, header):
    assert parse_header(text) == header


NO_HEADER = "it is no header; write it as 'Name: value'"
BAD_HEADERS = {
    "nothing": ("", NO_HEADER),
    "no colon": ("X v", NO_HEADER),
    "no name": (": v", NO_HEADER),
    "a blank in the name": ("X : v", NO_HEADER),
    "a name beyond ASCII": ("é: v", NO_HEADER),
    "a line end": ("X: a\r\nY: b", "its value holds a control character"),
    "a header that frames": (
        "content-length: 5",
        "content-length can't be added, as it belongs to the client's own request",
    ),
    "Host": ("Host: h", "Host can't be added, as it belongs to the client's own request"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_bad_headers(text, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        parse_header(text)


LOCATIONS = {
    "H11 the upstream": ("http://h:9/acp", b"http://h:9/acp/?k=1", True),
    "no path": ("http://h:9", b"http://h:9", True),
    "a query at once": ("http://h:9", b"http://h:9?k", True),
    "a fragment at once": ("http://h:9", b"http://h:9#k", True),
    "another case": ("http://h:9", b"HTTP://H:9/", True),
    "another case in the upstream": ("http://H.example", b"http://h.example/", True),
    "the scheme's own port": ("http://h", b"http://h:80/", True),
    "an empty port": ("http://h", b"http://h:/", True),
    "the port of TLS": ("https://h", b"https://h/", True),
    "a WebSocket's scheme": ("ws://h", b"http://h/", True),
    "no scheme": ("https://h", b"//h/x", True),
    "a user": ("http://h", b"http://me:secret@h/", True),
    "an IPv6 address": ("http://[::1]:9", b"http://[::1]:9/", True),
    "an IPv6 address alone": ("http://[::1]", b"http://[::1]/", True),
    "another port": ("http://h:9", b"http://h:8/", False),
    "another port of an IPv6 address": ("http://[::1]:9", b"http://[::1]/", False),
    "another scheme's port": ("http://h", b"https://h/", False),
    "another host": ("http://h", b"http://hh/", False),
    "a user that looks like the host": ("http://h", b"http://h@x/", False),
    "a path": ("http://h", b"/x", False),
    "a relative path": ("http://h", b"x//h/", False),
    "another kind of URL": ("http://h", b"acp://h:80/", False),
    "a port that is no number": ("http://h", b"http://h:x/", False),
    "nothing": ("http://h", b"", False),
    "odd bytes": ("http://h", b"http://\xff\x00/", False),
}


@pytest.mark.parametrize(("url", "location", "is_own"), LOCATIONS.values(), ids=LOCATIONS)
def test_points_at(url, location, is_own):
    assert points_at(location, Upstream.parse(url)) is is_own


@given(
    st.binary(max_size=20).map(
        lambda tail: b"/" + tail.translate(None, bytes(range(33)) + b"\x7f")
    ),
    st.sampled_from(["", "/", "/acp", "/acp/", "/pre/fix", "/%2F"]),
)
def test_a_rewritten_target_is_not_rewritten_again(target, path):
    raw = b"GET %b HTTP/1.1\r\nHost: c\r\n\r\n" % target
    once = rewritten(raw, f"http://h:9{path}")
    assert rewritten(once, f"http://h:9{path}") == once
    assert request_head(once).target.endswith(target[1:])
