"""A cassette, read anew: what the rules make of its payloads today, and whether it says so.

Annotations can always be made again, because the payloads hold all that they were made from. Lines
whose annotations are right stay as they are, to the byte; in the others only these are replaced.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from acptap.cassette import ANNOTATIONS, MEMBERS, NOTHING, Annotations, Entry, Header
from acptap.notes import Severity
from acptap.rules import RULES
from acptap.wire import jsontext, spans
from acptap.witness.traffic import Traffic

DIFFER = "cassette/annotations-differ"
REDACTION_OPEN = "cassette/redaction-open"
TORN = "cassette/torn"

HEADER_LINE = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a cassette met.

    Attributes:
        line: The line in the file.
        rule: The rule's id.
        detail: Particulars.
    """

    line: int
    rule: str
    detail: dict[str, object] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return RULES[self.rule].severity

    @property
    def sentence(self) -> str:
        """What is wrong."""
        return RULES[self.rule].text


class Reader:
    """Reads the entries of one cassette anew, in order; each connection by itself.

    Args:
        header: The cassette's first line, if it is known.
    """

    def __init__(self, header: Header | None = None) -> None:
        self._traffic = Traffic(header)
        self._last: Annotations = NOTHING  # of a unit with no more than a session and updates
        self._last_members: dict[str, object] = {}

    def members(self, entry: Entry) -> dict[str, object]:
        """Return the annotations that an entry should have."""
        annotations = self._traffic.annotate(entry)
        if annotations.transitions or annotations.notes:
            return annotations.members()
        last = self._last
        if annotations.updates is not last.updates or annotations.session != last.session:
            self._last, self._last_members = annotations, annotations.members()
        return self._last_members


def differs(entry: Entry, members: dict[str, object]) -> bool:
    """Return whether an entry's own annotations are others."""
    stored = {key: entry.front[key] for key in MEMBERS if key in entry.front}
    return stored != members and stored != jsontext.parse(jsontext.dump(members))


def findings(entry: Entry, members: dict[str, object]) -> Iterator[Finding]:
    """Yield what the notes of an entry say."""
    notes = members.get("notes")
    for note in notes if isinstance(notes, list) else ():
        detail = {key: value for key, value in note.items() if key not in ("rule", "severity")}
        yield Finding(entry.number, note["rule"], detail)


def findings_of_header(header: Header) -> Iterator[Finding]:
    """Yield what the first line says."""
    if header.is_redaction_open:
        yield Finding(HEADER_LINE, REDACTION_OPEN)


def is_current(header: Header) -> bool:
    """Return whether annotations were written by the rules of today."""
    return header.annotations == ANNOTATIONS


def annotate_header(line: bytes) -> bytes:
    """Return a cassette's first line with today's revision."""
    revision = b"%d" % ANNOTATIONS
    found = spans.find(line, ("annotations",))
    if found:
        return spans.splice(line, [spans.Edit(span.start, span.end, revision) for span in found])
    form = spans.find(line, ("acptap",))[-1]
    return spans.splice(line, [spans.Edit(form.end, form.end, b',"annotations":' + revision)])


def annotate_line(line: bytes, key: str | None, members: dict[str, object]) -> bytes:
    """Return an entry's line with other annotations.

    All other members stay as they are, and in their order. The new ones stand where the first of
    the old ones stood, else in front of the payload.

    Args:
        line: The line without its LF.
        key: The payload's name.
        members: The annotations.
    """
    fresh = jsontext.dump(members)[1:-1]
    parts: list[bytes] = []
    place: int | None = None
    for name, text in _members(line):
        if name in MEMBERS or name == key:
            place = len(parts) if place is None else place
        if name not in MEMBERS:
            parts.append(text)
    if fresh:
        parts.insert(len(parts) if place is None else place, fresh)
    return b"{" + b",".join(parts) + b"}"


def _members(line: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and text of each member of an object, the name's own text included."""
    start = line.index(b"{") + 1
    for span in spans.walk(line):
        if len(span.path) == 1:
            yield str(span.path[0]), line[start : span.end].strip(b" \t\r\n,")
            start = span.end
