import { LanefoldError } from '../../../base/errors.ts';

/** An entry of a history that does not have the form in which Lanefold writes it. */
export const unreadable = (what: string, cause?: unknown): LanefoldError =>
  new LanefoldError('history_unreadable', `${what} does not have the form in which Lanefold writes it.`, {
    hint: 'Nothing was written. Another program may have changed the log: compare it with a backup.',
    ...(cause === undefined ? {} : { cause }),
  });
