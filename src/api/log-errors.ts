import type { Logger } from '../log/logger.ts';
import type { AppOptions } from './options.ts';

/** The default handler for errors behind a response of 500 or above. The log redacts them; the response never has them. */
export const logErrors =
  (log: Logger): NonNullable<AppOptions['onError']> =>
  (err, { method, path }) =>
    log.error({ component: 'api', err, method, path }, `${method} ${path}: ${summary(err)}`);

function summary(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  const cause =
    error.cause === undefined ? '' : ` (${error.cause instanceof Error ? error.cause.message : String(error.cause)})`;
  return `${typeof code === 'string' ? `${code}: ` : ''}${error.message}${cause}`;
}
