// An agent on stdio that speaks ACP v1 and v2, built on the official TypeScript SDK.
//
// It has no model: the words of a prompt choose what happens, so every run of the same
// script says the same things in the same order. turn.mjs lists the words.
//
//     node agent.mjs

import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { agentProtocolRouter } from "@agentclientprotocol/sdk/experimental/v2";
import { agentV1 } from "./agent-v1.mjs";
import { agentV2 } from "./agent-v2.mjs";
import { Sessions } from "./sessions.mjs";

const sessions = new Sessions();
const connection = agentProtocolRouter()
  .withV1(agentV1(sessions))
  .withV2(agentV2(sessions))
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

await connection.closed;
sessions.stopAll(); // a "slow" turn would hold the process for another second
