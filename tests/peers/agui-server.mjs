// An AG-UI server on the reference encoder, in SSE or in binary, as the request's Accept says.
//
//     node agui-server.mjs
//
// The first line of standard output is the port, on the loopback interface. It serves until its
// standard input ends. The path chooses what happens: see RUNS, and HTTP below it.

import { once } from "node:events";
import http from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { EventEncoder } from "@ag-ui/encoder";

const PAUSE_MS = 2; // between two events, so that they come in reads of their own
const NEVER = Symbol("never"); // instead of an event: the run waits until its client is gone

const by = (subagentRunId) => ({ subagentRunId });

function text(messageId, words, more = {}) {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...more },
    ...words.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta, ...more })),
    { type: "TEXT_MESSAGE_END", messageId, ...more },
  ];
}

function reasoning(messageId, words, more = {}) {
  return [
    { type: "REASONING_START", messageId, ...more },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...more },
    ...words.map((delta) => ({ type: "REASONING_MESSAGE_CONTENT", messageId, delta, ...more })),
    { type: "REASONING_MESSAGE_END", messageId, ...more },
    { type: "REASONING_END", messageId, ...more },
  ];
}

function call(toolCallId, toolCallName, fragments, more = {}) {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName, ...more },
    ...fragments.map((delta) => ({ type: "TOOL_CALL_ARGS", toolCallId, delta })),
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

// Each gets the request and returns the events between the first of a run and its last, and the
// last one's members; `failed` instead of those ends the run with RUN_ERROR.

/** Every type of event. */
function everything({ messages }) {
  return {
    events: [
      { type: "STEP_STARTED", stepName: "plan" },
      ...reasoning("reasoning-1", ["Tea", " needs", " water."], { metadata: { effort: 0.5 } }),
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: "reasoning-1",
        encryptedValue: "c2VjcmV0",
      },
      { type: "REASONING_MESSAGE_CHUNK", messageId: "reasoning-2", delta: "And " },
      { type: "REASONING_MESSAGE_CHUNK", delta: "leaves." },
      { type: "STEP_FINISHED", stepName: "plan" },
      { type: "STATE_SNAPSHOT", snapshot: { cups: 0, ratio: 1.5, done: null } },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/cups", value: 2 }] },
      ...text("text-1", ["Three ", "sources", " — 🎈"]),
      { type: "SUBAGENT_STARTED", name: "researcher", description: "Reads.", ...by("sub-1") },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "text-2", delta: "I ", ...by("sub-1") },
      { type: "TEXT_MESSAGE_CHUNK", delta: "read.", ...by("sub-1") },
      {
        type: "SUBAGENT_STARTED",
        name: "critic",
        parentSubagentRunId: "sub-1",
        ...by("sub-2"),
      },
      { type: "SUBAGENT_ERROR", message: "nothing to say", code: "silent", ...by("sub-2") },
      { type: "SUBAGENT_FINISHED", result: { pages: 3 }, ...by("sub-1") },
      {
        type: "ACTIVITY_SNAPSHOT",
        messageId: "activity-1",
        activityType: "search",
        content: { for: "tea", found: 0 },
      },
      {
        type: "ACTIVITY_DELTA",
        messageId: "activity-1",
        activityType: "search",
        patch: [{ op: "replace", path: "/found", value: 3 }],
      },
      ...call("call-1", "boil", ['{"cups"', ":2}"], { parentMessageId: "text-1" }),
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: "call-1",
        encryptedValue: "c2VjcmV0",
      },
      { type: "TOOL_CALL_RESULT", messageId: "result-1", toolCallId: "call-1", content: "hot" },
      { type: "TOOL_CALL_CHUNK", toolCallId: "call-2", toolCallName: "pour", delta: "{" },
      { type: "TOOL_CALL_CHUNK", delta: "}" },
      { type: "RAW", event: { provider: "none", n: [1, null] }, source: "scripted" },
      { type: "CUSTOM", name: "tea.ready", value: null },
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          ...messages,
          { id: "text-1", role: "assistant", content: "Three sources." },
          { id: "text-3", role: "assistant", content: "Tea is ready." },
        ],
      },
    ],
    end: {
      result: { cups: 2 },
      outcome: { type: "success" },
      usage: [{ provider: "none", model: "scripted", inputTokens: 5, outputTokens: 7 }],
    },
  };
}

