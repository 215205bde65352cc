import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../../agent/context/message.ts';
import { findFlaw, wordOf } from '../../../base/checks/values.ts';
import { isDeeper, maxRequestDepth, readJson, tooDeep } from '../../../base/common/json.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import { ImportedHistory } from '../mirror/imported-history.ts';
import { hasDroppedRanges } from '../../../agent/policy/groups.ts';
import { readPolicyJson } from '../../../agent/policy/read-policy.ts';
import { lineHash, parseLine, type Line, type Configures, type PortableThread } from './line.ts';
import { maxImportChars, refusedAt, tooLarge } from './notes.ts';

export const exportVersion = 1;

const text = z.string();
const count = z.number().int().nonnegative();
const nullable = text.nullish();
const moment = z.iso.datetime({ offset: true });
/** Lists of threads and the activity of the fleet add them up. */
const usage = z.record(text, count.max(1e12));

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
  run: z.looseObject({
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
type Fields<T extends Type> = z.infer<(typeof types)[T]>;

/**
 * Reads an export to its end and checks that it is as it was written: every line, their order, their number.
 *
 * @throws LanefoldError `import_refused` with the number of the first line that differs, and how
 */
export async function readExport(lines: Iterable<string> | AsyncIterable<string>): Promise<PortableThread> {
  const read = new ReadExport();
  for await (const given of lines as AsyncIterable<unknown>) read.add(given);
  return read.thread();
}

/** What the lines of an export have said so far. */
class ReadExport {
  #chars = 0;
  #number = 0;
  #previous = '';
  #header: Fields<'thread'> | undefined;
  #head: Fields<'head'> | undefined;
  #chain: string | null = null;
  readonly #entries: string[] = [];
  readonly #contents: PortableThread['contents'] = [];
  readonly #runs: string[] = [];
  readonly #sets: Configures = {};
  readonly #notes: PortableThread['notes'] = [];
  readonly #history = new ImportedHistory();

  add(given: unknown): void {
    if (typeof given !== 'string') throw refusedAt(this.#number + 1, 'is not a text.');
    if (given.trim() === '') return;
    const number = (this.#number += 1);
    if ((this.#chars += given.length) > maxImportChars) throw tooLarge();
    const line = verifiedLine(given, number, this.#previous);
    this.#previous = line.hash;
    if (this.#head) throw refusedAt(number, 'follows the line with the head, which is the last one of an export.');
    const { type } = line.fields;
    if (number === 1 ? type !== 'thread' : type === 'thread')
      throw refusedAt(number, `has the type ${wordOf(type)}; an export begins with one line of the type thread.`);
    switch (type) {
      case 'thread':
        this.#header = headerOf(line, number);
        break;
      case 'content':
        this.#contents.push(contentOf(line, number));
        break;
      case 'entry':
        this.#addEntry(line, number);
        this.#entries.push(given);
        break;
      case 'run':
        this.#addRun(line, number);
        this.#runs.push(given);
        break;
      case 'head':
        this.#head = fieldsOf('head', line, number);
        break;
      default:
        throw refusedAt(number, `has the unknown type ${wordOf(type).slice(0, 100)}.`);
    }
  }

  #addEntry(line: Line, number: number): void {
    const entry = fieldsOf('entry', line, number);
    const { seq, chain: sealed } = entry;
    const next = this.#entries.length;
    if (seq !== next) throw refusedAt(number, `has entry ${seq}; the next entry is ${next}.`, { seq });
    this.#chain = sealed ?? null;
    Object.assign(this.#sets, configures(entry, number));
    const problem = this.#history.problemOf({
      ...entry,
      payload: entry.payload as JsonObject,
      appendKey: entry.append_key ?? undefined,
    });
    if (problem !== undefined) throw refusedAt(number, `${problem}.`, { seq });
    if (!hasDroppedRanges((entry.refs ?? {}) as JsonObject))
      throw refusedAt(number, 'has refs that say in another form what its call left out.', { seq });
  }

  #addRun(line: Line, number: number): void {
    const { id, finished_at: ended } = fieldsOf('run', line, number);
    if (ended != null) return;
    this.#notes.push({
      outcome: 'changed',
      where: `run ${id}`,
      what: 'It had not ended when the thread was exported; it is cancelled here.',
    });
  }

  thread(): PortableThread {
    const [header, head] = [this.#header, this.#head];
    const [entries, contents, runs] = [this.#entries, this.#contents, this.#runs];
    const number = this.#number;
    if (!header) throw empty();
    if (!head) throw refusedAt(number, 'is the last one, but it is not the head: the end of the export is missing.');
    const found = { entries: entries.length, contents: contents.length, runs: runs.length, chain: this.#chain };
    for (const key of ['entries', 'contents', 'runs', 'chain'] as const) {
      if (found[key] !== (head[key] ?? null))
        throw refusedAt(number, `says ${key}: ${head[key]}, but the export has ${found[key]}.`);
    }
    const { id, tenant_id, metadata, active_context_ref: activeContextRef } = header;
    return {
      format: 'lanefold',
      id,
      metadata: metadata as JsonObject,
      activeContextRef,
      sets: this.#sets,
      entries,
      contents,
      runs,
      lanes: head.lanes,
      origin: { thread_id: id, tenant_id },
      notes: [...this.#notes, ...waitingNotes(head)],
      hash: this.#previous,
      facts: {
        thread_id: id,
        tenant_id,
        entries: entries.length,
        export_hash: this.#previous,
        chain: this.#chain,
        parent_thread_id: header.parent_thread_id ?? null,
        fork_seq: header.fork_seq ?? null,
      },
    };
  }
}

function headerOf(line: Line, number: number): Fields<'thread'> {
  const header = fieldsOf('thread', line, number);
  const { version } = header;
  if (version === exportVersion) return header;
  throw refusedAt(number, `says that the export has version ${version}; this version reads ${exportVersion}.`);
}

const waitingNotes = ({ waiting_runs: waiting }: Fields<'head'>): PortableThread['notes'] =>
  waiting.map((id) => ({
    outcome: 'left_out',
    where: `run ${id}`,
    what: 'It had not begun when the thread was exported. Enqueue it again.',
  }));

function verifiedLine(given: string, number: number, previous: string): Line {
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

function fieldsOf<T extends Type>(type: T, { fields }: Line, number: number): Fields<T> {
  const { success, data, error } = types[type].safeParse(fields);
  if (success) return data as Fields<T>;
  const [issue] = error.issues;
  throw refusedAt(number, `is malformed at ${issue!.path.join('.') || type}: ${issue!.message}.`);
}

/** What an entry sets. @throws LanefoldError `import_refused` for a policy that no agent could have */
function configures({ kind, payload }: Fields<'entry'>, number: number): Configures {
  const { result_context: context } = Object(payload['operation']) as { result_context?: { system_prompt?: unknown } };
  if (kind === 'ai_context_operation') return context?.system_prompt === undefined ? {} : { systemPrompt: true };
  if (kind !== 'ai_config_change') return {};
  const { field, value } = payload;
  switch (field) {
    case 'system_prompt':
      return { systemPrompt: true };
    case 'tools':
      return { tools: true };
    case 'tool_context':
      return { toolContext: true };
    case 'policy':
      assertPolicy(value, number);
      // it is sent instead of the prompt of the lane
      return {
        contextPolicy: true,
        ...(Object.hasOwn(Object(value) as object, 'system_prompt') ? { systemPrompt: true } : {}),
      };
    default:
      throw refusedAt(number, `configures the unknown field ${wordOf(field).slice(0, 100)}.`);
  }
}

function assertPolicy(policy: unknown, number: number): void {
  if (policy === null) return;
  try {
    readPolicyJson(policy);
  } catch (error) {
    if (!isLanefoldError(error, 'invalid_policy')) throw error;
    throw refusedAt(number, `sets a policy that no agent could have. ${error.message}`);
  }
}

function contentOf(line: Line, number: number): { id: string; text: string } {
  const { id, text } = fieldsOf('content', line, number);
  if (id === `c_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`) return { id, text };
  throw refusedAt(number, `has a text that is not the one that ${id.slice(0, 100)} names.`);
}

const empty = (): LanefoldError =>
  new LanefoldError('import_refused', 'The export is empty.', {
    hint: 'Nothing was imported. Export the thread again.',
  });
