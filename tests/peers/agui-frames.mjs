// What the reference encoder makes of AG-UI events in its binary form, for tests/agui.
//
//     node agui-frames.mjs > ../agui/frames.jsonl
//
// One JSON object per line: a name, a frame in base64, and the event that the reference decoder
// finds in it. Every event is here, with as much as it can hold and with as little.

import { EventEncoder } from "@ag-ui/encoder";
import { AGUI_MEDIA_TYPE, decode } from "@ag-ui/proto";

const VALUES = {
  nothing: null,
  yes: true,
  no: false,
  text: "Grüße 🎈\u2028",
  empty: "",
  whole: 12,
  negative: -7,
  fraction: 0.25,
  large: 9007199254740991,
  larger: 1e21,
  tiny: 5e-324,
  list: [1, "two", null, [], [{}]],
  object: { "": { a: { b: [true] } } },
};
const SCHEMA = { type: "object", properties: { approved: { type: "boolean" } } };
const BASE = { timestamp: 1796083200123, rawEvent: VALUES, metadata: { trace: "t-1", cost: 0.5 } };
const USAGE = {
  provider: "openai",
  model: "gpt",
  inputTokens: 5,
  outputTokens: 0,
  totalTokens: 4294967296,
  reasoningTokens: 3,
  cachedInputTokens: 2,
  cacheWriteInputTokens: 1,
};
const PATCH = [
  { op: "add", path: "/a~1b", value: null },
  { op: "remove", path: "/list/0" },
  { op: "replace", path: "", value: VALUES },
  { op: "move", from: "/a", path: "/b" },
  { op: "copy", from: "", path: "/c" },
  { op: "test", path: "/c", value: 1 },
];
const PARTS = [
  { type: "text", text: "look" },
  { type: "text", text: "", id: "part-2", metadata: { a: [1] } },
  { type: "image", source: { type: "data", value: "aGk=", mimeType: "image/png" }, metadata: {} },
  { type: "audio", source: { type: "url", value: "https://example.org/a" } },
  { type: "video", source: { type: "url", value: "https://example.org/v", mimeType: "video/mp4" } },
  { type: "document", source: { type: "file", value: "f-1", provider: "p", mimeType: "text/x" } },
  { type: "document", id: "part-7", source: { type: "file", value: "f-2" } },
];
const CALL = { id: "call-1", type: "function", function: { name: "look", arguments: '{"a":' } };
const MESSAGES = [
  { id: "m-1", role: "system", content: "Be brief." },
  { id: "m-2", role: "developer", content: "", name: "dev" },
  { id: "m-3", role: "user", content: "hello", metadata: { a: 1 } },
  { id: "m-4", role: "user", content: PARTS },
  { id: "m-5", role: "user", content: [] },
  { id: "m-6", role: "assistant" },
  {
    id: "m-7",
    role: "assistant",
    content: "I look.",
    toolCalls: [CALL, { ...CALL, id: "call-2", encryptedValue: "e==", metadata: { n: 1 } }],
    subagentRunId: "sub-1",
    encryptedValue: "f==",
  },
  { id: "m-8", role: "tool", toolCallId: "call-1", content: "7", error: "late" },
  { id: "m-9", role: "tool", toolCallId: "call-2", content: [PARTS[0]] },
  { id: "m-10", role: "reasoning", content: "hm", encryptedValue: "g==" },
  { id: "m-11", role: "activity", activityType: "search", content: { q: "tea", found: [1] } },
  { id: "m-12", role: "activity", activityType: "search", content: {} },
];
const INPUT = {
  threadId: "thread-1",
  runId: "run-1",
  protocolVersion: "1.0",
  parentRunId: "run-0",
  state: { n: 1 },
  messages: MESSAGES,
  tools: [
    { name: "look", description: "Looks.", parameters: SCHEMA, metadata: { a: 1 } },
    { name: "see", description: "" },
  ],
  context: [{ description: "user", value: "Ann" }],
  forwardedProps: { model: "small" },
  resume: [
    { interruptId: "i-1", status: "resolved", payload: { approved: true }, metadata: { a: 1 } },
    { interruptId: "i-2", status: "cancelled" },
  ],
};
const INTERRUPTS = [
  { id: "i-1", reason: "tool_call" },
  {
    id: "i-2",
    reason: "question",
    message: "Shall I?",
    toolCallId: "call-1",
    responseSchema: SCHEMA,
    expiresAt: "2030-01-01T00:00:00Z",
    metadata: { a: 1 },
    subagentRunId: "sub-1",
  },
];
const RUN = { threadId: "thread-1", runId: "run-1" };
const BY_SUBAGENT = { subagentRunId: "sub-1" };
const OF_MESSAGE = { messageId: "m-1" };
const OF_CALL = { toolCallId: "call-1" };

