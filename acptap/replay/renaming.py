"""Put live values where the recorded client's own stood: what a client chose follows the live one.

Ids are replaced as whole values of certain members, folders as whole path prefixes inside strings.
Everything else of a message keeps its bytes, and so does all of a message that holds none of them.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from acptap.wire import jsontext
from acptap.wire.spans import Edit, Path, splice, walk

# Inside a JSON string every quote is escaped, so a name with a colon behind it is a member's name.
_SESSION_NAME = rb'[sS]essionId"\s*:\s*'
_TERMINAL_NAME = rb'"terminalId"\s*:\s*'
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?', re.DOTALL)

_PLAIN_RUN = re.compile(rb"[0-9A-Za-z]+")
_DRIVE = re.compile(r"[A-Za-z]:(?=[/\\]|$)")
_SEPARATORS = "/\\"
_ROOT_ENDS = ("/", "\\")
_URI = ("file://", "file:///")
_MIN_COMPONENTS = 2

# A path begins where none goes on, or behind a URI's `file://`; it ends where its last name does.
_BEGINS = r"(?:(?<![\w.~%+@/\\-])|(?<=file://)|(?<=file:///))"
_ENDS = r"(?![\w~%+@-]|\.\w)"

_NOTHING: Mapping[Path, bytes] = {}


def is_renamable(path: str) -> bool:
    """Return whether a folder is deep enough to be told apart from other paths.

    `/`, a drive's root and a single name are not; nor is a relative path.
    """
    rooted = path[:1] in ("/", "\\") or _DRIVE.match(path) is not None
    names = [name for name in re.split(r"[/\\]", _DRIVE.sub("", path, count=1)) if name]
    return rooted and len(names) >= _MIN_COMPONENTS


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids of one kind, recorded to live.

    Attributes:
        name: The pattern of the members that hold them, up to the value.
        live: The ids that differ.
        needles: What a text must contain to be worth a closer look.
    """

    name: bytes
    live: Mapping[str, str] = field(default_factory=dict)
    needles: tuple[bytes, ...] = ()
    _pattern: re.Pattern[bytes] | None = None
    _spelled: Mapping[bytes, bytes] = field(default_factory=dict)

    def with_id(self, recorded: str, live: str) -> "Ids":
        """Return these with one more."""
        ids = {**self.live, recorded: live}
        spelled = {
            spelling: jsontext.dump(new) for old, new in ids.items() for spelling in _spellings(old)
        }
        choice = b"|".join(re.escape(spelling) for spelling in spelled)
        pattern = re.compile(rb"(?P<name>%b)(?P<id>%b)" % (self.name, choice))
        return Ids(self.name, ids, tuple(core(old) for old in ids), pattern, spelled)

    def rename(self, text: bytes) -> bytes:
        """Return a message with live ids."""
        if self._pattern is None or not any(needle in text for needle in self.needles):
            return text
        return self._pattern.sub(lambda found: found["name"] + self._spelled[found["id"]], text)


@dataclass(frozen=True, slots=True)
class Folders:
    """Working folders, recorded to live.

    Attributes:
        live: The folders that differ, without separators at their ends.
        needles: What a text must contain to be worth a closer look.
    """

    live: Mapping[str, str] = field(default_factory=dict)
    needles: tuple[bytes, ...] = ()
    _pattern: re.Pattern[str] | None = None
    _spelled: Mapping[str, str] = field(default_factory=dict)

    def with_folder(self, recorded: str, live: str) -> "Folders":
        """Return these with one more."""
        folders = {**self.live, recorded: live}
        spelled = {
            _slashed(spelling): new
            for old, new in folders.items()
            for spelling in (old, _quoted(old))
        }
        needles = tuple(core(old) for old in folders)
        return Folders(folders, needles, _path_pattern(spelled), spelled)

    def rename(self, text: bytes) -> bytes:
        """Return a message with live folders in its strings."""
        if not any(needle in text for needle in self.needles):
            return text
        return _STRING.sub(self._in_string, text)

    def _in_string(self, found: re.Match[bytes]) -> bytes:
        old = found[0]
        if found[1] is not None or not any(needle in old for needle in self.needles):
            return old
        value = jsontext.parse(old)
        assert isinstance(value, str)
        assert self._pattern is not None
        new = self._pattern.sub(self._in_path, value)
        return old if new == value else jsontext.dump(new)

    def _in_path(self, found: re.Match[str]) -> str:
        live, separator = self._spelled[_slashed(found["folder"])], found["separator"]
        if found.string.endswith(_URI, 0, found.start()):
            live = _quoted(live)
        if separator and live.endswith(_ROOT_ENDS):
            live = live[:-1]
        return live + separator


