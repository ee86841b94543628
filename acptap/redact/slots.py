"""Slots of which only a part is secret: headers, links, words of a command."""

import re
from collections.abc import Callable, Iterator

from acptap.acp.secrets import Place
from acptap.redact.hits import Hit
from acptap.redact.layers import layers
from acptap.redact.names import IN_TEXT, ORDINARY, PUBLIC, is_credential, is_telling
from acptap.redact.shapes import NOT_YET, members, whole
from acptap.slots import Slot

_URL = re.compile(r"[A-Za-z][\w+.-]*://(?:([^\s/?#]*)@)?[^\s/?#@]*[/?#]?")
_PARAMETER = re.compile(r"[?&#;]([^=&#;?\s]+)=([^&#;\s]+)")
_ONE_TIME = frozenset({"code", "state", "nonce", "otp", "ticket", "session"})


def in_url(text: str) -> Iterator[Hit]:
    """Yield the user info and the token-like parameters of a URL."""
    url = _URL.match(text)
    if url is not None and url[1] not in (None, "", "git"):
        yield Hit(*url.span(1), url[1], is_named=True)
    for match in _PARAMETER.finditer(text):
        if IN_TEXT.search(match[1]) or match[1].lower() in _ONE_TIME:
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
    rf"(?<![\w.-])(--?[A-Za-z][\w.-]*)(?:=|\s+)[\"']?(?P<value>{NOT_YET}[^\s\"'-][^\s\"']*)"
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
    if _FLAG.fullmatch(before) and IN_TEXT.search(before) and not word.startswith("-"):
        yield from _valued(word, 0)
    for pattern in (_OPTION, _VARIABLE_SET, _HEADER):
        for match in pattern.finditer(word):
            if IN_TEXT.search(match[1]):
                yield from _valued(match["value"], match.start("value"))
    for layer in layers(word) if "{" in word else ():
        yield from layer.raised(members(layer.text))
    assignment = _VARIABLE_SET.match(word)
    if every and assignment:
        start = assignment.start("value")
        yield Hit(start, len(word), word[start:], is_credential(assignment[1]))


def _valued(value: str, start: int) -> Iterator[Hit]:
    """Yield the value of a telling name, unless it only says where the secret is."""
    if not PUBLIC.fullmatch(value) or value.isdigit():
        for hit in whole(value):
            yield Hit(start + hit.start, start + hit.end, hit.secret, is_named=True)


_FINDERS: dict[Slot | None, Callable[[str], Iterator[Hit]]] = {
    Slot.WHOLE: whole,
    Slot.URL: in_url,
    Slot.LINK: in_link,
}


def in_slot(place: Place, text: str, before: str) -> Iterator[Hit]:
    """Yield what is secret in a string because of where it stands."""
    if place.slot in _FINDERS:
        yield from _FINDERS[place.slot](text)
    elif place.slot is Slot.WORDS:
        yield from in_words(text, before)
    elif place.slot is Slot.MEMBER:
        yield from _in_member(text)
    elif place.slot is Slot.NAMED and is_telling(place.name):
        yield from (hit._replace(is_named=True) for hit in whole(text))
    elif place.slot is Slot.NAMED and "{" in text:
        for layer in layers(text):
            yield from layer.raised(members(layer.text))


def _in_member(text: str) -> Iterator[Hit]:
    """Yield the value of a member that is named like a credential.

    What is but a word may be one of a model's (`"token": "with"`): it is not to be learnt.
    """
    for hit in () if ORDINARY.fullmatch(text) else whole(text):
        yield hit._replace(is_named=not hit.secret.isalpha())


def in_number(place: Place, spelling: str) -> Iterator[Hit]:
    """Yield a number in the slot of a credential; 0 is what such a number is hidden by."""
    is_hidden = spelling in ("0", "true", "false", "null")
    if place.slot is Slot.WHOLE and is_credential(place.name) and not is_hidden:
        yield Hit(0, len(spelling), spelling)
