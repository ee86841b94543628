// What a prompt makes the agent do. The version-specific half is a "voice": say, think, plan,
// callTool, updateTool, ask, and where the version has them readFile and runCommand.

import { setTimeout as sleep } from "node:timers/promises";
import { RequestError } from "@agentclientprotocol/sdk";

const TICK_MS = 1000; // long enough for a cancel to arrive before the second tick on a busy machine

/** A line that is no message at all, as agents print while they load. */
async function noise() {
  process.stdout.write("Loading the model, please wait\n");
}

async function think(voice) {
  await voice.think("The user wants something. ");
  await voice.think("I had better answer.");
}

async function plan(voice) {
  const entries = ["Read the notes", "Answer"].map((content) => ({
    content,
    priority: "medium",
    status: "pending",
  }));
  await voice.plan(entries);
  await voice.plan(entries.with(0, { ...entries[0], status: "completed" }));
}

async function read(voice) {
  const text = await voice.readFile?.("/project/notes.txt");
  if (text !== undefined) {
    await voice.say(`The notes say: ${text}`);
  }
}

async function terminal(voice) {
  await voice.runCommand?.("make", ["test"]);
}

async function tool(voice, signal) {
  const id = await voice.callTool({
    title: "Write notes.txt",
    kind: "edit",
    locations: [{ path: "/project/notes.txt" }],
    rawInput: { path: "/project/notes.txt", text: "new" },
  });
  const answer = await voice.ask(id, "Write notes.txt?", signal);
  if (answer === "cancelled") {
    await voice.updateTool(id, voice.cancelledTool);
    return "cancelled";
  }
  if (answer === "reject") {
    await voice.updateTool(id, "failed");
    await voice.say("Then I leave the notes alone. ");
    return undefined;
  }
  await voice.updateTool(id, "in_progress");
  await voice.updateTool(id, "completed", "3 bytes written");
  return undefined;
}

async function echo(voice, _signal, text) {
  for (const chunk of ["You said: ", text, "."]) {
    await voice.say(chunk);
  }
}

/** Three chunks at once, then one a second, four times; a cancel ends it early. */
async function slow(voice, signal) {
  for (const number of [1, 2, 3, 4, 5, 6, 7]) {
    if (number > 3) {
      await sleep(TICK_MS, undefined, { signal }).catch(() => {}); // the signal is read below
    }
    if (number > 3 && signal.aborted) {
      return "cancelled";
    }
    await voice.say(` tick ${number}`);
  }
  return undefined;
}

async function boom() {
  throw new RequestError(-32603, "The model is down", { retry: false });
}

/** In the order in which they happen, whatever the order of the words in the prompt. */
const ACTS = [
  ["noise", noise],
  ["think", think],
  ["plan", plan],
  ["read", read],
  ["terminal", terminal],
  ["tool", tool],
  [undefined, echo], // always
  ["slow", slow],
  ["boom", boom],
];

/** Plays one turn and returns its stop reason. Throws a RequestError when the turn fails. */
export async function takeTurn(text, voice, signal) {
  const words = new Set(text.toLowerCase().split(/\W+/));
  for (const [word, act] of ACTS) {
    if (word === undefined || words.has(word)) {
      const stopReason = await act(voice, signal, text);
      if (stopReason) {
        return stopReason;
      }
    }
  }
  return "end_turn";
}

/** The text of a prompt's content blocks. */
export function promptText(blocks) {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The commands an agent announces after a session was created. */
export const COMMANDS = [
  { name: "plan", description: "Show a plan" },
  { name: "think", description: "Think aloud" },
];

/** The choices of every permission request. */
export const PERMISSION_OPTIONS = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];
