import { LanefoldError } from '../../../base/errors.ts';
import { assertId } from '../../../base/checks/ids.ts';
import type { RunRef } from '../../../database/store/run/run.ts';

/** @throws LanefoldError `invalid_input`, `invalid_id` */
export function assertRef(run: RunRef): void {
  if (typeof run !== 'object' || run === null) {
    throw new LanefoldError('invalid_input', `A run is identified by its thread and id; got ${JSON.stringify(run)}.`, {
      hint: 'Pass { threadId, id }, or what enqueue returned.',
    });
  }
  assertId(run.threadId, 'The thread id');
  assertId(run.id, 'The run id');
}
