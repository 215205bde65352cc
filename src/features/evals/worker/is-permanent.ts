import { isLanefoldError, type LanefoldError } from '../../../base/errors.ts';
import { isTransient } from '../../../database/postgres/errors.ts';

/** Whether a request was refused for good: it would be refused later too. */
export const isPermanent = (error: unknown): error is LanefoldError =>
  isLanefoldError(error) &&
  error.status < 500 &&
  !isTransient(error) &&
  !isLanefoldError(error, 'rate_limited') &&
  !isLanefoldError(error, 'queue_full');
