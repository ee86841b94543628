"""`acptap show`."""

from pathlib import Path
from typing import Any

import click

from acptap.app.show.showing import ShowOptions, show_command

_EPILOG = """\b
In a row: seconds, the connection if there are several (c1, c2), the
state of each session, the session, who, what.
States in plain text: . idle, R running, A requires_action, ? unknown,
O another one, N not known yet, x closed, - no session.

\b
--json writes an object a line, with these members always:
  number       line in the cassette
  at           seconds since the recording began
  from         client or agent
  conn         number of the connection; null if it belongs to none
  exchange     number of the HTTP exchange, or null
  stream       of an event stream: connection, session or events
  kind         request, response, notification, batch, malformed,
               noise, piece, stderr, event; http: what HTTP or a
               WebSocket says beside messages
  method       the method, of JSON-RPC or HTTP; of a response, the one
               it answers; of an event, its name
  update       the update's name
  id           the request id
  session      the session's id, label its short name
  state        the session's state from here on
  transitions  changes of state: session, from, to, basis, reason
  updates      what a view must react to: kind, session, index, id,
               change, subagent and particulars
  notes        rules met: rule, severity and particulars
  gist         what it says, in one line
  http         the head of an HTTP request or response, or null
  payload      the message, or the text if it is none
Of AG-UI a request for a run is a request with the method run, whose
id is the run's; its events are notifications with their types as
methods (RUN_ERROR), also those that came as protobuf frames; and
threads are sessions.

\b
--updates writes below an entry what a view must react to:
  message, reasoning  started, content, replaced; of tool calls
                      tool_started, tool_args, tool_result,
                      tool_ended; else activity, encrypted, ended
  messages            the conversation was restated
  state               a plan, usage, mode, config and the like
  subagent, interrupt, error
  done                a turn or a run ended: success, failed,
                      cancelled or, of AG-UI, interrupted
"""


@click.command(epilog=_EPILOG)
@click.argument("cassette", type=click.Path(path_type=Path))
@click.option("-f", "--follow", is_flag=True,
    help="Go on with what is appended, until the recording ends. Waits for the file if need be.",
)  # fmt: skip
@click.option("--session", metavar="ID",
    help="Only this session: its id, the beginning of its id, or its label (s1).",
)  # fmt: skip
@click.option("--kind", "kinds", multiple=True, metavar="KIND",
    help="Only entries of this kind (see below), with a `state` change or a `note`, of a severity "
    "(violation, warning), of failed answers (error), with `updates` where those are shown, or of "
    "a method, update or type of event (RUN_ERROR); `http` is all of HTTP but the messages. May be "
    "repeated.",
)  # fmt: skip
@click.option("--grep", "pattern", metavar="RE",
    help="Only entries in whose text or gist this regular expression occurs.",
)  # fmt: skip
@click.option("--expand", is_flag=True,
    help="A row for each chunk of a text, and for what says nothing that other rows don't say.",
)  # fmt: skip
@click.option("-n", "--tail", type=click.IntRange(min=0), metavar="N", help="Only the last N rows.")
@click.option("--updates", is_flag=True, help="Show what each entry asks of a view.")
@click.option("--tree", is_flag=True,
    help="Show what a correct client shows: sessions and threads, turns and runs, messages, tool "
    "calls and the rest.",
)  # fmt: skip
@click.option("--at", type=click.IntRange(min=1), metavar="ENTRY",
    help="Only up to this line of the cassette, where the header is line 1: with --updates the "
    "timeline, else the tree, as it was at that moment.",
)  # fmt: skip
@click.option("--json", is_flag=True,
    help="Write JSON lines, one for each entry; with --tree one object.",
)  # fmt: skip
def show(cassette: Path, **chosen: Any) -> int:
    """Show a cassette as a timeline.

    A header says what was recorded and how it ended; below it each entry has a row. The chunks of
    one message share a row, and what says nothing new has none: what HTTP says around each message
    (heads of requests that went well, keep-alives, pings), and AG-UI's brackets around what is
    said. --kind, --grep, --expand and --json ask for single entries.
    """
    return show_command(cassette, ShowOptions(**chosen))
