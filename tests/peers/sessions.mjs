// What the agent remembers between two requests. Neither version of the protocol shows here.

import { RequestError } from "@agentclientprotocol/sdk";

/** Two turns that were over before this process started: for load, resume and list. */
const ARCHIVE = [
  { prompt: "What is the capital of France?", reply: "Paris." },
  { prompt: "And of Italy?", reply: "Rome." },
];

/** One conversation: its past turns, and the one that is running. */
class Session {
  /** The last state announced: v2 sends it again when the session is resumed. */
  state = { sessionUpdate: "state_update", state: "idle" };
  mode = "ask";
  #running;
  #abort;
  #calls = 0;

  constructor(id, cwd, history) {
    this.id = id;
    this.cwd = cwd;
    this.history = history;
  }

  get info() {
    return {
      sessionId: this.id,
      cwd: this.cwd,
      title: this.history[0]?.prompt ?? "Nothing said yet",
      updatedAt: "2026-01-02T03:04:05Z",
    };
  }

  /** A tool call id that no other call of this session has. */
  nextCall() {
    this.#calls += 1;
    return `call-${this.#calls}`;
  }

  assertIdle() {
    if (this.#running) {
      throw RequestError.invalidRequest(undefined, "a turn is running in this session");
    }
  }

  /** Runs `work(signal)` as the only turn of this session; the signal says "cancelled". */
  run(work) {
    this.assertIdle();
    this.#abort = new AbortController();
    this.#running = work(this.#abort.signal).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  cancel() {
    this.#abort?.abort();
  }

  /** Cancels the running turn, if any, and waits until it has ended. */
  async stop() {
    this.cancel();
    await this.#running?.catch(() => {}); // whoever asked for the turn hears of its failure
  }
}

/** All sessions of one agent process. Their ids count up: session-1, session-2. */
export class Sessions {
  #byId = new Map([["archived-1", new Session("archived-1", "/project", [...ARCHIVE])]]);
  #created = 0;

  create(cwd) {
    this.#created += 1;
    const session = new Session(`session-${this.#created}`, cwd, []);
    this.#byId.set(session.id, session);
    return session;
  }

  get(id) {
    const session = this.#byId.get(id);
    if (!session) {
      throw RequestError.sessionNotFound(id);
    }
    return session;
  }

  cancel(id) {
    this.#byId.get(id)?.cancel();
  }

  async close(id) {
    await this.get(id).stop();
    this.#byId.delete(id);
  }

  list() {
    return [...this.#byId.values()].map((session) => session.info);
  }

  stopAll() {
    for (const session of this.#byId.values()) {
      session.cancel();
    }
  }
}
