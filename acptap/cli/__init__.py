"""Floor 6: the command line. Each command lives in a module of its own, imported when it is run."""

from acptap.cli.main import main

__all__ = ["main"]