/** A tool of the client's: the run ends, and the next one brings its result. */
function frontend({ messages }) {
  const last = messages.at(-1);
  if (last.role === "tool") {
    return { events: text("text-1", ["You ", `chose ${last.content}.`]) };
  }
  return {
    events: call("call-1", "choose", ['{"from":', '["red","blue"]}']),
    end: { outcome: { type: "success", pendingToolCallIds: ["call-1"] } },
  };
}

/** Two questions of a subagent, which goes on once both are answered. */
function ask({ resume }) {
  const subagent = { type: "SUBAGENT_STARTED", name: "clerk", ...by("sub-1") };
  if (resume?.length) {
    const answers = resume.map(({ interruptId, status }) => `${interruptId} ${status}`);
    return {
      events: [
        subagent,
        ...text("text-2", [`So: ${answers.join(", ")}.`], by("sub-1")),
        { type: "SUBAGENT_FINISHED", ...by("sub-1") },
      ],
      end: { outcome: { type: "success" } },
    };
  }
  const interrupts = [
    { id: "interrupt-1", reason: "approval", message: "Sign it?", ...by("sub-1") },
    { id: "interrupt-2", reason: "choice", responseSchema: { type: "string" }, ...by("sub-1") },
  ];
  return {
    events: [
      subagent,
      ...text("text-1", ["Two questions."], by("sub-1")),
      {
        type: "SUBAGENT_FINISHED",
        outcome: { type: "suspended", interruptIds: ["interrupt-1", "interrupt-2"] },
        ...by("sub-1"),
      },
    ],
    end: { outcome: { type: "interrupt", interrupts } },
  };
}

const RUNS = {
  "/everything": everything,
  "/frontend": frontend,
  "/ask": ask,
  "/text": ({ messages }) => ({ events: text(`text-${messages.length}`, ["Hello", " there."]) }),
  "/fail": () => ({
    events: text("text-1", ["Half a "]).slice(0, -1),
    failed: { message: "out of tokens", code: "quota", usage: [{ outputTokens: 3 }] },
  }),
  "/cancelled": () => ({ events: [], end: { outcome: { type: "cancelled" } } }),
  "/slow": () => ({ events: [...text("text-1", ["one", " two", " three"]).slice(0, -1), NEVER] }),
  "/endless": () => ({ events: text("text-1", ["no end"]), cut: true }),
};

// What is answered without a run.
const HTTP = {
  "/locked": [401, { error: "no key" }],
  "/busy": [503, { error: "later", after: 5 }],
};

function* eventsOf(run, { threadId, runId }) {
  yield { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" };
  yield* run.events;
  if (run.failed) {
    yield { type: "RUN_ERROR", ...run.failed };
  } else if (!run.cut) {
    yield { type: "RUN_FINISHED", threadId, runId, ...run.end };
  }
}

async function answer(request, response) {
  const input = await json(request);
  if (HTTP[request.url]) {
    const [status, error] = HTTP[request.url];
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(error));
    return;
  }
  const encoder = new EventEncoder({ accept: request.headers.accept });
  response.writeHead(200, { "Content-Type": encoder.getContentType() });
  for (const event of eventsOf(RUNS[request.url](input), input)) {
    if (event === NEVER) {
      await once(response, "close");
    } else {
      response.write(encoder.encodeBinary(event));
    }
    await sleep(PAUSE_MS);
  }
  response.end();
}

const server = http.createServer(answer);
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`${server.address().port}\n`);

await once(process.stdin.resume(), "end");
process.exit();
