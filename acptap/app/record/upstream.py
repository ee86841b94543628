"""An agent's URL, and what is sent there, as the user wrote it."""

from pathlib import Path

from acptap.errors import UsageError
from acptap.transports.tls import SYSTEM, Trust
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


def read_trust(upstream: Upstream, ca: Path | None, *, insecure: bool) -> Trust:
    """Return whose certificates are believed.

    Raises:
        UsageError: The upstream has none to be believed.
    """
    if ca is None and not insecure:
        return SYSTEM
    if not upstream.is_tls:
        raise UsageError(
            f"it means nothing with {upstream.scheme}, which has no certificates",
            where="--insecure" if ca is None else f"--ca {ca}",
            fix="leave it out, or write https or wss in the URL",
        )
    return Trust(ca, insecure)
