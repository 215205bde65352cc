import type { InputReceipt } from './types.ts';
import type { JsonObject, Message } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { outOfLine } from '../content/out-of-line.ts';
import { contextLimit } from '../rows.ts';
import { callFunction, repeatIfLost } from '../call-function.ts';

export interface NewInput {
  id: string;
  kind: 'steer' | 'inject';
  content: Message['content'];
  by: string;
  refs?: JsonObject | undefined;
  expectedRequestId?: string | undefined;
  expectedRunId?: string | undefined;
}

interface StoredReceipt {
  status: InputReceipt['status'];
  run_id: string;
  duplicate?: true;
}

/** Queues user-style input for the active run of a thread. */
export async function enqueueInput(db: Database, threadId: string, input: NewInput): Promise<InputReceipt> {
  const { expectedRequestId, expectedRunId, ...body } = input;
  const { messages, contents } = outOfLine(db, [body]);
  const stored = {
    ...messages[0],
    contents,
    expected_request_id: expectedRequestId,
    expected_run_id: expectedRunId,
    ...contextLimit(db),
  };
  const { status, run_id, duplicate } = await repeatIfLost(() =>
    callFunction<StoredReceipt>(db, 'enqueue_input', { threadId, p: stored }),
  );
  return { inputId: input.id, threadId, runId: run_id, status, duplicate: duplicate === true };
}
