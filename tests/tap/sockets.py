"""WebSocket frames and handshakes, as bytes."""


def frame(data, opcode=1, *, fin=True, mask=b""):
    """One frame; `opcode` may carry the bit that says it is compressed."""
    data = data.encode() if isinstance(data, str) else data
    size = len(data)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
    if mask:
        length = bytes([length[0] | 0x80]) + length[1:]
        data = mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
    return bytes([opcode | 0x80 * fin]) + length + data


def close_frame(code, reason, mask=b""):
    return frame(code.to_bytes(2, "big") + reason.encode(), 8, mask=mask)


def agree(extensions=""):
    said = f"Sec-WebSocket-Extensions: {extensions}\r\n" if extensions else ""
    return f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n{said}\r\n".encode()


def refuse(_extensions=""):
    return b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
