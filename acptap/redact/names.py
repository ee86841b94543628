"""Names that tell of a secret, and values that are worth looking for elsewhere."""

import re
from collections.abc import Iterator

TELLING = (
    "api[-_. ]?key|token|secret|passw(?:or)?d|passphrase|authorization|cookie|bearer|credential"
)
SHORT_NAMES = "(?:key|pwd|pass|auth|jwt|sig)"
_NAMED = re.compile(TELLING, re.IGNORECASE)
IN_TEXT = re.compile(
    rf"{TELLING}|(?:access|private)[-_]?key|signature"
    rf"|(?<![a-z]){SHORT_NAMES}(?![a-z])",
    re.IGNORECASE,
)
_VARIABLE = re.compile(
    rf"(?i:{TELLING}|passcode|passkey)"
    # words of a name: KEY, API_KEY, key2, sshKeys, not MONKEY, KEYBOARD, COMPASS
    r"|(?<![A-Za-z])(?i:keys?|pass)(?![a-z])(?!(?<=[A-Z])[A-Z])"
    r"|(?<=[a-z0-9])(?:Keys?|Pass)(?![a-z])"
    # and those that are written as one word
    r"|(?i:access|private|auth|ssh|master|account|client|encryption|signing|license)(?i:key)"
    r"|(?i:db|ssh|user|sql|smtp|mail|root|admin)(?i:pass)(?![A-Za-z])"
)


def is_telling(name: str) -> bool:
    """Return whether a member of any JSON object is named like a credential (acp.md 7)."""
    return _NAMED.search(name) is not None


_TELLING_BYTES = re.compile(rb"%b|headers|\"env\\?\"" % TELLING.encode(), re.IGNORECASE)
_TELLING_PARTS = (
    *(b"api", b"token", b"secret", b"pass", b"authorization", b"cookie", b"bearer", b"credential"),
    *(b"headers", b'"env'),
)
"""What a match has in it. To look for all of these takes a tenth of the time of the pattern."""


def has_telling(text: bytes) -> bool:
    """Return whether any member of a JSON text may be named like one that holds credentials."""
    small = text.lower()
    is_likely = any(part in small for part in _TELLING_PARTS)
    return is_likely and _TELLING_BYTES.search(text) is not None


_VALUE_FOLLOWS = r"(?=[\w.-]{0,40}+\\*+[\"']?\s{0,40}+[=:])"
_NAMES = [
    # In small letters. Each begins with a literal, which an alternation of all would not: it takes
    # a hundred times as long.
    (hint, re.compile(pattern + _VALUE_FOLLOWS))
    for hint, pattern in [
        *((word.partition("[")[0][:4], rf"{word}(?!s)") for word in TELLING.split("|")),
        *(
            (word, rf"{word}(?<![a-z]{word})(?![a-z])")
            for word in SHORT_NAMES.removeprefix("(?:").removesuffix(")").split("|")
        ),
    ]
]


def named(text: str) -> list[int]:
    """Return where names begin that tell of a credential and that a value may follow on."""
    small = text.lower()
    if len(small) != len(text):  # of one letter, the small one is two characters
        small = text.replace("\u0130", "I").lower()
    return sorted(
        {match.start() for hint, name in _NAMES if hint in small for match in name.finditer(small)}
    )


def is_credential(name: str) -> bool:
    """Return whether a variable, a header or another slot is named like a credential."""
    return _VARIABLE.search(name) is not None


# What is worth looking for elsewhere

_MIN_CREDENTIAL = 4
_MIN_OTHER = 16
ORDINARY = re.compile(
    r"(?i:true|false|null|none|nil|undefined|yes|test|enabled|disabled|default|auto|basic|bearer"
    r"|token|password|secret|\d{1,5})"
)
PUBLIC = re.compile(
    r"(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/|\\\\).*"  # a path
    r"|[A-Za-z][\w+.-]*://[^\s@?#]*"  # a URL without user info and parameters
    r"|[+-]?[\d.,_]+(?:[eE][+-]?\d+)?",  # a number
    re.DOTALL,
)

_EVERYDAY = re.compile(
    r"(?i:postgres(?:ql)?|mysql|mariadb|redis|mongo(?:db)?|rabbitmq|root|admin(?:istrator)?|guest"
    r"|user(?:name)?|demo|example|sample|dummy|public|local(?:host)?|dev(?:elopment)?|staging"
    r"|prod(?:uction)?|change[-_]?(?:me|it)|welcome|letmein|qwerty|(?:pass|passwd|admin|test)\d{0,4})"
)
_IDENTIFIER = re.compile(
    # words of lower-case letters, of digits, or of a few of both: claude-sonnet-4-20250514
    r"(?=[^\d]*\d)[a-z]{2,}(?:[-./:_@](?:[a-z]{1,14}|v?\d{1,8}|v?\d{1,3}[a-z]{1,2}|[a-z]{1,6}\d{1,3}))+"
)


def is_worth_learning(secret: str, *, is_named: bool) -> bool:
    """Return whether a slot's value is to be found wherever else it stands.

    A credential is, from 4 characters on and unless it is an everyday word or a short number; any
    other value from 16 on, unless it is a path, a plain URL, a number, or the name of a model or
    a version: lower-case words and short numbers with dashes between them, which say nothing that
    could not be guessed. The rest would eat text.
    """
    if is_named:
        return len(secret) >= _MIN_CREDENTIAL and not (
            ORDINARY.fullmatch(secret) or _EVERYDAY.fullmatch(secret)
        )
    return len(secret) >= _MIN_OTHER and not (
        PUBLIC.fullmatch(secret) or _IDENTIFIER.fullmatch(secret)
    )


def lines_worth_learning(secret: str) -> Iterator[str]:
    """Yield the lines of a secret that are to be found by themselves, as of a key in a file."""
    lines = [line.strip() for line in secret.splitlines()]
    if len(lines) > 1:
        for line in lines:
            if is_worth_learning(line, is_named=False) and not line.startswith("-----"):
                yield line
