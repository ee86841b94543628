"""One end of a connection as a test holds it: blocking, in the clear or over TLS."""

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_AT_ONCE = struct.pack("ii", 1, 0)


class Wire:
    """A TCP connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def receive(self) -> bytes:
        """Return what came; nothing is a FIN.

        Raises:
            ConnectionResetError: A reset.
        """
        return self.sock.recv(65536)

    def fin(self) -> None:
        self.sock.shutdown(socket.SHUT_WR)

    def rst(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.sock.close()

    def close(self) -> None:
        self.sock.close()


class Cut(ConnectionError):
    """The peer's TCP connection ended without close_notify."""


class TlsWire(Wire):
    """The server's end of a TLS connection, which can be half-closed.

    Args:
        sock: Its TCP connection.
        context: How to speak TLS.
        greeting: What is said with the last bytes of the handshake.
    """

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, greeting: bytes) -> None:
        super().__init__(sock)
        self._plain = b""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self._flush()
                data = self.sock.recv(65536)
                if not data:
                    raise Cut from None
                self._incoming.write(data)
            except ssl.SSLError:
                self._flush()
                raise
        self._tls.write(greeting)
        self._flush()

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._tls.write(view[:65536]) :]
            self._flush()

    def receive(self) -> bytes:
        while not self._decrypt():
            data = self.sock.recv(65536)
            if not data:
                raise Cut
            self._incoming.write(data)
        data, self._plain = self._plain, b""
        return data

    def _decrypt(self) -> bool:
        """Take in all that has come, as OpenSSL demands before a close_notify."""
        try:
            while data := self._tls.read(65536):
                self._plain += data
            return True
        except ssl.SSLZeroReturnError:
            return True
        except ssl.SSLWantReadError:
            self._flush()
        return self._plain != b""

    def fin(self) -> None:
        self._decrypt()
        with suppress(ssl.SSLError):
            self._tls.unwrap()
        self._flush()
        super().fin()

    def close(self) -> None:
        """End it as a server does: close_notify, and both directions at once."""
        with suppress(OSError):
            with suppress(ssl.SSLError):
                self._tls.unwrap()
            self._flush()
        super().close()

    def cut(self) -> None:
        """A FIN, and no close_notify."""
        self.sock.shutdown(socket.SHUT_WR)

    def _flush(self) -> None:
        if self._outgoing.pending:
            self.sock.sendall(self._outgoing.read())


class Listener:
    """An upstream that waits for connections.

    Args:
        context: Speak TLS, with this.
        host: Where to listen.
        port: Likewise.
    """

    def __init__(
        self, context: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.sock = socket.create_server((host, port), family=family)
        self.sock.settimeout(10)
        self.context = context
        self.greeting = b""
        port = self.sock.getsockname()[1]
        self.authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def url(self) -> str:
        return f"http{'s' if self.context else ''}://{self.authority}"

    def connect(self) -> Wire:
        """Return a client's connection."""
        sock = socket.create_connection(self.sock.getsockname()[:2], timeout=10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Wire(sock)

    def accept(self) -> Wire:
        """Return the next connection."""
        sock, _ = self.sock.accept()
        sock.settimeout(10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            return TlsWire(sock, self.context, self.greeting) if self.context else Wire(sock)
        except (ssl.SSLError, ConnectionError):
            sock.close()
            raise

    def is_called(self) -> bool:
        """Return whether a connection waits to be accepted."""
        self.sock.setblocking(False)
        try:
            self.sock.accept()[0].close()
        except BlockingIOError:
            return False
        finally:
            self.sock.settimeout(10)
        return True


@contextmanager
def listening(context: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Listener]:
    listener = Listener(context, host)
    with listener.sock:
        yield listener
