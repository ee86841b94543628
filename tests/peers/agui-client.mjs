// A client on the reference SDK that talks to any AG-UI server.
//
//     node agui-client.mjs --url URL --talk '{"path": "/text", "steps": [["prompt", "hello"]]}'
//
// STEPS lists the steps. Standard output gets one JSON object per line for everything the SDK
// showed, in order, and without times; the ids that somebody made up get names in the order in
// which they are seen. So two runs can be compared line for line. The last line of a talk is
// none of that: it holds the bodies of all requests and answers, in base64. With several --talk
// each is a thread of its own, one after the other. `"accept"` in a talk asks for another form
// than SSE. --ids PREFIX changes the ids that the client makes up, not the output.

import { parseArgs } from "node:util";
import { HttpAgent } from "@ag-ui/client";
import { Transcript } from "./transcript.mjs";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    talk: { type: "string", multiple: true },
    ids: { type: "string", default: "peer" },
  },
});

/** A body as it passes, kept whole. */
function kept(body, chunks) {
  return body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        chunks.push(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
}

const base64 = (chunks) => Buffer.concat(chunks).toString("base64");

/** The agent, which may ask for another form, and keeps all bodies. */
class Agent extends HttpAgent {
  bodies = [];

  constructor({ accept, ...config }) {
    super({ ...config, fetch: (url, init) => this.#fetch(url, init) });
    this.accept = accept;
  }

  requestInit(input) {
    const init = super.requestInit(input);
    return this.accept ? { ...init, headers: { ...init.headers, Accept: this.accept } } : init;
  }

  async #fetch(url, init) {
    const exchange = { request: [Buffer.from(init.body)], response: [] };
    this.bodies.push(exchange);
    const response = await fetch(url, init);
    return new Response(kept(response.body, exchange.response), response);
  }
}

/** One thread. */
class Talk {
  #transcript = new Transcript();
  #made = 0; // ids
  #named = new Set();

  constructor({ path, steps, accept }, number) {
    this.steps = steps;
    this.agent = new Agent({
      url: `${values.url}${path}`,
      threadId: this.id("thread", number),
      accept,
    });
  }

  /** Makes up an id. */
  id(kind, number) {
    this.#made += 1;
    const id = `${values.ids}-${kind}-${number ?? this.#made}`;
    this.#transcript.rename(id, `${kind}-${number ?? this.#made}`);
    return id;
  }

  async hold() {
    for (const [name, ...args] of this.steps) {
      if (!Object.hasOwn(STEPS, name)) {
        throw new Error(`there is no step "${name}"`);
      }
      await STEPS[name].call(this, ...args);
    }
    const bodies = this.agent.bodies.map(({ request, response }) => [
      base64(request),
      base64(response),
    ]);
    process.stdout.write(`${JSON.stringify({ bodies })}\n`);
  }

  /** Runs the agent, and tells what of it was shown; `watch` gets each event too. */
  async run(parameters, watch = () => {}) {
    const { agent } = this;
    try {
      const runId = this.id("run");
      const { result } = await agent.runAgent(
        { runId, ...parameters },
        {
          onEvent: ({ event: { timestamp, ...event } }) => {
            this.write("shown", { value: event, ...(timestamp && { timed: true }) });
            watch(event);
          },
          onRunFailed: ({ error }) => this.write("failed", told(error)),
          onRunFinalized: () => this.write("finalized", {}),
        },
      );
      this.write("resolved", { result });
    } catch (error) {
      this.write("rejected", told(error));
    }
    this.write("left", {
      messages: agent.messages,
      state: agent.state,
      interrupts: agent.pendingInterrupts,
    });
  }

  /** Writes an event of the transcript. */
  write(event, fields) {
    this.#nameIds(fields);
    this.#transcript.write(event, undefined, fields);
  }

  #nameIds(value) {
    if (typeof value === "string" && UUID.test(value) && !this.#named.has(value)) {
      this.#named.add(value);
      this.#transcript.rename(value, `id-${this.#named.size}`);
    } else if (value && typeof value === "object") {
      Object.values(value).forEach((inner) => this.#nameIds(inner));
    }
  }
}

const told = ({ message, status }) => ({ message, status });

const STEPS = {
  /** The user says something. */
  async prompt(content) {
    this.agent.addMessage({ id: this.id("user"), role: "user", content });
    await this.run();
  },

  /** The same, but the run is aborted at the delta with this text. */
  async abort(content, delta) {
    this.agent.addMessage({ id: this.id("user"), role: "user", content });
    await this.run({}, (event) => {
      if (event.delta === delta) {
        this.agent.abortRun();
      }
    });
  },

  /** All pending interrupts are resolved with the same payload, or cancelled without one. */
  async answer(payload) {
    const status = payload === undefined ? "cancelled" : "resolved";
    const resume = this.agent.pendingInterrupts.map(({ id: interruptId }) => ({
      interruptId,
      status,
      ...(payload !== undefined && { payload }),
    }));
    await this.run({ resume });
  },

  /** All calls that nobody has answered get the same result. */
  async result(content) {
    const { messages } = this.agent;
    const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
    const calls = messages.flatMap(({ toolCalls }) => toolCalls ?? []);
    for (const { id: toolCallId } of calls.filter(({ id }) => !answered.has(id))) {
      this.agent.addMessage({ id: this.id("tool"), role: "tool", toolCallId, content });
    }
    await this.run();
  },
};

console.warn = console.error = (...said) => {
  process.stdout.write(`${JSON.stringify({ event: "warning", said: String(said[0]) })}\n`);
};

for (const [index, talk] of values.talk.entries()) {
  await new Talk(JSON.parse(talk), index + 1).hold();
}
process.exit();
