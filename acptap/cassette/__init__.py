"""The cassette, format 1: one JSON header line, then one JSON line for each unit or event.

A unit is what the transport delimits: on stdio a line with its line end. It stands last in its
entry, under one of three keys that say how it is stored, not what it is:

* `msg`: the peer's own JSON text, spliced in byte for byte, when the unit is *plain*;
* `text`: the whole unit, delimiters included, as a JSON string;
* `b64`: the same in base64, when it isn't UTF-8.

No annotation uses these three names at any depth, so in a line that starts with `{"at":` the
payload is found without parsing: it is what follows the first of them.
"""

from acptap.cassette.encoding import (
    MEMBERS,
    NOTHING,
    Annotations,
    encode_at,
    encode_binary,
    encode_front,
    encode_payload,
    has_controls,
)
from acptap.cassette.entry import (
    DELIMITER,
    MIGRATIONS,
    PAYLOAD_KEYS,
    Entry,
    decode_entry,
    fetch_unit,
    migrate,
    unit_of,
)
from acptap.cassette.header import ANNOTATIONS, DONE, FORMAT, OPEN, Header, decode_header

__all__ = [
    "ANNOTATIONS",
    "DELIMITER",
    "DONE",
    "FORMAT",
    "MEMBERS",
    "MIGRATIONS",
    "NOTHING",
    "OPEN",
    "PAYLOAD_KEYS",
    "Annotations",
    "Entry",
    "Header",
    "decode_entry",
    "decode_header",
    "encode_at",
    "encode_binary",
    "encode_front",
    "encode_payload",
    "fetch_unit",
    "has_controls",
    "migrate",
    "unit_of",
]
