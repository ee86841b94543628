"""The places of JSON that is no agent's protocol: logins, tokens, whatever else HTTP carries.

Of such bodies nobody knows more than the names of their members. They may be large, and many have
something named like a credential in them (`max_tokens`), so their strings are found by one pattern,
not by what is around them.
"""

import re
from functools import lru_cache
from typing import Final

from acptap.acp.secrets import Place
from acptap.redact.names import is_credential, is_telling
from acptap.slots import Slot
from acptap.wire.escapes import unescape

METHOD: Final = "opaque"
"""Stands where ACP has a method: for everything in an exchange that is neither ACP nor AG-UI."""

_STRING = re.compile(rb'(?P<string>"(?:[^"\\]++|\\.)*+")(?P<colon>\s*+:)?|(?P<close>})', re.DOTALL)
_PARTS = (b"key", b"token", b"secret", b"pass", b"auth", b"cookie", b"bearer", b"credential")
_LINK, _DISGUISE = b"://", b"\\u00"
_BESIDE = re.compile(
    r"(?i:type|endpoint|supported|expir\w*|lifetime|limit|count|ur[il]s?|algs?|methods?)$"
    r"|(?:_i|I)ds?$|^(?i:keys?)$|(?i:public|primary|foreign|sort|cache|partition)[-_]?(?i:keys?)$"
)
"""Names that only tell about a credential: `token_type`, `keyId`; and keys that open nothing."""


def may_hold(text: bytes) -> bool:
    """Return whether a member of a JSON text may be a credential, or a link with one."""
    small = text.lower()
    return any(part in small for part in (*_PARTS, _LINK, _DISGUISE))


def places(text: bytes) -> list[Place]:
    """Return every string but members' names, in order.

    Elements of an array have the name of the array.

    Args:
        text: A JSON value.
    """
    found, name, slot = [], "", None
    for match in _STRING.finditer(text):
        kind = match.lastgroup
        if kind == "string":
            found.append(Place(*match.span(), slot, name, None))
        elif kind == "colon":
            name, slot = _meaning(match["string"])
        else:
            name, slot = "", None
    return found


@lru_cache(1024)
def _meaning(spelled: bytes) -> tuple[str, Slot | None]:
    """Return a member's name, and what of its value is secret."""
    name = unescape(spelled[1:-1].decode("utf-8", "surrogateescape")).text
    is_secret = (is_telling(name) or is_credential(name)) and _BESIDE.search(name) is None
    return name, Slot.MEMBER if is_secret else Slot.URL
