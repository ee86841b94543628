"""What the rules have to remember of a session: its ids, its work items, what is still owed."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_REMEMBERED = 10_000


class Memory(dict[K, V], Generic[K, V]):
    """A dict that forgets its oldest entries rather than grow for ever.

    Attributes:
        lossy: Whether it has forgotten anything; what is missing then proves nothing.
    """

    lossy = False

    def keep(self, key: K, value: V) -> None:
        """Remember a value."""
        self[key] = value
        if len(self) > _REMEMBERED:
            del self[next(iter(self))]
            self.lossy = True


Item = tuple[str, str]
"""A piece of background work: its type and its id."""


@dataclass(slots=True)
class Resume:
    """A `session/resume` that is not answered.

    Attributes:
        replays: It asked for the history.
        closed: The session was closed before it.
        snapshots: State updates since.
        early: Messages before the first of them.
        late: Messages since the last of them, if that was idle.
    """

    replays: bool
    closed: bool
    snapshots: int = 0
    early: int = 0
    late: int = 0


@dataclass(slots=True)
class Record:
    """What was said so far in a session, as far as a rule asks for it.

    Attributes:
        opened: A request or an answer of this connection opened the session.
        whole: It was made on this connection, so all that it ever said was heard.
        closed: Its `session/close` succeeded.
        resume: The resume that is open.
        watched: It matters that an update comes at all: it is closed, or being resumed.
        tools: Status of each tool call that was announced; None while it has none.
        terminals: Whether each terminal that was announced has exited.
        children: Sub-agents that were announced.
        background: What the last snapshot listed; None before there was a list.
        busy: How often a state other than idle was reported, or a cancel or a close excused it.
        idles: How often work was reported to have ended.
        cancels: How often running work was to be stopped.
        prompted: A prompt was accepted, and no work was reported since.
        owed: The same of an idle session, and nothing excuses it.
        late: A question of work that had ended was answered.
        custom: A custom state was reported.
        standard: A standard state was reported.
        inserted: User messages that no prompt's answer has named yet.
        awaited: User messages that a prompt's answer has named and that did not come yet.
    """

    opened: bool = False
    whole: bool = False
    closed: bool = False
    resume: Resume | None = None
    watched: bool = False
    tools: Memory[str, str | None] = field(default_factory=Memory)
    terminals: Memory[str, bool] = field(default_factory=Memory)
    children: Memory[str, None] = field(default_factory=Memory)
    background: frozenset[Item] | None = None
    busy: int = 0
    idles: int = 0
    cancels: int = 0
    prompted: bool = False
    owed: bool = False
    late: bool = False
    custom: bool = False
    standard: bool = False
    inserted: Memory[str, None] = field(default_factory=Memory)
    awaited: Memory[str, None] = field(default_factory=Memory)

    def open(self, *, whole: bool = False) -> None:
        """Take in that the session is open from now on."""
        self.opened, self.closed = True, False
        self.whole = self.whole or whole
        self._watch()

    def close(self) -> None:
        """Take in that the session was closed; no work is to be announced any more."""
        self.closed = True
        self.excuse()
        self._watch()

    def begin_resume(self, *, replays: bool) -> None:
        """Take in a resume request. Of two that are open only the first is followed."""
        if self.resume is None:
            self.resume = Resume(replays, self.closed)
        if self.background is not None:
            self.background = frozenset()  # what went on may have ended while nobody listened
        self.open()

    def end_resume(self, *, failed: bool) -> None:
        """Take in its answer."""
        resume, self.resume = self.resume, None
        if failed and resume is not None:
            self.closed = resume.closed
        self._watch()

    def excuse(self) -> None:
        """Take in that work need not be announced: it was stopped before it began."""
        self.busy += 1
        self.owed = False

    def insert(self, message: str) -> None:
        """Take in a user message."""
        if message in self.awaited:
            del self.awaited[message]
        else:
            self.inserted.keep(message, None)

    def name_message(self, message: str) -> None:
        """Take in that a prompt's answer names its user message."""
        if message in self.inserted:
            del self.inserted[message]
        else:
            self.awaited.keep(message, None)

    def _watch(self) -> None:
        self.watched = self.closed or self.resume is not None
