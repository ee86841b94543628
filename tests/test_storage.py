import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap import storage
from acptap.cassette import encode_payload
from acptap.errors import (
    CassetteMissing,
    DamagedCassette,
    NewerFormat,
    NotACassette,
    NothingToPlay,
    UsageError,
)
from acptap.storage import Recording, Tape, default_name, default_path

HEADER = b'{"acptap":1,"annotations":1,"protocol":"acp","transport":"stdio"}\n'
ONE = b'{"at":0.000001,"from":"client","msg":{"id":1}}\n'
TWO = b'{"at":0.000002,"from":"agent","text":"a\xe2\x80\xa8b\\r\\n"}\n'
THREE = b'{"at":0.000003,"from":"agent","event":"exit","code":0}\n'
NOW = datetime(2026, 11, 30, 16, 5, 9, 123456, UTC)


# Where a recording goes


def test_default_name():
    assert default_name(NOW, 4711) == "20261130T160509Z-4711.jsonl"


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


def test_default_path_is_cassettes_if_there_is_such_a_folder(here):
    (here / "cassettes").mkdir()
    assert default_path(NOW, 1, {}) == Path("cassettes/20261130T160509Z-1.jsonl")


def test_default_path_is_not_a_file_named_cassettes(here, tmp_path):
    (here / "cassettes").touch()
    assert default_path(NOW, 1, {"XDG_STATE_HOME": str(tmp_path)}).parent == tmp_path / "acptap"


def test_default_path_is_the_state_folder_else(here, tmp_path):
    path = default_path(NOW, 1, {"XDG_STATE_HOME": str(tmp_path / "state")})
    assert path == tmp_path / "state" / "acptap" / "20261130T160509Z-1.jsonl"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("environ", [{}, {"XDG_STATE_HOME": ""}], ids=["unset", "empty"])
def test_default_path_without_a_state_folder(here, tmp_path, environ):
    path = default_path(NOW, 1, environ)
    assert path == tmp_path / "home/.local/state/acptap/20261130T160509Z-1.jsonl"
    assert path.parent.is_dir()


def test_default_path_is_taken_from_the_environment_first(here, tmp_path):
    (here / "cassettes").mkdir()
    environ = {"ACPTAP_CASSETTES": str(tmp_path / "mine"), "XDG_STATE_HOME": str(tmp_path)}
    assert default_path(NOW, 1, environ) == tmp_path / "mine" / "20261130T160509Z-1.jsonl"
    assert not (tmp_path / "mine").exists()


def test_default_path_ignores_an_empty_variable(here):
    (here / "cassettes").mkdir()
    assert default_path(NOW, 1, {"ACPTAP_CASSETTES": ""}).parent == Path("cassettes")


def test_default_path_keeps_a_state_folder_that_is_there(here, tmp_path):
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    assert default_path(NOW, 1, environ).parent == default_path(NOW, 2, environ).parent


def test_default_path_where_no_folder_can_be_made(here, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        default_path(NOW, 1, {"XDG_STATE_HOME": str(tmp_path / "file")})


# Recording


def test_a_tape_is_private(tmp_path):
    tape = Tape.create(tmp_path / "a.jsonl")
    tape.close()
    assert stat.S_IMODE(tape.path.stat().st_mode) == 0o600


def test_a_tape_is_appended_to(tmp_path):
    tape = Tape.create(tmp_path / "a.jsonl")
    tape.write(HEADER)
    tape.write(ONE + TWO)
    assert (tmp_path / "a.jsonl").read_bytes() == HEADER + ONE + TWO
    tape.close()


def test_nothing_is_overwritten(tmp_path):
    for name in ("a.jsonl", "b.jsonl", "b-2.jsonl"):
        (tmp_path / name).write_bytes(b"kept")
    names = ["a.jsonl", "a.jsonl", "b.jsonl", "c.jsonl", "c", "c"]
    tapes = [Tape.create(tmp_path / name) for name in names]
    for tape in tapes:
        tape.close()
    assert [tape.path.name for tape in tapes] == [
        "a-2.jsonl", "a-3.jsonl", "b-3.jsonl", "c.jsonl", "c", "c-2",
    ]  # fmt: skip
    assert (tmp_path / "a.jsonl").read_bytes() == b"kept"
    assert (tmp_path / "b-2.jsonl").read_bytes() == b"kept"


def test_a_link_to_nowhere_is_not_followed(tmp_path):
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "elsewhere")
    tape = Tape.create(tmp_path / "a.jsonl")
    tape.close()
    assert tape.path.name == "a-2.jsonl"
    assert not (tmp_path / "elsewhere").exists()