// For each type: what must be there, then variants with what may be there too.
const EVENTS = {
  RUN_STARTED: [
    RUN,
    { protocolVersion: "1.0", parentRunId: "run-0", input: INPUT },
    { input: { ...RUN, messages: [], tools: [], context: [] } },
  ],
  RUN_FINISHED: [
    RUN,
    { result: VALUES, usage: [USAGE, {}] },
    { outcome: { type: "success" } },
    { outcome: { type: "success", pendingToolCallIds: ["call-1", "call-2"] } },
    { outcome: { type: "interrupt", interrupts: INTERRUPTS } },
    { outcome: { type: "cancelled" } },
  ],
  RUN_ERROR: [{ message: "out of memory" }, { code: "oom", usage: [USAGE] }],
  STEP_STARTED: [{ stepName: "plan" }, BY_SUBAGENT],
  STEP_FINISHED: [{ stepName: "plan" }, BY_SUBAGENT],
  TEXT_MESSAGE_START: [OF_MESSAGE, { role: "assistant", name: "bot", ...BY_SUBAGENT }],
  TEXT_MESSAGE_CONTENT: [{ ...OF_MESSAGE, delta: "Grüße 🎈" }, { delta: "", ...BY_SUBAGENT }],
  TEXT_MESSAGE_END: [OF_MESSAGE, BY_SUBAGENT],
  TEXT_MESSAGE_CHUNK: [
    {},
    { ...OF_MESSAGE, role: "assistant", delta: "hello", name: "bot", ...BY_SUBAGENT },
  ],
  TOOL_CALL_START: [
    { ...OF_CALL, toolCallName: "look" },
    { parentMessageId: "m-1", ...BY_SUBAGENT },
  ],
  TOOL_CALL_ARGS: [{ ...OF_CALL, delta: '{"a":' }, BY_SUBAGENT],
  TOOL_CALL_END: [OF_CALL, BY_SUBAGENT],
  TOOL_CALL_CHUNK: [
    {},
    { ...OF_CALL, toolCallName: "look", parentMessageId: "m-1", delta: "{}", ...BY_SUBAGENT },
  ],
  TOOL_CALL_RESULT: [
    { ...OF_MESSAGE, ...OF_CALL, content: "7" },
    { role: "tool", ...BY_SUBAGENT },
    { content: PARTS },
    { content: [] },
    { content: "" },
  ],
  STATE_SNAPSHOT: [{ snapshot: VALUES }, { snapshot: null, ...BY_SUBAGENT }, { snapshot: [] }],
  STATE_DELTA: [{ delta: PATCH }, { delta: [], ...BY_SUBAGENT }],
  MESSAGES_SNAPSHOT: [{ messages: MESSAGES }, { messages: [] }],
  ACTIVITY_SNAPSHOT: [
    { ...OF_MESSAGE, activityType: "search", content: {} },
    { content: VALUES, replace: true, ...BY_SUBAGENT },
    { replace: false },
  ],
  ACTIVITY_DELTA: [{ ...OF_MESSAGE, activityType: "search", patch: PATCH }, BY_SUBAGENT],
  REASONING_START: [OF_MESSAGE, BY_SUBAGENT],
  REASONING_MESSAGE_START: [{ ...OF_MESSAGE, role: "reasoning" }, BY_SUBAGENT],
  REASONING_MESSAGE_CONTENT: [{ ...OF_MESSAGE, delta: "hm" }, BY_SUBAGENT],
  REASONING_MESSAGE_END: [OF_MESSAGE, BY_SUBAGENT],
  REASONING_MESSAGE_CHUNK: [{}, { ...OF_MESSAGE, delta: "hm", ...BY_SUBAGENT }],
  REASONING_END: [OF_MESSAGE, BY_SUBAGENT],
  REASONING_ENCRYPTED_VALUE: [
    { subtype: "tool-call", entityId: "call-1", encryptedValue: "e==" },
    { subtype: "message", entityId: "m-1", ...BY_SUBAGENT },
  ],
  SUBAGENT_STARTED: [
    { ...BY_SUBAGENT, name: "researcher" },
    {
      description: "Reads.",
      parentSubagentRunId: "sub-0",
      parentToolCallId: "call-1",
      parentMessageId: "m-1",
    },
  ],
  SUBAGENT_FINISHED: [
    BY_SUBAGENT,
    { result: { n: 3 } },
    { outcome: { type: "success" } },
    { outcome: { type: "suspended" } },
    { outcome: { type: "suspended", interruptIds: ["i-1", "i-2"] } },
  ],
  SUBAGENT_ERROR: [{ ...BY_SUBAGENT, message: "lost" }, { code: "lost" }],
  RAW: [{ event: VALUES }, { event: null, source: "graph", ...BY_SUBAGENT }],
  CUSTOM: [{ name: "note", value: VALUES }, { value: null, ...BY_SUBAGENT }, { value: "" }],
};

const encoder = new EventEncoder({ accept: AGUI_MEDIA_TYPE });

function write(name, event) {
  const frame = Buffer.from(encoder.encodeBinary(event));
  const row = { name, frame: frame.toString("base64"), event: decode(frame.subarray(4)) };
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

for (const [type, [least, ...variants]] of Object.entries(EVENTS)) {
  write(`${type} with what it must have`, { type, ...least });
  write(`${type} with what all may have`, { type, ...least, ...BASE });
  for (const [index, more] of variants.entries()) {
    write(`${type}, variant ${index + 1}`, { type, ...least, ...more });
  }
}
