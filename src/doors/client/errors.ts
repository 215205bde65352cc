import type { Problem } from './operations.ts';

/**
 * Why a call failed: a code of the API (docs/reference/errors.md), or one of the client's own. `unreachable`: no complete answer
 * arrived. `unexpected_answer`: the answer is not from a Lanefold server. `no_token`: `getToken` failed.
 */
export type ClientErrorCode =
  Problem['code'] | 'unreachable' | 'unexpected_answer' | 'no_token' | (string & Record<never, never>);

/** A failed call. `message` says what happened, `hint` what to do, `errors` names the invalid fields. */
export class LanefoldClientError extends Error {
  readonly code: ClientErrorCode;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  readonly hint: string | undefined;
  readonly errors: Problem['errors'];
  /** How long to wait before the next attempt, in ms, if the server says. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ClientErrorCode,
    message: string,
    options: {
      status?: number;
      hint?: string | undefined;
      errors?: Problem['errors'];
      retryAfterMs?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LanefoldClientError';
    this.code = code;
    this.status = options.status ?? 0;
    this.hint = options.hint;
    this.errors = options.errors;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Whether an error is a `LanefoldClientError`, and has this code where one is given.
 *
 * @example
 * ```ts
 * import { createClient, isClientError } from 'lanefold/client';
 *
 * const client = createClient({ url: 'http://127.0.0.1:9', maxRetries: 0 });
 * try {
 *   await client.threads.get('support-42');
 * } catch (error) {
 *   if (!isClientError(error, 'unreachable')) throw error;
 *   console.log(error.message, error.hint);
 * }
 * ```
 */
export const isClientError = (error: unknown, code?: ClientErrorCode): error is LanefoldClientError =>
  error instanceof LanefoldClientError && (code === undefined || error.code === code);

/** The error that a problem of the API stands for. */
export const fromProblem = (problem: Problem, retryAfterMs?: number): LanefoldClientError =>
  new LanefoldClientError(problem.code, problem.detail, { ...problem, retryAfterMs });