@dataclass(frozen=True, slots=True)
class Renaming:
    """What is known of the names that the live client uses. Never changes.

    Attributes:
        sessions: Ids of sessions that the client brought along.
        terminals: Ids of terminals, which the client chooses in ACP v1.
        folders: Working folders.
    """

    sessions: Ids = Ids(_SESSION_NAME)
    terminals: Ids = Ids(_TERMINAL_NAME)
    folders: Folders = Folders()

    def with_session(self, recorded: str, live: str) -> "Renaming":
        """Return this with a session's live id."""
        if self.sessions.live.get(recorded, recorded) == live:
            return self
        return replace(self, sessions=self.sessions.with_id(recorded, live))

    def with_terminal(self, recorded: object, live: object) -> "Renaming":
        """Return this with a terminal's live id; what is no string is no id."""
        if not isinstance(recorded, str) or not isinstance(live, str):
            return self
        if self.terminals.live.get(recorded, recorded) == live:
            return self
        return replace(self, terminals=self.terminals.with_id(recorded, live))

    def with_folder(self, recorded: object, live: object) -> "Renaming":
        """Return this with a folder's live path, if the recorded one can be told apart."""
        if not isinstance(recorded, str) or not isinstance(live, str) or not live:
            return self
        recorded, live = _bare(recorded), _bare(live)
        if not is_renamable(recorded) or self.folders.live.get(recorded, recorded) == live:
            return self
        return replace(self, folders=self.folders.with_folder(recorded, live))

    def rename(
        self, text: bytes, spelled: Mapping[Path, bytes] = _NOTHING, *, folders: bool = True
    ) -> bytes:
        """Return a message with live values in it.

        Args:
            text: A message, in JSON.
            spelled: JSON text to put at certain places, such as `("id",)`.
            folders: Whether paths are renamed too.
        """
        if spelled:
            edits = [
                Edit(start, end, spelled[path])
                for path, start, end in walk(text)
                if path in spelled
            ]
            text = splice(text, edits)
        text = self.terminals.rename(self.sessions.rename(text))
        return self.folders.rename(text) if folders else text


def _path_pattern(folders: Iterable[str]) -> re.Pattern[str]:
    """Return what finds folders as prefixes of paths, the longest first, with either slash."""
    longest_first = sorted(folders, key=lambda folder: (-len(folder), folder))
    choice = "|".join(re.escape(folder).replace("/", r"[/\\]") for folder in longest_first)
    return re.compile(rf"{_BEGINS}(?P<folder>{choice}){_ENDS}(?P<separator>[/\\]?)")


def _spellings(id_: str) -> set[bytes]:
    """Return how serializers write an id: other letters as they are or escaped, and slashes too."""
    written = (jsontext.dump(id_), json.dumps(id_).encode())
    return {*written, *(spelling.replace(b"/", rb"\/") for spelling in written)}


def _slashed(path: str) -> str:
    """Return a path as it is written with slashes; on Windows agents write either."""
    return path.replace("\\", "/")


def _quoted(path: str) -> str:
    """Return a path as URIs spell it."""
    return quote(path, safe="/:\\", errors="replace")  # half a surrogate pair has no spelling


def _bare(path: str) -> str:
    """Return a path without separators at its end, unless it is a root."""
    bare = path.rstrip(_SEPARATORS)
    return path if not bare or _DRIVE.fullmatch(bare) else bare


def core(value: str) -> bytes:
    """Return the longest part of a value that every JSON serializer writes the same way."""
    return max(_PLAIN_RUN.findall(value.encode("utf-8", "replace")), key=len, default=b"")
