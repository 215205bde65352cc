import { isLanefoldError, type ErrorCode } from '../../errors.ts';

const codes: readonly ErrorCode[] = ['lease_lost', 'step_ahead', 'run_not_found', 'thread_not_found', 'thread_erased'];

/**
 * The run is no longer this worker's: another one has taken it, or an asynchronous failover has lost the commits, the
 * claim or the whole run that this worker knows of. It must write nothing more.
 */
export const isLost = (error: unknown): boolean => codes.some((code) => isLanefoldError(error, code));
