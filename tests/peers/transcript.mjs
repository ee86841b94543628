// The client's output: one JSON object per line, in the order in which things were seen.

/** Writes what the client observed. Nothing in it depends on timing or on request ids. */
export class Transcript {
  #names = new Map();
  #held; // session -> its lines, while two sessions run at once

  /** Writes `name` for every later occurrence of `value`, an id that this client made up. */
  rename(value, name) {
    this.#names.set(value, name);
  }

  /** Writes an event; `session` is left out of events that belong to none. */
  write(event, session, fields) {
    const replacer = (_key, value) => this.#names.get(value) ?? value;
    const line = `${JSON.stringify({ event, ...(session && { session }), ...fields }, replacer)}\n`;
    if (!this.#held || !session) {
      process.stdout.write(line);
      return;
    }
    this.#held.set(session, (this.#held.get(session) ?? "") + line);
  }

  /** Keeps the lines of each session apart until `release`: how two sessions mix is a race. */
  hold() {
    this.#held = new Map();
  }

  /** Writes what was held, session by session. */
  release(sessions) {
    for (const session of sessions) {
      process.stdout.write(this.#held.get(session) ?? "");
    }
    this.#held = undefined;
  }
}
