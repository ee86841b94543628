import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.replay.renaming import Renaming, is_renamable

SESSION = Renaming().with_session("s-rec", "mine")
TERMINAL = Renaming().with_terminal("t", 'a"b')

IDS = {
    "a session": (SESSION, b'{"sessionId":"s-rec"}', b'{"sessionId":"mine"}'),
    "the rest keeps its spelling": (
        SESSION,
        b' {"a": 1.0, "sessionId" :\t"s-rec",\r\n"b":"\\u0041"}\r\n',
        b' {"a": 1.0, "sessionId" :\t"mine",\r\n"b":"\\u0041"}\r\n',
    ),
    "edge 45 at any depth, under any such name": (
        SESSION,
        b'[{"parentSessionId":"s-rec","x":[{"sessionId":"s-rec"}]}]',
        b'[{"parentSessionId":"mine","x":[{"sessionId":"mine"}]}]',
    ),
    "another session": (SESSION, b'{"sessionId":"s-rec2"}', None),
    "another member": (SESSION, b'{"messageId":"s-rec"}', None),
    "in a text": (SESSION, b'{"text":"\\"sessionId\\":\\"s-rec\\""}', None),
    "a text that ends so": (SESSION, b'["sessionId", "s-rec"]', None),
    "noise": (SESSION, b"s-rec \xff", None),
    "edge 43 a terminal": (TERMINAL, b'[{"terminalId":"t"}]', b'[{"terminalId":"a\\"b"}]'),
    "another kind of terminal": (TERMINAL, b'{"myterminalId":"t"}', None),
    "an id with other letters, as it is": (
        Renaming().with_session("é/1", "b"),
        '{"sessionId":"é/1"}'.encode(),
        b'{"sessionId":"b"}',
    ),
    "an id with other letters, escaped": (
        Renaming().with_session("é/1", "b"),
        b'{"sessionId":"\\u00e9\\/1"}',
        b'{"sessionId":"b"}',
    ),
    "an id without letters": (
        Renaming().with_session("é", "b"),
        '{"sessionId":"é"}'.encode(),
        b'{"sessionId":"b"}',
    ),
    "several": (
        SESSION.with_session("other", "more"),
        b'[{"sessionId":"other"},{"sessionId":"s-rec"}]',
        b'[{"sessionId":"more"},{"sessionId":"mine"}]',
    ),
}


@pytest.mark.parametrize(("renaming", "text", "expected"), IDS.values(), ids=IDS)
def test_ids(renaming, text, expected):
    assert renaming.rename(text) == (text if expected is None else expected)


SPELLED = {
    "I3 the id of an answer, as the client spells it": (
        b'{"result": {"id": 1} ,"id" : 1}\n',
        {("id",): b'"\\u0031"'},
        b'{"result": {"id": 1} ,"id" : "\\u0031"}\n',
    ),
    "edge 16 an id that is written twice": (
        b'{"id":1,"id":2}',
        {("id",): b"9"},
        b'{"id":9,"id":9}',
    ),
    "edge 44 the request that an elicitation quotes": (
        b'{"id":1,"params":{"requestId":12}}',
        {("params", "requestId"): b'"x"'},
        b'{"id":1,"params":{"requestId":"x"}}',
    ),
    "in a batch": (b'[{"id":1},{"id":1}]', {(1, "id"): b"2"}, b'[{"id":1},{"id":2}]'),
}


@pytest.mark.parametrize(("text", "spelled", "expected"), SPELLED.values(), ids=SPELLED)
def test_spelled(text, spelled, expected):
    assert Renaming().rename(text, spelled) == expected


def moved(*pairs):
    renaming = Renaming()
    for recorded, live in pairs:
        renaming = renaming.with_folder(recorded, live)
    return renaming


DEMO = moved(("/home/dev/demo", "/srv/b"))
WINDOWS = moved(("C:\\Users\\me", "D:\\w"))

