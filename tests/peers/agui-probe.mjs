// What the reference SDK makes of the inputs of agui-inputs.mjs.
//
//     node agui-probe.mjs --url URL NAME...
//
// Standard output gets one JSON object per input: whether the run was resolved, rejected, or
// neither, what was shown of it, and what it left behind. An id that the SDK made up is `made-up`.

import { parseArgs } from "node:util";
import { HttpAgent } from "@ag-ui/client";

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const LIMIT_MS = 10_000;

const { values, positionals } = parseArgs({
  options: { url: { type: "string" } },
  allowPositionals: true,
});

let warnings;
console.warn = (said) => warnings.add(String(said));
console.error = () => {};
process.on("unhandledRejection", () => {}); // a cut connection is reported twice

async function probe(input) {
  warnings = new Set();
  const agent = new HttpAgent({ url: `${values.url}/${input}`, threadId: "thread-probe" });
  agent.messages = [{ id: "user-1", role: "user", content: "hello" }];
  const seen = [];
  const subscriber = {
    onEvent: ({ event: { type } }) => seen.push(type),
    onRunFailed: () => seen.push("failed"),
  };
  let late;
  const limit = new Promise((resolve) => {
    late = setTimeout(resolve, LIMIT_MS, { outcome: "unfinished" });
  });
  const run = agent.runAgent({ runId: "run-probe" }, subscriber).then(
    () => ({ outcome: "resolved" }),
    ({ message, status }) => ({ outcome: "rejected", message, status }),
  );
  const verdict = await Promise.race([run, limit]);
  clearTimeout(late);
  const { messages, state } = agent;
  return { input, ...verdict, seen, messages, state, warnings: [...warnings] };
}

for (const input of positionals) {
  const verdict = JSON.stringify(await probe(input));
  process.stdout.write(`${verdict.replace(UUID, "made-up")}\n`);
}
process.exit();
