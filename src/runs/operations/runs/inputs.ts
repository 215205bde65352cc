import type { JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newId, assertRefs } from '../../../base/checks/ids.ts';
import { acceptContent, type ContentInput, assertNotBlank } from '../../../agent/models/accept-content.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { enqueueInput, type InputReceipt } from '../../../database/store/input/enqueue-input.ts';
import { assertStorable } from '../../../base/checks/text.ts';

export interface InputOptions {
  /** Repeating the id queues nothing and returns the receipt of the first input; default: a new id. */
  inputId?: string;
  /** Reject the input unless this request is the active one. */
  expectedRequestId?: string;
  /** Reject the input unless this run is the active one. */
  runId?: string;
  /** Who sends the input, for the log; default `lanefold`. */
  source?: string;
  /** Kept in the `refs` of the message. */
  extraRefs?: JsonObject;
}

/** Queues user-style input for the active run of a thread. See `Runs.steer` and `Runs.inject`. */
export async function sendInput(
  db: Database,
  kind: 'steer' | 'inject',
  threadId: string,
  given: ContentInput,
  options: InputOptions = {},
): Promise<InputReceipt> {
  assertId(threadId, 'The thread id');
  const id = options.inputId ?? newId('inp');
  assertId(id, 'The input id');
  if (options.runId !== undefined) assertId(options.runId, 'The run id');
  if ('role' in options && options.role !== undefined && options.role !== 'user') {
    throw new LanefoldError('invalid_input', `Input cannot have the role ${JSON.stringify(options.role)}.`, {
      hint: 'Input always has the role user; to change the system prompt, call threads.configure.',
    });
  }
  const { source = 'lanefold', extraRefs: refs, expectedRequestId, runId: expectedRunId } = options;
  const content = acceptContent(given);
  // anything else is rejected where it would be stored
  if (typeof content === 'string' || Array.isArray(content)) assertNotBlank(content, 'The input');
  assertRefs(refs);
  assertStorable({ content, source, extraRefs: refs }, 'The input');
  return enqueueInput(db, threadId, { id, kind, content, source, refs, expectedRequestId, expectedRunId });
}
