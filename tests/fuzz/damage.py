"""Spoils conversations: what a broken client, agent or terminal could put on the wire."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from acptap.jsonrpc import Side
from tests.fuzz.author import Line
from tests.fuzz.chance import Chance

Place = tuple[Any, Any]
"""A container and the key in it."""

ODD_VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 1e300, 2**70, "", "x", "\ud800", "[redacted:1]", [], {}, [[]], {"": {}},
    [1, "a", None], {"sessionId": "s"}, "idle", "tool-0", "child-0",
]  # fmt: skip
ODD_IDS: list[Any] = [None, True, 1.0, 1e2, 0.5, -0.0, 2**63, 2**70, "", "1", "\u0000", [], {}]
ODD_BYTES = [
    b"\x00", b"\xff", b"\r", b"\t", b" ", b"\xef\xbb\xbf", b'"', b"{", b"]", b",", b"\\",
    b"\\ud800", b"\xe2\x80\xa8", b"\x85", b"NaN",
]  # fmt: skip
ODD_LINES = [
    b"\n", b"\r\n", b"[]\n", b"[[]]\n", b"null\n", b"{}\n", b"1\n", b'"a"\n', b"{}{}\n",
    b"\xff\xfe\n", b"[1,{}]\n", b'{"id":1}\n', b'{"method":null}\n',
    b'{"id":1,"result":1,"error":1}\n', b'{"id":0,"id":1,"result":{}}\n', b"[" * 200 + b"\n",
    b'{"method":"a","method":"session/update"}\n',
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n',
    b'{"id":1,"method":"proxy/successor","params":{"method":"proxy/successor","params":[]}}\n',
]  # fmt: skip


def damaged(lines: list[Line], chance: Chance, harms: int) -> list[Line]:
    """Return a conversation with that many harms done to it."""
    lines = list(lines)
    for _ in range(harms):
        if not lines:
            break
        chance.choice(_HARMS)(lines, chance.randrange(len(lines)), chance)
    return lines


# Whole lines


def _drop(lines: list[Line], place: int, _: Chance) -> None:
    del lines[place]


def _double(lines: list[Line], place: int, chance: Chance) -> None:
    lines.insert(chance.randrange(len(lines) + 1), lines[place])


def _move(lines: list[Line], place: int, chance: Chance) -> None:
    line = lines.pop(place)
    lines.insert(chance.randrange(len(lines) + 1), line)


def _say_otherwise(lines: list[Line], place: int, _: Chance) -> None:
    side, raw = lines[place]
    lines[place] = Line(side.other, raw)


def _add(lines: list[Line], place: int, chance: Chance) -> None:
    lines.insert(place, Line(chance.choice([*Side]), chance.choice(ODD_LINES)))


# Bytes


def _cut(lines: list[Line], place: int, chance: Chance) -> None:
    side, raw = lines[place]
    cut = chance.choice([raw[:-1], raw[: chance.randrange(len(raw) + 1)]])
    if cut:
        lines[place] = Line(side, cut)


def _insert_bytes(lines: list[Line], place: int, chance: Chance) -> None:
    side, raw = lines[place]
    at = chance.randrange(len(raw) + 1)
    lines[place] = Line(side, raw[:at] + chance.choice(ODD_BYTES) + raw[at:])


def _write_twice(lines: list[Line], place: int, chance: Chance) -> None:
    """Write a member twice, as no encoder would."""
    side, raw = lines[place]
    member = chance.choice([b'"id":7,', b'"method":"session/update",', b'"params":{},', b'"":0,'])
    at = raw.find(b"{") + 1
    lines[place] = Line(side, raw[:at] + member + raw[at:])


# Values


def _remove_member(lines: list[Line], place: int, chance: Chance) -> None:
    def remove(inside: Place) -> None:
        del inside[0][inside[1]]

    _change(lines, place, chance, remove)


def _replace_value(lines: list[Line], place: int, chance: Chance) -> None:
    def replace(inside: Place) -> None:
        inside[0][inside[1]] = chance.choice(ODD_VALUES)

    _change(lines, place, chance, replace)


def _replace_id(lines: list[Line], place: int, chance: Chance) -> None:
    value = _value_of(lines[place])
    if isinstance(value, dict):
        value["id"] = chance.choice(ODD_IDS)
        lines[place] = _line(lines[place].side, value, chance)


def _batch(lines: list[Line], place: int, chance: Chance) -> None:
    value = _value_of(lines[place])
    if value is not None:
        batch = chance.choice([[value], [value, value], [[value]], [value, 1], [{}, value]])
        lines[place] = _line(lines[place].side, batch, chance)


def _change(lines: list[Line], place: int, chance: Chance, change: Callable[[Place], None]) -> None:
    value = _value_of(lines[place])
    places = list(_places(value))
    if places:
        change(chance.choice(places))
        lines[place] = _line(lines[place].side, value, chance)


def _places(value: Any) -> Iterator[Place]:
    keys = value.keys() if isinstance(value, dict) else range(len(value) if _is_list(value) else 0)
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _value_of(line: Line) -> Any:
    try:
        return json.loads(line.raw)
    except (ValueError, RecursionError):
        return None


def _line(side: Side, value: Any, chance: Chance) -> Line:
    text = json.dumps(value, ensure_ascii=chance.choice([True, False]))
    return Line(side, text.encode("utf-8", "surrogatepass") + chance.choice([b"\n", b"\r\n"]))


_HARMS = [
    _replace_value, _remove_member, _drop, _double, _move, _replace_id, _batch, _write_twice, _cut,
    _insert_bytes, _say_otherwise, _add,
]  # fmt: skip
