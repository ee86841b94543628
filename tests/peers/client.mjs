// A client on the official TypeScript SDK that plays scripts against any agent.
//
//     node client.mjs --version 1|2 --script '[["new"], ["prompt", "hello"]]' -- COMMAND ARGS...
//     node client.mjs --version 1|2 --script '[["new"], ["prompt", "hello"]]' --url URL
//
// steps.mjs lists the steps. Standard output gets one JSON object per line for everything the
// SDK showed the client, in order and without ids or times, so that two runs can be compared
// line for line; the last line tells how the connection, or the agent, ended. With several
// --script each has a connection of its own, one after the other. --terminal PREFIX changes the
// ids that the client gives its terminals, not the output.

import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Desk } from "./client-app.mjs";
import { linkTo } from "./links.mjs";
import { Script } from "./steps.mjs";
import { Transcript } from "./transcript.mjs";

const LIMIT_MS = 30_000; // for each script

const { values, positionals } = parseArgs({
  options: {
    version: { type: "string", default: "1" },
    script: { type: "string", multiple: true },
    terminal: { type: "string", default: "terminal" },
    url: { type: "string" },
  },
  allowPositionals: true,
});
const version = Number(values.version);

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

/** Plays one script over one connection. */
class Conversation {
  transcript = new Transcript();
  #failed = false;

  constructor(steps) {
    this.steps = steps;
    this.link = linkTo(values.url, positionals);
  }

  async hold() {
    const late = () => this.#fail(new Error(`over the limit of ${LIMIT_MS} ms`));
    const limit = setTimeout(late, LIMIT_MS);
    try {
      await this.#play();
    } catch (error) {
      this.#fail(error);
    }
    const end = await this.link.end;
    clearTimeout(limit);
    process.stdout.write(`${JSON.stringify(end)}\n`);
  }

  #fail(error) {
    if (this.#failed) {
      return; // what follows the first failure are its consequences
    }
    this.#failed = true;
    this.transcript.write("failure", undefined, { message: error.message });
    if (error.cause) {
      console.error(error.cause);
    }
    process.exitCode = 1;
    this.link.drop();
  }

  async #play() {
    const { link, transcript } = this;
    const stream = await link.open();
    const desk = new Desk(version, transcript, values.terminal);
    const connection = desk.app().connect(oneByOne(stream));
    const broken = connection.closed.then(() => {
      throw new Error("the connection broke");
    });
    broken.catch(() => {}); // it is no failure once the script is over
    const script = new Script(version, connection.agent, desk, transcript);
    await Promise.race([script.play(this.steps), broken]);
    await link.leave(connection);
  }
}

for (const script of values.script) {
  await new Conversation(JSON.parse(script)).hold();
}
if (process.exitCode) {
  process.exit(); // what has failed may have left a connection open
}
