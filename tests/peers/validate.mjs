// What the TypeScript SDK's own schemas say of messages, for tests/schemas.
//
//     node validate.mjs < MESSAGES > ANSWER
//
// MESSAGES is a JSON array of {version, side, kind, method, value}: who said it, whether it is a
// request, a notification, or the result of one, and its params or result. ANSWER holds, per
// schema bundle ("1", "1 unstable", "2", "2 unstable"), the methods and updates it has, and for
// each message and bundle of its version "valid", "unknown", or what is wrong.
//
// The validators are not exported, so they are loaded by their place in the package. Which of them
// belongs to a method, the JSON schemas say (x-method, x-side).

import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

const SDK = new URL("./node_modules/@agentclientprotocol/sdk/", import.meta.url);
const BUNDLES = {
  "1": ["schema/v1/schema.json", "dist/v1/schema/"],
  "1 unstable": ["schema/v1/schema.unstable.json", "dist/v1/unstable/schema/"],
  "2": ["schema/v2/schema.json", "dist/v2/schema/"],
  "2 unstable": ["schema/v2/schema.unstable.json", "dist/v2/unstable/schema/"],
};
const KINDS = ["Request", "Response", "Notification"];
const CALLERS = { agent: "client", client: "agent" }; // x-side is who handles it
const SHOWN = 100; // characters of a reason

/** The methods of a JSON schema: [method, caller or null, kind, name of its definition]. */
function methodsOf(definitions) {
  return Object.entries(definitions)
    .filter(([, definition]) => definition["x-method"])
    .map(([name, definition]) => [
      definition["x-method"],
      CALLERS[definition["x-side"]] ?? null,
      KINDS.find((kind) => name.endsWith(kind)).toLowerCase(),
      name,
    ]);
}

/** The discriminators of a union, its catch-all left out. */
function updatesOf({ SessionUpdate: union }) {
  const variants = union.oneOf ?? union.anyOf;
  return variants.map((variant) => variant.properties.sessionUpdate.const).filter(Boolean);
}

/** The methods that the SDK itself knows by name, as a check of what the schemas say. */
function constantsOf(module) {
  const { AGENT_METHODS, CLIENT_METHODS, PROTOCOL_METHODS, PROXY_METHODS = {} } = module;
  return {
    client: Object.values(AGENT_METHODS),
    agent: Object.values(CLIENT_METHODS),
    both: [...Object.values(PROTOCOL_METHODS), ...Object.values(PROXY_METHODS)],
  };
}

async function load([schema, code]) {
  const definitions = JSON.parse(await readFile(new URL(schema, SDK), "utf8")).$defs;
  return {
    methods: methodsOf(definitions),
    updates: updatesOf(definitions),
    constants: constantsOf(await import(new URL(`${code}index.js`, SDK))),
    validators: await import(new URL(`${code}zod.gen.js`, SDK)),
  };
}

function judge(bundle, { side, kind, method, value }) {
  const caller = kind === "response" ? CALLERS[side] : side;
  const row = bundle.methods.find(
    ([name, by, called]) => name === method && called === kind && [caller, null].includes(by),
  );
  if (row === undefined) {
    return "unknown";
  }
  const update = value?.update?.sessionUpdate;
  if (method === "session/update" && typeof update === "string" && !bundle.updates.includes(update)) {
    return "unknown";
  }
  const { success, error } = bundle.validators[`z${row[3]}`].safeParse(value);
  return success ? "valid" : reason(error);
}

/** The first thing that is wrong, innermost first. */
function reason(error) {
  let [issue] = error.issues;
  const path = [...issue.path];
  while (issue.errors?.length) {
    issue = issue.errors.flat()[0] ?? {};
    path.push(...(issue.path ?? []));
  }
  return `/${path.join("/")} ${issue.message ?? issue.code}`.slice(0, SHOWN);
}

const bundles = {};
for (const [name, places] of Object.entries(BUNDLES)) {
  bundles[name] = await load(places);
}
const messages = JSON.parse(await text(process.stdin));
const verdicts = messages.map((message) => {
  const version = message.version >= 2 ? "2" : "1";
  return [version, `${version} unstable`].map((name) => judge(bundles[name], message));
});
const tables = Object.fromEntries(
  Object.entries(bundles).map(([name, { validators, ...table }]) => [name, table]),
);
process.stdout.write(JSON.stringify({ tables, verdicts }));
