// The agent of agent.mjs on the network: HTTP and WebSocket on one port, one agent a connection.
//
//     node server.mjs
//
// The first line of standard output is the port, on the loopback interface. It serves until its
// standard input ends.

import { once } from "node:events";
import http from "node:http";
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { agentProtocolRouter } from "@agentclientprotocol/sdk/experimental/v2";
import { WebSocketServer } from "ws";
import { agentV1 } from "./agent-v1.mjs";
import { agentV2 } from "./agent-v2.mjs";
import { Sessions } from "./sessions.mjs";

function createAgent() {
  const sessions = new Sessions();
  return agentProtocolRouter().withV1(agentV1(sessions)).withV2(agentV2(sessions));
}

const acp = new AcpServer({ createAgent });
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
const server = http.createServer(createNodeHttpHandler(acp));
server.on("upgrade", createNodeWebSocketUpgradeHandler(acp, sockets));
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`${server.address().port}\n`);

await once(process.stdin.resume(), "end");
process.exit();
