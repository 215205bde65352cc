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
  status: 'queued' | 'injected' | 'dropped' | 'rejected';
  /** Why it was rejected; the thread is unchanged then. */
  reason: 'idle' | 'request_mismatch' | 'closed' | 'queue_full' | 'empty_content' | 'invalid_input' | null;
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
  if ('role' in options && options.role !== 'user') {
    throw new LanefoldError('invalid_input', `Input of role ${JSON.stringify(options.role)} cannot be sent to a run.`, {
      hint: 'Steering speaks as the user; change the system prompt with threads.configure.',
    });
  }
  assertStorable({ content, source: options.source, extraRefs: options.extraRefs }, 'The input');
  const [row] = await db.query<{ result: { status: InputReceipt['status']; reason?: InputReceipt['reason'] } }>(
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
      },
    ],
  );
  return { inputId, status: row!.result.status, reason: row!.result.reason ?? null };
}
