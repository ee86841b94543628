"""What secrets look like: key shapes, assignments, keys that come line by line.

Each finder takes text and yields where the secrets are; none of them changes anything.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from acptap.redact.hits import Hit
from acptap.redact.names import ORDINARY, SHORT_NAMES, TELLING, is_credential, named
from acptap.wire.escapes import unescape

# Key shapes, anywhere in a text. What is secret is group 1 if there is one.

NOT_YET = r"(?!\[redacted:\d)"


def _run(excluded: str, least: int) -> str:
    """Return the pattern of all that follows, up to a character of a class or a placeholder."""
    return (
        rf"(?=(?:{NOT_YET}[^{excluded}]){{{least}}})"
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
                rf"://((?:{NOT_YET}[^\s/?#\"'<>\\{{}}:])*:(?:{NOT_YET}[^\s/?#\"'<>\\{{}}])+"
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


_NAME = rf"(?:(?i:{TELLING})(?!(?i:s))|(?<![A-Za-z])(?i:{SHORT_NAMES})(?![A-Za-z]))[\w.-]{{0,40}}+"
_NO_COUNT = r"(?![\d.]+(?:[a-z]{1,2}|%)?(?![\w-]))"  # or duration
_WITHOUT_SCHEME = rf"(?:(?i:Bearer|Basic|Token)\s+)?{_NO_COUNT}(?![$<{{(*])"
_SAID = r"(?:[^\"\\\n]|\\.)"
_IS_STRING = r"\"\s{0,40}+:\s{0,40}+\""
_MEMBER = re.compile(rf"{_NAME}{_IS_STRING}{_WITHOUT_SCHEME}(?P<value>{_SAID}{{4}}{_SAID}*+)")
_ASSIGNED = re.compile(
    rf"{_NAME}[\"']?\s{{0,40}}+[=:]\s*+[\"']?{_WITHOUT_SCHEME}(?P<value>{_LOGGED_VALUE})"
)
_LIST = re.compile(
    r"\"(?:env|headers)\"\s{0,40}+:\s{0,40}+\[(?P<inside>(?:[^\]\"]++|\"(?:[^\"\\]++|\\.)*+\"?)*+)",
    re.DOTALL,
)
_MAP = re.compile(
    r"\"(?:env|headers)\"\s{0,40}+:\s{0,40}+\{(?P<inside>(?:[^}\"]++|\"(?:[^\"\\]++|\\.)*+\"?)*+)",
    re.DOTALL,
)
_VALUE = re.compile(rf"\"value{_IS_STRING}(?P<value>{_SAID}++)")
_ANY_VALUE = re.compile(rf"{_IS_STRING}(?P<value>{_SAID}++)")
_PAIR = re.compile(
    rf"\"name{_IS_STRING}(?P<name>[^\"\\]{{1,80}}+)\"\s{{0,40}}+,\s{{0,40}}+"
    rf"\"value{_IS_STRING}(?P<value>{_SAID}++)"
)


def assigned(text: str) -> Iterator[Hit]:
    """Yield the values of `key=…`, `token: …` and the like in a log line."""
    names = named(text)
    yield from _values(_ASSIGNED, text, names)
    yield from _members(text, names)


def members(text: str) -> Iterator[Hit]:
    """Yield the values of members with telling names, and of `env` and `headers`, in JSON text.

    The text may be any part of JSON, or have some in it.
    """
    yield from _members(text, named(text))


def _members(text: str, names: list[int]) -> Iterator[Hit]:
    if '"' not in text:
        return
    yield from _values(_MEMBER, text, names)
    for within, pattern in ((_LIST, _VALUE), (_MAP, _ANY_VALUE)):
        for place in within.finditer(text):
            for match in pattern.finditer(text, *place.span("inside")):
                yield from _said(match)
    for match in _PAIR.finditer(text):
        if is_credential(match["name"]) or match["name"].isupper():
            yield from _said(match)


def _values(pattern: re.Pattern[str], text: str, names: list[int]) -> Iterator[Hit]:
    end = 0
    for place in names:
        match = pattern.match(text, place) if place >= end else None
        if match is not None:
            end = match.end()
            if ORDINARY.fullmatch(match["value"]) is None:
                yield Hit(*match.span("value"), unescape(match["value"]).text, is_named=True)


def _said(match: re.Match[str]) -> Iterator[Hit]:
    """Yield what stands in a JSON string, without an authentication scheme in front."""
    for hit in whole(match["value"]):
        start, end = match.start("value") + hit.start, match.start("value") + hit.end
        yield Hit(start, end, unescape(hit.secret).text, is_named=True)


# Keys of several lines that come line by line

_PEM_BORDER = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{1,60}-----")
_PEM_LINE = re.compile(
    r"^[^\S\n]*([A-Za-z0-9+/]{4,}={0,2}|[A-Za-z0-9+/]{2,3}={1,2})[^\S\n]*$", re.MULTILINE
)
_PEM_WORD = re.compile(r"(?<!\S)([A-Za-z0-9+/]{40,}={0,2})[^\S\n]*$", re.MULTILINE)


def pem_borders(text: str) -> Iterator[tuple[bool, int]]:
    """Yield where keys begin and end: whether one begins, and where the border starts."""
    for match in _PEM_BORDER.finditer(text):
        yield match[1] == "BEGIN", match.start()


def pem_lines(text: str) -> Iterator[Hit]:
    """Yield what may be the inside of a key: lines of base64, and long words of it at the end."""
    yield from matched(_PEM_LINE, text.replace("\r", " "))
    yield from matched(_PEM_WORD, text.replace("\r", " "))


# Values that may begin with how they are to be used

_SCHEME = re.compile(r"\s*(?:Bearer|Basic|Token|Digest|ApiKey|Negotiate)\s+(?=\S)", re.IGNORECASE)


def whole(text: str) -> Iterator[Hit]:
    """Yield the value of a slot, without an authentication scheme in front."""
    scheme = _SCHEME.match(text)
    start = scheme.end() if scheme else 0
    if text.strip():
        yield Hit(start, len(text), text[start:].strip())
