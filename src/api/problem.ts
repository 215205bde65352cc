import { HTTPException } from 'hono/http-exception';
import { errorStatus, LanefoldError, type ErrorCode } from '../errors.ts';

/** An RFC 9457 answer. `code` is stable; `detail` and `hint` are for people. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: ErrorCode;
  detail: string;
  hint?: string;
  /** What is wrong where: `path` as in `entries[0].payload.role`. */
  errors?: FieldError[];
}

export interface FieldError {
  path: string;
  message: string;
}

/** Refuses a request whose fields are wrong. */
export const invalidRequest = (errors: FieldError[]): LanefoldError =>
  new LanefoldError('invalid_request', `The request has ${errors.length === 1 ? 'a wrong field' : 'wrong fields'}.`, {
    hint: 'See errors, and /openapi.json for what is expected.',
    details: { errors },
  });

/** What a caller is told of an error. Of faults of ours and of the surroundings: the code, never the particulars. */
export function toProblem(error: unknown): Problem {
  const known = toLanefoldError(error);
  const status = errorStatus[known.code];
  const problem: Problem = {
    type: `urn:lanefold:${known.code}`,
    title: title(known.code),
    status,
    code: known.code,
    detail: known.message,
  };
  if (status >= 500 && known.code !== 'not_ready') {
    return {
      ...problem,
      detail: status === 500 ? 'The request failed for a reason of the server.' : `${title(known.code)}.`,
      hint: 'Try again later; the log of the server says more.',
    };
  }
  const errors = known.details?.['errors'] as FieldError[] | undefined;
  return { ...problem, ...(known.hint ? { hint: known.hint } : {}), ...(errors ? { errors } : {}) };
}

function toLanefoldError(error: unknown): LanefoldError {
  if (error instanceof LanefoldError) return error;
  if (error instanceof HTTPException && error.status === 415) return unsupportedMediaType();
  if (error instanceof HTTPException && error.status === 400) return invalidJson(error.message);
  return new LanefoldError('internal', 'Unexpected.', { cause: error });
}

export const invalidJson = (why: string): LanefoldError =>
  new LanefoldError('invalid_json', `The body is not JSON: ${why}.`, { hint: 'Send one JSON object in UTF-8.' });

export const unsupportedMediaType = (): LanefoldError =>
  new LanefoldError('unsupported_media_type', 'The body is not declared as JSON.', {
    hint: 'Send Content-Type: application/json, without a Content-Encoding.',
  });

const title = (code: string): string => {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const problemHeaders = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
