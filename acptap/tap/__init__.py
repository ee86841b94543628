"""The witness on the wire: what passes goes in, cassette lines come out."""

from acptap.tap.stdio import Tap

__all__ = ["Tap"]
