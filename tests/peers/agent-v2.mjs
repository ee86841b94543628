// The agent in ACP v2: session/prompt is answered at once, and a turn is over when the session
// is idle again.

import { RequestError } from "@agentclientprotocol/sdk";
import { agent, methods } from "@agentclientprotocol/sdk/experimental/v2";
import { COMMANDS, PERMISSION_OPTIONS, promptText, takeTurn } from "./turn.mjs";

const REQUEST_CANCELLED = -32800;

const textBlock = (text) => ({ type: "text", text });
const encode = (text) => Buffer.from(text).toString("base64");

/** How a turn speaks v2. */
class Voice {
  cancelledTool = "cancelled";
  reply = "";

  constructor(session, client) {
    this.session = session;
    this.client = client;
    this.turn = session.history.length + 1; // numbers the message ids of this turn
  }

  update(sessionUpdate, fields) {
    return this.client.notify(methods.client.session.update, {
      sessionId: this.session.id,
      update: { sessionUpdate, ...fields },
    });
  }

  async state(fields) {
    this.session.state = { sessionUpdate: "state_update", ...fields };
    await this.update("state_update", fields);
  }

  async say(text) {
    this.reply += text;
    await this.update("agent_message_chunk", {
      messageId: `reply-${this.turn}`,
      content: textBlock(text),
    });
  }

  async think(text) {
    await this.update("agent_thought_chunk", {
      messageId: `thought-${this.turn}`,
      content: textBlock(text),
    });
  }

  async plan(entries) {
    await this.update("plan_update", { plan: { type: "items", planId: "plan-1", entries } });
  }

  async callTool(call) {
    const toolCallId = this.session.nextCall();
    await this.update("tool_call_update", { toolCallId, status: "pending", ...call });
    return toolCallId;
  }

  async updateTool(toolCallId, status, text) {
    const content = text && [{ type: "content", content: textBlock(text) }];
    await this.update("tool_call_update", { toolCallId, status, ...(content && { content }) });
  }

  /** Asks; when the turn is cancelled meanwhile, the SDK withdraws the question. */
  async ask(toolCallId, title, signal) {
    await this.state({ state: "requires_action" });
    const question = {
      sessionId: this.session.id,
      title,
      subject: { type: "tool_call", toolCall: { toolCallId } },
      options: PERMISSION_OPTIONS,
    };
    const method = methods.client.session.requestPermission;
    const { outcome } = await this.client
      .request(method, question, { cancellationSignal: signal })
      .catch((error) => {
        if (error.code !== REQUEST_CANCELLED) {
          throw error;
        }
        return { outcome: { outcome: "cancelled" } };
      });
    if (outcome.outcome !== "selected") {
      return "cancelled"; // idle follows: there is nothing to go back to running for
    }
    await this.state({ state: "running" });
    return outcome.optionId;
  }

  /** Shows a terminal of its own: v2 agents run their commands themselves. */
  async runCommand(command, args) {
    const line = [command, ...args].join(" ");
    const toolCallId = await this.callTool({ title: line, kind: "execute" });
    const terminalId = `terminal-of-${toolCallId}`;
    await this.update("terminal_update", { terminalId, command: line, cwd: this.session.cwd });
    await this.update("tool_call_update", { toolCallId, content: [{ type: "terminal", terminalId }] });
    await this.update("terminal_output_chunk", { terminalId, data: encode("all ") });
    await this.update("terminal_output_chunk", { terminalId, data: encode("well\n") });
    await this.update("terminal_update", { terminalId, exitStatus: { exitCode: 0 } });
    await this.updateTool(toolCallId, "completed");
  }
}

/** Plays a turn to its idle state. */
async function work(voice, text, signal) {
  let end;
  try {
    end = { state: "idle", stopReason: await takeTurn(text, voice, signal) };
  } catch (error) {
    if (!(error instanceof RequestError)) {
      throw error; // the client left
    }
    end = { state: "idle", stopReason: "error", error: error.toErrorResponse() };
  }
  voice.session.history.push({ prompt: text, reply: voice.reply });
  await voice.state(end);
}

/** Accepts a prompt: the user's message and "running" come before the answer, the rest after. */
async function prompt(session, client, blocks) {
  const voice = new Voice(session, client);
  const messageId = `prompt-${voice.turn}`;
  let answered;
  const answer = new Promise((resolve) => {
    answered = resolve;
  });
  session
    .run(async (signal) => {
      await answer;
      await work(voice, promptText(blocks), signal);
    })
    .catch(() => {}); // the client left: nobody is there to be told
  await voice.update("user_message", { messageId, content: blocks });
  await voice.state({ state: "running" });
  setImmediate(answered);
  return { messageId };
}

/** Tells the history again, one whole message each. */
async function replay(voice) {
  for (const [index, turn] of voice.session.history.entries()) {
    const say = (kind, id, text) => voice.update(kind, { messageId: id, content: [textBlock(text)] });
    await say("user_message", `prompt-${index + 1}`, turn.prompt);
    await say("agent_message", `reply-${index + 1}`, turn.reply);
  }
}

/** The v2 half of the agent. */
export function agentV2(sessions) {
  return agent({ name: "peer-v2" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 2,
      info: { name: "acptap-peer", version: "1.0.0" },
      capabilities: { session: {} },
    }))
    .onRequest(methods.agent.session.new, ({ params, client }) => {
      const session = sessions.create(params.cwd);
      const voice = new Voice(session, client);
      const availableCommands = COMMANDS.map((command) => ({ type: "command", ...command }));
      const announce = () => voice.update("available_commands_update", { availableCommands });
      setImmediate(() => announce().catch(() => {})); // after the answer; it fails if the client left
      return { sessionId: session.id };
    })
    .onRequest(methods.agent.session.resume, async ({ params, client }) => {
      const session = sessions.get(params.sessionId);
      const voice = new Voice(session, client);
      if (params.replayFrom) {
        await replay(voice);
      }
      const { sessionUpdate, ...state } = session.state;
      await voice.update(sessionUpdate, state); // owed with and without a replay
      return {};
    })
    .onRequest(methods.agent.session.list, () => ({ sessions: sessions.list() }))
    .onRequest(methods.agent.session.close, async ({ params }) => {
      await sessions.close(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params, client }) =>
      prompt(sessions.get(params.sessionId), client, params.prompt),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.cancel(params.sessionId));
}
