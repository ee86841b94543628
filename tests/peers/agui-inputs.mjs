// A server that answers a run with bytes that real servers have sent, good and bad.
//
//     node agui-inputs.mjs
//
// The first line of standard output is the port, on the loopback interface. It serves until its
// standard input ends. GET / is answered with the names of the inputs, POST /NAME with an input.

import { once } from "node:events";
import http from "node:http";
import { gzipSync } from "node:zlib";
import { EventEncoder } from "@ag-ui/encoder";
import { AGUI_MEDIA_TYPE } from "@ag-ui/proto";

const CUT_MS = 300; // then a connection is cut, and the client has long seen what was written

const started = (more = {}) => ({
  type: "RUN_STARTED",
  threadId: "thread-probe",
  runId: "run-probe",
  ...more,
});
const finished = (more = {}) => ({ ...started(), type: "RUN_FINISHED", ...more });
const custom = (value) => ({ type: "CUSTOM", name: "note", value });

const opening = (messageId) => ({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
const saying = (messageId, delta = "hé") => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
const closing = (messageId) => ({ type: "TEXT_MESSAGE_END", messageId });
const message = (id) => [opening(id), saying(id), closing(id)];
const chunk = (delta, more = {}) => ({ type: "TEXT_MESSAGE_CHUNK", delta, ...more });
const patch = (...delta) => ({ type: "STATE_DELTA", delta });

const RUN = [started(), ...message("text-1"), finished()];

const block = (event) => `data: ${JSON.stringify(event)}\n\n`;
const stream = (...events) => events.map(block).join("");
const each = (shape) =>
  RUN.map((event, index) => shape(JSON.stringify(event), event, index)).join("");
/** A run with something between its first event and its last. */
const within = (...events) => stream(started(), ...events, finished());
/** The same, where what stands between is bytes. */
const around = (...bytes) =>
  Buffer.concat([block(started()), ...bytes, block(finished())].map((part) => Buffer.from(part)));

const WHOLE = stream(...RUN);
const encoder = new EventEncoder({ accept: AGUI_MEDIA_TYPE });
const BINARY = Buffer.concat(RUN.map((event) => encoder.encodeBinary(event)));

// Each is a body, and what is not as usual about its answer.
const INPUTS = {
  // What is between the events.
  plain: [WHOLE],
  "no-space-after-the-colon": [each((text) => `data:${text}\n\n`)],
  crlf: [each((text) => `data: ${text}\r\n\r\n`)],
  cr: [each((text) => `data: ${text}\r\r`)],
  "crlf-then-lf": [each((text) => `data: ${text}\r\n\n`)],
  mark: [`\ufeff${WHOLE}`],
  "mark-and-comment": [`\ufeff: hello\n\n${WHOLE}`],
  comments: [`: ping\n\n${each((text) => `: before\ndata: ${text}\n\n: ping - 2026\n\n`)}`],
  "other-fields": [
    each((text, { type }, index) => `event: ${type}\nid: ${index}\nretry: 100\ndata: ${text}\n\n`),
  ],
  "several-data-lines": [
    each((_text, event) => `${JSON.stringify(event, null, 1).replace(/^/gm, "data: ")}\n\n`),
  ],
  "two-events-in-a-block": [`${block(started()).slice(0, -1)}${block(finished())}`],
  "done-behind-it": [`${WHOLE}data: [DONE]\n\n`],
  "empty-data": [`data:\n\n${WHOLE}`],
  "no-empty-line-at-the-end": [WHOLE.slice(0, -2)],
  "one-lf-at-the-end": [WHOLE.slice(0, -1)],
  "json-lines": [each((text) => `${text}\n`)],
  "a-list-in-a-block": [`data: ${JSON.stringify(RUN)}\n\n`],
  "null-in-a-block": [`data: null\n\n${WHOLE}`],
  "no-type": [block({ untyped: 1 })],

  // What the answer is.
  "another-content-type": [WHOLE, { type: "application/json" }],
  "content-type-with-charset": [WHOLE, { type: "text/event-stream; charset=utf-8" }],
  "no-content-type": [WHOLE, { type: null }],
  "status-201": [WHOLE, { status: 201 }],
  "status-204": ["", { status: 204 }],
  "status-401": ['{"error":"no key"}', { status: 401, type: "application/json" }],
  "status-500-with-a-run": [WHOLE, { status: 500 }],
  "no-body": [""],
  "no-end": [stream(started(), ...message("text-1"))],
  "no-end-of-a-message": [stream(started(), opening("text-1"), saying("text-1"))],
  "no-end-of-a-block": [`${block(started())}data: {"type":"TEXT_MESS`],
  "cut-off": [stream(started(), opening("text-1"), saying("text-1")), { cut: true }],
  gzip: [gzipSync(WHOLE), { headers: { "Content-Encoding": "gzip" } }],

  // What the events are.
  "ids-of-another-run": [
    stream(
      started({ threadId: "other", runId: "other" }),
      ...message("text-1"),
      finished({ threadId: "third", runId: "third" }),
    ),
  ],
  "unknown-event": [within({ type: "TELEPATHY_START", thought: 1 }, ...message("text-1"))],
  "unknown-member": [within({ ...opening("text-1"), sparkle: 1 }, closing("text-1"))],
  "unknown-outcome": [stream(started(), finished({ outcome: { type: "napping" } }))],
  "null-for-absent": [stream(started(), finished({ outcome: null, result: null }))],
  "role-of-a-tool": [stream(started(), { ...opening("text-1"), role: "tool" })],
  "fraction-as-timestamp": [stream(started({ timestamp: 1.5 }), finished())],
  "large-timestamp": [stream(started({ timestamp: 1e15 }), finished())],
  thinking: [
    within(
      { type: "THINKING_START", title: "hm" },
      { type: "THINKING_TEXT_MESSAGE_START" },
      { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "hm" },
      { type: "THINKING_TEXT_MESSAGE_END" },
      { type: "THINKING_END" },
    ),
  ],
  "error-then-finished": [within({ type: "RUN_ERROR", message: "bad" })],
  "only-an-error": [stream({ type: "RUN_ERROR", message: "bad" })],
  "finished-then-error": [
    stream(started(), finished(), { type: "RUN_ERROR", message: "too late" }),
  ],
  "event-behind-the-end": [stream(started(), finished(), custom(1))],
  "event-before-the-start": [stream(custom(1), ...RUN)],
  "two-runs": [
    stream(
      started({ runId: "run-a" }),
      ...message("text-1"),
      finished({ runId: "run-a" }),
      started({ runId: "run-b" }),
      ...message("text-2"),
      finished({ runId: "run-b" }),
    ),
  ],
  "interleaved-messages": [
    within(...[opening, saying, closing].flatMap((part) => [part("text-1"), part("text-2")])),
  ],
  "chunks-around-a-state": [
    within(
      chunk("A", { messageId: "text-1" }),
      chunk("B"),
      { type: "STATE_SNAPSHOT", snapshot: {} },
      chunk("C"),
    ),
  ],
  "chunks-around-a-raw-event": [
    within(chunk("A", { messageId: "text-1" }), { type: "RAW", event: 1 }, chunk("B")),
  ],
  "patch-that-fails": [
    within(
      { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
      patch({ op: "add", path: "/b", value: 1 }, { op: "replace", path: "/x/y", value: 2 }),
    ),
  ],
  "pointer-that-is-none": [within(patch({ op: "add", path: "b", value: 1 }))],
  "unknown-operation": [
    within(patch({ op: "merge", path: "/b", value: 1 }, { op: "add", path: "/c", value: 1 })),
  ],
  "null-as-state": [within({ type: "STATE_SNAPSHOT", snapshot: null })],
  "result-before-the-end-of-its-call": [
    within(
      { type: "TOOL_CALL_START", toolCallId: "call-1", toolCallName: "look" },
      { type: "TOOL_CALL_RESULT", messageId: "result-1", toolCallId: "call-1", content: "x" },
      { type: "TOOL_CALL_END", toolCallId: "call-1" },
    ),
  ],

  // How they are written.
  "not-utf-8": [around('data: {"type":"CUSTOM","name":"note","value":"', [0xff, 0xfe], '"}\n\n')],
  "line-separator": [within(opening("text-1"), saying("text-1", "a\u2028b"), closing("text-1"))],
  "a-key-twice": [WHOLE.replace('"threadId":', '"threadId":"twice","threadId":')],
  "large-number": [around('data: {"type":"CUSTOM","name":"note","value":12345678901234567890}\n\n')],
  binary: [BINARY, { type: AGUI_MEDIA_TYPE }],
  "binary-with-a-parameter": [BINARY, { type: `${AGUI_MEDIA_TYPE}; charset=binary` }],
  "binary-that-is-cut": [BINARY.subarray(0, -3), { type: AGUI_MEDIA_TYPE }],
};

async function answer(request, response) {
  await request.resume().toArray();
  if (request.method === "GET") {
    response.end(JSON.stringify(Object.keys(INPUTS)));
    return;
  }
  const [body, { status = 200, type = "text/event-stream", headers = {}, cut } = {}] =
    INPUTS[request.url.slice(1)];
  response.writeHead(status, { ...(type && { "Content-Type": type }), ...headers });
  if (cut) {
    response.write(body);
    setTimeout(() => response.socket.destroy(), CUT_MS);
  } else {
    response.end(body);
  }
}

const server = http.createServer(answer);
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`${server.address().port}\n`);

await once(process.stdin.resume(), "end");
process.exit();
