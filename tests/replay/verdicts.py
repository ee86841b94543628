"""What must hold when a simulated client has played a recorded conversation."""

from collections import Counter

from acptap.jsonrpc import Side
from acptap.replay.report import Report
from tests.replay.conversations import HOME, Recorded
from tests.replay.plans import Said, transcribe
from tests.replay.schedules import Change, Client, Run


def problems(recorded: Recorded, client: Client, run: Run) -> list[str]:
    """Return what is wrong with a run in which the client did as recorded."""
    said = transcribe(recorded)
    agents = Counter(e.number for e in recorded.entries.values() if e.side is Side.AGENT)
    found = [f"never sent: {one.message}" for one in run.unsent]
    found += [f"gave up: {what}" for what in run.given_up]
    found += [f"not clean: {line}" for line in run.report.lines() if "differs" not in line]
    if not run.report.clean:
        found.append("not clean")
    if Counter(number for number, _ in run.read) != agents:
        found.append(f"read {[number for number, _ in run.read]}, recorded {sorted(agents)}")
    first = min(one.number for one in said if one.side is Side.CLIENT)
    found += [f"line {number} is too early" for number in run.begun if number and number > first]
    found += unanswered(run)
    found += disorder(said, run)
    found += stale_names(client, run)
    return found


def unanswered(run: Run) -> list[str]:
    """Return the live requests that were not answered exactly once."""
    answers = run.answers()
    return [f"{answers[id_]} answers to {id_!r}" for id_ in run.sent if answers[id_] == 0]


def disorder(said: list[Said], run: Run) -> list[str]:
    """Return where a session's messages are not in recorded order.

    Requests that the client sent in another order than recorded are answered in another order; but
    never is an answer ahead of what its session was told before it.
    """
    position = {number: place for place, (number, _) in enumerate(run.read)}
    found = []
    calls: dict[str | None, int] = {}  # what belongs to no session has no order
    for one in said:
        if one.side is Side.CLIENT or one.number not in position:
            continue
        here = position[one.number]
        session = one.asked.session if one.asked else one.session
        if here < max(calls.get(session, -1), calls.get(one.minted, -1)):
            found.append(f"line {one.number} is ahead of its session's messages")
        if one.minted is not None:
            calls[one.minted] = here
        if one.asked is None and session is not None:
            calls[session] = here
    return found


def stale_names(client: Client, run: Run) -> list[str]:
    """Return what the agent said with the recorded client's names."""
    stale = [*client.renamed, "term-rec"]
    if client.home != HOME:
        stale.append(HOME)
    texts = [text.decode() for _, text in run.read]
    return [f"{name} in {text}" for text in texts for name in stale if name in text]


def is_named(said: list[Said], change: Change, report: Report) -> bool:
    """Return whether a report tells what the client did wrong.

    It names the line of the message in question (or of one that may be taken for it); a message
    too many it may name by its method.
    """
    one = said[change.place]
    lines = {other.number for other in said if _kin(other) == _kin(one)}
    named = {miss.line for miss in report.unmatched} | set(report.unplayed)
    named |= {differing.line for differing in report.differing}
    told = change.kind == "extra" and any(one.method or "" in m.what for m in report.unmatched)
    return bool(named & lines) or told


def _kin(one: Said) -> tuple[object, ...]:
    return one.side, one.method, one.session, one.asked.method if one.asked else None
