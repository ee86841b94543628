"""What a view has to react to: every row of the mapping from events to updates."""

import pytest

from tests.agui.plays import begin, perform, view

ROWS = {
    "RUN_STARTED": "RS",
    "RUN_STARTED a second one": """
        RS
        RS = error protocol run-in-run # run-in-run""",
    "before RUN_STARTED": """
        TMS m = error protocol first-event # first-event
        TMC m = error protocol first-event # first-event
        RS""",
    "before RUN_STARTED RUN_ERROR":
        "RE = error protocol error-first; error run fatal; done failed # error-first",
    "before RUN_STARTED RUN_FINISHED":
        "RF = error protocol first-event; done success # first-event",
    "STEP ok and broken": """
        RS
        STS a
        STS a = error protocol step-twice # step-twice
        STF a
        STF a = error protocol step-not-open # step-not-open""",
    "RAW, CUSTOM": """
        RAW # first-event
        CUSTOM x # first-event
        RS
        RAW
        CUSTOM x""",
    "TEXT a new one": """
        RS
        TMS m = message 1 m started
        TMC m hel = message 1 m content
        TMC m lo = message 1 m content
        TMC m = message 1 m content
        TME m = message 1 m ended
        RF = done success""",
    "TEXT known but closed": """
        RS
        TMS m = message 1 m started
        TME m = message 1 m ended
        TMS m = message 1 m started
        TMC m more = message 1 m content""",
    "TEXT open": """
        RS
        TMS m = message 1 m started
        TMS m = error protocol message-twice # message-twice""",
    "TEXT not open": """
        RS
        TMC m = error protocol message-not-open # message-not-open
        TME m = error protocol message-not-open # message-not-open""",
    "TEXT into an activity": """
        RS
        AS m = message 1 m activity
        TMS m
        TMC m x = error protocol text-in-activity # text-in-activity
        TME m""",
    "TOOL its own message": """
        RS
        TCS c = message 1 c-message tool_started c
        TCA c { = message 1 c-message tool_args c
        TCA c {"delta":"}"} = message 1 c-message tool_args c
        TCE c = message 1 c-message tool_ended c
        RF = done success c""".replace("TCA c { =", 'TCA c {"delta":"{"} ='),
    "TOOL in a message that is there": """
        RS
        TMS m = message 1 m started
        TME m = message 1 m ended
        TCS c m = message 1 m tool_started c
        TCE c = message 1 m tool_ended c""",
    "TOOL in a message that is not": """
        RS
        TCS c m = message 1 m tool_started c
        TMS m = message 1 m started""",
    "TOOL in a message that is not the agent's": """
        RS
        TCS c u # parent-not-assistant
        TCA c x = error protocol tool-call-not-open # tool-call-not-open
        TCE c""",
    "TOOL again after its end": """
        RS
        TCS c = message 1 c-message tool_started c
        TCA c 1 = message 1 c-message tool_args c
        TCE c = message 1 c-message tool_ended c
        TCS c = message 1 c-message tool_started c
        TCA c 2 = message 1 c-message tool_args c""",
    "TOOL arguments of an unknown call": """
        RS
        TCA c = error protocol tool-call-not-open # tool-call-not-open
        TCE c = error protocol tool-call-not-open # tool-call-not-open""",
    "TOOL arguments that are no JSON": """
        RS
        TCS c = message 1 c-message tool_started c
        TCA c {"delta":"{\\"a\\":"} = message 1 c-message tool_args c
        TCE c = message 1 c-message tool_ended c # arguments-not-json""",
    "TOOL result": """
        RS
        TCS c = message 1 c-message tool_started c
        TCR x c = error protocol result-before-end # result-before-end
        TCE c = message 1 c-message tool_ended c
        TCR x c = message 2 x tool_result c
        TCR x c = message 2 x tool_result c
        TCR u c = message 3 u tool_result c
        TCR y d = message 4 y tool_result d # unknown-tool-call
        RF = done success""",
    "STATE": """
        RS
        SS {"snapshot":{"a":1}} = state
        SD {"delta":[{"op":"add","path":"/b","value":2}]} = state
        SD {"delta":[{"op":"replace","path":"/x/y","value":2}]} = error patch # patch-failed
        RF = done success""",
    "MESSAGES": """
        RS
        TMS m = message 1 m started
        MS {"messages":[{"id":"n","role":"assistant","content":"x"}]} = messages
        TMC m x = message 1 m content # message-dropped
        TME m = message 1 m ended""",
    "ACTIVITY": """
        RS
        AS a {"content":{"x":1}} = message 1 a activity
        AS a {"content":{"y":1},"replace":false} = message 1 a activity
        AD a {"patch":[{"op":"remove","path":"/x"}]} = message 1 a activity
        AD b {"patch":[{"op":"add","path":"/x","value":1}]} = message 2 b activity
        AD a {"patch":[{"op":"remove","path":"/x"}]} = error patch # patch-failed
        AD a {"patch":[{"op":"replace","path":"","value":[]}]} = error patch # patch-failed""",
    "ACTIVITY with the id of a message": """
        RS
        AS u = message 0 u activity # activity-on-message
        AD u = message 0 u activity # activity-on-message""",
    "REASONING a span and its message": """
        RS
        RGS r = reasoning 0 r started
        RMS r
        RMC r hm = reasoning 0 r content
        RME r = reasoning 0 r ended
        RGE r
        RMS r = reasoning 0 r started
        RME r = reasoning 0 r ended""",
    "REASONING not open": """
        RS
        RMC r = error protocol reasoning-not-open # reasoning-not-open
        RME r = error protocol reasoning-not-open # reasoning-not-open
        RGE r # span-not-open""",
    "VALUE of a reasoning, a message, an activity, nothing": """
        RS
        RMS r = reasoning 0 r started
        REV r = reasoning 0 r encrypted
        REV u = message 0 u encrypted
        AS a = message 1 a activity
        REV a = message 1 a encrypted
        REV x""",
    "VALUE of a tool call": """
        RS
        TCS c = message 1 c-message tool_started c
        REV c {"subtype":"tool-call"} = message 1 c-message encrypted c
        REV d {"subtype":"tool-call"}""",
    "THINKING": """
        RS
        THINKING_START {"title":"x"} = reasoning 0 thinking-1 started # retired-event
        THINKING_TEXT_MESSAGE_START # retired-event
        THINKING_TEXT_MESSAGE_CONTENT {"delta":"hm"} = reasoning 0 thinking-1 content
        THINKING_TEXT_MESSAGE_END = reasoning 0 thinking-1 ended
        THINKING_END
        THINKING_TEXT_MESSAGE_START = reasoning 1 thinking-2 started # retired-event
        THINKING_TEXT_MESSAGE_END = reasoning 1 thinking-2 ended
        THINKING_START = reasoning 2 thinking-3 started # retired-event
        THINKING_END = reasoning 2 thinking-3 ended""",
    "SUBAGENT": """
        RS
        SAS s = subagent 0 s started
        SAS s = error protocol subagent-twice # subagent-twice
        SAF s = subagent 0 s finished
        SAF s = error protocol subagent-not-active # subagent-not-active
        SAS s = error protocol subagent-twice # subagent-twice
        SAS k {"parentSubagentRunId":"s"} = subagent 1 k started @s
        SAE k = subagent 1 k failed @s
        SAS l = subagent 2 l started
        SAF l {"outcome":{"type":"suspended","interruptIds":["i"]}} = subagent 2 l suspended
        SAE l = error protocol subagent-not-active # subagent-not-active
        SAS m {"parentSubagentRunId":"x"} = error protocol unknown-parent # unknown-parent""",
    "END success": """
        RS
        RF {"result":1} = done success
        end complete
        end client""",
    "END interrupt": """
        RS
        RF {"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"ask"},{"id":"j",\
"reason":"tool_call","toolCallId":"c","subagentRunId":"s"}]}}\
 = interrupt i ask; interrupt j tool_call c @s; done interrupted""",
    "END with something open": """
        RS
        TMS m = message 1 m started
        RF = error protocol left-open; done success # left-open""",
    "END interrupt for nothing": """
        RS
        RF {"outcome":{"type":"interrupt","interrupts":[]}}\
 = error protocol no-interrupts; error protocol no-interrupts # no-interrupts
        end complete = error protocol truncated fatal; done failed # truncated""",
    "END cancelled": """
        RS
        RF {"outcome":{"type":"cancelled"}} = done cancelled # cancelled""",
    "END pending calls are said": """
        RS
        TCS c = message 1 c-message tool_started c
        TCE c = message 1 c-message tool_ended c
        RF {"outcome":{"type":"success","pendingToolCallIds":["d",1]}} = done success d""",
    "END RUN_ERROR": """
        RS
        TMS m = message 1 m started
        RE {"code":"E1"} = error run E1 fatal; done failed # open-at-error
        end reset""",
    "CHUNK start, content, end": """
        RS
        TMK m Hel = message 1 m started; message 1 m content
        TMK {"delta":"lo"} = message 1 m content
        TCK c f {"delta":"{}"} = message 1 m ended; message 2 c-message tool_started c; \
message 2 c-message tool_args c
        TCK {"delta":" "} = message 2 c-message tool_args c
        TMK n = message 2 c-message tool_ended c; message 3 n started
        TMK n
        RF = message 3 n ended; done success c""".replace("; \n", "; "),
    "CHUNK reasoning": """
        RS
        RMK r hm = reasoning 0 r started; reasoning 0 r content
        RMK {"delta":"!"} = reasoning 0 r content
        RE = reasoning 0 r ended; error run fatal; done failed""",
    "CHUNK with nothing to go on with": """
        RS
        TMK {"delta":"x"} = error protocol chunk-without-start # chunk-without-start
        TCK c = error protocol chunk-without-start # chunk-without-start""",
    "unknown type": """
        RS
        TELEPATHY_START {"messageId":"m"} # unknown-event
        RF = done success""",
    "no object": """
        RS
        json [] = error decode not-object fatal; done failed # not-object
        TMS m
        json 7 # not-object
        RF
        end complete""",
    "no type": """
        RS
        json {"Type":"RUN_STARTED"} = error decode no-type fatal; done failed # no-type
        json {"type":7} # no-type
        json {"type":""} # no-type""",
    "no JSON": """
        RS
        TMK m x = message 1 m started; message 1 m content
        garbage {"type" = message 1 m ended; error decode not-json fatal; done failed # not-json
        garbage [DONE] # done-marker""",
    "a malformed event": """
        RS
        TMS = error decode malformed-event # malformed-event
        SS = error decode malformed-event # malformed-event
        RF = done success""",
    "a malformed end": """
        json {"type":"RUN_STARTED"} = error decode malformed-event # malformed-event; other-run
        json {"type":"RUN_FINISHED"} = error decode malformed-event; done success\
 # malformed-event""",
    "a malformed member": """
        RS
        TMS m tool = message 1 m started # malformed-member
        TMC m {"timestamp":1.5} = message 1 m content # malformed-member
        TMC m {"timestamp":null} = message 1 m content # null-member
        TMC m {"rawEvent":null,"subagentRunId":7} = message 1 m content # malformed-member
        TME m {"metadata":{}} = message 1 m ended""",
    "PATH the body ends too early": """
        RS
        TMS m = message 1 m started
        TMC m Transferring = message 1 m content
        end complete = error protocol truncated fatal; done failed # truncated""",
    "PATH no event at all": """
        http 200
        end complete = error protocol no-events fatal; done failed # no-events""",
    "PATH a reset, owed ends come first": """
        RS
        TMK m x = message 1 m started; message 1 m content
        end reset = message 1 m ended; error transport fatal; done failed""",
    "PATH cut": """
        RS
        end cut = error transport fatal; done failed""",
    "PATH the client leaves": """
        RS
        TMS m = message 1 m started
        end client = error transport fatal; done failed aborted
        end complete""",
    "PATH an HTTP error": """
        http 502 text/plain = error http 502 fatal; done failed # refused
        RS
        garbage x
        end complete""",
    "PATH a redirect": """
        http 307 text/plain
        end complete""",
    "RUNS two in a stream": """
        RS
        TMS m = message 1 m started
        TME m = message 1 m ended
        RF = done success
        CUSTOM x # after-finish
        RS t r2 # second-run; other-run
        TMS m = message 1 m started
        end complete = error protocol truncated fatal; done failed # truncated""",
    "A2, 36, 37 late ends": """
        RS
        RF = done success
        RE # late-error
        RF # after-finish
        RS # second-run
        RE = error run fatal; done failed
        RF # after-error
        RE # after-error""",
}  # fmt: skip


@pytest.mark.parametrize("play", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("keep", [True, False], ids=["kept", "not kept"])
def test_row(play, keep):
    perform(play, keep=keep)


def test_done_and_the_error_before_it():
    """Told once, last, and a failed one right behind its error, in every row."""
    for play in ROWS.values():
        run = begin()
        perform(play, run=run)
        shown = view(run)
        for failed in (one for one in shown.done if one.end == "failed"):
            assert shown.errors[-1].fatal or any(
                error.fatal and error.line == failed.line for error in shown.errors
            )
