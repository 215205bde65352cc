import type { InputReceipt } from '../../../database/store/input/types.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newId, assertRefs } from '../../../base/checks/ids.ts';
import { acceptContent, type ContentInput, assertNotBlank } from '../../../agent/models/accept-content.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { enqueueInput } from '../../../database/store/input/enqueue-input.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import type { DeclaredRuns } from './types.ts';

type InputOptions = NonNullable<Parameters<DeclaredRuns['steer']>[2]>;

/** Queues user-style input for a run, or for the active run of a thread. See `Runs.steer` and `Runs.inject`. */
export async function sendInput(
  db: Database,
  kind: 'steer' | 'inject',
  to: RunRef | string,
  given: ContentInput,
  options: InputOptions = {},
): Promise<InputReceipt> {
  const { threadId, id: expectedRunId } = typeof to === 'string' ? { threadId: to, id: undefined } : to;
  assertId(threadId, 'The thread id');
  if (expectedRunId !== undefined) assertId(expectedRunId, 'The run id');
  const id = options.inputId ?? newId('inp');
  assertId(id, 'The input id');
  if (options.role !== undefined && options.role !== 'user') {
    throw new LanefoldError('invalid_input', `Input cannot have the role ${JSON.stringify(options.role)}.`, {
      hint: 'Input always has the role user; to change the system prompt, call threads.configure.',
    });
  }
  const { by = 'lanefold', extraRefs: refs, expectedRequestId } = options;
  const content = acceptContent(given);
  // anything else is rejected where it would be stored
  if (typeof content === 'string' || Array.isArray(content)) assertNotBlank(content, 'The input');
  assertRefs(refs);
  assertStorable({ content, by, extraRefs: refs }, 'The input');
  return enqueueInput(db, threadId, { id, kind, content, by, refs, expectedRequestId, expectedRunId });
}
