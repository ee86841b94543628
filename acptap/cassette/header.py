"""The first line of a cassette: what was recorded, when, and by whom."""

from dataclasses import dataclass, field

from acptap.errors import NewerFormat, NotACassette
from acptap.wire import jsontext
from acptap.wire.jsontext import dump

FORMAT = 1
"""The number of the cassette format that is written."""

ANNOTATIONS = 1
"""Revision of the rules that annotations are written by."""

OPEN, DONE = "open", "done"
"""How far redaction is. Of one length, so that one becomes the other in place."""

_HEADER_KEYS = ("protocol", "transport", "recorded_at", "upstream", "generator")


@dataclass(slots=True)
class Header:
    """The first line.

    Attributes:
        protocol: `acp` or `ag-ui`.
        transport: `stdio`, `http` or `websocket`.
        recorded_at: The instant `at` counts from, as ISO 8601 in UTC with microseconds.
        upstream: The agent's command as a list, or its URL.
        generator: Who wrote the file.
        redaction: `OPEN` while secrets that came in pieces may still be in it, `DONE` once they
            are not, empty if nothing was taken out.
        format: The cassette format.
        annotations: Revision of the rules the annotations were written by.
        extra: Members this version does not know; kept.
    """

    protocol: str
    transport: str
    recorded_at: str
    upstream: list[str] | str
    generator: str
    redaction: str = ""
    format: int = FORMAT
    annotations: int = ANNOTATIONS
    extra: dict[str, object] = field(default_factory=dict)

    @property
    def is_redaction_open(self) -> bool:
        """Whether the recording was not finished, so that `acptap redact` has something to do."""
        return self.redaction == OPEN

    def encode(self) -> bytes:
        """Return the header's line."""
        line: dict[str, object] = {"acptap": self.format, "annotations": self.annotations}
        line |= {key: getattr(self, key) for key in _HEADER_KEYS}
        if self.redaction:
            line["redaction"] = self.redaction
        return dump(line | self.extra) + b"\n"


def decode_header(line: bytes, name: str) -> Header:
    """Read a cassette's first line.

    Args:
        line: The line, with or without its LF.
        name: The file's name, for errors.

    Raises:
        NotACassette: It is no header.
        NewerFormat: Its format is newer than `FORMAT`.
    """
    try:
        value = jsontext.parse(line)
    except ValueError:
        value = None
    if not isinstance(value, dict) or type(value.get("acptap")) is not int or value["acptap"] < 1:
        raise NotACassette(
            "not a cassette: the first line is no acptap header", where=name,
            fix="name a file that `acptap proxy` wrote",
        )  # fmt: skip
    if value["acptap"] > FORMAT:
        raise NewerFormat(
            f"format {value['acptap']} is newer than this acptap reads ({FORMAT})", where=name,
            fix="install a newer acptap",
        )  # fmt: skip
    known = {key: value.pop(key, "") for key in _HEADER_KEYS}
    redaction = str(value.pop("redaction", ""))
    format_, annotations = value.pop("acptap"), value.pop("annotations", 0)
    return Header(
        **known, redaction=redaction, format=format_, annotations=annotations, extra=value
    )
