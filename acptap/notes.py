"""What the witness has to say about a unit: a rule's name, how grave it is, and the particulars."""

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How grave a note is."""

    VIOLATION = "violation"
    """A MUST of the specification is broken, provably, on the wire."""
    WARNING = "warning"
    """A SHOULD is broken, or something that clients are known to stumble over."""
    NOTE = "note"
    """Legal, and worth knowing."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule the traffic is held against.

    Attributes:
        severity: How grave breaking it is.
        text: The rule, as one sentence.
        source: Where it comes from.
        versions: The protocol versions it holds for; empty for all.
        clients: The reference clients that fail where it is broken, or refuse what breaks it.
    """

    severity: Severity
    text: str
    source: str
    versions: frozenset[int] = frozenset()
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A rule met in the traffic.

    Attributes:
        rule: The rule's id, such as `acp/unknown-id`.
        severity: The rule's severity.
        detail: Particulars: small values, never a copy of the payload.
    """

    rule: str
    severity: Severity
    detail: dict[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the note as it stands in a cassette."""
        return {"rule": self.rule, "severity": self.severity.value, **self.detail}
