"""Each table of bodies runs whole, byte by byte and at every split."""

import contextlib
import gzip
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.inflating import Inflater

TEXT = b'data: {"jsonrpc":"2.0"}\n\n' * 20


def inflate(codings, *reads):
    inflater = Inflater.of(codings)
    assert inflater is not None
    return b"".join(map(inflater.feed, reads)) + inflater.end()


def bytewise(body):
    return [body[at : at + 1] for at in range(len(body))]


def bare(data, level=6):
    stream = zlib.compressobj(level, wbits=-15)
    return stream.compress(data) + stream.flush()


def zlibbed(data, window):
    stream = zlib.compressobj(wbits=window)
    return stream.compress(data) + stream.flush()


def gzipped(data):
    return gzip.compress(data, mtime=0)


NAMED = b"\x1f\x8b\x08\x1c" + bytes(6) + b"\x02\0ab" + b"name\0" + b"comment\0" + gzipped(TEXT)[10:]

BODIES = {
    "no coding": ([], TEXT, TEXT),
    "an empty header": ([b""], TEXT, TEXT),
    "identity": ([b"identity"], TEXT, TEXT),
    "gzip": ([b"gzip"], gzipped(TEXT), TEXT),
    "x-gzip": ([b"x-gzip"], gzipped(TEXT), TEXT),
    "gzip in capitals, between blanks": ([b" GZip\t"], gzipped(TEXT), TEXT),
    "gzip with extra, name and comment": ([b"gzip"], NAMED, TEXT),
    "gzip of nothing": ([b"gzip"], gzipped(b""), b""),
    "no body at all, gzip": ([b"gzip"], b"", b""),
    "no body at all, deflate": ([b"deflate"], b"", b""),
    "two members": ([b"gzip"], gzipped(b"a") + gzipped(b"b"), b"ab"),
    "an empty member between": ([b"gzip"], gzipped(b"a") + gzipped(b"") + gzipped(b"b"), b"ab"),
    "zeros behind": ([b"gzip"], gzipped(b"a") + bytes(5), b"a"),
    "zeros between members": ([b"gzip"], gzipped(b"a") + bytes(3) + gzipped(b"b"), b"ab"),
    "deflate": ([b"deflate"], zlib.compress(TEXT), TEXT),
    "deflate, quickly": ([b"deflate"], zlib.compress(TEXT, 0), TEXT),
    "deflate, slowly": ([b"deflate"], zlib.compress(TEXT, 9), TEXT),
    "deflate with the smallest window": ([b"deflate"], zlibbed(TEXT, 9), TEXT),
    "deflate of nothing": ([b"deflate"], zlib.compress(b""), b""),
    "bare deflate": ([b"deflate"], bare(TEXT), TEXT),
    "bare deflate, stored": ([b"deflate"], bare(TEXT, 0), TEXT),
    "bare deflate of nothing": ([b"deflate"], bare(b""), b""),
    "bare deflate that begins with a byte like zlib's": (
        [b"deflate"],
        b"\x08\x02\x00\xfd\xffab" + bare(b"c"),  # a stored block, padded with other than zeros
        b"abc",
    ),
    "H6 deflate, then gzip": ([b"deflate, gzip"], gzipped(zlib.compress(TEXT)), TEXT),
    "gzip, then deflate, in two headers": ([b"gzip", b"deflate"], bare(gzipped(TEXT)), TEXT),
    "gzip twice": ([b"gzip,gzip"], gzipped(gzipped(TEXT)), TEXT),
    "gzip and identity": ([b"identity, gzip,"], gzipped(TEXT), TEXT),
}


@pytest.mark.parametrize(("codings", "body", "content"), BODIES.values(), ids=BODIES)
def test_whole(codings, body, content):
    assert inflate(codings, body) == content


@pytest.mark.parametrize(("codings", "body", "content"), BODIES.values(), ids=BODIES)
def test_byte_by_byte(codings, body, content):
    assert inflate(codings, *bytewise(body)) == content
    assert (
        inflate(codings, b"", *(part for byte in bytewise(body) for part in (byte, b""))) == content
    )


@pytest.mark.parametrize(("codings", "body", "content"), BODIES.values(), ids=BODIES)
def test_at_every_split(codings, body, content):
    assert all(inflate(codings, body[:at], body[at:]) == content for at in range(len(body) + 1))


@pytest.mark.parametrize(
    "codings", [[b"br"], [b"zstd"], [b"gzip, br"], [b"br", b"gzip"], [b"compress"], [b"gzip;q=1"]]
)
def test_unknown(codings):
    assert Inflater.of(codings) is None


STREAMS = {
    "gzip": ([b"gzip"], 31),
    "deflate": ([b"deflate"], 15),
    "bare deflate": ([b"deflate"], -15),
}


@pytest.mark.parametrize("flush", [zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH])
@pytest.mark.parametrize(("codings", "bits"), STREAMS.values(), ids=STREAMS)
def test_h6_what_is_flushed_comes_at_once(codings, bits, flush):
    compress = zlib.compressobj(wbits=bits)
    inflater = Inflater.of(codings)
    assert inflater is not None
    for number in range(10):
        event = b"data: %d\n\n" % number
        assert inflater.feed(compress.compress(event) + compress.flush(flush)) == event
    assert inflater.feed(compress.flush()) == b""
    assert inflater.end() == b""


