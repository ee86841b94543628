"""`acptap replay`: play a cassette to the client on our standard input and output."""

import signal
import time
from pathlib import Path

from acptap.app.play.journal import Journal
from acptap.app.play.options import ReplayOptions
from acptap.app.play.performance import Performance
from acptap.app.play.programme import Programme
from acptap.errors import UsageError
from acptap.replay.player import Player
from acptap.replay.report import Report, combine
from acptap.storage import Recording
from acptap.timeline.printable import visible
from acptap.transports.command import SIGNALLED
from acptap.transports.peer import ClientWantsEnd, Silence, StdioPeer
from acptap.transports.stderr import Stderr
from acptap.wire import jsontext


def replay_stdio(cassette: Path, options: ReplayOptions) -> int:
    """Play a cassette; return 0 if the client asked all that was recorded and nothing else.

    If the recorded agent left before its client did, that is played too, and its exit code is
    returned. As part of a run, it leaves the verdict and the talk to whoever made the run.

    Raises:
        CassetteError: The cassette can't be played.
        UsageError: The report can't be written, or the run is not there.
    """
    stderr = Stderr()
    programme = Programme.load(cassette)
    journal = Journal.begin(options.run, cassette)
    if programme.torn is not None:
        stderr.say(f"line {programme.torn} was cut off by a crash and is left out")
    if not options.quiet:
        stderr.say(f"playing {cassette}")
    with Recording(cassette) as recording:
        player = programme.player(journal.number, recording, options)
        delivered = play(Performance(player, journal, options), StdioPeer())
        report = combine([player.report(), *programme.unasked(recording)])
    journal.close()
    if not delivered:
        stderr.say("the client stopped reading before all was said")
    if not journal.is_kept:
        tell(report, options, stderr)
    stderr.drain(2.0)
    if options.report is not None:
        write_report(report, options.report)
    is_fine = delivered and (journal.is_kept or options.accept(report))
    return _exit_code(player) if is_fine else 1


def play(performance: Performance, peer: StdioPeer) -> bool:
    """Play until the client has closed its side, or the recorded agent left before it.

    Returns:
        False if the client stopped reading before all was said.
    """
    try:
        while _send_due(performance, peer):
            if performance.is_over:
                return True
            arrived = peer.receive(performance.wait())
            if arrived is Silence.YET:
                performance.lose_patience()
            elif isinstance(arrived, bytes):
                performance.take(arrived)
            else:
                performance.end(at_once=False)
                return _see_out(performance, peer)
    except ClientWantsEnd:
        return True
    return False


def _see_out(performance: Performance, peer: StdioPeer) -> bool:
    """Say what is still to be said to a client that says no more."""
    while _send_due(performance, peer):
        if not performance.is_delayed:
            return True
        time.sleep(performance.wait() or 0.0)
    return False


def write_report(report: Report, path: Path) -> None:
    """Write a report as JSON.

    Raises:
        UsageError: It can't be written there.
    """
    try:
        path.write_bytes(jsontext.dump(report.as_json()) + b"\n")
    except OSError as error:
        raise UsageError(
            f"the report can't be written ({error.strerror})", where=str(path),
            fix="name another file with --report",
        ) from error  # fmt: skip


def _send_due(performance: Performance, peer: StdioPeer) -> bool:
    """Send what is due; return False if nobody takes it."""
    while (data := performance.next_write()) is not None:
        if not peer.send(data):
            performance.undelivered()
            return False
    return True


def tell(report: Report, options: ReplayOptions, stderr: Stderr) -> None:
    """Say what became of a cassette, unless all is fine and nothing was to be said then."""
    if not (options.quiet and options.accept(report)):
        for line in report.lines() or ["all of it was played"]:
            stderr.say(visible(line))


def _exit_code(player: Player) -> int:
    """Return the code that the recorded agent's end looks like from outside, if it was played."""
    ending = player.script.ending
    if not (player.finished and ending.before_client):
        return 0
    if ending.signal is not None:
        return SIGNALLED + _number(ending.signal)
    return ending.code or 0


def _number(name: str) -> int:
    """Return a signal's number; those without a name are written as `SIG` and their number."""
    try:
        return signal.Signals[name]
    except KeyError:
        digits = name.removeprefix("SIG")
        return int(digits) if digits.isascii() and digits.isdigit() else 0
