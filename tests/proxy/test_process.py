import os
import signal
import subprocess
import threading

import pytest

from acptap.app.record.recorder import Recorder
from acptap.app.record.revision import WatchedTape
from acptap.app.record.take import Take, TakeOptions
from acptap.tap import Tap
from acptap.transports.process import Agent, given_environment, group_lives
from acptap.transports.signals import HEEDED, Impatient, Signals


def test_a_group_lives_while_a_member_runs():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, process_group=0) as process:
        assert group_lives(process.pid)
        process.communicate()
        assert not group_lives(process.pid)


def test_a_dead_member_that_was_not_buried_does_not_count():
    process = subprocess.Popen(["true"], process_group=0)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not group_lives(process.pid)
    process.wait()


def test_where_no_table_of_processes_is_shown_the_dead_count(tmp_path):
    process = subprocess.Popen(["true"], process_group=0)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert group_lives(process.pid, tmp_path)
    process.wait()


def test_a_process_that_vanishes_while_it_is_looked_at(tmp_path):
    (tmp_path / "1" / "stat").mkdir(parents=True)  # can't be read
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "stat").write_text(f"2 (a) ) b) Z 1 {os.getpgrp()} 3\n")
    assert not group_lives(os.getpgrp(), tmp_path)
    (tmp_path / "2" / "stat").write_text(f"2 (Z) S 1 {os.getpgrp()} 3\n")
    assert group_lives(os.getpgrp(), tmp_path)


def test_a_group_that_has_ended_gets_no_more_signals(monkeypatch):
    agent = Agent("/bin/sh", ["sh", "-c", "exit 3"], os.environb)
    assert agent.wait() == 3
    agent.end_group()
    monkeypatch.setattr(os, "killpg", pytest.fail)  # its number may be another one's by now
    agent.send(signal.SIGTERM)
    agent.close_stdin()
    agent.close_stdout()
    assert agent._process.stderr
    agent._process.stderr.close()


def test_the_environment_without_what_python_added(tmp_path, monkeypatch):
    block = tmp_path / "environ"
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    block.write_bytes(b"HOME=/\0LC_CTYPE=C.UTF-8\0")
    assert given_environment(block)[b"LC_CTYPE"] == b"C.UTF-8"
    block.write_bytes(b"HOME=/\0XLC_CTYPE=C.UTF-8\0")
    assert b"LC_CTYPE" not in given_environment(block)
    monkeypatch.setenv("LC_CTYPE", "de_DE.UTF-8")
    assert given_environment(block)[b"LC_CTYPE"] == b"de_DE.UTF-8"


def test_the_environment_where_the_system_does_not_show_it(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    assert given_environment(tmp_path / "nowhere")[b"LC_CTYPE"] == b"C.UTF-8"


def test_signals_are_taken_and_then_left_as_they_were():
    before = [signal.getsignal(number) for number in HEEDED]
    heard: list[signal.Signals] = []
    with Signals() as signals:
        thread = threading.Thread(target=lambda: heard.extend(signals))
        thread.start()
        signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGINT)
        former = signal.signal(signal.SIGWINCH, lambda *_: None)
        signal.raise_signal(signal.SIGWINCH)  # somebody else's
        signal.signal(signal.SIGWINCH, former)
    thread.join()
    assert heard == [signal.SIGUSR1, signal.SIGINT]
    assert [signal.getsignal(number) for number in HEEDED] == before


def test_signals_may_never_be_asked_for():
    with Signals():
        signal.raise_signal(signal.SIGTERM)


def test_signals_are_ignored_when_the_process_is_about_to_end():
    before = [signal.getsignal(number) for number in HEEDED]
    try:
        with Signals(for_good=True):
            pass
        assert {signal.getsignal(number) for number in HEEDED} == {signal.SIG_IGN}
    finally:
        for number, handler in zip(HEEDED, before, strict=True):
            signal.signal(number, handler)


def test_signals_are_left_as_they_were_after_a_failure():
    before = [signal.getsignal(number) for number in HEEDED]
    with pytest.raises(OSError, match="full"), Signals(for_good=True):
        raise OSError("full")
    assert [signal.getsignal(number) for number in HEEDED] == before


def test_what_takes_long_is_cut_short_by_a_signal():
    former = signal.getsignal(signal.SIGALRM)
    said = threading.Event()

    def work(signals):
        with signals.interruptible(0.01, said.set):
            assert said.wait(20)
            signal.raise_signal(signal.SIGUSR1)  # asks for something else
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGINT)  # what cleans up is left in peace

    with Signals() as signals:
        signal.raise_signal(signal.SIGTERM)  # the one before it does not count
        with pytest.raises(Impatient):
            work(signals)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is former


def test_what_does_not_take_long_is_not_cut_short():
    said: list[str] = []

    def work(signals):
        with signals.interruptible(0.01, lambda: said.append("long")):
            signal.raise_signal(signal.SIGINT)
            threading.Event().wait(20)

    with Signals() as signals:
        with signals.interruptible(3600, lambda: said.append("long")):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(Impatient):
            work(signals)
    assert said == []


def test_c4_a_recorder_says_once_that_the_disk_is_full(tmp_path, monkeypatch):
    path, said = tmp_path / "tape", list[str]()
    take = Take(TakeOptions(path), said.append)
    monkeypatch.setattr(WatchedTape, "write", fail)
    recorder = Recorder(Tap(), take)
    assert recorder.from_agent(b"{}\n")
    assert recorder.from_client(b"{}\n")
    recorder.exited(0)
    assert not recorder.from_agent(b"{}\n")  # after the exit nothing may pass unseen
    (sentence,) = said
    assert sentence == (
        f"recording stopped: No space left on device; the traffic goes on, and {path} ends here"
    )
    assert not take.close()


def test_c4_nothing_is_recorded_to_a_disk_that_was_full_before(tmp_path, monkeypatch):
    said = list[str]()
    take = Take(TakeOptions(tmp_path / "tape"), said.append)
    monkeypatch.setattr(WatchedTape, "write", fail)
    take.begin(protocol="acp", transport="stdio", upstream=["agent"])
    assert [sentence.partition(":")[0] for sentence in said] == ["recording stopped"]
    assert not take.close()


def fail(*_):
    raise OSError(28, "No space left on device")
