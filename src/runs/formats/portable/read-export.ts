import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../agent/context/message.ts';
import { wordOf } from '../../../base/checks/values.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import { ImportedHistory } from '../mirror/imported-history.ts';
import { hasDroppedRanges } from '../../../agent/policy/groups.ts';
import { readPolicyJson } from '../../../agent/policy/read-policy.ts';
import type { Configures, Line, PortableThread } from './line.ts';
import { maxImportChars, refusedAt, tooLarge } from './notes.ts';
import { fieldsOf, verifiedLine, type Fields } from './read-line.ts';

export const exportVersion = 1;

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
