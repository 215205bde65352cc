import type { JsonObject, Message } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { outOfLine } from '../content/out-of-line.ts';
import { contextLimit } from '../context-limit.ts';
import { callFunction, repeatIfLost } from '../call-function.ts';

/**
 * What became of the input. `queued`: the run takes it before its next model call, or instead of ending; if the run
 * ends in another way first, the input is `dropped`. A receipt requested again may also say `injected` or `dropped`.
 */
export interface InputReceipt {
  inputId: string;
  /** The run that accepted it. */
  runId: string;
  status: 'queued' | 'injected' | 'dropped';
  /** The same input was accepted before. */
  duplicate: boolean;
}

export interface NewInput {
  id: string;
  kind: 'steer' | 'inject';
  content: Message['content'];
  source: string;
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
    callFunction<StoredReceipt>(db, 'enqueue_input', threadId, [stored]),
  );
  return { inputId: input.id, runId: run_id, status, duplicate: duplicate === true };
}
