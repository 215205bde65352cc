import { z } from 'zod';
import { findFlaw, wordOf } from '../../../base/checks/values.ts';
import { isDeeper, maxRequestDepth, readJson, tooDeep } from '../../../base/common/json.ts';
import { lineHash, parseLine, type Line } from './line.ts';
import { refusedAt } from './notes.ts';

const text = z.string();
const count = z.number().int().nonnegative();
const nullable = text.nullish();
const moment = z.iso.datetime({ offset: true });
/** Lists of threads and the activity of the fleet add them up. */
const usage = z.record(text, count.max(1e12));

const run = z.looseObject({
  id: text,
  request_id: text,
  request_hash: text,
  agent: text,
  strategy: text,
  model: text,
  context_ref: text,
  status: text,
  created_at: moment,
  finished_at: moment.nullish(),
  started_at: moment.nullish(),
  user_seq: count.nullish(),
  result_seq: count.nullish(),
  step: count,
  iteration: count,
  usage: usage.nullish(),
  other_usage: z.record(text, usage).nullish(),
  error: z.record(text, z.unknown()).nullish(),
  tool_calls: z.array(
    z.looseObject({
      round: count,
      call_index: count,
      tool_call_id: text,
      name: text,
      status: text,
      attempts: count,
      call_seq: count,
      duration_ms: count.nullish(),
      result_seq: count.nullish(),
      started_at: moment.nullish(),
      finished_at: moment.nullish(),
      approval: z.record(text, z.unknown()).nullish(),
    }),
  ),
});

/** Tokens of other models are part of those of the run: the rest is priced as tokens of its own model. */
function isCounted({ usage: all, other_usage: others }: z.infer<typeof run>): boolean {
  const parts = Object.values(others ?? {});
  return ['input_tokens', 'output_tokens'].every(
    (counter) => parts.reduce((sum, part) => sum + (part[counter] ?? 0), 0) <= (all?.[counter] ?? 0),
  );
}

const types = {
  thread: z.looseObject({
    version: count,
    id: text,
    tenant_id: text,
    active_context_ref: text,
    entries: count,
    metadata: z.record(text, z.unknown()),
    parent_thread_id: nullable,
    fork_seq: count.nullish(),
  }),
  content: z.looseObject({ id: text, text }),
  entry: z.looseObject({
    seq: count,
    kind: text,
    is_anchor: z.boolean(),
    payload: z.record(text, z.unknown()),
    refs: z.record(text, z.unknown()).nullish(),
    context_ref: nullable,
    role: z.enum(['user', 'assistant', 'tool']).nullish(),
    op_id: nullable,
    op_hash: nullable,
    run_id: nullable,
    request_id: nullable,
    chain: nullable,
    append_key: nullable,
    append_hash: nullable,
    at: z.iso.datetime({ precision: 6 }),
  }),
  run: run.refine(isCounted, {
    path: ['other_usage'],
    message: 'Has tokens that usage lacks',
  }),
  head: z.looseObject({
    entries: count,
    contents: count,
    runs: count,
    chain: nullable,
    waiting_runs: z.array(text),
    lanes: z.array(z.object({ context_ref: text, digest: text })),
  }),
} as const;

type Type = keyof typeof types;
export type Fields<T extends Type> = z.infer<(typeof types)[T]>;

/** A line as it was written. @throws LanefoldError `import_refused` for a line that was changed, or is not the next one */
export function verifiedLine(given: string, number: number, previous: string): Line {
  if (isDeeper(given, maxRequestDepth)) throw refusedAt(number, `cannot be imported. ${tooDeep(maxRequestDepth)}`);
  const line = parseLine(given);
  if (!line) throw refusedAt(number, 'is not a line of an export: it is not JSON that ends with its hash.');
  const expected = lineHash(previous, line.body);
  if (expected === line.hash) {
    // entries are stored as the text they are, but the thread is made of its fields
    const read = number === 1 ? readJson(`${line.body}}`, maxRequestDepth) : undefined;
    if (read?.ok === false) throw refusedAt(number, `cannot be imported. ${read.problem}`);
    const flaw = findFlaw(line.fields);
    if (flaw !== undefined) throw refusedAt(number, `contains ${flaw.what} at ${flaw.path}.`);
    return line;
  }
  const { line: written, type, seq } = line.fields;
  if (Number.isSafeInteger(written) && written !== number)
    throw refusedAt(
      number,
      `is line ${written as number} of the export: lines are missing, added or in another order.`,
    );
  const which = type === 'entry' ? `entry ${seq as number}` : wordOf(type).slice(0, 100);
  throw refusedAt(
    number,
    `(${which}) was changed after the export: its hash is ${line.hash}, but its text has ${expected}.`,
    {
      ...(type === 'entry' ? { seq } : {}),
      expected: line.hash,
      found: expected,
    },
  );
}

/** The fields of a line of a type. @throws LanefoldError `import_refused` */
export function fieldsOf<T extends Type>(type: T, { fields }: Line, number: number): Fields<T> {
  const { success, data, error } = types[type].safeParse(fields);
  if (success) return data as Fields<T>;
  const [issue] = error.issues;
  throw refusedAt(number, `is malformed at ${issue!.path.join('.') || type}: ${issue!.message}.`);
}
