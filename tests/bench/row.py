"""One figure, and the traffic it is measured on."""

from dataclasses import asdict, dataclass
from pathlib import Path

_UPDATE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-0123456789",'
    b'"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n'
)


@dataclass(frozen=True, slots=True)
class Row:
    """A measured figure against its budget.

    Attributes:
        what: What was measured.
        value: The figure.
        budget: What it may be at most, or at least if `at_least`.
        unit: `x` for a ratio.
        at_least: Whether more is better.
        raw: The single measurements.
    """

    what: str
    value: float
    budget: float
    unit: str
    raw: tuple[float, ...] = ()
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.budget if self.at_least else self.value <= self.budget

    @property
    def said(self) -> str:
        return f"{self.value:,.4g} {self.unit}"

    @property
    def limit(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.budget:,.4g} {self.unit}"

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "met": self.met}


def update(number: int, size: int) -> bytes:
    """Return one update of exactly `size` bytes, line end included."""
    words = b"%08d " % number
    return _UPDATE % words.ljust(size - len(_UPDATE) + 2, b"x")


SESSION = "sess-0123456789"
_OTHER = b'{"part":"DELTA","messageId":"m-1","delta":"%s"}'
_SIZES = {"acp": 190, "plain": 95}  # of events; there is no shorter update
_AROUND = len(b"data: \n\n")


def text_of(kind: str, number: int) -> bytes:
    """Return a message of ACP, or JSON that is none, as the network carries it."""
    size = _SIZES[kind] - _AROUND
    if kind == "acp":
        return update(number, size + 1)[:-1]
    words = b"%08d " % number
    return _OTHER % words.ljust(size - len(_OTHER) + 2, b"x")


def event(kind: str, number: int) -> bytes:
    """Return such a message as an event of a stream; all of a kind have the same size."""
    return b"data: %b\n\n" % text_of(kind, number)


def write_updates(path: Path, count: int, size: int) -> Path:
    """Write `count` updates to a file."""
    with path.open("wb") as file:
        for number in range(count):
            file.write(update(number, size))
    return path
