import { assertId } from '../../../base/checks/ids.ts';
import { LanefoldError } from '../../../base/errors.ts';

/** The request id of a run has the name and the time of its slot, and ids have 128 characters. */
const longestName = 90;

/** @throws LanefoldError `invalid_id` */
export function assertName(name: string): void {
  assertId(name, 'The name of the schedule');
  if (name.length <= longestName) return;
  throw new LanefoldError('invalid_id', `The name of the schedule has ${name.length} characters.`, {
    hint: `Nothing was written. Use at most ${longestName}.`,
    details: { what: 'The name of the schedule' },
  });
}
