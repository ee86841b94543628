// A client on the official TypeScript SDK that plays a script against any agent on stdio.
//
//     node client.mjs --version 1|2 --script '[["new"], ["prompt", "hello"]]' -- COMMAND ARGS...
//
// steps.mjs lists the steps. Standard output gets one JSON object per line for everything the
// SDK showed the client, in order and without ids or times, so that two runs can be compared
// line for line; the last line tells how the agent ended. --terminal PREFIX changes the ids
// that the client gives its terminals, not the output.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { Desk } from "./client-app.mjs";
import { Script } from "./steps.mjs";
import { Transcript } from "./transcript.mjs";

const LIMIT_MS = 30_000;
const GRACE_MS = 1_000; // for the agent to leave by itself after a failure

const { values, positionals } = parseArgs({
  options: {
    version: { type: "string", default: "1" },
    script: { type: "string" },
    terminal: { type: "string", default: "terminal" },
  },
  allowPositionals: true,
});
const version = Number(values.version);
const steps = JSON.parse(values.script);
const [command, ...args] = positionals;

/**
 * Passes one message per turn of the event loop.
 *
 * The SDK answers a waiting request sooner than it calls the handler of a notification that
 * came before, if both were in one read. This way the order is that of the wire, always.
 */
function oneByOne({ readable, writable }) {
  const gate = new TransformStream(
    {
      async transform(message, controller) {
        controller.enqueue(message);
        await nextTurn();
      },
    },
    undefined,
    { highWaterMark: 0 },
  );
  return { readable: readable.pipeThrough(gate), writable };
}

const transcript = new Transcript();
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = once(child, "close").catch(() => [null, null]); // it was never started
child.stdin.on("error", () => {}); // an agent that is gone shows as a broken connection

const limit = setTimeout(() => fail(new Error(`over the limit of ${LIMIT_MS} ms`)), LIMIT_MS);

function fail(error) {
  if (process.exitCode === 1) {
    return; // what follows the first failure are its consequences
  }
  transcript.write("failure", undefined, { message: error.message });
  if (error.cause) {
    console.error(error.cause);
  }
  process.exitCode = 1;
  child.stdin.end();
  setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
}

async function play() {
  const desk = new Desk(version, transcript, values.terminal);
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const connection = desk.app().connect(oneByOne(stream));
  const broken = connection.closed.then(() => {
    throw new Error("the connection broke");
  });
  broken.catch(() => {}); // it is no failure once the script is over
  await Promise.race([new Script(version, connection.agent, desk, transcript).play(steps), broken]);
  child.stdin.end();
  await connection.closed; // what the agent still says on its way out is seen, too
}

try {
  await once(child, "spawn");
  await play();
} catch (error) {
  fail(error);
}
const [exit, signal] = await exited;
clearTimeout(limit);
process.stdout.write(`${JSON.stringify({ exit, signal })}\n`);
