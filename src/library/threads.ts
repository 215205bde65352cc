import type { AgentRegistry } from '../agents/registry.ts';
import type { Json, JsonObject, Message } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import { assertId, newThreadId } from '../ids.ts';
import { assertContent } from '../models/messages/parts.ts';
import type { Database } from '../postgres/pool.ts';
import type { ConfigReceipt } from '../store/context/change-config.ts';
import { otherTenant } from './tenant.ts';
import { appendEntries, type AppendReceipt } from '../store/log/append-entries.ts';
import { createThread } from '../store/log/create-thread.ts';
import { eraseThread } from '../store/log/erase-thread.ts';
import { readEntries, type Entry } from '../store/log/read-entries.ts';
import { readThread, type Thread } from '../store/log/read-thread.ts';
import { readThreadEvents, type RunEvent } from '../store/trace/read-events.ts';
import type { StreamItem, StreamOptions } from '../streams/stream-item.ts';
import type { Streams } from '../streams/open.ts';
import { assertStorable } from '../text.ts';
import { assertWhole } from '../whole-number.ts';
import { configure, laneConfig, type ConfigChanges, type ThreadConfig } from './config.ts';
import { requestHash } from './request-hash.ts';

/** An entry to append: a message, or an entry of your own kind. */
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
  /** A repeated append returns the receipt of the first one. */
  idempotencyKey?: string;
  /** Adds flagged error results for calls without one, instead of `open_tool_group`. */
  repair?: boolean;
}

export interface Threads {
  /**
   * @throws LanefoldError `thread_exists` where the id is taken, by a thread of any tenant, `invalid_id`, `invalid_text`,
   * `invalid_input` for a `tenantId` that is not the tenant of this library
   */
  create(options?: {
    id?: string;
    tenantId?: string;
    systemPrompt?: string | null;
    metadata?: JsonObject;
  }): Promise<{ id: string; rev: number }>;
  /** @throws LanefoldError `thread_not_found`, `thread_erased` */
  get(id: string): Promise<Thread>;
  append(id: string, entries: NewEntry[], options?: AppendOptions): Promise<AppendReceipt>;
  entries(
    id: string,
    options?: { afterSeq?: number; kind?: string; contextRef?: string; limit?: number },
  ): Promise<Entry[]>;
  /** The configuration of a lane (default `default`), now or as of an entry. */
  config(id: string, options?: { contextRef?: string; atSeq?: number }): Promise<ThreadConfig>;
  /** Changes prompt, tools or tool context, effective with the next run; `deferred` while a run is active. */
  configure(id: string, changes: ConfigChanges): Promise<ConfigReceipt>;
  /** The trace of all runs of the thread, gapless by `eventSeq`. */
  events(id: string, options?: { afterEventSeq?: number; limit?: number }): Promise<RunEvent[]>;
  /** As `runs.stream`, over all runs of the thread, present and to come. Ends with `signal`, or when the thread is erased. */
  stream(id: string, options?: StreamOptions): AsyncIterable<StreamItem>;
  /** Permanently deletes everything of the thread; its id cannot be reused. */
  erase(id: string): Promise<void>;
}

export function threadsOf(db: Database, agents: AgentRegistry, streams: Pick<Streams, 'follow'>): Threads {
  return {
    async create({ id = newThreadId(), tenantId = db.tenant, systemPrompt, metadata } = {}) {
      assertId(id, 'The thread id');
      if (tenantId !== undefined) assertId(tenantId, 'The tenant id');
      if (tenantId !== undefined && db.tenant !== undefined && tenantId !== db.tenant)
        throw otherTenant(tenantId, db.tenant);
      assertStorable({ systemPrompt, metadata }, 'The thread');
      return createThread(db, { id, tenantId, metadata, systemPrompt });
    },

    async get(id) {
      assertId(id, 'The thread id');
      return readThread(db, id);
    },

    async append(id, entries, options = {}) {
      assertId(id, 'The thread id');
      if (options.idempotencyKey !== undefined) assertId(options.idempotencyKey, 'The idempotency key');
      assertWhole(options.expectedRev, 'expectedRev');
      assertStorable(entries, 'The entries');
      const drafts = entries.map(toDraft);
      const { expectedRev, idempotencyKey, repair } = options;
      const hash = idempotencyKey && requestHash(drafts);
      return appendEntries(db, id, { drafts, expectedRev, idempotencyKey, hash, repair });
    },

    async entries(id, { afterSeq = -1, kind, contextRef, limit = 100 } = {}) {
      assertId(id, 'The thread id');
      return readEntries(db, id, { afterSeq, kind, contextRef, limit });
    },

    config: (id, { contextRef = 'default', atSeq } = {}) => laneConfig(db, id, contextRef, atSeq),
    configure: (id, changes) => configure(db, agents, id, changes),
    async events(id, { afterEventSeq = -1, limit = 100 } = {}) {
      assertId(id, 'The thread id');
      return readThreadEvents(db, id, afterEventSeq, limit);
    },
    stream: (id, options) => streams.follow(id, undefined, options),

    async erase(id) {
      assertId(id, 'The thread id');
      await eraseThread(db, id);
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
