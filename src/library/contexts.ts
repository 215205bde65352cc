import { assertId, newId } from '../ids.ts';
import type { ContextRow } from '../context/fold.ts';
import type { Json, JsonObject, Message } from '../context/message.ts';
import type { Database } from '../postgres/pool.ts';
import { assertContent } from '../models/messages/parts.ts';
import { assertStorable } from '../text.ts';
import { assertWhole } from '../whole-number.ts';
import { hashBody } from './threads.ts';

export interface OperationOptions {
  /** Makes the operation happen once in the life of the thread; default: a new one. */
  opId?: string;
  reason?: 'manual' | 'restore' | 'compaction' | 'system';
  expectedRev?: number;
  baseSeq?: number;
  meta?: JsonObject;
  repair?: boolean;
}

export interface OperationReceipt {
  opId: string;
  /**
   * `deferred`: a run is active; it is applied when that run has ended, unless a later one displaces it. `stale`: a
   * compaction whose `baseSeq` lies before a newer anchor, or inside a tool group; nothing was changed.
   */
  status: 'applied' | 'deferred' | 'duplicate' | 'stale';
  opStatus: 'pending' | 'applied' | 'superseded' | 'stale';
  seq: number | null;
}

/** A context to start from: messages in chronological order. `systemPrompt` absent inherits, null means none. */
export interface NewContext {
  systemPrompt?: string | null;
  entries: (Omit<Message, 'role'> & { role: 'user' | 'assistant' | 'tool' })[];
}

export interface Lane {
  contextRef: string;
  /** `seq` of the latest replace, -1 without one. */
  anchorSeq: number;
  lastSeq: number;
  openCalls: number;
}

export interface Contexts {
  /** What the model sees of a lane, now or as of an entry. */
  project(threadId: string, options?: { contextRef?: string; atSeq?: number }): Promise<ContextRow[]>;
  /** Makes `context` the new beginning of a lane. @throws LanefoldError `open_tool_group`, `invalid_operation`, `rev_conflict` */
  replace(
    threadId: string,
    context: NewContext,
    options?: OperationOptions & { contextRef?: string },
  ): Promise<OperationReceipt>;
  /** Starts a lane anew: a replace with an empty context, which inherits the prompt. */
  reset(threadId: string, options?: OperationOptions & { contextRef?: string }): Promise<OperationReceipt>;
  /** The lanes of a thread. */
  lanes(threadId: string): Promise<Lane[]>;
  /** Makes a lane the active one. */
  switch(threadId: string, contextRef: string, options?: OperationOptions): Promise<OperationReceipt>;
}

export function contextsOf(db: Database): Contexts {
  const apply = async (threadId: string, contextRef: string, operation: JsonObject, options: OperationOptions) => {
    assertId(threadId, 'The thread id');
    assertId(contextRef, 'The context_ref');
    const opId = options.opId ?? newId('op');
    assertId(opId, 'The op_id');
    assertWhole(options.expectedRev, 'expectedRev');
    assertWhole(options.baseSeq, 'baseSeq');
    const body = {
      ...operation,
      reason: options.reason ?? 'manual',
      ...(options.baseSeq === undefined ? {} : { base_seq: options.baseSeq }),
      ...(options.meta === undefined ? {} : { meta: options.meta }),
    };
    assertStorable(body, 'The operation');
    const [row] = await db.query<{ result: Record<string, never> }>(
      'apply_operation',
      'select lanefold.apply_operation($1, $2, $3, $4, $5) as result',
      [
        threadId,
        opId,
        contextRef,
        body,
        { hash: hashBody({ contextRef, body }), expected_rev: options.expectedRev, repair: options.repair },
      ],
    );
    const result = row!.result;
    return {
      opId,
      status: result['status']!,
      opStatus: result['op_status']!,
      seq: result['seq'] ?? null,
    } as OperationReceipt;
  };

  return {
    async project(threadId, { contextRef = 'default', atSeq } = {}) {
      assertId(threadId, 'The thread id');
      assertId(contextRef, 'The context_ref');
      const rows = await db.query<ContextRow>(
        'lane_context_at',
        `select anchor_seq::float8, ordinal::int, seq::float8, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details,
           provider_metadata, run_id, request_id, refs
         from lanefold.lane_context_at($1, $2, $3) order by ordinal`,
        [threadId, contextRef, atSeq ?? '9223372036854775807'],
      );
      return rows;
    },
    replace: async (threadId, context, { contextRef = 'default', ...options } = {}) => {
      for (const message of context.entries) assertContent(message);
      const resultContext: JsonObject = { entries: context.entries as unknown as Json };
      if (context.systemPrompt !== undefined) resultContext['system_prompt'] = context.systemPrompt;
      return apply(threadId, contextRef, { type: 'replace', result_context: resultContext }, options);
    },
    reset: (threadId, { contextRef = 'default', ...options } = {}) =>
      apply(threadId, contextRef, { type: 'replace', result_context: { entries: [] } }, options),
    async lanes(threadId) {
      assertId(threadId, 'The thread id');
      const rows = await db.query<{ context_ref: string; anchor_seq: number; last_seq: number; open_calls: number }>(
        'lanes',
        'select context_ref, anchor_seq::float8, last_seq::float8, open_calls from lanefold.lane where thread_id = $1 order by context_ref',
        [threadId],
      );
      return rows.map((row) => ({
        contextRef: row.context_ref,
        anchorSeq: row.anchor_seq,
        lastSeq: row.last_seq,
        openCalls: row.open_calls,
      }));
    },
    switch: (threadId, contextRef, options = {}) => apply(threadId, contextRef, { type: 'switch' }, options),
  };
}
