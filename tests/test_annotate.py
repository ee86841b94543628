"""`acptap annotate`."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap import checking
from acptap.app.check import annotating
from acptap.app.check.annotating import annotate_command
from acptap.cassette import ANNOTATIONS, MEMBERS, decode_entry
from acptap.storage import Tape
from acptap.wire import spans
from acptap.wire.jsontext import dump, parse
from tests.checks.cassettes import BROKEN, FIRST, WARNED
from tests.test_check import STALE, run

REVISION = b'"annotations":%d' % ANNOTATIONS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.jsonl"


def stripped(tape):
    """A cassette with no annotations."""
    header, *entries = tape.splitlines(keepends=True)
    bare = []
    for line in entries:
        key = decode_entry(line[:-1], 2, 0, "x").key
        bare.append(checking.annotate_line(line[:-1], key, {}) + b"\n")
    return b"".join([header.replace(b"," + REVISION, b""), *bare])


WRITTEN = {
    "what is right stays": (FIRST, FIRST),
    "what is wrong is replaced": (STALE, FIRST),
    "what is missing is added": (stripped(FIRST), FIRST),
    "of what was broken too": (stripped(BROKEN), BROKEN),
    "of noise too": (stripped(WARNED), WARNED),
    "an older revision is brought up to date": (FIRST.replace(REVISION, b'"annotations":0'), FIRST),
    "a last line without its end": (stripped(FIRST)[:-1], FIRST[:-1]),
    "a torn last line stays": (stripped(FIRST) + b'{"at":9,"fr', FIRST + b'{"at":9,"fr'),
    "a header alone": (FIRST.split(b"\n")[0], FIRST.split(b"\n")[0]),
}


@pytest.mark.parametrize(("before", "after"), WRITTEN.values(), ids=WRITTEN)
def test_annotate(path, before, after):
    path.write_bytes(before)
    assert annotate_command([path], check=False) == 0
    assert path.read_bytes() == after
    assert annotate_command([path], check=True) == 0


LINES = {
    # line, payload key, annotations, the line after
    "in front of the payload": (
        b'{"at":1,"from":"agent","msg":{"a":[1,{}]}}', "msg", {"session": "s"},
        b'{"at":1,"from":"agent","session":"s","msg":{"a":[1,{}]}}',
    ),
    "where they stood": (
        b'{"at":1,"from":"agent","notes":[],"mine":1,"state":{"a":"}"},"msg":1.50}', "msg",
        {"session": "s"},
        b'{"at":1,"from":"agent","session":"s","mine":1,"msg":1.50}',
    ),
    "at the end without a payload": (
        b'{"at":1,"from":"agent","event":"exit","code":0}', None, {"notes": []},
        b'{"at":1,"from":"agent","event":"exit","code":0,"notes":[]}',
    ),
    "none are left": (
        b'{"at":1,"from":"agent","session":"s","msg":1}', "msg", {},
        b'{"at":1,"from":"agent","msg":1}',
    ),
    "twice": (
        b'{"at":1,"session":"s","from":"agent","session":"t","msg":1}', "msg", {"session": "u"},
        b'{"at":1,"session":"u","from":"agent","msg":1}',
    ),
    "a line saved by hand": (
        b' { "msg" : {"b" : 1,"a":[ ]} , "from":"agent" , "at" : 1.0 } ', "msg", {"session": "s"},
        b'{"session":"s","msg" : {"b" : 1,"a":[ ]},"from":"agent","at" : 1.0}',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("line", "key", "members", "after"), LINES.values(), ids=LINES)
def test_annotate_line(line, key, members, after):
    assert checking.annotate_line(line, key, members) == after


HEADERS = {
    "the revision is replaced": (
        b'{"acptap":1,"annotations":0,"x": "annotations"}\n',
        b'{"acptap":1,' + REVISION + b',"x": "annotations"}\n',
    ),
    "or added": (b'{"acptap":1,"x": 1}\n', b'{"acptap":1,' + REVISION + b',"x": 1}\n'),
    "wherever the format stands": (b'{"acptap": 1 }', b'{"acptap": 1,' + REVISION + b" }"),
}


@pytest.mark.parametrize(("line", "after"), HEADERS.values(), ids=HEADERS)
def test_annotate_header(line, after):
    assert checking.annotate_header(line) == after


VALUE = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from(["mine", "notes", "state", "session", "b64"]), VALUE),
    st.dictionaries(st.sampled_from(MEMBERS), VALUE),
    VALUE,
)
def test_only_annotations_change(front, members, payload):
    line = dump({"at": 1, "from": "agent", **front, "msg": payload})
    fresh = parse(checking.annotate_line(line, "msg", members))
    kept = {key: value for key, value in front.items() if key not in MEMBERS}
    assert fresh == {"at": 1, "from": "agent", **kept, **members, "msg": payload}
    (span,) = spans.find(checking.annotate_line(line, "msg", members), ("msg",))
    assert checking.annotate_line(line, "msg", members)[span.start : span.end] == dump(payload)


def test_mode_and_link_are_kept(tmp_path):
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_bytes(STALE)
    real.chmod(0o640)
    link.symlink_to(real)
    assert annotate_command([link], check=False) == 0
    assert link.is_symlink()
    assert (real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (FIRST, 0o640)
    assert sorted(tmp_path.iterdir()) == [link, real]


def test_what_is_right_is_not_written(path):
    path.write_bytes(FIRST)
    before = path.stat()
    annotate_command([path], check=False)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_check_writes_nothing(path, capsys):
    path.write_bytes(STALE)
    assert annotate_command([path], check=True) == 1
    assert path.read_bytes() == STALE
    assert capsys.readouterr().err == (
        f"acptap: {path}: 1 line would change; run `acptap annotate {path}`\n"
    )


def test_all_files_are_written(tmp_path, capsys):
    missing, stale, noise = (tmp_path / name for name in ("missing", "stale", "noise"))
    stale.write_bytes(stripped(FIRST))
    noise.write_bytes(b"hello\n")
    assert annotate_command([missing, noise, stale], check=False) == 2
    assert stale.read_bytes() == FIRST
    assert [
        line.split(": ")[2].split(" (")[0] for line in capsys.readouterr().err.splitlines()
    ] == [
        "the cassette can't be read",
        "not a cassette",
        "5 lines changed",
    ]


def test_a_cassette_that_is_being_recorded_is_left_alone(path, capsys):
    tape = Tape.create(path)
    tape.write(STALE)
    assert annotate_command([path], check=False) == 2
    tape.close()
    assert path.read_bytes() == STALE
    assert "is being recorded" in capsys.readouterr().err


def test_a_folder_where_nothing_can_be_written(path, monkeypatch, capsys):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(annotating, "write_again", fails)
    path.write_bytes(STALE)
    assert annotate_command([path], check=False) == 2
    assert path.read_bytes() == STALE
    assert "can't be written (No space left on device)" in capsys.readouterr().err


def test_the_command(path):
    path.write_bytes(STALE)
    assert run("annotate", "--check", path) == 1
    assert run("annotate", path) == 0
    assert run("annotate", "--check", path) == 0
    assert path.read_bytes() == FIRST
    assert run("annotate") == 2
