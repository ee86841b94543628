"""Take secrets out of what goes on the tape; see `acptap.redact.redactor`."""

from acptap.redact.redactor import Redactor

__all__ = ["Redactor"]
