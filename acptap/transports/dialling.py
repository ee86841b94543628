"""Connect a leg to the upstream, or say in words why that can't be done."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable

from acptap.transports.legs import Leg

Dial = Callable[[Leg], Awaitable[None]]
"""Connects a leg. Raises `Unreachable`."""


NO_NAME = "its name is none that a host can have"


class Unreachable(Exception):
    """There is no connection to the upstream; the text says why."""


async def dial(host: str, port: int, leg: Leg) -> None:
    """Connect a leg over TCP.

    Raises:
        Unreachable: There is no such host, or nobody listens there.
    """
    await connect(lambda: leg, host, port)


async def connect(factory: Callable[[], asyncio.Protocol], host: str, port: int) -> None:
    """Connect a protocol over TCP.

    Raises:
        Unreachable: There is no such host, or nobody listens there.
    """
    try:
        await asyncio.get_running_loop().create_connection(factory, host, port)
    except ValueError as error:
        raise Unreachable(NO_NAME) from error
    except OSError as error:
        raise Unreachable(words_of(error)) from error


def words_of(error: OSError) -> str:
    """Return what an error says, without numbers and addresses."""
    if not error.errno or isinstance(error, socket.gaierror):  # whose numbers are others
        return error.strerror or str(error)
    return os.strerror(error.errno)
