import type { MiddlewareHandler } from 'hono';
import { assertWhole } from '../base/checks/values.ts';
import { omitUndefined } from '../base/common/json.ts';
import { listedIn } from '../base/environment.ts';
import type { Library } from '../features/library/library.ts';
import { knownKeys } from './access/known-keys.ts';
import { authenticate } from './auth.ts';
import { ByteBudget } from './byte-budget.ts';
import type { Door } from './door.ts';
import type { ApiEnv } from './env.ts';
import { LiveStreams } from './live-streams.ts';
import { logErrors, withSafePath } from './log-errors.ts';
import type { AppOptions } from './options.ts';
import { defaultBodyTimeoutMs, defaultMaxBodyBytes } from './read-body.ts';
import { requestCounter, type RequestCounter } from './request-counter.ts';

/** What the middleware and the routes of one application share. */
export interface Site {
  /** Of the tenant that the application serves, if it serves one alone. */
  lanefold: Library;
  doors: readonly Door[];
  mcp: AppOptions['mcp'];
  /** Whether the page is served. */
  page: boolean;
  /** Without a key, only loopback requests are answered. */
  open: boolean;
  byKey: MiddlewareHandler<ApiEnv>;
  /** Which may sign requests to work. */
  workSecrets: readonly string[];
  /** For people in a browser, who are asked for the key. */
  bySignIn: MiddlewareHandler<ApiEnv>;
  /** What bodies of requests may take. */
  bodies: { maxBytes: number; timeoutMs: number; budget: ByteBudget };
  /** Of large answers that clients have not taken yet. */
  answers: ByteBudget;
  streams: LiveStreams;
  requests: RequestCounter;
  onError: NonNullable<AppOptions['onError']>;
  closing: AbortSignal | undefined;
}

const defaultMaxHeldBytes = 64 * 1024 * 1024;
const defaultMaxStreams = 1_000;
const defaultKeyRecheckMs = 5_000;
const minKeyRecheckMs = 100;

/** @throws LanefoldError `invalid_input` */
export function siteOf(doors: readonly Door[], all: Library, options: AppOptions & { closing?: AbortSignal }): Site {
  const { closing, mcp, keyRecheckMs = defaultKeyRecheckMs, maxHeldBytes = defaultMaxHeldBytes } = options;
  assertWhole(keyRecheckMs, 'keyRecheckMs', {
    minimum: minKeyRecheckMs,
    hint: 'Leave it out for 5,000: every open stream looks up its key this often.',
  });
  const lanefold = options.tenant === undefined ? all : { ...all, ...all.forTenant(options.tenant) };
  const apiKey = (options.apiKey ?? process.env['LANEFOLD_API_KEY']) || undefined;
  const workSecrets = options.workSecrets ?? listedIn('LANEFOLD_WORK_SECRET');
  const onError = withSafePath(options.onError ?? logErrors(lanefold.log));
  const keys = knownKeys(lanefold, keyRecheckMs);
  const budgetOf = (what: string) => new ByteBudget(maxHeldBytes, what);
  const maxStreams = options.maxStreams ?? defaultMaxStreams;
  return {
    lanefold,
    doors,
    mcp,
    page: options.page ?? process.env['LANEFOLD_PAGE'] !== 'off',
    open: apiKey === undefined,
    byKey: authenticate(apiKey, keys),
    workSecrets,
    bySignIn: authenticate(apiKey, keys, { basic: true }),
    bodies: {
      maxBytes: options.maxBodyBytes ?? defaultMaxBodyBytes,
      timeoutMs: options.bodyTimeoutMs ?? defaultBodyTimeoutMs,
      budget: budgetOf('bodies'),
    },
    answers: budgetOf('answers'),
    streams: new LiveStreams(
      omitUndefined({ onError, closing, maxStreams, budget: budgetOf('streams'), keyRecheckMs }),
    ),
    requests: requestCounter(),
    onError,
    closing,
  };
}