def test_what_is_flushed_comes_at_once_through_a_chain():
    first, second = zlib.compressobj(wbits=15), zlib.compressobj(wbits=31)
    inflater = Inflater.of([b"deflate, gzip"])
    assert inflater is not None
    for number in range(10):
        event = b"data: %d\n\n" % number
        part = first.compress(event) + first.flush(zlib.Z_SYNC_FLUSH)
        assert inflater.feed(second.compress(part) + second.flush(zlib.Z_SYNC_FLUSH)) == event


CUT = {
    "gzip": ([b"gzip"], gzipped(TEXT)),
    "a second member": ([b"gzip"], gzipped(b"a") + gzipped(b"b")),
    "deflate": ([b"deflate"], zlib.compress(TEXT)),
    "bare deflate": ([b"deflate"], bare(TEXT)),
    "deflate in gzip": ([b"deflate, gzip"], gzipped(zlib.compress(TEXT))),
}


@pytest.mark.parametrize(("codings", "body"), CUT.values(), ids=CUT)
def test_cut_short(codings, body):
    whole = len(gzipped(b"a")) if body.startswith(gzipped(b"a")) else 0
    for at in range(1, len(body)):
        inflater = Inflater.of(codings)
        assert inflater is not None
        inflater.feed(body[:at])
        if at == whole:
            assert inflater.end() == b""
        else:
            with pytest.raises(ValueError, match="body is cut short"):
                inflater.end()


def test_an_inner_coding_that_is_cut_short():
    inflater = Inflater.of([b"deflate, gzip"])
    assert inflater is not None
    inflater.feed(gzipped(zlib.compress(TEXT)[:-1]))
    with pytest.raises(ValueError, match="a deflate body is cut short"):
        inflater.end()


DAMAGED = {
    "no gzip": ([b"gzip"], b"data: {}\n\n"),
    "zeros, gzip": ([b"gzip"], bytes(20)),
    "another gzip method": ([b"gzip"], b"\x1f\x8b\x07" + gzipped(TEXT)[3:]),
    "gzip with a wrong sum": ([b"gzip"], gzipped(TEXT)[:-8] + bytes(8)),
    "gzip with a wrong size": ([b"gzip"], gzipped(TEXT)[:-4] + bytes(4)),
    "a line end behind gzip": ([b"gzip"], gzipped(TEXT) + b"\r\n"),
    "zeros and a line end behind gzip": ([b"gzip"], gzipped(TEXT) + b"\0\r\n"),
    "no deflate": ([b"deflate"], b"data: {}\n\n"),
    "deflate with a wrong sum": ([b"deflate"], zlib.compress(TEXT)[:-4] + bytes(4)),
    "deflate with a dictionary": ([b"deflate"], b"\x78\xbb" + bytes(8)),
    "a byte behind deflate": ([b"deflate"], zlib.compress(TEXT) + b"\n"),
    "a byte behind bare deflate": ([b"deflate"], bare(TEXT) + b"\n"),
    "deflate twice": ([b"deflate"], zlib.compress(TEXT) * 2),
    "gzip where deflate was said": ([b"deflate"], gzipped(TEXT)),
    "no deflate in gzip": ([b"deflate, gzip"], gzipped(b"data: {}\n\n")),
}


@pytest.mark.parametrize(("codings", "body"), DAMAGED.values(), ids=DAMAGED)
def test_damaged(codings, body):
    with pytest.raises(ValueError, match="body"):
        inflate(codings, body)


@pytest.mark.parametrize(("codings", "body"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_byte_by_byte(codings, body):
    with pytest.raises(ValueError, match="body"):
        inflate(codings, *bytewise(body))


def test_what_stands_before_the_damage_is_read():
    inflater = Inflater.of([b"deflate"])
    assert inflater is not None
    assert inflater.feed(zlib.compress(TEXT) + b"\n") == TEXT
    with pytest.raises(ValueError, match="a deflate body goes on behind its end"):
        inflater.feed(b"\n")


def test_the_reason_is_a_sentence():
    with pytest.raises(ValueError, match=r"^a compressed body can't be read \(Error -3 .*\)$"):
        inflate([b"gzip"], b"not gzip at all")


@pytest.mark.parametrize("codings", [[b"gzip"], [b"deflate"], [b"gzip, gzip"], [b"gzip, identity"]])
def test_a_bomb_comes_in_parts(codings):
    body = bytes(3_000_001)
    for coding in codings[0].split(b", "):
        body = CODINGS[coding](body)
    inflater = Inflater.of(codings)
    assert inflater is not None
    sizes = [len(part) for part in inflater.parts(body)]
    assert sum(sizes) == 3_000_001
    assert max(sizes) == 256 * 1024
    assert inflater.end() == b""


CODINGS = {
    b"gzip": gzipped,
    b"x-gzip": gzipped,
    b"deflate": zlib.compress,
    b"identity": bytes,
    b"Deflate": bare,
}


@given(
    st.lists(st.sampled_from(list(CODINGS)), max_size=3),
    st.binary(max_size=2000),
    st.lists(st.integers(0, 2000), max_size=5),
)
def test_round_trip(codings, content, cuts):
    body = content
    for coding in codings:
        body = CODINGS[coding](body)
    ends = [0, *sorted(cuts), max(2000, len(body))]
    reads = [body[start:end] for start, end in pairwise(ends)]
    assert inflate(codings, *reads) == content


@given(st.binary(max_size=200), st.sampled_from([[b"gzip"], [b"deflate"], [b"gzip, deflate"]]))
def test_noise_is_a_value_error_or_nothing(noise, codings):
    with contextlib.suppress(ValueError):
        inflate(codings, *bytewise(noise))
