import type { z } from '@hono/zod-openapi';
import { HTTPException } from 'hono/http-exception';
import { toSnakeCase } from '../base/common/case.ts';
import { errorStatus, LanefoldError, type ErrorCode } from '../base/errors.ts';
import type { Problem } from './schemas/problem.ts';
import { readJsonBytes } from '../base/common/json-bytes.ts';

type ProblemBody = z.infer<typeof Problem>;

/** An invalid field. Its `path` looks like `entries[0].payload.role`. */
export type FieldError = NonNullable<ProblemBody['errors']>[number];

/** The error for a request with invalid fields. */
export const invalidRequest = (errors: FieldError[]): LanefoldError =>
  new LanefoldError(
    'invalid_request',
    `The request has ${errors.length === 1 ? 'an invalid field' : 'invalid fields'}.`,
    {
      hint: 'See errors for the fields and /openapi.json for the schema.',
      details: { errors },
    },
  );

/** Server errors whose callers are told what to do. */
const shown: ReadonlySet<ErrorCode> = new Set(['not_ready', 'role_unfit', 'server_busy']);

/**
 * Converts an error to a problem. For server errors and unavailable dependencies, callers get the code but no details.
 */
export function toProblem(error: unknown): ProblemBody {
  const known = toLanefoldError(error);
  const status = errorStatus[known.code];
  const problem: ProblemBody = {
    type: `urn:lanefold:${known.code}`,
    title: title(known.code),
    status,
    code: known.code,
    detail: known.message,
  };
  if (status >= 500 && !shown.has(known.code)) {
    return {
      ...problem,
      detail: status === 500 ? 'The server failed to process the request.' : `${title(known.code)}.`,
      hint: 'Try again later; the server log has the details.',
    };
  }
  const errors = known.details?.['errors'] as FieldError[] | undefined;
  return { ...problem, ...(known.hint ? { hint: known.hint } : {}), ...(errors ? { errors } : {}) };
}

function toLanefoldError(error: unknown): LanefoldError {
  if (error instanceof LanefoldError) return error;
  if (error instanceof HTTPException && error.status === 415) return unsupportedMediaType();
  if (error instanceof HTTPException && error.status === 400) return invalidJson(error.message);
  return new LanefoldError('internal', 'Unexpected error.', { cause: error });
}

export const invalidJson = (why: string): LanefoldError =>
  new LanefoldError('invalid_json', `The body is not valid JSON: ${why}.`, {
    hint: 'Send one JSON object, encoded as UTF-8.',
  });

/** The value of a body, which may carry content. @throws LanefoldError `invalid_json`, `invalid_request` */
export function jsonOf(bytes: Buffer): unknown {
  const read = readJsonBytes(bytes);
  if (read.ok) return read.value;
  if (read.kind === 'syntax') throw invalidJson(read.problem);
  throw invalidRequest([{ path: read.path?.slice('$.'.length) ?? '', message: read.problem }]);
}

export const unsupportedMediaType = (): LanefoldError =>
  new LanefoldError('unsupported_media_type', 'The Content-Type or Content-Encoding of the body is not supported.', {
    hint: 'Send Content-Type: application/json without a Content-Encoding.',
  });

const title = (code: string): string => {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The headers of a problem. An unavailable service may be back in a second. */
export const problemHeaders = (status: number, error?: unknown): Record<string, string> => ({
  'content-type': 'application/problem+json',
  'cache-control': 'no-store',
  ...(status === 503 || status === 429 ? { 'retry-after': String(retryAfterS(error)) } : {}),
});

const retryAfterS = (error: unknown): number =>
  error instanceof LanefoldError && typeof error.details?.['retryAfterS'] === 'number'
    ? error.details['retryAfterS']
    : 1;

/** Names the field of the body that the library refuses, as the check of the schema does. */
export function withField(error: unknown): unknown {
  if (!(error instanceof LanefoldError)) return error;
  const { field, problem } = error.details ?? {};
  if (typeof field !== 'string' || typeof problem !== 'string') return error;
  const [first = '', ...rest] = field.split('.');
  return invalidRequest([{ path: [toSnakeCase(first), ...rest].join('.'), message: problem }]);
}