def test_overwrite_replaces_in_one_step(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"old")
    path.chmod(0o644)
    with path.open("rb") as old:
        tape = Tape.create(path, overwrite=True)
        tape.write(HEADER)
        tape.close()
        assert old.read() == b"old"  # another file: whoever reads the old one has it whole
    assert tape.path == path
    assert path.read_bytes() == HEADER
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_overwrite_what_is_not_there(tmp_path):
    tape = Tape.create(tmp_path / "a.jsonl", overwrite=True)
    tape.write(HEADER)
    tape.close()
    assert (tmp_path / "a.jsonl").read_bytes() == HEADER


def test_overwrite_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def refuse(self, target):
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "a.jsonl").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UsageError) as caught:
        Tape.create(tmp_path / "a.jsonl", overwrite=True)
    assert caught.value.what == "the cassette can't be written (Operation not permitted)"
    assert (tmp_path / "a.jsonl").read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


REFUSED = {
    "a folder that is missing": (
        "missing/a.jsonl",
        "{}/missing: the folder does not exist; make it, or name another place with --cassette",
    ),
    "a file in place of the folder": (
        "file/a.jsonl",
        (
            "{}/file/a.jsonl: the cassette can't be written (Not a directory); "
            "name another place with --cassette"
        ),
    ),
    "a folder": ("folder", "{}/folder: this is a folder; name a file in it with --cassette"),
    "a name that is too long": (
        "x" * 300,
        "{}/" + "x" * 300 + ": the cassette can't be written (File name too long); "
        "name another place with --cassette",
    ),
}


