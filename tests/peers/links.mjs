// How the client reaches its agent: a command on stdio, or a URL.
//
// A link has `open()`, which resolves with the SDK's stream, `leave(connection)`, which ends the
// conversation in good order, `drop()` for one that has failed, and `end`, which resolves when
// everything is over with what the client can tell of it: the transcript's last line.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { WebSocket } from "ws";

const GRACE_MS = 1_000; // for the agent to leave by itself after a failure

/** An agent that is a process of ours. Its end is how it exited. */
class Spawned {
  constructor([command, ...args]) {
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.child.stdin.on("error", () => {}); // an agent that is gone shows as a broken connection
    this.end = once(this.child, "close").then(
      ([exit, signal]) => ({ exit, signal }),
      () => ({ exit: null, signal: null }), // it was never started
    );
  }

  async open() {
    await once(this.child, "spawn");
    return ndJsonStream(Writable.toWeb(this.child.stdin), Readable.toWeb(this.child.stdout));
  }

  async leave(connection) {
    this.child.stdin.end();
    await connection.closed; // what the agent still says on its way out is seen, too
  }

  drop() {
    this.child.stdin.end();
    setTimeout(() => this.child.kill("SIGKILL"), GRACE_MS).unref();
  }
}

/** An agent on the network. Its end is the answer to our DELETE, or the code of the close. */
class Remote {
  #ended;
  end = new Promise((resolve) => {
    this.#ended = resolve;
  });

  constructor(url) {
    this.url = url;
  }

  async open() {
    return this.url.startsWith("ws") ? this.#openSocket() : this.#openHttp();
  }

  async leave(connection) {
    connection.close();
    await this.end;
  }

  drop() {
    sleep(GRACE_MS).then(() => this.#ended({ unended: true })); // unless it ends sooner
  }

  #openHttp() {
    const watched = async (url, init) => {
      const answering = fetch(url, init);
      if (init.method === "DELETE") {
        answering.then(
          ({ status }) => this.#ended({ deleted: status }),
          () => this.#ended({ deleted: null }),
        );
      }
      return answering;
    };
    return createHttpStream(this.url, { fetch: watched });
  }

  #openSocket() {
    const closed = (code) => this.#ended({ closed: code });
    class Watched extends WebSocket {
      constructor(...args) {
        super(...args);
        this.on("close", closed);
      }
    }
    return createWebSocketStream(this.url, { WebSocket: Watched });
  }
}

/** The link that the command line asks for. */
export const linkTo = (url, command) => (url ? new Remote(url) : new Spawned(command));
