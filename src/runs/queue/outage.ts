import { LanefoldError } from '../../base/errors.ts';
import { networkErrorCodes } from '../../base/common/network-error-codes.ts';

/** Rewrites the error for people if BullMQ lost its server; returns any other error unchanged. */
export function outage(backend: string, error: Error): Error {
  const { code = '' } = error as { code?: string };
  const isOutage =
    networkErrorCodes.has(code) ||
    /Connection is closed|Socket timeout|terminated|no answer within/.test(error.message);
  if (!isOutage) return error;
  // with PostgreSQL, the whole database is gone, not just the queue
  return backend === 'redis' ? unreachable(backend, error) : databaseLost(error);
}

export const databaseLost = (cause: unknown): LanefoldError =>
  new LanefoldError('database_unreachable', `PostgreSQL cannot be reached: ${reasonOf(cause)}.`, {
    hint: 'Check that PostgreSQL runs.',
    cause,
  });

function reasonOf(cause: unknown): string {
  const { message, errors } = cause as { message?: string; errors?: Error[] };
  // Node tries every address of a host, and its summary of these errors is empty
  return message || errors?.map((error) => error.message).join('; ') || String(cause);
}

export function unreachable(backend: string, cause: unknown): LanefoldError {
  const reason = reasonOf(cause);
  return backend === 'redis'
    ? new LanefoldError('queue_unreachable', `Redis cannot be reached: ${reason}.`, {
        hint: 'Check REDIS_URL and that the server runs; unset REDIS_URL to keep the queue in PostgreSQL.',
        cause,
      })
    : new LanefoldError('queue_unreachable', `The queue in PostgreSQL cannot be used: ${reason}.`, {
        hint: 'Check that PostgreSQL runs; run `lanefold migrate`; behind PgBouncer set LANEFOLD_DIRECT_URL.',
        cause,
      });
}
