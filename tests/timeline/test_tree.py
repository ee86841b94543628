"""The tree of a conversation, and `acptap show --updates`, `--tree` and `--at`."""

import io
import json

import pytest
from hypothesis import given

from acptap.app.show.showing import ShowOptions, show_command
from acptap.app.show.tree import Tree
from acptap.cli import main
from acptap.errors import UsageError
from acptap.jsonrpc import Side
from acptap.rereading import fold_entries
from acptap.tap import Tap
from acptap.timeline.printable import cells, wrapped
from tests.test_fold import HEADER, entries_of
from tests.view.plays import message
from tests.view.test_values import conversations

OPENING = """
C> 0 initialize {"protocolVersion":VERSION}
A> 0 = {"protocolVersion":VERSION}
C> 1 session/new {"cwd":"/w"}
A> 1 = {"sessionId":"s"}
"""


def taped(script, version="2"):
    tap, lines = Tap(), b""
    for at, line in enumerate((OPENING.replace("VERSION", version) + script).split("\n")):
        cue, _, words = line.partition(" ")
        side = Side.CLIENT if cue == "C>" else Side.AGENT
        if cue == "END":
            lines += tap.exit(at * 1000, code=0)
        elif words:
            said = message(words).replace("{", '{"jsonrpc":"2.0",', 1)
            lines += tap.observe(side, said.encode() + b"\n", at * 1000)
    return lines


def drawn(script, *, version="2", width=None, session=None, labels=None):
    folded = fold_entries(entries_of(taped(script, version)))
    lines = Tree(folded, labels or {}, width).lines(session and {(1, session)})
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


