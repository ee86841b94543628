"""An agent's URL, and what is sent there, as the user wrote it."""

from acptap.errors import UsageError
from acptap.wire import target
from acptap.wire.target import Upstream


def read_upstream(url: str) -> Upstream:
    """Return a URL as the agent's.

    Raises:
        UsageError: It is none. The URL is not repeated, for it may hold a password.
    """
    try:
        return Upstream.parse(url)
    except ValueError as error:
        raise UsageError(
            f"the URL can't be used: {error}", where="--upstream",
            fix="write it as http://127.0.0.1:9000/acp",
        ) from None  # fmt: skip


def read_header(text: str) -> tuple[bytes, bytes]:
    """Return a header's name and value.

    Raises:
        UsageError: It can't be added to requests.
    """
    try:
        return target.parse_header(text)
    except ValueError as error:
        raise UsageError(f"a header can't be sent: {error}", where="--header") from None
