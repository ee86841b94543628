"""What secrets look like: key shapes, telling names, parts of URLs and of commands.

Each finder takes text and yields where the secrets are; none of them changes anything.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from acptap.redact.hits import Hit
from acptap.redact.layers import layers
from acptap.wire.escapes import unescape

# Names

_TELLING = (
    "api[-_. ]?key|token|secret|passw(?:or)?d|passphrase|authorization|cookie|bearer|credential"
)
_SHORT_NAMES = "(?:key|pwd|pass|auth|jwt|sig)"
_NAMED = re.compile(_TELLING, re.IGNORECASE)
_IN_TEXT = re.compile(
    rf"{_TELLING}|(?:access|private)[-_]?key|signature"
    rf"|(?<![a-z]){_SHORT_NAMES}(?![a-z])",
    re.IGNORECASE,
)
_VARIABLE = re.compile(
    rf"(?i:{_TELLING}|passcode|passkey)"
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


_TELLING_BYTES = re.compile(rb"%b|headers|\"env\\?\"" % _TELLING.encode(), re.IGNORECASE)


def has_telling(text: bytes) -> bool:
    """Return whether any member of a JSON text may be named like one that holds credentials."""
    return _TELLING_BYTES.search(text) is not None


def is_credential(name: str) -> bool:
    """Return whether a variable, a header or another slot is named like a credential."""
    return _VARIABLE.search(name) is not None


# What is worth looking for elsewhere

_MIN_CREDENTIAL = 4
_MIN_OTHER = 16
_ORDINARY = re.compile(
    r"(?i:true|false|null|none|nil|undefined|yes|test|enabled|disabled|default|auto|basic|bearer"
    r"|token|password|secret|\d{1,5})"
)
_PUBLIC = re.compile(
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
            _ORDINARY.fullmatch(secret) or _EVERYDAY.fullmatch(secret)
        )
    return len(secret) >= _MIN_OTHER and not (
        _PUBLIC.fullmatch(secret) or _IDENTIFIER.fullmatch(secret)
    )


def lines_worth_learning(secret: str) -> Iterator[str]:
    """Yield the lines of a secret that are to be found by themselves, as of a key in a file."""
    lines = [line.strip() for line in secret.splitlines()]
    if len(lines) > 1:
        for line in lines:
            if is_worth_learning(line, is_named=False) and not line.startswith("-----"):
                yield line


# Key shapes, anywhere in a text. What is secret is group 1 if there is one.

_NOT_YET = r"(?!\[redacted:\d)"


def _run(excluded: str, least: int) -> str:
    """Return the pattern of all that follows, up to a character of a class or a placeholder."""
    return (
        rf"(?=(?:{_NOT_YET}[^{excluded}]){{{least}}})"
        rf"(?:[^{excluded}\[]++|\[(?!redacted:\d))++"
    )


_PARAMETER_VALUE = _run(r"\s&#\"'<>;`\\(){}$", 3)
_VARIABLE_VALUE = _run(r"\s\"'\\", 8)
_LOGGED_VALUE = _run(r"\s\"',;&\\", 4)


class Shape(NamedTuple):
    """What a kind of secret looks like.

    Attributes:
        hint: What a text must hold for the pattern to be worth trying.
        pattern: The shape. It begins with a literal, which makes a search in a large text fast.
    """

    hint: str
    pattern: re.Pattern[str]


SHAPES = {
    name: Shape(hint, re.compile(pattern))
    for name, (hint, pattern) in {
        "sk-": ("sk-", r"sk-(?<![\w-]sk-)(?=[a-z_-]*[0-9A-Z])[\w-]{8,}"),
        "Google": ("AIza", r"AIza(?<![\w/+=-]AIza)[\w-]{20,}"),
        "GitHub": ("gh", r"gh[pousr]_(?<![A-Za-z0-9/+]gh._)[A-Za-z0-9]{10,}"),
        "GitHub, fine-grained": ("github_pat_", r"github_pat_\w{10,}"),
        "Slack": ("xox", r"xox[abprs]-(?<![\w-]xox.-)[A-Za-z0-9-]{10,}"),
        "AWS": ("IA", r"A[KS]IA(?<![\w/+=-]A.IA)[0-9A-Z]{12,}(?![a-z])"),
        "JWT": ("eyJ", r"eyJ(?<![\w/+=-]eyJ)[\w-]{5,}\.[\w-]{5,}\.[\w-]*"),
        "Bearer": (  # no English word behind it
            "Bearer",
            r"Bearer\s+(?![A-Z]?[a-z]{1,19}[.,;:!?)]*(?:[\s\"']|$))([\w.~+/=-]{6,})",
        ),
        "Basic": (
            "Basic",
            (
                r"Basic\s+(?=\S*(?:[0-9=+/]|[a-z][A-Z]))"
                r"((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)(?![\w+/=])"
            ),
        ),
        "PEM": ("-----BEGIN ", r"-----BEGIN [A-Z0-9 ]+-----([^-]+(?:-(?!----END )[^-]*)*)"),
        "user info": (
            "@",
            (
                rf"://((?:{_NOT_YET}[^\s/?#\"'<>\\{{}}:])*:(?:{_NOT_YET}[^\s/?#\"'<>\\{{}}])+"
                r"|[^\s/?#@\"'<>\\{}:\[]{16,})@"
            ),
        ),
        "URL parameter": (
            "=",
            (
                r"[?&#;](?i:[\w.%-]{0,60}?(?:api[-_]?key|token|key|sig|signature|secret|password"
                r"|passwd|pwd|auth|authorization|credential|jwt))"
                rf"=({_PARAMETER_VALUE})"
            ),
        ),
        "capital variable": (
            "=",
            (
                r"=(?:(?<=KEY=)|(?<=TOKEN=)|(?<=SECRET=)|(?<=PASSWORD=)|(?<=PASSWD=)|(?<=PWD=)"
                r"|(?<=CREDENTIAL=)|(?<=CREDENTIALS=))"
                rf"[\"']?((?![$<{{(%]){_VARIABLE_VALUE})"
            ),
        ),
    }.items()
}

_GITHUB = rb"(?<=[ha][pousrl]_)(?:(?<=gh[pousr]_)|(?<=terminal_)[ou])|pat_"
_TRIGGERS = {
    # a byte, and a pattern that begins with it, or is tried only where that byte is at all: such a
    # search runs at the speed of a byte search, an alternation of all takes ten times as long.
    # What may stand in base64 by chance must not follow on a letter, unless that ends an escape.
    b"-": rb"-(?:(?<=sk-)|(?<=xox[abprs]-))",
    b"_": rb"_(?:%b)" % _GITHUB,
    b"=": rb"=(?:(?<=(?i:key|ken|sig|ure|ret|ord|swd|pwd|uth|ial|als|jwt)=)|(?<=(?i:zation)=))\S",
    b"@": rb"/(?:/|\\/)[^\s/]+@",
    b"A": rb"A(?:Iza|[KS]IA)(?:(?<![\w/+]A...)|(?<=\\[a-z]A...)|(?<=\\u....A...))",
    b"B": rb"B(?:earer|asic|EGIN)[ \\]",
    b"J": rb"J(?<=eyJ)(?:(?<![\w/+]eyJ)|(?<=\\[a-z]eyJ)|(?<=\\u....eyJ))",
    b"\\": rb"\\u00[2-9a-fA-F]",  # an ASCII character in disguise
}
Triggers = list[tuple[bytes, re.Pattern[bytes]]]
TRIGGERS: Triggers = [(gate, re.compile(pattern)) for gate, pattern in _TRIGGERS.items()]
"""What JSON text must hold for a shape to be in it, or terminal output in base64."""

_WITH_META = _TRIGGERS | {b"_": rb'_(?:%b|meta")' % _GITHUB}
UPDATE_TRIGGERS: Triggers = [(gate, re.compile(pattern)) for gate, pattern in _WITH_META.items()]
"""The same, and `_meta`: what a `session/update` must hold for a secret to be in it."""


def shaped(text: str) -> Iterator[Hit]:
    """Yield what looks like a key, wherever it stands."""
    for hint, pattern in SHAPES.values():
        if hint in text:
            yield from matched(pattern, text)


def matched(pattern: re.Pattern[str], text: str) -> Iterator[Hit]:
    """Yield what a pattern matches: its first group if it has one, else all of it."""
    group = 1 if pattern.groups else 0
    for match in pattern.finditer(text):
        start, end = match.span(group)
        if start < end:
            yield Hit(start, end, text[start:end])


_NAME = (
    rf"(?:(?i:{_TELLING})(?!(?i:s))|(?<![A-Za-z])(?i:{_SHORT_NAMES})(?![A-Za-z]))[\w.-]{{0,40}}+"
)
_NO_COUNT = r"(?![\d.]+(?:[a-z]{1,2}|%)?(?![\w-]))"  # or duration
_WITHOUT_SCHEME = rf"(?:(?i:Bearer|Basic|Token)\s+)?{_NO_COUNT}(?![$<{{(*])"
_SAID = r"(?:[^\"\\]|\\.)"
_IS_STRING = r"\"\s{0,40}+:\s{0,40}+\""
_MEMBER = re.compile(
    rf"{_NAME}{_IS_STRING}{_WITHOUT_SCHEME}(?P<value>{_SAID}{{4}}{_SAID}*+)", re.DOTALL
)
_ASSIGNED = re.compile(
    rf"{_NAME}[\"']?\s{{0,40}}+[=:]\s*[\"']?{_WITHOUT_SCHEME}(?P<value>{_LOGGED_VALUE})"
)
_LIST = re.compile(
    r"\"(?:env|headers)\"\s{0,40}+:\s{0,40}+\[(?P<inside>(?:[^\]\"]++|\"(?:[^\"\\]++|\\.)*+\"?)*+)",
    re.DOTALL,
)
_MAP = re.compile(
    r"\"(?:env|headers)\"\s{0,40}+:\s{0,40}+\{(?P<inside>(?:[^}\"]++|\"(?:[^\"\\]++|\\.)*+\"?)*+)",
    re.DOTALL,
)
_VALUE = re.compile(rf"\"value{_IS_STRING}(?P<value>{_SAID}++)", re.DOTALL)
_ANY_VALUE = re.compile(rf"{_IS_STRING}(?P<value>{_SAID}++)", re.DOTALL)
_PAIR = re.compile(
    rf"\"name{_IS_STRING}(?P<name>[^\"\\]{{1,80}}+)\"\s{{0,40}}+,\s{{0,40}}+"
    rf"\"value{_IS_STRING}(?P<value>{_SAID}++)",
    re.DOTALL,
)


def assigned(text: str) -> Iterator[Hit]:
    """Yield the values of `key=…`, `token: …` and the like in a log line."""
    yield from _values(_ASSIGNED, text)
    yield from members(text)


def members(text: str) -> Iterator[Hit]:
    """Yield the values of members with telling names, and of `env` and `headers`, in JSON text.

    The text may be any part of JSON, or have some in it.
    """
    if '"' not in text:
        return
    yield from _values(_MEMBER, text)
    for within, pattern in ((_LIST, _VALUE), (_MAP, _ANY_VALUE)):
        for place in within.finditer(text):
            for match in pattern.finditer(text, *place.span("inside")):
                yield from _said(match)
    for match in _PAIR.finditer(text):
        if is_credential(match["name"]) or match["name"].isupper():
            yield from _said(match)


def _values(pattern: re.Pattern[str], text: str) -> Iterator[Hit]:
    for match in pattern.finditer(text):
        if _ORDINARY.fullmatch(match["value"]) is None:
            yield Hit(*match.span("value"), unescape(match["value"]).text, is_named=True)


def _said(match: re.Match[str]) -> Iterator[Hit]:
    """Yield what stands in a JSON string, without an authentication scheme in front."""
    for hit in whole(match["value"]):
        start, end = match.start("value") + hit.start, match.start("value") + hit.end
        yield Hit(start, end, unescape(hit.secret).text, is_named=True)


# Keys of several lines that come line by line

_PEM_BORDER = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{1,60}-----")
_PEM_LINE = re.compile(r"^[^\S\n]*([A-Za-z0-9+/]{4,}={0,2})[^\S\n]*$", re.MULTILINE)
_PEM_WORD = re.compile(r"(?<!\S)([A-Za-z0-9+/]{40,}={0,2})[^\S\n]*$", re.MULTILINE)


def pem_borders(text: str) -> Iterator[tuple[bool, int]]:
    """Yield where keys begin and end: whether one begins, and where the border starts."""
    for match in _PEM_BORDER.finditer(text):
        yield match[1] == "BEGIN", match.start()


def pem_lines(text: str) -> Iterator[Hit]:
    """Yield what may be the inside of a key: lines of base64, and long words of it at the end."""
    yield from matched(_PEM_LINE, text.replace("\r", " "))
    yield from matched(_PEM_WORD, text.replace("\r", " "))


# Slots of which only a part is secret

_SCHEME = re.compile(r"\s*(?:Bearer|Basic|Token|Digest|ApiKey|Negotiate)\s+(?=\S)", re.IGNORECASE)


def whole(text: str) -> Iterator[Hit]:
    """Yield the value of a slot, without an authentication scheme in front."""
    scheme = _SCHEME.match(text)
    start = scheme.end() if scheme else 0
    if text.strip():
        yield Hit(start, len(text), text[start:].strip())


_URL = re.compile(r"[A-Za-z][\w+.-]*://(?:([^\s/?#]*)@)?[^\s/?#@]*[/?#]?")
_PARAMETER = re.compile(r"[?&#;]([^=&#;?\s]+)=([^&#;\s]+)")
_ONE_TIME = frozenset({"code", "state", "nonce", "otp", "ticket", "session"})


def in_url(text: str) -> Iterator[Hit]:
    """Yield the user info and the token-like parameters of a URL."""
    url = _URL.match(text)
    if url is not None and url[1] not in (None, "", "git"):
        yield Hit(*url.span(1), url[1], is_named=True)
    for match in _PARAMETER.finditer(text):
        if _IN_TEXT.search(match[1]) or match[1].lower() in _ONE_TIME:
            yield Hit(*match.span(2), match[2], is_named=True)


def in_link(text: str) -> Iterator[Hit]:
    """Yield what stands behind a URL's host, and the parts of it that mean something alone."""
    url = _URL.match(text)
    if url is None:
        yield from whole(text)
        return
    if url.end() < len(text):
        yield Hit(url.end(), len(text), text[url.end() :])
    yield from in_url(text)