PATCH = '{"type":"diff","changes":[{"path":"/w/b"}],"patch":{"text":"-a\\n+b"}}'
ENTRIES = (
    '[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c"}]'
)
TREES = {
    "a turn": (
        """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> s ~ user_message {"messageId":"u","content":[<hi>]}
A> 2 = {"messageId":"u"}
A> s ~ agent_thought_chunk {"messageId":"t","content":<hm>}
A> s ~ agent_message_chunk {"messageId":"a","content":<one\\ntwo\\n>}
A> s * {"state":"idle","stopReason":"end_turn"}
""",
        """\
session s  idle
  turn 1  success (end_turn)
    user       hi
    thought    hm
    agent      one
               two""",
    ),
    "a turn under way, after one that was cancelled": (
        """
A> s ~ notice {"severity":"info","title":"Before","description":"all of it"}
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"cancelled"}
A> s ~ agent_message {"messageId":"a","content":[<between>]}
A> s * {"state":"running"}
A> s ~ agent_message {"messageId":"b","content":[<now>]}
""",
        """\
session s  running
  notice     info Before
             all of it
  turn 1  cancelled
  agent      between
  turn 2  under way
    agent      now""",
    ),
    "a connection that was lost": (
        """
A> s * {"state":"running"}
A> s ~ agent_message {"messageId":"b","content":[<now>]}
END
""",
        """\
session s  running (not certain)
  turn 1  failed
    agent      now
    error      the connection ended in mid-turn""",
    ),
    "errors": (
        """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 ! {"code":-32603,"message":"no\\u001b[31m"}
A> 2 = {}
C> 3 session/set_config_option {"sessionId":"s"}
A> 3 ! 5
""",
        """\
error      jsonrpc/second-answer
session s  idle
  error      -32603 no\\x1b[31m
  error      (nothing was said about it)""",
    ),
    "a tool call, its terminal and its permission": (
        """
A> s * {"state":"running"}
A> s ~ tool_call_update {"toolCallId":"t","title":"ls -l","kind":"execute","status":"completed"}
A> s ~ terminal_update {"terminalId":"T","command":"ls","args":["-l"],"exitStatus":{"exitCode":0}}
A> s ~ tool_call_update {"toolCallId":"t","content":[{"type":"terminal","terminalId":"T"},<<ok>>]}
A> s ~ terminal_output_chunk {"terminalId":"T","data":"YQpiCg=="}
A> 7 session/request_permission {"sessionId":"s","title":"Run?","options":[{"optionId":"y"}]}
A> 8 session/request_permission {"sessionId":"s","subject":{"toolCall":{"toolCallId":"t"}}}
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
""",
        """\
session s  running
  turn 1  under way
    tool       ls -l (execute)  completed
               $ ls -l
               a
               b
               ended 0
               ok
    permission Run?  selected "y"
    permission t  waits for an answer""",
    ),
    "a tool call that says nothing yet": (
        'A> s ~ tool_call_update {"toolCallId":"t","title":"a\\u001b[0m","status":"in_progress"}',
        """\
session s  idle
  tool       a\\x1b[0m  in_progress""",
    ),
    "terminals that no tool call shows, and one that is not there": (
        """
A> s ~ terminal_update {"terminalId":"T"}
A> s ~ terminal_update {"terminalId":"U","exitStatus":{"signal":"SIGKILL"}}
A> s ~ tool_call_update {"toolCallId":"t","content":[{"type":"terminal","terminalId":"V"}]}
""",
        """\
session s  idle
  terminal
  terminal   ended SIGKILL
  tool       t  pending
             [terminal V]""",
    ),
    "content that is no text": (
        """
A> s ~ agent_message {"messageId":"a","content":[<a>,{"type":"image","mimeType":"image/png"},<b>]}
A> s ~ agent_message {"messageId":"b","content":[{"type":"text"},{"type":"odd"},5,"x"]}
A> s ~ tool_call_update {"toolCallId":"t","content":[{"type":"diff","path":"/w/a"}]}
A> s ~ tool_call_content_chunk {"toolCallId":"u","content":PATCH}
""".replace("PATCH", PATCH),
        """\
session s  idle
  agent      a
             [image image/png]
             b
  agent      [text]
             [odd]
             [content]
             [content]
  tool       t  pending
             [diff /w/a]
  tool       u  pending
             [diff /w/b]
             -a
             +b""",
    ),
    "long output is cut": (
        """
A> s ~ tool_call_update {"toolCallId":"t","content":[<<LINES>>]}
A> s ~ terminal_output_chunk {"terminalId":"T","data":"MQoyCjMKNAo1CjYKNwo4CjkKMTAK"}
A> s ~ terminal_output_chunk {"terminalId":"T","data":"MTEKMTIKMTMKMTQK"}
""".replace("LINES", "\\n".join(map(str, range(1, 14)))),
        """\
session s  idle
  tool       t  pending
"""
        + "".join(f"             {number}\n" for number in range(1, 13))
        + "             ... 1 more lines\n  terminal   1\n"
        + "".join(f"             {number}\n" for number in range(2, 13))
        + "             ... 2 more lines",
    ),
    "a compaction, and what another session said": (
        """
A> s ~ compaction_update {"compactionId":"c","status":"completed","summary":5}
A> s ~ compaction_summary_chunk {"compactionId":"c","content":<short>}
A> s ~ session_message {"messageId":"m","content":[<from afar>]}
""",
        """\
session s  idle
  compaction completed
             short
  peer       from afar""",
    ),
    "what stands beside a conversation": (
        """
A> s ~ session_info_update {"title":"T"}
A> s ~ usage_update {"used":1,"size":9,"cost":{"amount":2,"currency":"EUR"}}
A> s ~ available_commands_update {"availableCommands":[{"name":"a"},{"name":"b"}]}
A> s ~ config_option_update {"configOptions":[{"configId":"c","currentValue":"v"}]}
A> s ~ plan_update {"plan":{"planId":"p","entries":ENTRIES}}
A> s ~ plan_update {"plan":{"planId":"q","type":"file","uri":"file:///p"}}
""".replace("ENTRIES", ENTRIES),
        """\
session s  idle
  title      T
  config     c=v
  usage      1/9 2 EUR
  commands   2
  plan p     [x] a
             [>] b
             [ ] c
  plan q     file:///p file""",
    ),
    "subagents stand where they were announced": (
        """
A> s * {"state":"running"}
A> s ~ subagent_update {"sessionId":"c","title":"Find it","state":{"state":"running"}}
A> s ~ agent_message {"messageId":"a","content":[<waiting>]}
A> c ~ subagent_update {"sessionId":"d"}
A> c ~ agent_message {"messageId":"a","content":[<found>]}
A> s ~ subagent_update {"sessionId":"c","state":{"state":"idle","stopReason":"end_turn"}}
""",
        """\
session s  running
  turn 1  under way
    subagent Find it c  idle
      turn 1  success (end_turn)
        subagent d  none (not certain)
        agent      found
    agent      waiting""",
    ),
    "sessions that are each other's parents": (
        """
A> c ~ subagent_update {"sessionId":"d"}
A> d ~ subagent_update {"sessionId":"c"}
A> d ~ subagent_update {"sessionId":"d"}
""",
        """\
session s  idle
session c  idle
  subagent d  none (not certain)
    subagent   c
    subagent   d""",
    ),
    "a question outside of all sessions": (
        """
A> 3 elicitation/create {"message":"Name?"}
C> 3 = {"action":"decline"}
""",
        """\
question   Name?  decline
session s  idle""",
    ),
}


