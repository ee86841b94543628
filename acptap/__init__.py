"""Record and replay agent protocol conversations, and know what they mean."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acptap.app.show.folding import fold

__all__ = ["__version__", "fold"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import what is asked for only then: the command starts in milliseconds."""
    if name == "fold":
        from acptap.app.show.folding import fold  # noqa: PLC0415

        return fold
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
