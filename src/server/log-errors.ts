import { isLanefoldError } from '../base/errors.ts';
import type { Logger } from '../base/log/logger.ts';
import type { AppOptions } from './options.ts';
import { maskSecrets } from '../base/redaction/sensitive-keys.ts';
import { after } from '../base/common/timer.ts';

type OnError = NonNullable<AppOptions['onError']>;

const signed = /^(\/signed\/[a-z]+\/).*/s;

/**
 * A path that may be logged. What follows `/signed/…/` is a credential that works for every reader; keys and tokens
 * in any other path are recognised by their form.
 */
export const safePath = (path: string): string => maskSecrets(path.replace(signed, '$1[redacted]'));

/** The same handler, told no credential. Everything that reports errors of requests goes through it. */
export const withSafePath =
  (onError: OnError): OnError =>
  (error, request) =>
    onError(error, { ...request, path: safePath(request.path) });

/** Refusals of one caller within this time are counted and logged as one line. */
const intervalMs = 10_000;

/**
 * The default handler for errors behind a response of 500 or above. The log redacts them; the response never contains
 * them. A busy server's refusals do not flood the log: each caller gets one line at first, then one line with a count
 * per interval.
 */
export function logErrors(log: Logger): OnError {
  /** Refusals per caller since its last line. */
  const refused = new Map<string | undefined, number>();
  const countOn = (actor: string | undefined) => {
    refused.set(actor, 0);
    after(
      intervalMs,
      () => {
        const count = refused.get(actor)!;
        refused.delete(actor);
        if (count === 0) return;
        const message = `${count} more requests from ${actor ?? 'unknown callers'} were refused in ${intervalMs / 1_000} s: server_busy`;
        log.error({ component: 'api', code: 'server_busy', actor, count }, message);
        countOn(actor);
      },
      { ref: false },
    );
  };
  return (err, { method, path, actor }) => {
    if (isLanefoldError(err, 'server_busy')) {
      const before = refused.get(actor);
      if (before !== undefined) return void refused.set(actor, before + 1);
      countOn(actor);
    }
    log.error({ component: 'api', err, method, path, actor }, `${method} ${path}: ${summary(err)}`);
  };
}

function summary(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  const cause =
    error.cause === undefined ? '' : ` (${error.cause instanceof Error ? error.cause.message : String(error.cause)})`;
  return `${typeof code === 'string' ? `${code}: ` : ''}${error.message}${cause}`;
}
