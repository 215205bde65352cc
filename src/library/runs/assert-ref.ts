import { LanefoldError } from '../../errors.ts';
import { assertId } from '../../checks/ids.ts';
import type { RunRef } from '../../store/run/run.ts';

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
