"""Writes conversations that a real client and a real agent could have had.

The author keeps what each side knows: a client speaks of a session only once it was named to it,
nobody answers what was not asked. What is said is sound by the schemas; what they leave open is
there too: unknown methods and updates, odd ids, answers in any order, batches, noise.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from acptap.acp.methods import METHODS, Kind, Scope, Status
from acptap.jsonrpc import Side
from tests.fuzz.chance import Chance
from tests.fuzz.shapes import LINKED, PARAMS, RESULTS, UPDATES, V1, V2, fill

if TYPE_CHECKING:
    from collections.abc import Callable

Message = dict[str, Any]
STATES = ["running", "idle", "requires_action", "unknown", "_acme.paused", "sleeping"]
UNKNOWN_METHODS = ["_acme/thing", "future/thing"]
UNKNOWN_UPDATES = ["_acme_update", "future_update"]
BLANK_AND_NOISE = [b"\n", b"Loading the model\n", b"\r\n", b"{half a message\n"]
TEXTS = ["hi", "zwei Wörter", "in /home/dev/demo/a.txt", "\u2028 \t \U0001f600", " "]
SECRET = "sk-ant-" + "api03-Zq7Kx2Lw9Vb4Nm1Tr8Yp5Hd3"  # no secret; in two, so that no scanner asks
OPENERS = ("session/load", "session/resume")
ASKS = ("session/request_permission", "elicitation/create")
ID_STYLES: list["Callable[[int], object]"] = [int, str, lambda n: n - 2, lambda n: 2**60 + n]
QUERIED = frozenset({"initialize", "session/new", "session/prompt", *OPENERS})


class Line(NamedTuple):
    """One unit, as it stands on the wire."""

    side: Side
    raw: bytes


@dataclass
class Open:
    """A request that is not answered yet."""

    id: object
    method: str
    session: str | None
    minted: str | None = None


def methods_of(version: int, caller: Side, kind: Kind) -> list[str]:
    """Return the methods that a side may call, with a shape for them."""
    return [
        method
        for method, row in METHODS.items()
        if row.status(version) in (Status.STABLE, Status.UNSTABLE)
        and row.caller in (None, caller)
        and row.kind in (kind, Kind.EITHER)
        and version in PARAMS.get(method, {})
        and not method.startswith(("proxy/", "$/"))
    ]


class Author:
    """Writes one conversation.

    Args:
        chance: Decides.
        version: The protocol version it is held in.
    """

    def __init__(self, chance: Chance, version: int) -> None:
        self.chance = chance
        self.version = version
        self.sessions: list[str] = []
        self.open: dict[Side, list[Open]] = {side: [] for side in Side}
        self._said: list[tuple[Side, Message | bytes]] = []
        self._ids: Callable[[int], object] = chance.choice(ID_STYLES)
        self._count = 0
        self._asked = 0
        self._terminals = ["t0"]
        self._links = ["e0"]
        self._moves: list[Callable[[], None]] = [
            self._update, self._answer_client, self._prompt, self._ask_client, self._answer_agent,
            self._new, self._open, self._request, self._cancel, self._tell_client, self._link,
            self._unheard, self._noise, self._withdraw,
        ]  # fmt: skip

    def write(self, moves: int) -> list[Line]:
        """Return a conversation of up to that many messages between its beginning and its end."""
        if self.chance.randrange(4) == 3:
            self._noise()
        self._call(Side.CLIENT, "initialize")
        if self.chance.randrange(4) < 3:
            self._answer_client()
        for _ in range(moves):
            self.chance.choice(self._moves)()
        while self.chance.randrange(8) < 7 and any(self.open.values()):
            self._answer_agent()
            self._answer_client()
        return self._lines()

    # What the client says

    def _new(self) -> None:
        self._call(Side.CLIENT, "session/new")

    def _open(self) -> None:
        method = self.chance.choice([m for m in OPENERS if self.version in PARAMS[m]])
        session = f"mine-{len(self._said)}"
        self._call(Side.CLIENT, method, session)
        self.sessions.append(session)

    def _prompt(self) -> None:
        if self.sessions:
            self._call(Side.CLIENT, "session/prompt", self.chance.choice(self.sessions))

    def _request(self) -> None:
        methods = methods_of(self.version, Side.CLIENT, Kind.REQUEST)
        method = self.chance.choice([m for m in methods if m not in QUERIED])
        in_session = "sessionId" in PARAMS[method][self.version]
        if self.sessions or not in_session:
            session = self.chance.choice(self.sessions) if in_session else None
            self._call(Side.CLIENT, method, session)

    def _cancel(self) -> None:
        if self.open[Side.CLIENT] and self.chance.randrange(3) == 2:
            quoted = self.chance.choice(self.open[Side.CLIENT]).id
            self._notify(Side.CLIENT, "$/cancel_request", request=quoted)
        elif self.sessions:
            self._notify(Side.CLIENT, "session/cancel", session=self.chance.choice(self.sessions))

    def _answer_agent(self) -> None:
        """Answer something that the agent asked."""
        if not self.open[Side.AGENT]:
            return
        asked = self._pop(Side.AGENT)
        terminal = f"t{len(self._terminals)}"
        if asked.method == "terminal/create":
            self._terminals.append(terminal)
        result = self._result(asked, terminal=terminal)
        if asked.method == ASKS[0]:
            result = self.chance.choice([result, {"outcome": {"outcome": "cancelled"}}])
        self._answer(Side.CLIENT, asked, result)

    # What the agent says

    def _answer_client(self) -> None:
        """Answer something that the client asked."""
        if not self.open[Side.CLIENT]:
            return
        asked = self._pop(Side.CLIENT)
        minted = asked.minted or f"s{len(self._said)}"
        mints = METHODS.get(asked.method)
        if mints is not None and mints.scope is Scope.MINTS:
            if self._answer(Side.AGENT, asked, self._result(asked, session=minted)):
                self.sessions.append(minted)
            return
        self._answer(Side.AGENT, asked, self._result(asked))

    def _update(self) -> None:
        session = self._session_to_speak_of()
        if session is None:
            return
        kinds = [kind for kind, shapes in UPDATES.items() if self.version in shapes]
        kind = self.chance.choice([*kinds, *UNKNOWN_UPDATES])
        shape = UPDATES.get(kind, {}).get(self.version, {"text": "{text}"})
        update = {"sessionUpdate": kind} | fill(shape, self._names())
        params = {"sessionId": session, "update": update}
        self._say(Side.AGENT, {"method": "session/update", "params": params})

    def _session_to_speak_of(self) -> str | None:
        """Return a session: one the client knows, or one that it is about to be told."""
        coming = [one for one in self.open[Side.CLIENT] if one.method == "session/new"]
        if coming and self.chance.randrange(3) == 2:
            asked = coming[0]
            asked.minted = asked.minted or f"s{len(self._said)}"
            return asked.minted
        return self.chance.choice(self.sessions) if self.sessions else None

    def _ask_client(self) -> None:
        session = self._session_to_speak_of()
        if session is not None:
            methods = methods_of(self.version, Side.AGENT, Kind.REQUEST)
            self._call(Side.AGENT, self.chance.choice(methods), session)

    def _link(self) -> None:
        """Ask for something that belongs to an open request of the client's."""
        if not self.open[Side.CLIENT]:
            return
        quoted = self.chance.choice(self.open[Side.CLIENT]).id
        self._links.append(f"e{len(self._links)}")
        shape = LINKED[ASKS[1]][self.version]
        params = fill(shape, self._names(request=quoted, elicitation=self._links[-1]))
        self._call(Side.AGENT, ASKS[1], params=params)

    def _tell_client(self) -> None:
        method = self.chance.choice(["elicitation/complete", "auth/status_update"])
        self._notify(Side.AGENT, method, elicitation=self.chance.choice(self._links))

    def _withdraw(self) -> None:
        if self.open[Side.AGENT]:
            quoted = self.chance.choice(self.open[Side.AGENT]).id
            self._notify(Side.AGENT, "$/cancel_request", request=quoted)

    # What either says

    def _unheard(self) -> None:
        side = self.chance.choice([*Side])
        method = self.chance.choice(UNKNOWN_METHODS)
        session = self.chance.choice([None, *self.sessions])
        params = {"n": 1} if session is None else {"sessionId": session}
        if self.chance.randrange(2):
            self._call(side, method, session, params=params)
        else:
            self._say(side, {"method": method, "params": params})

    def _noise(self) -> None:
        side = self.chance.choice([Side.AGENT, Side.CLIENT])
        self._said.append((side, self.chance.choice(BLANK_AND_NOISE)))

    def _call(
        self, side: Side, method: str, session: str | None = None, params: Message | None = None
    ) -> None:
        id_ = self._fresh_id(side)
        if params is None:
            params = fill(PARAMS[method][self.version], self._names(session=session))
        self._say(side, {"id": id_, "method": method, "params": params})
        self.open[side].append(Open(id_, method, session))

    def _notify(self, side: Side, method: str, **names: Any) -> None:
        params = fill(PARAMS[method][self.version], self._names(**names))
        self._say(side, {"method": method, "params": params})

    def _answer(self, side: Side, asked: Open, result: object) -> bool:
        """Say an answer, and return whether it is a success."""
        if asked.method != "initialize" and self.chance.randrange(6) == 5:
            error = {"code": self.chance.choice([-32603, -32800]), "message": "no"}
            self._say(side, {"id": asked.id, "error": error})
            return False
        self._say(side, {"id": asked.id, "result": result})
        return True

    def _result(self, asked: Open, **names: Any) -> Message:
        shape = RESULTS.get(asked.method, {}).get(self.version, {})
        result = fill(shape, self._names(session=asked.session) | names)
        return result if isinstance(result, dict) else {}

    def _names(self, **names: Any) -> dict[str, Any]:
        n = self.chance.randrange(3)
        known = {
            "session": "nowhere", "child": f"child-{n}", "tool": f"tool-{n}", "message": f"m{n}",
            "terminal": self.chance.choice(self._terminals), "elicitation": self._links[-1],
            "text": self.chance.choice([*TEXTS, f"the key is {SECRET}"]), "secret": SECRET,
            "state": self.chance.choice(STATES),
        }  # fmt: skip
        return known | names

    def _fresh_id(self, side: Side) -> object:
        if side is Side.AGENT:  # from 0, as every SDK counts, so ids are open on both sides at once
            self._asked += 1
            return self._asked - 1
        self._count += 1
        if self.version == V1 and self._count > 1 and self.chance.randrange(30) == 29:
            return None if all(one.id is not None for one in self.open[side]) else "none"
        return self._ids(self._count)

    def _pop(self, asker: Side) -> Open:
        open_ = self.open[asker]
        return open_.pop(self.chance.randrange(len(open_)))

    def _say(self, side: Side, message: Message) -> None:
        self._said.append((side, {"jsonrpc": "2.0"} | message))

    # How it is written

    def _lines(self) -> list[Line]:
        lines: list[Line] = []
        batch: list[Message] = []
        said: list[tuple[Side | None, Message | bytes]] = [*self._said, (None, b"")]
        for (side, message), (next_side, next_one) in pairwise(said):
            assert side is not None
            if not isinstance(message, dict):
                lines.append(Line(side, message))
                continue
            batch.append(message)
            goes_on = next_side is side and isinstance(next_one, dict)
            if not goes_on or self.chance.randrange(12) < 11:
                value = batch if len(batch) > 1 else message
                lines.append(Line(side, orjson.dumps(value) + b"\n"))
                batch = []
        return lines


def conversation(chance: Chance, moves: int, version: int | None = None) -> list[Line]:
    """Return a conversation, in either version unless one is given."""
    return Author(chance, version or chance.choice([V1, V2])).write(moves)
