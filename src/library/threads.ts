import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { LanefoldError } from '../errors.ts';
import { assertId, newThreadId } from '../ids.ts';
import type { Json, JsonObject, Message } from '../context/message.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { Database } from '../postgres/pool.ts';
import { readThreadEvents, type RunEvent } from '../store/read-events.ts';
import type { Streams } from '../streams/open.ts';
import type { StreamItem, StreamOptions } from '../streams/stream.ts';
import { changeConfig, readConfig, type ConfigChanges, type ThreadConfig } from './config.ts';
import { assertContent } from '../models/messages/parts.ts';
import { assertStorable } from '../text.ts';
import { assertWhole } from '../whole-number.ts';

export interface Thread {
  id: string;
  tenantId: string;
  /** Number of entries. */
  rev: number;
  activeContextRef: string;
  activeRunId: string | null;
  metadata: JsonObject;
  state: JsonObject;
  parentThreadId: string | null;
  forkSeq: number | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface Entry {
  seq: number;
  kind: string;
  contextRef: string | null;
  role: string | null;
  opId: string | null;
  runId: string | null;
  requestId: string | null;
  payload: JsonObject;
  refs: JsonObject;
  at: Date;
}

/** An entry to append: a message, or a kind of your own. */
export type NewEntry =
  | {
      kind?: 'ai_message';
      contextRef?: string;
      message: Omit<Message, 'role'> & { role: 'user' | 'assistant' | 'tool' };
      refs?: JsonObject;
    }
  | { kind: string; contextRef?: string; payload: JsonObject; refs?: JsonObject };

export interface AppendOptions {
  /** Append only if the thread is still at this rev; else `rev_conflict`. */
  expectedRev?: number;
  /** Makes a repeated append answer as the first one did. */
  idempotencyKey?: string;
  /** Adds flagged error results for calls without one, instead of `open_tool_group`. */
  repair?: boolean;
}

export interface Threads {
  /** @throws LanefoldError `thread_exists`, `invalid_id`, `invalid_text` */
  create(options?: {
    id?: string;
    tenantId?: string;
    systemPrompt?: string | null;
    metadata?: JsonObject;
  }): Promise<{ id: string; rev: number }>;
  /** @throws LanefoldError `thread_not_found`, `thread_erased` */
  get(id: string): Promise<Thread>;
  append(
    id: string,
    entries: NewEntry[],
    options?: AppendOptions,
  ): Promise<{ firstSeq: number; rev: number; duplicate: boolean }>;
  entries(
    id: string,
    options?: { afterSeq?: number; kind?: string; contextRef?: string; limit?: number },
  ): Promise<Entry[]>;
  /** The configuration of a lane (default `default`), now or as of an entry. */
  config(id: string, options?: { contextRef?: string; atSeq?: number }): Promise<ThreadConfig>;
  /** Changes prompt, tools or tool context from the next run on; `deferred` while a run is active. */
  configure(id: string, changes: ConfigChanges): Promise<{ status: 'applied' | 'deferred'; firstSeq: number | null }>;
  /** The trace of all runs of the thread, gapless by `eventSeq`. */
  events(id: string, options?: { afterEventSeq?: number; limit?: number }): Promise<RunEvent[]>;
  /** As `runs.stream`, over all runs of the thread, present and to come. Ends with `signal`, or when the thread is erased. */
  stream(id: string, options?: StreamOptions): AsyncIterable<StreamItem>;
  /** Deletes everything of the thread for good; the id is never used again. */
  erase(id: string): Promise<void>;
}

export function threadsOf(db: Database, agents: AgentRegistry, streams: Streams): Threads {
  return {
    async create({ id = newThreadId(), tenantId, systemPrompt, metadata } = {}) {
      assertId(id, 'The thread id');
      if (tenantId !== undefined) assertId(tenantId, 'The tenant id');
      assertStorable({ systemPrompt, metadata }, 'The thread');
      const body = { tenant_id: tenantId, metadata, system_prompt: systemPrompt };
      const [row] = await db.query<{ thread: { id: string; rev: number } }>(
        'create_thread',
        'select lanefold.create_thread($1, $2) as thread',
        [id, body],
      );
      return { id: row!.thread.id, rev: row!.thread.rev };
    },

    async get(id) {
      assertId(id, 'The thread id');
      const [row] = await db.query<Record<string, never>>('get_thread', 'select * from lanefold.thread where id = $1', [
        id,
      ]);
      if (!row)
        throw new LanefoldError('thread_not_found', `Thread ${id} does not exist.`, {
          hint: 'Check the id, or create it.',
        });
      if (row['erased_at'])
        throw new LanefoldError('thread_erased', `Thread ${id} was erased.`, { hint: 'Its id is never used again.' });
      return {
        id: row['id']!,
        tenantId: row['tenant_id']!,
        rev: Number(row['rev']),
        activeContextRef: row['active_context_ref']!,
        activeRunId: row['active_run_id']!,
        metadata: row['metadata']!,
        state: row['state']!,
        parentThreadId: row['parent_thread_id']!,
        forkSeq: row['fork_seq'] === null ? null : Number(row['fork_seq']),
        createdAt: row['created_at']!,
        updatedAt: row['updated_at']!,
      };
    },

    async append(id, entries, options = {}) {
      assertId(id, 'The thread id');
      if (options.idempotencyKey !== undefined) assertId(options.idempotencyKey, 'The idempotency key');
      assertWhole(options.expectedRev, 'expectedRev');
      assertStorable(entries, 'The entries');
      const drafts = entries.map(toDraft);
      const [row] = await db.query<{ result: { first_seq: number; rev: number; duplicate: boolean } }>(
        'append_entries',
        'select lanefold.append_entries($1, $2, $3) as result',
        [
          id,
          JSON.stringify(drafts),
          {
            expected_rev: options.expectedRev,
            op_id: options.idempotencyKey,
            op_hash: options.idempotencyKey && hashBody(drafts),
            repair: options.repair,
          },
        ],
      );
      const { first_seq: firstSeq, rev, duplicate } = row!.result;
      return { firstSeq, rev, duplicate };
    },

    async entries(id, { afterSeq = -1, kind, contextRef, limit = 100 } = {}) {
      assertId(id, 'The thread id');
      const rows = await db.query<Record<string, never>>(
        'entries',
        `select * from lanefold.thread_entry where thread_id = $1 and seq > $2 and ($3::text is null or kind = $3)
           and ($4::text is null or context_ref = $4) order by seq limit $5`,
        [id, afterSeq, kind ?? null, contextRef ?? null, limit],
      );
      return rows.map((row) => ({
        seq: Number(row['seq']),
        kind: row['kind']!,
        contextRef: row['context_ref']!,
        role: row['role']!,
        opId: row['op_id']!,
        runId: row['run_id']!,
        requestId: row['request_id']!,
        payload: row['payload']!,
        refs: row['refs']!,
        at: row['at']!,
      }));
    },

    config: (id, { contextRef = 'default', atSeq } = {}) => readConfig(db, id, contextRef, atSeq),
    configure: (id, changes) => changeConfig(db, agents, id, changes),
    events: (id, { afterEventSeq = -1, limit = 100 } = {}) => readThreadEvents(db, id, afterEventSeq, limit),
    stream: (id, options) => streams.follow(id, undefined, options),

    async erase(id) {
      assertId(id, 'The thread id');
      await db.query('erase_thread', 'select lanefold.erase_thread($1)', [id]);
    },
  };
}

function toDraft(entry: NewEntry): JsonObject {
  if (entry.contextRef !== undefined) assertId(entry.contextRef, 'The context_ref');
  const shared = { context_ref: entry.contextRef, refs: entry.refs };
  if ('message' in entry) {
    assertContent(entry.message);
    return { kind: 'ai_message', payload: entry.message as unknown as Json, ...shared } as JsonObject;
  }
  assertId(entry.kind, 'The kind');
  if (entry.payload === null || typeof entry.payload !== 'object' || Array.isArray(entry.payload)) {
    throw new LanefoldError('invalid_input', `The payload of an entry of kind ${entry.kind} is not an object.`, {
      hint: 'Pass { … }.',
    });
  }
  return { kind: entry.kind, payload: entry.payload, ...shared } as JsonObject;
}

/** What makes two requests the same: their canonical JSON. */
export const hashBody = (body: unknown): string =>
  createHash('sha256')
    .update(canonicalize(JSON.parse(JSON.stringify(body))) as string)
    .digest('hex');
