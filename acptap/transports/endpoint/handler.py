"""One HTTP connection of the server, and what is said when that goes wrong: in our own words."""

import asyncio
import logging

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

_LONGEST_HEAD_LINE = 256 * 1024
_BAD_REQUEST = 400

_UNREADABLE = "acptap: this is no HTTP request that can be read\n"
_BUG = "acptap: something went wrong here (this is a bug in acptap, please report it)\n"


class Handler(web.RequestHandler):
    """Reads the requests of a connection and has them answered.

    Args:
        server: What answers them.
        loop: The event loop.
    """

    __slots__ = ()

    def __init__(self, server: web.Server, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(
            server,
            loop=loop,
            access_log=None,  # type: ignore[arg-type]  # for none at all
            logger=_logger(),
            max_line_size=_LONGEST_HEAD_LINE,
            max_field_size=_LONGEST_HEAD_LINE,
        )

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the answer to what is no request, or was not answered for a fault of ours."""
        super().handle_error(request, status, exc, message)  # it logs, and raises if it is too late
        text = _UNREADABLE if status == _BAD_REQUEST else _BUG
        answer = web.Response(status=status, text=text, headers={"Server": "acptap"})
        answer.force_close()
        return answer


class _NotTheClientsFault(logging.Filter):
    """Keeps quiet about clients that don't speak HTTP; they have been told."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, (HttpProcessingError, web.RequestPayloadError))


def _logger() -> logging.Logger:
    logger = logging.getLogger("acptap.endpoint")
    if not logger.filters:
        logger.addFilter(_NotTheClientsFault())
    return logger
