import {
  children,
  handoffs,
  inputsOnce,
  limits,
  oneTerminalEvent,
  operationsOnce,
  marksStored,
  runsEnd,
  type Check,
  type Violation,
} from './checks/runs.ts';
import { historyChecks } from './history.ts';
import type { Observer } from './schedule.ts';
import { foldContext, type ContextRow, type FoldEntry } from '../../agent/context/fold.ts';
import { canonicalJson, canonicalMessage, contextHash } from '../../agent/context/canonical.ts';
import type { Message } from '../../agent/context/message.ts';
import { asRecorded } from '../../agent/models/acceptable-prompt.ts';
import { isClosed } from '../history/checks/log.ts';
import { groupBy } from '../history/check.ts';
import { callOrder, closedGroups, gaplessSequences, linearStorage, unchangedEntries } from './checks/log.ts';

export interface CheckResult {
  violations: Violation[];
  /** Answered model calls whose context was replayed. */
  replayedCalls: number;
}

/** Limit per check: people read the report. */
const maxViolations = 100;

/** Runs every check and replays every context. No run may be in progress. */
export async function runChecks(observer: Observer): Promise<CheckResult> {
  const violations: Violation[] = [];
  for (const check of [...checks, ...marksStored, ...historyChecks])
    violations.push(...(await violationsOf(observer, check)));
  const replayed = await replayContexts(observer);
  return { violations: [...violations, ...replayed.violations], replayedCalls: replayed.calls };
}

async function violationsOf(observer: Observer, { invariant, name, sql }: Check): Promise<Violation[]> {
  const rows = await observer.query<{ row: Record<string, unknown> }>(
    `select to_jsonb(b) as row from (${sql}) b limit ${maxViolations}`,
  );
  return rows.map(({ row }) => ({ invariant, name, row }));
}

const names = {
  I9: 'a context contains both a call and its result, or neither',
  I11: 'the log reproduces every context sent to a model, and contexts only grow at the end',
  view: 'the view lane_context equals the fold of the log',
} as const;

const page = 200;

/** Replays the context of every answered model call from the log and compares it with the hash recorded at the time. */
async function replayContexts(observer: Observer): Promise<{ calls: number; violations: Violation[] }> {
  const threads = await observer.query<{ id: string }>(
    'select id from lanefold.thread where erased_at is null order by id',
  );
  const found: Violation[] = [];
  let calls = 0;
  for (let from = 0; from < threads.length; from += page) {
    const ids = threads.slice(from, from + page).map(({ id }) => id);
    const entries = await observer.query<FoldEntry & { thread_id: string }>(
      `select thread_id, seq::float8, kind, context_ref, role, is_anchor, run_id, request_id, payload, refs
       from lanefold.thread_entry where thread_id = any($1) order by thread_id, seq`,
      [ids],
    );
    const heads = await observer.query<ContextRow & { thread_id: string; context_ref: string }>(
      `select thread_id, context_ref, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata
       from lanefold.lane_context where thread_id = any($1) order by thread_id, context_ref, ordinal`,
      [ids],
    );
    const viewed = groupBy(heads, (row) => `${row.thread_id} ${row.context_ref}`);
    for (const [threadId, log] of groupBy(entries, (entry) => entry.thread_id)) {
      const result = replayThread(threadId, log);
      calls += result.calls;
      found.push(...result.violations);
      for (const contextRef of new Set(log.flatMap((entry) => entry.context_ref ?? []))) {
        const fold = toMessages(foldContext(log, contextRef, Infinity));
        const view = toMessages(viewed.get(`${threadId} ${contextRef}`) ?? []);
        // the view omits lanes that are configured but have no entries
        if (view.length > 0 && contextHash(fold) !== contextHash(view))
          found.push({ invariant: 'I11', name: names.view, row: { thread_id: threadId, context_ref: contextRef } });
      }
    }
  }
  return { calls, violations: found };
}

/**
 * Compares the `context_hash` of each answer with the fold before it, and each context with the previous one of its
 * lane.
 */
function replayThread(threadId: string, log: readonly FoldEntry[]): { calls: number; violations: Violation[] } {
  const violations: Violation[] = [];
  const before = new Map<string, { base: string; sent: string[] }>();
  let calls = 0;
  for (const { seq, role, context_ref: contextRef, refs } of log) {
    if (role !== 'assistant' || contextRef === null || !refs['context_hash']) continue;
    calls += 1;
    const rows = foldContext(log, contextRef, seq - 1);
    const messages = toMessages(rows);
    const report = (invariant: 'I9' | 'I11', what: string) =>
      violations.push({ invariant, name: names[invariant], row: { thread_id: threadId, seq, what } });
    if (!isClosed(messages)) report('I9', 'open group');
    // a token budget drops messages from the request, not from the log; history comes from another lane
    const other = ['policy_hash', 'dropped', 'history'].some((name) => refs[name] !== undefined);
    if (!other && contextHash(asRecorded(messages, refs)) !== refs['context_hash']) report('I11', 'context_hash');
    const base = JSON.stringify([rows[0]?.anchor_seq, rows[0]?.role === 'system' ? rows[0].seq : null]);
    const sent = messages.map(canonicalJson);
    const last = before.get(contextRef);
    if (last?.base === base && !last.sent.every((message, i) => message === sent[i])) report('I11', 'prefix');
    before.set(contextRef, { base, sent });
  }
  return { calls, violations };
}

const toMessages = (rows: readonly Partial<ContextRow>[]): Message[] =>
  rows.map((row) => canonicalMessage(row as Partial<Record<keyof Message, unknown>>));

/** Checks that any Lanefold database must pass; `marksStored` beside them needs a database on one node. I9 and I11 need a replay of every context: see replay-contexts.ts. */
export const checks: readonly Check[] = [
  ...gaplessSequences,
  ...unchangedEntries,
  ...oneTerminalEvent,
  ...closedGroups,
  ...runsEnd,
  ...children,
  ...handoffs,
  ...limits,
  ...operationsOnce,
  ...inputsOnce,
  ...callOrder,
  ...linearStorage,
];
