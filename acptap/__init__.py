"""Record and replay agent protocol conversations, and know what they mean."""

__version__ = "0.1.0"