@pytest.mark.parametrize(("script", "tree"), TREES.values(), ids=TREES)
def test_tree(script, tree):
    assert drawn(script) == tree


def test_a_tree_of_version_1():
    script = """
C> 2 session/prompt {"sessionId":"s","prompt":[<1>]}
C> 3 session/prompt {"sessionId":"s","prompt":[<2>]}
A> 2 = {"stopReason":"cancelled"}
A> s ~ agent_message_chunk {"content":<b>}
A> 3 = {"stopReason":"max_tokens"}
A> s ~ current_mode_update {"currentModeId":"m"}
C> 4 session/set_model {"sessionId":"s","modelId":"x"}
A> 4 = {}
A> s ~ plan {"entries":[]}
"""
    assert (
        drawn(script, version="1")
        == """\
session s  idle
  turn 1  cancelled
    user       1
    user       2
  turn 2  success (max_tokens)
    agent      b
  mode       m
  model      x
  plan"""
    )


def test_terminals_of_version_1_that_are_told_of_beside_a_tool_call():
    script = """
A> s ~ tool_call {"toolCallId":"t","title":"make","rawInput":{"command":"make -j"},"content":[<<a>>],"_meta":{"terminal_info":{"terminal_id":"T"}}}
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":"b\\nc\\n"}}}
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_exit":{"terminal_id":"T","exit_code":2}}}
A> s ~ tool_call {"toolCallId":"u","title":"ls","content":[{"type":"terminal","terminalId":"U"},<<d>>],"_meta":{"terminal_output":{"terminal_id":"U","data":"e"}}}
"""  # noqa: E501
    assert (
        drawn(script, version="1")
        == """\
session s  idle
  tool       make  pending
             a
             $ make -j
             b
             c
             ended 2
  tool       ls  pending
             e
             d"""
    )


def test_one_session_and_its_subagents():
    script = """
A> s ~ subagent_update {"sessionId":"c"}
A> t ~ agent_message {"messageId":"a","content":[<elsewhere>]}
A> null ! {"code":1}
"""
    assert (
        drawn(script, session="s", labels={(1, "s"): "s1", (1, "c"): "s2"})
        == """\
session s1 s  idle
  subagent s2 c  none (not certain)"""
    )


def test_text_is_parted_to_fit():
    script = 'A> s ~ agent_message {"messageId":"a","content":[<aaa bbb ccc ddd eee fff>]}'
    assert (
        drawn(script, width=24)
        == """\
session s  idle
  agent      aaa bbb ccc ddd eee
             fff"""
    )


WRAPPED = {
    "no width": ("aa bb", None, ["aa bb"]),
    "it fits": ("aa bb", 5, ["aa bb"]),
    "at a space": ("aa bb", 4, ["aa", "bb"]),
    "a space right behind": ("aa bb", 2, ["aa", "bb"]),
    "a long word": ("aaaa b", 3, ["aaa", "a b"]),
    "wide characters": ("読読読", 4, ["読読", "読"]),
    "no room for one": ("読読", 1, ["読", "読"]),
    "spaces in front": ("  aaaa", 4, [" ", "aaaa"]),
}


@pytest.mark.parametrize(("text", "room", "lines"), WRAPPED.values(), ids=WRAPPED)
def test_wrapped(text, room, lines):
    assert wrapped(text, room) == lines
    assert all(room is None or cells(line) <= max(room, 2) for line in lines)


@given(conversations)
def test_any_conversation_is_drawn(said):
    tap = Tap()
    lines = [tap.observe(side, json.dumps(words).encode() + b"\n", at)
             for at, (side, words) in enumerate(said)]  # fmt: skip
    folded = fold_entries(entries_of(b"".join(lines)))
    told = "".join(text for line in Tree(folded, {}, 40).lines() for text, _ in line)
    assert told.isprintable() or not told
    assert all(f"{view.id}  {view.session_state.value}" in told for view in folded.sessions)


