import { LanefoldError } from '../errors.ts';
import { assertId, newId } from '../ids.ts';
import type { JsonObject } from '../context/message.ts';
import type { Database } from '../postgres/pool.ts';
import { assertStorable } from '../text.ts';

export interface InputOptions {
  /** The same id again answers as the first time; default: a new one. */
  inputId?: string;
  /** Refuse unless this request is the active one. */
  expectedRequestId?: string;
  /** Refuse unless this run is the active one. */
  runId?: string;
  /** Who says it, for the log; default `lanefold`. */
  source?: string;
  /** Kept in the `refs` of the message. */
  extraRefs?: JsonObject;
}

/**
 * What became of the input. `queued`: the run takes it before its next model call, or instead of ending; should the run
 * end otherwise first, the receipt turns to `dropped`. A receipt asked for again may also say `injected` or `dropped`.
 */
export interface InputReceipt {
  inputId: string;
  /** The run that has it; null where it was rejected. */
  runId: string | null;
  status: 'queued' | 'injected' | 'dropped' | 'rejected';
  /** Why it was rejected; the thread is unchanged then. */
  reason: InputRejection | null;
  /** The same input was accepted before. */
  duplicate: boolean;
}

export type InputRejection = 'idle' | 'request_mismatch' | 'closed' | 'queue_full' | 'empty_content' | 'invalid_input';

/** Input a run has accepted, and what became of it. */
export interface Input {
  id: string;
  runId: string;
  /** Place among the inputs of its run, from 1. */
  ordinal: number;
  kind: 'steer' | 'inject';
  source: string;
  content: string;
  status: 'queued' | 'injected' | 'dropped';
  /** The message it became. */
  entrySeq: number | null;
  createdAt: Date;
  /** When it became a message or was dropped. */
  settledAt: Date | null;
}

/** Queues user-style input for the active run of a thread. */
export async function sendInput(
  db: Database,
  kind: 'steer' | 'inject',
  threadId: string,
  content: string,
  options: InputOptions = {},
): Promise<InputReceipt> {
  assertId(threadId, 'The thread id');
  const inputId = options.inputId ?? newId('inp');
  assertId(inputId, 'The input id');
  if (options.runId !== undefined) assertId(options.runId, 'The run id');
  if ('role' in options && options.role !== undefined && options.role !== 'user') {
    throw new LanefoldError('invalid_input', `Input of role ${JSON.stringify(options.role)} cannot be sent to a run.`, {
      hint: 'Steering speaks as the user; change the system prompt with threads.configure.',
    });
  }
  assertStorable({ content, source: options.source, extraRefs: options.extraRefs }, 'The input');
  const [row] = await db.query<{ result: Accepted }>(
    'enqueue_input',
    'select lanefold.enqueue_input($1, $2) as result',
    [
      threadId,
      {
        id: inputId,
        kind,
        content,
        source: options.source ?? 'lanefold',
        refs: options.extraRefs,
        expected_request_id: options.expectedRequestId,
        expected_run_id: options.runId,
      },
    ],
  );
  const { status, reason = null, run_id: runId = null, duplicate = false } = row!.result;
  return { inputId, runId, status, reason, duplicate };
}

interface Accepted {
  status: InputReceipt['status'];
  reason?: InputRejection;
  run_id?: string;
  duplicate?: true;
}

/** What a run was told, in order of acceptance. */
export async function readInputs(
  db: Database,
  threadId: string,
  runId: string,
  afterOrdinal: number,
  limit: number,
): Promise<Input[]> {
  assertId(threadId, 'The thread id');
  assertId(runId, 'The run id');
  const rows = await db.query<Record<string, never>>(
    'run_inputs',
    `select id, run_id, ordinal, kind, source, content, status, entry_seq::float8, created_at, settled_at
     from lanefold.pending_input where thread_id = $1 and run_id = $2 and ordinal > $3 order by ordinal limit $4`,
    [threadId, runId, afterOrdinal, limit],
  );
  return rows.map((row) => ({
    id: row['id']!,
    runId: row['run_id']!,
    ordinal: row['ordinal']!,
    kind: row['kind']!,
    source: row['source']!,
    content: row['content']!,
    status: row['status']!,
    entrySeq: row['entry_seq'] ?? null,
    createdAt: row['created_at']!,
    settledAt: row['settled_at'] ?? null,
  }));
}
