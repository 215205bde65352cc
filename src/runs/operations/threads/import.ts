import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { assertId, newThreadId } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { CheckpointReader } from '../../formats/portable/langgraph.ts';
import type { ImportNote, PortableThread } from '../../formats/portable/line.ts';
import { maxImportChars, tooLarge } from '../../formats/portable/notes.ts';
import { outOfLine } from '../../../database/store/content/out-of-line.ts';
import { contextLimit } from '../../../database/store/rows.ts';
import { importThread } from '../../../database/store/portable/import-thread.ts';
import { assertThreadOverrides } from '../runs/allow-overrides.ts';
import type { ImportOptions, ImportReceipt } from './types.ts';

/** What to import, by its format. */
export type ThreadSource =
  /** The lines that `threads.export` yields. */
  | { format: 'lanefold'; lines: Iterable<string> | AsyncIterable<string> }
  /** Parsed JSON: items of OpenAI's Responses or Conversations API in chronological order, or chat messages. */
  | { format: 'openai'; items: unknown }
  /** `UIMessage[]` of the AI SDK. */
  | { format: 'ai-sdk'; messages: unknown }
  /**
   * The newest checkpoint of a LangGraph thread. `checkpointer`: a checkpoint saver such as `PostgresSaver`, of which only
   * `getTuple` is called. `channel`: the channel with the messages; default `messages`.
   */
  | { format: 'langgraph'; checkpointer: CheckpointReader; threadId: string; channel?: string };

/** The log has the first notes of an import; its receipt has all of them. */
const loggedNotes = 200;

/** See `Threads.import`. */
export async function importSource(
  db: Database,
  agents: AgentRegistry,
  source: ThreadSource,
  { id: given, metadata, from = 'library' }: ImportOptions,
): Promise<ImportReceipt> {
  const thread = await read(db, source);
  const id = given ?? thread.id ?? newThreadId();
  assertId(id, 'The thread id');
  assertThreadOverrides(agents, thread.sets, from);
  const { notes, facts } = thread;
  const logged = { format: thread.format, ...facts, notes: notes.slice(0, loggedNotes), notes_in_all: notes.length };
  const rest = {
    tenant_id: db.tenant,
    metadata: metadata ?? thread.metadata,
    request_hash: thread.hash,
    active_context_ref: thread.activeContextRef,
    contents: thread.contents,
    lanes: thread.lanes,
    origin: thread.origin,
    facts: logged,
    ...contextLimit(db),
  };
  assertStorable(rest, 'The import');
  const fields = JSON.stringify(rest).slice(1);
  const p = `{"entries":[${thread.entries.join(',')}],"runs":[${thread.runs.join(',')}],${fields}`;
  if (p.length > maxImportChars) throw tooLarge();
  const { rev, duplicate, repaired } = await importThread(db, id, p);
  const closed = repaired.map(({ seq, context_ref: ref, tool_call_id: call }): ImportNote => {
    return {
      outcome: 'repaired',
      where: `tool call ${call}`,
      what: `Entry ${seq} on lane ${ref} is an error result, because the call had none.`,
    };
  });
  return { id, rev, duplicate, notes: [...notes, ...closed] };
}

async function read(db: Database, source: ThreadSource): Promise<PortableThread> {
  const { format } = Object(source) as Partial<ThreadSource>;
  if (format === 'lanefold') {
    const { lines } = source as Extract<ThreadSource, { format: 'lanefold' }>;
    if (!isIterable(lines)) throw unknownSource('The lines of the export are missing.');
    const { readExport } = await import('../../formats/portable/read-export.ts');
    return readExport(lines);
  }
  const { readForeign } = await import('../../formats/portable/read-foreign.ts');
  const { convert } = await import('../../formats/portable/convert.ts');
  const foreign = await readForeign(source as Exclude<ThreadSource, { format: 'lanefold' }>);
  if (!foreign) throw unknownSource(`The format ${JSON.stringify(format)} is unknown.`);
  return convert(foreign, (messages) => outOfLine(db, messages));
}

const isIterable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

const unknownSource = (problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `${problem} Nothing was imported.`, {
    hint: "Pass { format: 'lanefold', lines }, { format: 'openai', items }, { format: 'ai-sdk', messages } or { format: 'langgraph', checkpointer, threadId }.",
  });
