import { asRecorded } from '../../src/agent/models/acceptable-prompt.ts';
import { contextHash, type ContextRow, type ThreadEntry, type Lanefold, type Message } from 'lanefold';
import { expect } from 'vitest';
import type { TestLanefold } from './lanefold.ts';

export interface EventRow {
  event_seq: number;
  run_id: string;
  seq: number;
  kind: string;
  iteration: number;
  data: Record<string, unknown>;
}

export async function eventsOf(lanefold: TestLanefold, threadId: string, runId?: string): Promise<EventRow[]> {
  const { rows } = await lanefold.database.pool.query<EventRow>(
    `select event_seq::float8, run_id, seq, kind, iteration, data from lanefold.run_event
     where thread_id = $1 and ($2::text is null or run_id = $2) order by event_seq`,
    [threadId, runId ?? null],
  );
  return rows;
}

export interface LedgerEntry {
  round: number;
  call_index: number;
  tool_call_id: string;
  name: string;
  status: string;
  attempts: number;
  result: string | null;
  idempotency_key: string;
}

export async function ledgerOf(lanefold: TestLanefold, threadId: string, runId?: string): Promise<LedgerEntry[]> {
  const { rows } = await lanefold.database.pool.query<LedgerEntry>(
    `select round, call_index, tool_call_id, name, status, attempts, result, idempotency_key from lanefold.run_tool_call
     where thread_id = $1 and ($2::text is null or run_id = $2) order by run_id, round, call_index`,
    [threadId, runId ?? null],
  );
  return rows;
}

export const entriesOf = (lanefold: Lanefold, threadId: string): Promise<ThreadEntry[]> =>
  lanefold.threads.entries(threadId, { limit: 10_000 });

/** Role and content of each message in the context of a lane's next model call. */
export const contextOf = async (lanefold: Lanefold, threadId: string, contextRef = 'default') =>
  (await lanefold.contexts.project(threadId, { contextRef })).map((row) => [row.role, row.content]);

/**
 * Asserts the invariants of a thread at rest: gapless sequence numbers, closed groups, one terminal event per run, a
 * lane cache that matches the log, and for every answer the hash of exactly the messages before it.
 */
export async function expectSound(lanefold: TestLanefold, threadId: string): Promise<void> {
  const { pool } = lanefold.database;
  const entries = await entriesOf(lanefold, threadId);
  const thread = await lanefold.threads.get(threadId);
  expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, i) => i));
  expect(thread.rev).toBe(entries.length);

  const events = await eventsOf(lanefold, threadId);
  const { rows: heads } = await pool.query('select event_rev::float8 from lanefold.thread where id = $1', [threadId]);
  expect(events.map((event) => event.event_seq)).toEqual(events.map((_, i) => i + heads[0].event_rev - events.length));
  for (const runId of new Set(events.map((event) => event.run_id))) {
    const own = events.filter((event) => event.run_id === runId);
    expect(own.map((event) => event.seq)).toEqual(own.map((_, i) => i + 1));
    const { status } = await lanefold.runs.get({ threadId, id: runId });
    const terminal = own.filter((event) => /^request_(completed|failed|cancelled)$/.test(event.kind));
    expect(terminal.map((event) => event.kind)).toEqual(
      ['completed', 'failed', 'cancelled'].includes(status) ? [`request_${status}`] : [],
    );
  }

  const { rows: lanes } = await pool.query(
    'select context_ref, anchor_seq, last_seq, open_calls from lanefold.lane where thread_id = $1 order by 1',
    [threadId],
  );
  const { rows: fromLog } = await pool.query(
    'select context_ref, anchor_seq, last_seq, open_calls from lanefold.lanes_from_log($1) order by 1',
    [threadId],
  );
  expect(lanes).toEqual(fromLog);

  for (const { context_ref: contextRef } of lanes) {
    expectClosed(await lanefold.contexts.project(threadId, { contextRef }));
  }
  for (const entry of entries) {
    // messages added by a transformer or an output contract are hashed but not logged, those of another lane not here
    const { context_hash: hash, transformed, output_hash: contract, history, dropped_positions: cut } = entry.refs;
    if (!hash || transformed || contract || history || cut) continue;
    const before = await lanefold.contexts.project(threadId, { contextRef: entry.contextRef!, atSeq: entry.seq - 1 });
    expectClosed(before);
    expect(hash).toBe(contextHash(asRecorded(before.map(toMessage), entry.refs)));
  }
}

/** Asserts that every assistant message with calls is followed by its tool messages in call order, with no others. */
export function expectClosed(rows: ContextRow[]): void {
  for (let i = 0; i < rows.length; i++) {
    const calls = (rows[i]!.tool_calls ?? []) as { id: string }[];
    const results = rows.slice(i + 1, i + 1 + calls.length).map((row) => [row.role, row.tool_call_id]);
    expect(results).toEqual(calls.map((call) => ['tool', call.id]));
    if (calls.length === 0) expect(rows[i]!.role).not.toBe('tool');
    i += calls.length;
  }
}

const messageKeys = ['content', 'tool_calls', 'tool_call_id', 'name', 'thinking', 'reasoning_details'] as const;

function toMessage(row: ContextRow): Message {
  const given = [...messageKeys, 'provider_metadata' as const].filter((key) => row[key] !== null);
  return { role: row.role, ...Object.fromEntries(given.map((key) => [key, row[key]])) } as unknown as Message;
}