# The command

SCRIPT = """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> s ~ agent_message_chunk {"messageId":"a","content":<one >}
A> s ~ agent_message_chunk {"messageId":"a","content":<two >}
A> s ~ agent_message_chunk {"messageId":"a","content":<three>}
A> t ~ subagent_update {"sessionId":"s"}
A> s * {"state":"idle","stopReason":"error","error":{"code":5,"message":"m"}}
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER + taped(SCRIPT))
    return path


def shown(path, **options):
    out = io.StringIO()
    assert show_command(path, ShowOptions(**options), out) == 0
    return [line for line in out.getvalue().splitlines() if line[:1] != "#"]


def test_updates_stand_below_their_entries(path):
    assert [line[27:] for line in shown(path, updates=True)[-8:]] == [
        'session/prompt ""',
        "state_update => running",
        'agent_message_chunk x3 to 0.010 "one two three"',
        "message[0] started, message[0] content x2",
        "subagent_update s [warning acp/unknown-session]",
        "subagent s running",
        "state_update => idle (error)",
        "error 5 fatal, done failed error",
    ]


def test_updates_of_other_sessions_are_told_by_their_labels(path):
    script = 'C> 2 session/prompt {"sessionId":"s","prompt":[]}\nEND'
    path.write_bytes(HEADER + taped(script, "1"))
    assert shown(path, updates=True)[-1].strip() == "s1 error fatal, s1 done failed"


def test_updates_can_be_selected(path):
    lines = shown(path, updates=True, kinds=("updates",))
    assert len(lines) == 1 + 2 * 5
    assert shown(path, updates=True, at=8)[-1].strip() == "message[0] started"


def test_json_has_the_updates_of_each_entry(path):
    told = [json.loads(line)["updates"] for line in shown(path, json=True)]
    assert told[7] == [{"kind": "message", "session": "s", "index": 0, "id": "a",
                        "change": "content"}]  # fmt: skip
    assert told[0] == []


def test_a_tree_is_shown(path):
    assert shown(path, tree=True) == [
        "",
        "session s2 t  idle",
        "  subagent s1 s  idle",
        "    turn 1  failed",
        "      agent      one two three",
        "      error      5 m",
    ]


def test_at_shows_the_tree_of_that_moment(path):
    assert shown(path, at=8) == ["", "session s1 s  running", "  turn 1  under way",
                                 "    agent      one"]  # fmt: skip
    assert shown(path, at=1) == [""]


def test_a_tree_as_json(path):
    (line,) = shown(path, tree=True, json=True)
    folded = json.loads(line)
    assert [view["id"] for view in folded["sessions"]] == ["s", "t"]
    (line,) = shown(path, at=8, json=True, session="s")
    (view,) = json.loads(line)["sessions"]
    assert view["messages"][0]["text"] == "one "


def test_the_tree_of_a_session(path):
    assert "session s2 t" not in "\n".join(shown(path, tree=True, session="s"))


def test_values_too_deep_for_json(path):
    deep = "[" * 1010 + "]" * 1010
    path.write_bytes(HEADER + taped(f'A> s ~ agent_message {{"messageId":"a","content":{deep}}}'))
    assert shown(path, tree=True)
    with pytest.raises(UsageError, match="nested too deeply"):
        shown(path, tree=True, json=True)


REFUSED = {
    "a line that is not there": ({"at": 99}, "there is no line 99; name one of the lines 1 to 12"),
    "a tree that is followed": ({"tree": True, "follow": True}, "--tree and --follow don't go"),
    "a moment that is followed": (
        {"at": 2, "updates": True, "follow": True}, "--at and --follow don't go together"
    ),
    "a tree of rows": ({"tree": True, "kinds": ("note",)}, "--tree and --kind don't go together"),
    "a moment of rows": ({"at": 2, "pattern": "x"}, "--at and --grep don't go together"),
    "a tree with updates": ({"tree": True, "updates": True}, "--tree and --updates don't go"),
    "the last rows of a tree": ({"tree": True, "tail": 1}, "--tree and --tail don't go together"),
    "chunks of a tree": ({"tree": True, "expand": True}, "--tree and --expand don't go together"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused(path, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        shown(path, **options)


def test_the_command_line(path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["show", str(path), "--at", "8", "--tree"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.endswith("  turn 1  under way\n    agent      one\n")
