// The steps a script can have. Each waits until what it started is over.
//
//     ["new"]                      session/new; the new session becomes the current one
//     ["load", id]                 session/load (v1); it becomes the current one
//     ["resume", id, replay]       session/resume, in v2 with replayFrom when replay is true
//     ["prompt", text]             a whole turn in the current session
//     ["cancel-during", text]      a turn, cancelled when its first message chunk arrives
//     ["close-during", text]       a turn, its session closed when its first chunk arrives
//     ["two-sessions", a, b]       two new sessions, a turn in each at the same time
//     ["permission", answer]       what is answered from now on: allow, reject, or cancel
//     ["set_mode", id]             session/set_mode (v1)
//     ["list"]                     session/list
//     ["close"]                    session/close of the current session

import { RequestError } from "@agentclientprotocol/sdk";

const CWD = "/project";
const ANSWERS = ["allow", "reject", "cancel"];

/** Plays a script over one connection. */
export class Script {
  #session; // the current one

  constructor(version, agent, desk, transcript) {
    this.version = version;
    this.agent = agent;
    this.desk = desk;
    this.transcript = transcript;
  }

  /** Says hello, then plays the steps one after the other. */
  async play(steps) {
    await this.#initialize();
    for (const [name, ...args] of steps) {
      if (!Object.hasOwn(STEPS, name)) {
        throw new Error(`there is no step "${name}"`);
      }
      await STEPS[name].call(this, ...args);
    }
  }

  async #initialize() {
    const about = { name: "acptap-peer-client", version: "1.0.0" };
    const fs = { readTextFile: true, writeTextFile: false };
    const params =
      this.version === 2
        ? { protocolVersion: 2, info: about, capabilities: {} }
        : {
            protocolVersion: 1,
            clientInfo: about,
            clientCapabilities: { fs, terminal: true },
          };
    if (!(await this.call("initialize", undefined, params))) {
      throw new Error("the agent refused initialize");
    }
  }

  /** Sends a request and notes its outcome. Resolves with undefined after an error answer. */
  async call(method, session, params) {
    try {
      const result = await this.agent.request(method, {
        ...(session && { sessionId: session }),
        ...params,
      });
      this.transcript.write("result", session, { method, result });
      return result;
    } catch (error) {
      if (!(error instanceof RequestError)) {
        throw new Error("the connection broke", { cause: error });
      }
      const { code, message, data } = error;
      this.transcript.write("error", session, { method, error: { code, message, data } });
      return undefined;
    }
  }

  /** The session that the next step is about. */
  get session() {
    if (!this.#session) {
      throw new Error("this step needs a session");
    }
    return this.#session;
  }

  set session(id) {
    this.#session = id;
  }

  async open() {
    const result = await this.call("session/new", undefined, { cwd: CWD, mcpServers: [] });
    return result?.sessionId;
  }

  /** A whole turn: in v1 to the answer, in v2 to the answer and the idle state. */
  async turn(session, text) {
    const idle = this.version === 2 && this.desk.idle(session);
    const prompt = [{ type: "text", text }];
    const result = await this.call("session/prompt", session, { prompt });
    if (result) {
      await idle;
    }
  }

  /** A turn during which `act` happens as soon as the agent has begun to speak. */
  async interrupt(text, act) {
    let over = false;
    let acted;
    this.desk.chunk(this.session).then(() => {
      if (!over) {
        acted = act();
        acted.catch(() => {}); // it is awaited below
      }
    });
    await this.turn(this.session, text);
    over = true; // a turn that failed at once had no chunk
    await acted;
  }
}

/** Each is called on a Script. */
const STEPS = {
  async new() {
    this.session = await this.open();
  },
  async load(id) {
    await this.call("session/load", id, { cwd: CWD, mcpServers: [] });
    this.session = id;
  },
  async resume(id, replay = false) {
    const replayFrom = replay && this.version === 2 && { replayFrom: { type: "start" } };
    await this.call("session/resume", id, { cwd: CWD, mcpServers: [], ...replayFrom });
    this.session = id;
  },
  async prompt(text) {
    await this.turn(this.session, text);
  },
  async "cancel-during"(text) {
    await this.interrupt(text, () =>
      this.agent.notify("session/cancel", { sessionId: this.session }),
    );
  },
  async "close-during"(text) {
    await this.interrupt(text, () => this.call("session/close", this.session, {}));
  },
  async "two-sessions"(first, second) {
    this.transcript.hold();
    const sessions = [await this.open(), await this.open()];
    await Promise.all([this.turn(sessions[0], first), this.turn(sessions[1], second)]);
    this.transcript.release(sessions);
    this.session = sessions[1];
  },
  async permission(answer) {
    if (!ANSWERS.includes(answer)) {
      throw new Error(`permission is one of ${ANSWERS.join(", ")}`);
    }
    this.desk.permission = answer;
  },
  async set_mode(modeId) {
    await this.call("session/set_mode", this.session, { modeId });
  },
  async list() {
    await this.call("session/list", undefined, {});
  },
  async close() {
    await this.call("session/close", this.session, {});
  },
};
