"""Take secrets out of what goes on the tape. The traffic itself is never touched.

A value in a slot (`acptap.acp.secrets`, `acptap.agui.secrets`) and whatever looks like a key
(`acptap.redact.shapes`) becomes `[redacted:N]`, the same N for the same secret in the whole
cassette. Values of slots are learnt: from then on they are found in every string value, on standard
error and in noise, those of fewer than twelve characters only as whole words. Only the secret
changes: all other bytes stay as they were, and so do types, a number becomes 0. No input makes it
raise.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator

from acptap.acp import secrets
from acptap.acp.secrets import Place
from acptap.agui.secrets import METHOD
from acptap.jsonrpc import Malformed, Message, Notification, Request
from acptap.redact import opaque, runs
from acptap.redact.finder import Finder
from acptap.redact.hits import Hit, apart
from acptap.redact.names import has_telling, is_credential
from acptap.redact.shapes import TRIGGERS, UPDATE_TRIGGERS
from acptap.redact.slots import in_number, in_slot, in_words
from acptap.redact.traces import near_traces
from acptap.redact.vault import Vault
from acptap.slots import Slot
from acptap.wire.escapes import Reading, unescape, verbatim
from acptap.wire.spans import Container, Edit, splice, visit

_UPDATE = "session/update"
_LONG_WORD = 16
_LONG = re.compile(rb"\S{16,}")
_MANY = 64
_LARGE = 64 * 1024

_OTHER = Malformed("no agent's protocol")
_RPC = (b'"jsonrpc"', b'"mcpServers"')
"""What JSON may hold that is ACP all the same, or much like it."""

_HEAD = b'{"jsonrpc":"2.0","method":"session/update"'
_ANY_HEAD = re.compile(
    rb'\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:\s*"session\\?/update"'
)


class Redactor:
    """Finds secrets, remembers them, and replaces them.

    Args:
        patterns: What else is secret, as regular expressions: their first group if they have one,
            else the whole match. With any of them every message is read through.
        first: The number of the first placeholder, to go on where another redactor stopped.

    Attributes:
        replaced: How many replacements were made.

    Raises:
        UsageError: A pattern is no regular expression.
    """

    def __init__(self, patterns: Iterable[str] = (), *, first: int = 1) -> None:
        self.replaced = 0
        self._shown: set[int] = set()
        self._vault = Vault(first)
        self._finder = Finder(patterns, self._vault)
        self._head = _HEAD

    @property
    def secrets(self) -> int:
        """How many different secrets were replaced."""
        return len(self._shown)

    @property
    def learnt(self) -> int:
        """How many secrets are looked for wherever they stand."""
        return self._vault.learnt

    def recount(self) -> None:
        """Count replacements anew; what is known and how it is numbered stays."""
        self.replaced = 0
        self._shown.clear()

    def suspects_other(self, data: bytes) -> bool:
        """Return whether any of the lines in `data`, which may be no ACP, is suspect."""
        return self.suspects(data) or runs.may_hold(data) or opaque.may_hold(data)

    def suspects(self, data: bytes, start: int = 0) -> bool:
        """Return whether any of the whole lines in `data` may need redaction.

        Messages that are not plainly `session/update` are always suspected: what slots they have
        depends on their method, which costs less to ask once they are parsed.

        Args:
            data: A read, or one message. A line unfinished at its end is not judged.
            start: Where its first line starts.
        """
        if self._finder.reads_all:
            return True
        last = data.rfind(b"\n") + 1
        updates = data.count(b"\n" + self._head, start, last) + data.startswith(self._head, start)
        are_others = updates < (data.count(b"\n", start) or 1)
        if are_others and any(data.find(mark, start) >= 0 for mark in secrets.MESSAGES):
            return True
        return self._finder.shows(data, start, UPDATE_TRIGGERS)

    def message(self, text: bytes, message: Message, method: str | None) -> bytes:
        """Return a message without its secrets, or `text` itself if there are none.

        Args:
            text: Its JSON text, or that of the batch it is in.
            message: What it says.
            method: If it is a response, the method that it answers; None if that isn't known.
        """
        if isinstance(message, Request | Notification):
            method = message.method
        if method == _UPDATE and not text.startswith(self._head):
            self._learn_head(text)
        if not self._is_due(text, method):
            return text
        try:
            return self._cleared_message(text, method)
        except ValueError:
            return self.plain(text)
        except RecursionError:  # whatever it was, the recording goes on
            return self._blackened(text)

    def other(self, text: bytes) -> bytes:
        """Return JSON that is no agent's protocol without its secrets, or `text` itself."""
        if any(mark in text for mark in _RPC):
            text = self.message(text, _OTHER, None)
        return self.message(text, _OTHER, opaque.METHOD)

    def batch(self, text: bytes, calls: Iterable[tuple[Message, str | None]]) -> bytes:
        """Return an array without its secrets, or `text` itself if there are none.

        Args:
            text: Its JSON text.
            calls: What is in it, each with the method that it answers, if it does.
        """
        kinds: dict[str | None, Message] = {}  # all that are alike are cleared at once
        for message, answered in calls:
            method = answered
            if isinstance(message, Request | Notification):
                method = message.method
            kinds.setdefault(method if method in _PLACES else secrets.kin(method), message)
        for kind, message in kinds.items():
            text = self.message(text, message, kind)
        return text

    def plain(self, text: bytes) -> bytes:
        """Return text that is no message (standard error, noise, a piece) without its secrets."""
        try:
            return self._cleared_text(text)
        except RecursionError:
            return self._blackened(text)

    def _cleared_message(self, text: bytes, method: str | None) -> bytes:
        find = _PLACES.get(method)
        places = secrets.places(text, method) if find is None else find(text)
        edits = self._edits(text, places)
        return splice(text, edits) if edits else text

    def _cleared_text(self, text: bytes) -> bytes:
        finder = self._finder
        if len(text) < _LARGE or finder.reads_all or finder.is_in_key or _is_text(text):
            return self._cleared_part(text)
        cut = near_traces(text, self._vault.marks(text))  # of an image next to nothing
        parts = [
            self._cleared_part(text[start:end]) if is_near else text[start:end]
            for start, end, is_near in cut
        ]
        clear = b"".join(parts)
        return text if clear == text else clear

    def _cleared_part(self, text: bytes) -> bytes:
        raw = text.decode("utf-8", "surrogateescape")
        finder = self._finder
        hits = finder.found(raw, is_shown=finder.shows(text), is_log=True) + finder.in_key(raw)
        new = self._replace(raw, verbatim(raw), hits)
        return text if new is None else new.encode("utf-8", "surrogateescape")

    def _blackened(self, text: bytes) -> bytes:
        """Return a text without any long string, or long word, for want of something better."""
        try:
            strings = [
                (start + 1, end - 1)
                for _, step, start, end in visit(text)
                if text[start] == ord('"') and step not in secrets.KEPT
            ]
        except ValueError:
            strings = [match.span() for match in _LONG.finditer(text)]
        edits = [
            Edit(start, end, self.placeholder(text[start:end].decode("utf-8", "replace")).encode())
            for start, end in strings
            if end - start >= _LONG_WORD
        ]
        return splice(text, edits)

    def words(self, words: list[str]) -> list[str]:
        """Return the words of a command without their secrets."""
        before = ["", *words]
        found = [list(in_words(*pair, every=True)) for pair in zip(words, before, strict=False)]
        for hits in found:
            self._vault.learn(hits)
        cleared = []
        for word, hits in zip(words, found, strict=True):
            new = self._replace(word, verbatim(word), hits + self._finder.found(word))
            cleared.append(word if new is None else new)
        return cleared

    def value(self, text: str, hits: list[Hit]) -> str:
        """Return a value that stands by itself without its secrets, and learn from it.

        Args:
            text: The value.
            hits: What is secret in it because of where it stands.
        """
        self._vault.learn(hits)
        new = self._replace(text, verbatim(text), hits + self._finder.found(text))
        return text if new is None else new

    # For texts that come bit by bit

    def shows(self, text: bytes) -> bool:
        """Return whether a text may hold a secret, or the beginning of one that was replaced."""
        return b"[redacted:" in text or self._finder.shows(text)

    def knows(self, data: bytes) -> bool:
        """Return whether something that was learnt may stand in lines of a cassette."""
        return self._vault.shows(data, 0)

    def hits(self, text: str) -> list[tuple[int, int, str]]:
        """Return the secrets in a text: start, end and what they are, apart and in order."""
        return list(apart(text, self._finder.found(text)))

    def placeholder(self, secret: str) -> str:
        """Return what stands for a secret. Each call counts as a replacement."""
        self.replaced += 1
        number = self._vault.number(secret)
        self._shown.add(number)
        return f"[redacted:{number}]"

    def may_begin(self, placeholder: str, text: str) -> bool:
        """Return whether a text may be the beginning of what a placeholder stands for.

        Of a secret that is not known it may if it is one word.
        """
        secret = self._vault.secret(int(placeholder[len("[redacted:") : -1]))
        return secret.startswith(text) or not any(map(str.isspace, text))

    # Whether to look

    def _is_due(self, text: bytes, method: str | None) -> bool:
        """Return whether a message must be read through."""
        if method in _PLACES:
            may_hold = runs.may_hold if method == METHOD else opaque.may_hold
            return may_hold(text) or self._finder.shows(text)
        return (
            _has_rows(text, method)
            or self._finder.shows(text)
            or any(mark in text for mark in secrets.GENERAL)
            or (secrets.META in text and has_telling(text))
        )

    def _learn_head(self, text: bytes) -> None:
        head = _ANY_HEAD.match(text)
        if head is not None:
            self._head = head.group()

    # Messages

    def _edits(self, text: bytes, places: list[Place]) -> list[Edit]:
        """Return what to change in a message. Slots come first: they teach what to look for."""
        edits, taught = [], self._taught(text, places)
        for place in self._marked(text, places):
            start, end = place.start, place.end
            hits = taught.get(start, [])
            if text[start] == ord('"'):
                new = self._cleared(text[start + 1 : end - 1], place, hits)
                if new is not None:
                    edits.append(Edit(start + 1, end - 1, new.encode("utf-8", "surrogateescape")))
            elif hits:
                self.placeholder(hits[0].secret)  # counted; but a number stays a number
                edits.append(Edit(start, end, b"0"))
        return edits

    def _marked(self, text: bytes, places: list[Place]) -> Iterator[Place]:
        """Yield the places that are slots or show something; of few, all.

        One look at the whole text spares a look at each of its strings.
        """
        if self._finder.reads_all or len(places) < _MANY:
            yield from places
            return
        marks = {match.start() for _, pattern in TRIGGERS for match in pattern.finditer(text)}
        ordered = sorted(marks.union(self._vault.marks(text)), reverse=True)
        for place in places:
            while ordered and ordered[-1] < place.start:
                ordered.pop()
            if place.slot is not None or (ordered and ordered[-1] < place.end):
                yield place

    def _taught(self, text: bytes, places: list[Place]) -> dict[int, list[Hit]]:
        """Learn what stands in slots, and return where: by the start of the string it is in."""
        taught = {}
        before = ""  # the last word of a command
        row: Container | None = None  # and the array it is in
        for place in places:
            start, end, slot, name, within = place
            if slot is None:
                continue
            if text[start] == ord('"'):
                said = secrets.string(text, start, end).text
                hits = list(in_slot(place, said, before if within is row else ""))
                if slot is Slot.WORDS:
                    before, row = said, within
            else:
                hits = list(in_number(place, text[start:end].decode("ascii", "replace")))
            self._vault.learn(hits, is_named=slot is not Slot.MEMBER and is_credential(name))
            taught[start] = hits
        return taught

    def _cleared(self, raw: bytes, place: Place, hits: list[Hit]) -> str | None:
        """Return what stands between a string's quotes without secrets, or None if it has none."""
        is_shown = self._finder.shows(raw)
        if not (is_shown or hits or place.slot is Slot.BASE64):
            return None
        spelled = raw.decode("utf-8", "surrogateescape")
        reading = unescape(spelled)
        if place.slot is Slot.BASE64:
            return self._encoded(reading.text)
        found = self._finder.found(reading.text) if is_shown else []
        return self._replace(spelled, reading, hits + found)

    def _encoded(self, encoded: str) -> str | None:
        """Return base64 of the same text without its secrets, or None if it has none."""
        try:
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return None
        raw = data.decode("utf-8", "surrogateescape")
        new = self._replace(raw, verbatim(raw), self._finder.found(raw))
        return new and base64.b64encode(new.encode("utf-8", "surrogateescape")).decode("ascii")

    def _replace(self, raw: str, reading: Reading, hits: Iterable[Hit]) -> str | None:
        """Return `raw` with the hits in its reading replaced, or None if there are none."""
        parts: list[str] = []
        done = 0
        for start, end, secret in apart(reading.text, hits):
            begin = reading.origin(start)
            parts += (raw[done:begin], self.placeholder(secret))
            done = reading.origin(end)
        return "".join([*parts, raw[done:]]) if parts else None


_PLACES: dict[str | None, Callable[[bytes], list[Place]]] = {
    METHOD: runs.places,
    opaque.METHOD: opaque.places,
}
"""What finds the places of what is no ACP."""


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _has_rows(text: bytes, method: str | None) -> bool:
    """Return whether rows of single methods may fit something in a message."""
    if method is None:
        return any(mark in text for mark in secrets.UNSTATED)
    return secrets.has_slots(method)
