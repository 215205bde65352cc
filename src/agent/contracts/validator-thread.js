// The thread that validates answers against schemas of callers; see json-schema.ts. Plain JavaScript at the same path in a
// checkout and in the published package, as src/ops/cli/bin.js is: a thread cannot run TypeScript on every supported Node.
import { parentPort } from 'node:worker_threads';
import { z } from 'zod';

/** By the text of the schema, the one used last at the end. */
const parsers = new Map();
const maxParsers = 50;

function parserOf(schema) {
  const parser = parsers.get(schema) ?? z.fromJSONSchema(JSON.parse(schema));
  parsers.delete(schema);
  parsers.set(schema, parser);
  if (parsers.size > maxParsers) parsers.delete(parsers.keys().next().value);
  return parser;
}

function answer({ schema, value }) {
  try {
    const parser = parserOf(schema);
    if (value === undefined) return { ok: true };
    const result = parser.safeParse(JSON.parse(value));
    if (result.success) return { ok: true, value: JSON.stringify(result.data) };
    return { ok: false, issues: result.error.issues.slice(0, 50).map(({ path, message }) => ({ path, message })) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort.on('message', (question) => parentPort.postMessage(answer(question)));
parentPort.postMessage('ready');
