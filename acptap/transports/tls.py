"""TLS to the upstream, pumped through memory between a leg and its TCP connection.

The event loop's own TLS can't end one direction and go on with the other, and takes a stream that
was cut for one that was complete. Here a FIN becomes close_notify and FIN, what the upstream says
after that is still heard, and an end without close_notify is told apart.
"""

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from acptap.errors import UsageError
from acptap.transports.dialling import NO_NAME, Unreachable, connect, words_of
from acptap.transports.legs import Leg, left_behind

_READ = 256 * 1024


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose certificates are believed.

    Attributes:
        ca: A PEM file of authorities beside those of the system.
        insecure: Believe every certificate, of anybody.
    """

    ca: Path | None = None
    insecure: bool = False

    def context(self) -> ssl.SSLContext:
        """Return what TLS connections to the upstream are made with.

        Raises:
            UsageError: The file of authorities can't be used.
        """
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])  # what is relayed is read as that
        context.options |= ssl.OP_NO_RENEGOTIATION  # so that writing never has to read first
        if self.ca is not None:
            try:
                context.load_verify_locations(self.ca)
            except OSError as error:  # ssl.SSLError is one
                raise UsageError(
                    f"there are no certificates to be read ({_reason(error)})",
                    where=f"--ca {self.ca}",
                    fix="name a file in PEM format",
                ) from error
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


SYSTEM = Trust()
"""Those of authorities that the system trusts."""


async def dial(host: str, port: int, context: ssl.SSLContext, leg: Leg) -> None:
    """Connect a leg over TLS.

    Raises:
        Unreachable: Nobody listens there, or TLS was refused, by either side.
    """
    try:
        pump = Pump(context, host, leg)
    except ValueError as error:
        raise Unreachable(NO_NAME) from error
    await connect(lambda: pump, host, port)
    try:
        refusal = await pump.shaken
    except asyncio.CancelledError:
        pump.abort()
        raise
    if refusal is not None:
        raise Unreachable(_words_of(refusal)) from refusal


class Pump(asyncio.Transport, asyncio.Protocol):
    """A leg's transport, and the protocol of the TCP connection below.

    Args:
        context: What the connection is made with.
        name: The upstream's host name or address, which its certificate must be for.
        leg: What is above.

    Attributes:
        shaken: Settled when the handshake is over: with what it failed by, or None.
    """

    def __init__(self, context: ssl.SSLContext, name: str, leg: Leg) -> None:
        super().__init__()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=name)
        self._leg = leg
        self._tcp: asyncio.Transport
        self._is_ended = False  # the upstream sends no more
        self._error: ssl.SSLError | None = None  # what came was no TLS any more
        self._is_ready = False
        self.shaken: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()

    # What the leg calls

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send something."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        self._flush()

    def write_eof(self) -> None:
        """Send no more: close_notify, and a FIN."""
        with suppress(ssl.SSLError):  # it sends close_notify, and misses the upstream's
            self._tls.unwrap()
        self._flush()
        self._tcp.write_eof()

    def pause_reading(self) -> None:
        """Have the upstream wait."""
        self._tcp.pause_reading()

    def resume_reading(self) -> None:
        """Hear the upstream again."""
        self._tcp.resume_reading()

    def get_write_buffer_size(self) -> int:
        """Return how many bytes, encrypted, wait to be sent."""
        return self._tcp.get_write_buffer_size()

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return what the TCP connection knows."""
        return self._tcp.get_extra_info(name, default)

    def is_closing(self) -> bool:
        """Return whether nothing is sent any more."""
        return self._tcp.is_closing()

    def close(self) -> None:
        """End both ways when what was written has been sent."""
        self._tcp.close()

    def abort(self) -> None:
        """End both ways at once."""
        self._tcp.abort()

    # What the TCP connection calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        self._tcp = cast("asyncio.Transport", transport)
        self._shake_hands()

    def data_received(self, data: bytes) -> None:
        """Take in what the upstream sent, encrypted."""
        self._incoming.write(data)
        if self._is_ready:
            self._read()
        else:
            self._shake_hands()

    def eof_received(self) -> bool:
        """Take in a FIN; without close_notify before it, something may be missing."""
        if self._is_ready and not self._is_ended:
            self._is_ended = True
            self._leg.cut_received()
        return self._is_ready

    def connection_lost(self, exc: Exception | None) -> None:
        """Take in that there is no connection any more."""
        if not self._is_ready:
            left = ConnectionError("it closed the connection during the handshake")
            self._settle(exc if isinstance(exc, OSError) else left)
            return
        if exc is not None:
            for data in left_behind(self._tcp):
                self.data_received(data)
        self._leg.connection_lost(exc or self._error)

    def pause_writing(self) -> None:
        """Take in that the upstream reads slower than we write."""
        self._leg.pause_writing()

    def resume_writing(self) -> None:
        """Take in that the upstream has caught up."""
        self._leg.resume_writing()

    # Inside

    def _shake_hands(self) -> None:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return
        except ssl.SSLError as error:
            self._flush()  # the alert that says why
            self._settle(error)
            self._tcp.close()
            return
        self._flush()
        self._is_ready = True
        self._settle(None)
        self._leg.connection_made(self)
        self._read()  # what came with the end of the handshake

    def _settle(self, error: OSError | None) -> None:
        if not self.shaken.done():
            self.shaken.set_result(error)

    def _read(self) -> None:
        plain: list[bytes] = []
        is_over = False
        try:
            while data := self._tls.read(_READ):
                plain.append(data)
            is_over = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:  # the same, after we ended what we send
            is_over = True
        except ssl.SSLError as error:
            self._error = error
        self._flush()
        if plain:
            self._leg.data_received(b"".join(plain))
        if self._error is not None:
            self._tcp.abort()
        elif is_over and not self._is_ended:
            self._is_ended = True
            self._leg.eof_received()

    def _flush(self) -> None:
        if self._outgoing.pending:
            self._tcp.write(self._outgoing.read())


def _words_of(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message.rstrip(".")
        return (
            f"its certificate is not trusted ({why}); name the file of the authority that signed "
            "it with --ca, or believe everybody with --insecure"
        )
    if isinstance(error, ssl.SSLError):
        return f"it refused TLS, or does not speak it ({_reason(error)})"
    return words_of(error)


def _reason(error: OSError) -> str:
    reason = getattr(error, "reason", None)
    return reason.replace("_", " ").lower() if reason else words_of(error)