PATHS = {
    # a string in an agent's message, and what the live client reads
    "the folder": (DEMO, "/home/dev/demo", "/srv/b"),
    "below it": (DEMO, "/home/dev/demo/a.txt", "/srv/b/a.txt"),
    "in a text": (DEMO, "in /home/dev/demo.", "in /srv/b."),
    "twice": (DEMO, "/home/dev/demo:/home/dev/demo/b", "/srv/b:/srv/b/b"),
    "in quotes": (DEMO, "'/home/dev/demo'", "'/srv/b'"),
    "as a URI": (DEMO, "file:///home/dev/demo/a", "file:///srv/b/a"),
    "with a separator at its end": (DEMO, "/home/dev/demo/", "/srv/b/"),
    "behind a line end": (DEMO, "a\n/home/dev/demo\n", "a\n/srv/b\n"),
    "a longer name": (DEMO, "/home/dev/demo2/a", None),
    "a longer name with a hyphen": (DEMO, "/home/dev/demo-2", None),
    "a longer name with an extension": (DEMO, "/home/dev/demo.txt", None),
    "the end of another path": (DEMO, "/mnt/home/dev/demo", None),
    "part of an address": (DEMO, "http://x/home/dev/demo", None),
    "its parent": (DEMO, "/home/dev", None),
    "no path": (DEMO, "demo", None),
    "the longest first": (
        moved(("/w/a", "/1"), ("/w/a/b", "/2/2")), "/w/a/b/x /w/a/x", "/2/2/x /1/x",
    ),
    "a folder in itself": (moved(("/w/a", "/w/a/b")), "/w/a/b", "/w/a/b/b"),
    "to the root": (moved(("/w/a", "/")), "/w/a/x /w/a", "/x /"),
    "given with a separator at its end": (moved(("/w/a/", "/1/")), "/w/a/x", "/1/x"),
    "Windows": (WINDOWS, "C:\\Users\\me\\a.txt", "D:\\w\\a.txt"),
    "Windows with slashes": (WINDOWS, "C:/Users/me/a.txt", "D:\\w/a.txt"),
    "Windows as a URI": (WINDOWS, "file:///C:/Users/me/a.txt", "file:///D:\\w/a.txt"),
    "Windows, to a drive's root": (moved(("C:\\Users\\me", "D:\\")), "C:\\Users\\me\\a", "D:\\a"),
    "other letters": (moved(("/w/é x", "/b/ü")), "/w/é x/a", "/b/ü/a"),
    "other letters in a URI": (moved(("/w/é x", "/b/ü")), "file:///w/%C3%A9%20x/a", "file:///b/%C3%BC/a"),
    "spaces in the live URI": (moved(("/w/x", "/b/y z")), "file:///w/x/a", "file:///b/y%20z/a"),
    "the last one counts": (moved(("/w/a", "/1"), ("/w/a", "/2")), "/w/a", "/2"),
}  # fmt: skip


@pytest.mark.parametrize(("renaming", "value", "expected"), PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("write", [orjson.dumps, lambda value: json.dumps(value).encode()])
def test_paths(renaming, value, expected, write):
    text = b'{"a": 1.0, "p" :%b}' % write({"x": [value], value: 1})
    renamed = renaming.rename(text)
    if expected is None:
        assert renamed == text
    assert orjson.loads(renamed) == {"a": 1.0, "p": {"x": [expected or value], value: 1}}
    assert renamed.startswith(b'{"a": 1.0, "p" :')
    assert renaming.rename(text, folders=False) == text


def test_slashes_may_be_escaped():
    assert DEMO.rename(rb'"\/home\/dev\/demo\/a"') == b'"/srv/b/a"'


RENAMABLE = {
    "/home/dev": True,
    "/home": False,
    "/": False,
    "": False,
    "a/b": False,
    "C:\\": False,
    "C:\\Users": False,
    "C:\\Users\\me": True,
    "c:/Users/me": True,
    "\\\\server\\share": True,
}


@pytest.mark.parametrize(("path", "expected"), RENAMABLE.items())
def test_is_renamable(path, expected):
    assert is_renamable(path) is expected
    assert (moved((path, "/srv/b")) == Renaming()) is not expected


NOTHING_LEARNT = {
    "the same session": Renaming().with_session("a", "a"),
    "the same terminal": Renaming().with_terminal("a", "a"),
    "no terminal": Renaming().with_terminal(None, "a").with_terminal("a", 5),
    "the same folder": moved(("/a/b", "/a/b/")),
    "no folder": moved((5, "/a/b"), ("/a/b", None), ("/a/b", "")),
}


@pytest.mark.parametrize("renaming", NOTHING_LEARNT.values(), ids=NOTHING_LEARNT)
def test_nothing_is_learnt(renaming):
    assert renaming == Renaming()


def test_what_is_known_already_changes_nothing():
    renaming = Renaming().with_session("a", "b").with_terminal("t", "u").with_folder("/a/b", "/c")
    assert renaming.with_session("a", "b") is renaming
    assert renaming.with_terminal("t", "u") is renaming
    assert renaming.with_folder("/a/b/", "/c/") is renaming


# Invariants

words = st.text(min_size=1, max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | words | st.just("/home/dev/demo/x"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.just("sessionId") | st.just("id") | words, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values, words, words)
def test_a_session_can_be_renamed_back(value, recorded, live):
    text = orjson.dumps(value)
    if orjson.dumps(live) in text or recorded == live:
        return
    there = Renaming().with_session(recorded, live).rename(text)
    assert Renaming().with_session(live, recorded).rename(there) == text


@given(values)
def test_only_what_is_renamed_changes(value):
    def expected(inner, name):
        match inner:
            case dict():
                return {key: expected(item, key) for key, item in inner.items()}
            case list():
                return [expected(item, "") for item in inner]
            case "a" if name == "sessionId":
                return "live"
            case "/home/dev/demo/x":
                return "/srv/b/x"
            case _:
                return inner

    renaming = DEMO.with_session("a", "live")
    assert orjson.loads(renaming.rename(orjson.dumps(value))) == expected(value, "")
