// The agent in ACP v1: a turn is over when session/prompt is answered.

import { setImmediate as nextTurn } from "node:timers/promises";
import { agent, methods, RequestError } from "@agentclientprotocol/sdk";
import { COMMANDS, PERMISSION_OPTIONS, promptText, takeTurn } from "./turn.mjs";

const MODES = [
  { id: "ask", name: "Ask" },
  { id: "code", name: "Code" },
];

const textBlock = (text) => ({ type: "text", text });
const modesOf = (session) => ({ currentModeId: session.mode, availableModes: MODES });

/** How a turn speaks v1. */
class Voice {
  cancelledTool = "failed"; // v1 has no status for it
  reply = "";

  constructor(session, client) {
    this.session = session;
    this.client = client;
  }

  update(sessionUpdate, fields) {
    return this.client.notify(methods.client.session.update, {
      sessionId: this.session.id,
      update: { sessionUpdate, ...fields },
    });
  }

  request(method, params) {
    return this.client.request(method, { sessionId: this.session.id, ...params });
  }

  async say(text) {
    this.reply += text;
    await this.update("agent_message_chunk", { content: textBlock(text) });
  }

  async think(text) {
    await this.update("agent_thought_chunk", { content: textBlock(text) });
  }

  async plan(entries) {
    await this.update("plan", { entries });
  }

  async callTool(call) {
    const toolCallId = this.session.nextCall();
    await this.update("tool_call", { toolCallId, status: "pending", ...call });
    return toolCallId;
  }

  async updateTool(toolCallId, status, text) {
    const content = text && [{ type: "content", content: textBlock(text) }];
    await this.update("tool_call_update", { toolCallId, status, ...(content && { content }) });
  }

  async ask(toolCallId, title) {
    const { outcome } = await this.request(methods.client.session.requestPermission, {
      toolCall: { toolCallId, title },
      options: PERMISSION_OPTIONS,
    });
    return outcome.outcome === "selected" ? outcome.optionId : "cancelled";
  }

  async readFile(path) {
    const { content } = await this.request(methods.client.fs.readTextFile, { path });
    return content;
  }

  /** Runs a command in a terminal of the client, which also chooses the terminal's id. */
  async runCommand(command, args) {
    const terminal = methods.client.terminal;
    const { cwd } = this.session;
    const { terminalId } = await this.request(terminal.create, { command, args, cwd });
    const toolCallId = await this.callTool({
      title: [command, ...args].join(" "),
      kind: "execute",
      content: [{ type: "terminal", terminalId }],
    });
    await this.request(terminal.output, { terminalId });
    const { exitCode } = await this.request(terminal.waitForExit, { terminalId });
    const { output } = await this.request(terminal.output, { terminalId });
    await this.request(terminal.release, { terminalId });
    await this.updateTool(toolCallId, exitCode === 0 ? "completed" : "failed");
    await this.say(`The command printed: ${output}`);
  }
}

async function prompt(session, client, blocks) {
  const voice = new Voice(session, client);
  const text = promptText(blocks);
  const stopReason = await session.run((signal) => takeTurn(text, voice, signal));
  session.history.push({ prompt: text, reply: voice.reply });
  return { stopReason };
}

/** Tells the whole history again, as session/load demands before its answer. */
async function replay(session, client) {
  const voice = new Voice(session, client);
  for (const turn of session.history) {
    await voice.update("user_message_chunk", { content: textBlock(turn.prompt) });
    await voice.say(turn.reply);
  }
}

async function setMode(session, client, modeId) {
  if (!MODES.some((mode) => mode.id === modeId)) {
    throw RequestError.invalidParams({ modeId });
  }
  session.mode = modeId;
  await new Voice(session, client).update("current_mode_update", { currentModeId: modeId });
}

/** The v1 half of the agent. */
export function agentV1(sessions) {
  return agent({ name: "peer-v1" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentInfo: { name: "acptap-peer", version: "1.0.0" },
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, ({ params, client }) => {
      const session = sessions.create(params.cwd);
      const voice = new Voice(session, client);
      const announce = () => voice.update("available_commands_update", { availableCommands: COMMANDS });
      setImmediate(() => announce().catch(() => {})); // after the answer; it fails if the client left
      return { sessionId: session.id, modes: modesOf(session) };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = sessions.get(params.sessionId);
      await replay(session, client);
      return { modes: modesOf(session) };
    })
    .onRequest(methods.agent.session.resume, ({ params }) => ({
      modes: modesOf(sessions.get(params.sessionId)),
    }))
    .onRequest(methods.agent.session.list, () => ({ sessions: sessions.list() }))
    .onRequest(methods.agent.session.close, async ({ params }) => {
      await sessions.close(params.sessionId);
      await nextTurn(); // the cancelled prompt is answered first
      return {};
    })
    .onRequest(methods.agent.session.setMode, async ({ params, client }) => {
      await setMode(sessions.get(params.sessionId), client, params.modeId);
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params, client }) =>
      prompt(sessions.get(params.sessionId), client, params.prompt),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.cancel(params.sessionId));
}