@pytest.mark.parametrize("overwrite", [False, True], ids=["new", "overwrite"])
@pytest.mark.parametrize(("name", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_tape_that_can_not_be_made(tmp_path, name, sentence, overwrite):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError) as caught:
        Tape.create(tmp_path / name, overwrite=overwrite)
    assert str(caught.value) == sentence.format(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_a_folder_that_takes_no_files(tmp_path, monkeypatch):
    def refuse(_):  # as /proc does
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(storage, "_first_free", refuse)
    with pytest.raises(UsageError) as caught:
        Tape.create(tmp_path / "x")
    assert str(caught.value) == (
        f"{tmp_path}/x: no file can be made there; name another place with --cassette"
    )


def test_the_folder_itself_is_no_tape(here):
    with pytest.raises(UsageError, match="this is a folder"):
        Tape.create(Path())


def test_short_writes_are_gone_on_with(tmp_path, monkeypatch):
    written = []

    def write(fd, data):
        written.append(bytes(data[:3]))
        return len(written[-1])

    tape = Tape.create(tmp_path / "a.jsonl")
    monkeypatch.setattr(os, "write", write)
    tape.write(b"abcdefgh")
    tape.write(b"")
    tape.close()
    assert written == [b"abc", b"def", b"gh"]


def test_c4_a_full_disk_is_told(tmp_path):
    tape = Tape(tmp_path / "full", os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(OSError, match="No space left on device"):
        tape.write(ONE)
    tape.close()


def test_discard(tmp_path):
    tape = Tape.create(tmp_path / "a.jsonl")
    tape.discard()
    assert list(tmp_path.iterdir()) == []


def test_discard_what_is_gone(tmp_path):
    tape = Tape.create(tmp_path / "a.jsonl")
    tape.path.unlink()
    tape.discard()
    assert list(tmp_path.iterdir()) == []


# Reading back


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.jsonl"


def test_entries_in_order(path):
    path.write_bytes(HEADER + ONE + TWO + THREE)
    with Recording(path) as recording:
        entries = list(recording)
    assert recording.header.protocol == "acp"
    assert recording.name == str(path)
    assert recording.torn is None
    assert [entry.number for entry in entries] == [2, 3, 4]
    assert [entry.offset for entry in entries] == [66, 113, 163]
    assert [entry.unit() for entry in entries] == [b'{"id":1}\n', b"a\xe2\x80\xa8b\r\n", b""]


def test_entries_can_be_read_again_and_at_once(path):
    path.write_bytes(HEADER + ONE + TWO)
    with Recording(path) as recording:
        pairs = [(a.number, b.number) for a in recording for b in recording]
    assert pairs == [(2, 2), (2, 3), (3, 2), (3, 3)]


def test_lines(path):
    path.write_bytes(HEADER + ONE + THREE)
    with Recording(path) as recording:
        assert list(recording.lines()) == [(2, 66, ONE[:-1]), (3, 113, THREE[:-1])]


def test_f6_lines_end_at_lf_only(path):
    line = '{"at":1,"from":"agent","msg":"\u2028\u2029\u0085\u001c"}\n'.encode()
    line = line.replace(b"\x1c", b"\\u001c")
    path.write_bytes(HEADER + line + line)
    with Recording(path) as recording:
        assert [entry.number for entry in recording] == [2, 3]


def test_fetch(path):
    path.write_bytes(HEADER + ONE + TWO + THREE[:-1])
    with Recording(path) as recording:
        assert recording.fetch(113) == b"a\xe2\x80\xa8b\r\n"
        assert recording.fetch(66) == b'{"id":1}\n'
        assert recording.fetch(163) == b""


def test_fetch_while_reading(path):
    path.write_bytes(HEADER + ONE + TWO)
    with Recording(path) as recording:
        assert [recording.fetch(entry.offset) for entry in recording] == [
            b'{"id":1}\n',
            b"a\xe2\x80\xa8b\r\n",
        ]


def test_fetch_what_was_changed_meanwhile(path):
    path.write_bytes(HEADER + ONE)
    with Recording(path) as recording, pytest.raises(DamagedCassette):
        recording.fetch(70)


TORN = {
    "C1 in a string": b'{"at":12.5,"from":"agent","text":"{\\"jso',
    "C1 in a character": b'{"at":12.5,"from":"agent","msg":{"t":"\xe2\x80',
    "C1 behind the payload": b'{"at":12.5,"from":"agent","msg":{"t":"x"}',
    "C1 a byte": b"{",
    "C3 NUL": b"\x00" * 512,
}


@pytest.mark.parametrize("rest", TORN.values(), ids=TORN)
def test_a_torn_last_line_is_left_out(path, rest):
    path.write_bytes(HEADER + ONE + TWO + rest)
    with Recording(path) as recording:
        assert [entry.number for entry in recording] == [2, 3]
        assert recording.torn == 4


def test_c1_every_prefix_of_a_line_is_torn(path):
    for size in range(1, len(TWO) - 1):
        path.write_bytes(HEADER + ONE + TWO[:size])
        with Recording(path) as recording:
            assert [entry.number for entry in recording] == [2]
            assert recording.torn == 3


def test_a_last_line_that_lacks_only_its_end_is_whole(path):
    path.write_bytes(HEADER + ONE + TWO[:-1])
    with Recording(path) as recording:
        assert [entry.unit() for entry in recording] == [b'{"id":1}\n', b"a\xe2\x80\xa8b\r\n"]
        assert recording.torn is None


def test_torn_is_forgotten_when_the_line_is_finished(path):
    path.write_bytes(HEADER + ONE + TWO[:9])
    with Recording(path) as recording:
        assert len(list(recording)) == 1
        assert recording.torn == 3
        path.write_bytes(HEADER + ONE + TWO)
        assert len(list(recording)) == 2
        assert recording.torn is None


DAMAGED = {
    "C3 a NUL block": (b"\x00" * 512 + b"\n", 3),
    "C3 a conflict": (b"<<<<<<< ours\n" + ONE + b"=======\n" + TWO + b">>>>>>> theirs\n", 3),
    "C3 a blank line": (b"\n", 3),
    "C1 torn and appended to": (ONE[:20] + ONE, 3),
    "C3 behind a good line": (ONE + b"x\n", 4),
}


@pytest.mark.parametrize(("middle", "number"), DAMAGED.values(), ids=DAMAGED)
def test_damage_in_the_middle_is_an_error(path, middle, number):
    path.write_bytes(HEADER + ONE + middle + TWO)
    with Recording(path) as recording:
        entries = iter(recording)
        good = [next(entries).number for _ in range(number - 2)]
        with pytest.raises(DamagedCassette) as caught:
            next(entries)
    assert good == list(range(2, number))
    assert caught.value.where == f"{path}:{number}"


def test_c3_a_damaged_last_line_with_an_end_is_an_error(path):
    path.write_bytes(HEADER + ONE + TWO[:20] + b"\n")
    with Recording(path) as recording, pytest.raises(DamagedCassette, match="line 3 is no entry"):
        list(recording)


UNUSABLE = {
    "empty": (b"", NotACassette, "the file is empty; record again with `acptap proxy`"),
    "not a cassette": (
        b"# Notes\n\nhello\n",
        NotACassette,
        "not a cassette: the first line is no acptap header; name a file that `acptap proxy` wrote",
    ),
    "C1 a torn header": (
        HEADER[:20],
        NotACassette,
        "not a cassette: the first line is no acptap header; name a file that `acptap proxy` wrote",
    ),
    "newer": (
        b'{"acptap":2}\n\x00\x01',
        NewerFormat,
        "format 2 is newer than this acptap reads (1); install a newer acptap",
    ),
}


@pytest.mark.parametrize(("content", "kind", "sentence"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable(path, content, kind, sentence):
    path.write_bytes(content)
    with pytest.raises(kind) as caught:
        Recording(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_missing(path):
    with pytest.raises(CassetteMissing) as caught:
        Recording(path)
    assert str(caught.value) == (
        f"{path}: the cassette can't be read (No such file or directory); "
        "check the path, or record one with `acptap proxy`"
    )


def test_a_folder_can_not_be_read(tmp_path):
    with pytest.raises(CassetteMissing, match=r"can't be read \(Is a directory\)"):
        Recording(tmp_path)


def test_unreadable(path, monkeypatch):
    def refuse(self, mode):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(CassetteMissing, match=r"can't be read \(Permission denied\)"):
        Recording(path)


EMPTY = {
    "C5 a header alone": HEADER,
    "C5 a header without its end": HEADER[:-1],
    "C5 a header and a torn line": HEADER + ONE[:20],
}


@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY)
def test_nothing_to_play(path, content):
    path.write_bytes(content)
    with Recording(path) as recording:
        assert list(recording) == []
        with pytest.raises(NothingToPlay) as caught:
            recording.require_entries()
    assert str(caught.value) == (
        f"{path}: the cassette holds no conversation; record again with `acptap proxy`"
    )


def test_something_to_play(path):
    path.write_bytes(HEADER + ONE)
    with Recording(path) as recording:
        recording.require_entries()
        assert len(list(recording)) == 1


def test_the_mode_is_private():
    assert storage.MODE == 0o600


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_any_units_come_back_from_a_file(tmp_path_factory, units):
    path = tmp_path_factory.mktemp("cassettes") / "a.jsonl"
    tape = Tape.create(path)
    tape.write(HEADER)
    for unit in units:
        tape.write(b'{"at":1.000000,"from":"agent"' + encode_payload(unit, plain=False) + b"}\n")
    tape.close()
    with Recording(path) as recording:
        entries = [(entry.unit(), entry.offset) for entry in recording]
        assert [unit for unit, _ in entries] == units
        assert [recording.fetch(offset) for _, offset in entries] == units


# Again


def test_a_file_that_is_recorded_is_known(tmp_path):
    path = tmp_path / "a"
    tape = Tape.create(path)
    assert storage.is_recording(path)
    tape.close()
    assert not storage.is_recording(path)


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(95, "not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    tape = Tape.create(tmp_path / "a")
    assert not storage.is_recording(tape.path)
    tape.close()


def test_bytes_are_written_over_in_the_same_file(tmp_path):
    path = tmp_path / "a"
    tape = Tape.create(path)
    tape.write(b"one two\n")
    place = path.stat().st_ino
    storage.overwrite(path, 4, b"six")
    tape.write(b"three\n")
    assert (path.read_bytes(), tape.size) == (b"one six\nthree\n", 14)
    assert path.stat().st_ino == place
    tape.close()


BLOCKS = {
    # what a file holds, and what is read
    "a header": (b"h\n", [b"h\n"]),
    "a header that an editor left without its LF": (b"h", [b"h\n"]),
    "lines": (b"h\n1\n2\n", [b"h\n", b"1\n2\n"]),
    "a last line without its LF": (b"h\n1\n2", [b"h\n", b"1\n", b"2\n"]),
    "a torn one": (b"h\n1\n{", [b"h\n", b"1\n"]),
    "a long one": (b"h\n" + b"1" * 2_500_000 + b"\n", [b"h\n", b"1" * 2_500_000 + b"\n"]),
}


@pytest.mark.parametrize(("data", "found"), BLOCKS.values(), ids=BLOCKS)
def test_blocks(tmp_path, data, found):
    (tmp_path / "a").write_bytes(data)
    assert list(storage.blocks(tmp_path / "a")) == found


def test_overwriting_spares_what_is_no_file(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(UsageError, match="this is no ordinary file"):
        Tape.create(path, overwrite=True)
