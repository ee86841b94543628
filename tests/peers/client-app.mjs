// The client's side of the connection: what it answers when the agent asks, and what it notes.

import { client as clientV1, methods as v1, RequestError } from "@agentclientprotocol/sdk";
import { client as clientV2 } from "@agentclientprotocol/sdk/experimental/v2";

const OUTPUT = { output: "all well\n", truncated: false };

/** Resolves when the signal says that the agent has withdrawn its request. */
const aborted = (signal) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
  });

/** Answers the agent's requests and notes everything it sends. */
export class Desk {
  /** The answer to permission requests: "allow", "reject", or "cancel" (the whole turn). */
  permission = "allow";
  #waiting = new Map(); // "chunk of S" and "idle of S" -> what to do then
  #terminals = new Map(); // terminal id -> session, until it is released
  #opened = new Map(); // session -> how many terminals it has had
  #made = 0;

  constructor(version, transcript, terminalPrefix) {
    this.version = version;
    this.transcript = transcript;
    this.terminalPrefix = terminalPrefix;
  }

  /** The SDK application that serves the agent. */
  app() {
    const app = (this.version === 2 ? clientV2 : clientV1)({ name: "peer-client" });
    app.onNotification("session/update", ({ params }) => this.#update(params));
    app.onRequest("session/request_permission", (context) => this.#askedPermission(context));
    if (this.version === 1) {
      this.#serveFilesAndTerminals(app);
    }
    return app;
  }

  /** Resolves with the next agent message chunk of the session. */
  chunk(session) {
    return this.#next(`chunk of ${session}`);
  }

  /** Resolves when the session is idle (v2). */
  idle(session) {
    return this.#next(`idle of ${session}`);
  }

  #next(what) {
    return new Promise((resolve) => {
      this.#waiting.set(what, resolve);
    });
  }

  #arrived(what) {
    const resolve = this.#waiting.get(what);
    this.#waiting.delete(what);
    resolve?.();
  }

  #update({ sessionId, update }) {
    this.transcript.write("update", sessionId, { update });
    if (update.sessionUpdate === "agent_message_chunk") {
      this.#arrived(`chunk of ${sessionId}`);
    }
    if (update.sessionUpdate === "state_update" && update.state === "idle") {
      this.#arrived(`idle of ${sessionId}`);
    }
  }

  async #askedPermission({ params, agent, signal }) {
    const { sessionId, ...question } = params;
    this.transcript.write("permission", sessionId, { ...question, answer: this.permission });
    if (this.permission !== "cancel") {
      const option = params.options.find(({ kind }) => kind.startsWith(this.permission));
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    }
    await agent.notify("session/cancel", { sessionId });
    if (this.version === 2) {
      if (!signal.aborted) {
        await aborted(signal);
      }
      this.transcript.write("withdrawn", sessionId);
    }
    return { outcome: { outcome: "cancelled" } };
  }

  #serveFilesAndTerminals(app) {
    const serve = (method, answer) =>
      app.onRequest(method, ({ params }) => {
        const { sessionId, ...rest } = params;
        this.transcript.write("request", sessionId, { method, params: rest });
        return answer(params);
      });
    const { fs, terminal } = v1.client;
    serve(fs.readTextFile, ({ path }) => ({ content: `the text of ${path}` }));
    serve(terminal.create, ({ sessionId }) => ({ terminalId: this.#openTerminal(sessionId) }));
    serve(terminal.output, (params) => this.#atTerminal(params, OUTPUT));
    serve(terminal.waitForExit, (params) => this.#atTerminal(params, { exitCode: 0 }));
    serve(terminal.release, (params) => {
      this.#atTerminal(params);
      this.#terminals.delete(params.terminalId);
      return {};
    });
  }

  /** Pretends to start a command. The transcript numbers the terminals of each session. */
  #openTerminal(session) {
    this.#made += 1;
    const id = `${this.terminalPrefix}-${this.#made}`;
    const number = (this.#opened.get(session) ?? 0) + 1;
    this.#opened.set(session, number);
    this.#terminals.set(id, session);
    this.transcript.rename(id, `<terminal ${number}>`);
    return id;
  }

  #atTerminal({ sessionId, terminalId }, answer) {
    if (this.#terminals.get(terminalId) !== sessionId) {
      throw RequestError.resourceNotFound(terminalId);
    }
    return answer;
  }
}