_OPTION = re.compile(
    rf"(?<![\w.-])(--?[A-Za-z][\w.-]*)(?:=|\s+)[\"']?(?P<value>{_NOT_YET}[^\s\"'-][^\s\"']*)"
)
_VARIABLE_SET = re.compile(r"(?<![\w-])([A-Za-z_]\w*)=[\"']?(?P<value>[^\s\"']+)")
_HEADER = re.compile(r"(?<![\w-])([A-Za-z][\w-]*):\s*(?P<value>\S.*)")
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")


def in_words(word: str, before: str, *, every: bool = False) -> Iterator[Hit]:
    """Yield what is secret in a word of a command, or in a whole command line.

    Args:
        word: The word.
        before: The word before it, or nothing.
        every: Whether the value of any `NAME=VALUE` counts, not only of telling names.
    """
    if _FLAG.fullmatch(before) and _IN_TEXT.search(before) and not word.startswith("-"):
        yield from _valued(word, 0)
    for pattern in (_OPTION, _VARIABLE_SET, _HEADER):
        for match in pattern.finditer(word):
            if _IN_TEXT.search(match[1]):
                yield from _valued(match["value"], match.start("value"))
    for layer in layers(word) if "{" in word else ():
        yield from layer.raised(members(layer.text))
    assignment = _VARIABLE_SET.match(word)
    if every and assignment:
        start = assignment.start("value")
        yield Hit(start, len(word), word[start:], is_credential(assignment[1]))


def _valued(value: str, start: int) -> Iterator[Hit]:
    """Yield the value of a telling name, unless it only says where the secret is."""
    if not _PUBLIC.fullmatch(value) or value.isdigit():
        for hit in whole(value):
            yield Hit(start + hit.start, start + hit.end, hit.secret, is_named=True)
