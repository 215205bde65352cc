import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { failureOf, type FailureKind } from './failure.ts';
import { tooLong, ModelError, type ModelErrorType } from './model-error.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { retryAfterMs, bounded, networkErrorCodes } from '../../base/common/network.ts';

const isNetworkCode = (code: string): boolean =>
  networkErrorCodes.has(code) ||
  code === 'ECONNABORTED' ||
  code === 'ERR_STREAM_PREMATURE_CLOSE' ||
  code.startsWith('UND_ERR_');

const texts = /fetch failed|failed to fetch|socket hang up|other side closed|^terminated$|network error/i;

/**
 * Whether the connection to the provider failed, rather than the request. Follows `cause`, where fetch puts the socket
 * error. An AbortError counts: our own aborts never get here, so a proxy between us and the model gave up.
 */
function isNetworkFailure(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    const { code, name, message, cause } = current as Error & { code?: unknown };
    if (typeof code === 'string' && isNetworkCode(code)) return true;
    if (name === 'AbortError' || name === 'TimeoutError' || texts.test(message)) return true;
    current = cause;
  }
  return false;
}

/**
 * Converts an error that a provider threw, or sent as an `error` part, to a ModelError. `phase` says where it happened.
 * In any phase, an answer of another shape becomes `llm_response` and a timeout inside the provider becomes `timeout`.
 *
 * The original error is not kept as `cause`: an APICallError holds the whole prompt, and errors end up in logs.
 */
export function classify(error: unknown, phase: ModelErrorType, now: number = Date.now()): ModelError {
  // what our own `fetch` threw, the package has wrapped
  for (const own of [error, (error as { cause?: unknown } | null | undefined)?.cause])
    if (own instanceof ModelError) return own;
  const facts = factsOf(error);
  const long = tooLong(facts.status, facts.words, saidBy(error));
  if (long) {
    const status = facts.status === undefined ? {} : { statusCode: facts.status };
    const said = { errorType: 'context_too_long', retryable: false, tooLong: long, ...status } as const;
    return new ModelError(textOf(error, facts), said);
  }
  const header = (name: string) => headerOf(facts.headers, name);
  const wait = retryAfterMs(header, now) ?? retryDelayMs(facts.details);
  const kind = kindOf(error, facts);
  return new ModelError(textOf(error, facts), {
    errorType: errorTypeOf(error, facts, phase),
    retryable: failureOf(kind).retryable,
    kind,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(facts.status === undefined ? {} : { statusCode: facts.status }),
  });
}

const headerOf = (headers: Record<string, string> = {}, name: string): string | undefined =>
  headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];

interface Facts {
  status?: number;
  headers?: Record<string, string>;
  retryable?: boolean;
  /** Google's `error.details`. */
  details?: unknown;
  /** Error names that providers use instead of a status: OpenAI's `code` and `type`, Anthropic's `type`. */
  words: string;
}

const isHttpError = (value: unknown): value is number => typeof value === 'number' && value >= 400 && value < 600;

// Errors inside a stream are plain objects ({type, code, message}), so this reads fields instead of checking classes.
function factsOf(error: unknown): Facts {
  const fields = (error !== null && typeof error === 'object' ? error : {}) as Record<string, unknown>;
  const status = [fields.statusCode, fields.status, fields.code].find(isHttpError);
  const body = fields.data as
    { error?: { code?: unknown; type?: unknown; details?: unknown }; details?: unknown } | undefined;
  const facts: Facts = {
    words: [fields.type, fields.code, body?.error?.type, body?.error?.code]
      .filter((w) => typeof w === 'string')
      .join(' '),
  };
  if (status !== undefined) facts.status = status;
  facts.details = body?.error?.details ?? body?.details;
  if (typeof fields.isRetryable === 'boolean') facts.retryable = fields.isRetryable;
  if (fields.responseHeaders) facts.headers = fields.responseHeaders as Record<string, string>;
  return facts;
}

const isUnreadable = (error: unknown): boolean =>
  InvalidResponseDataError.isInstance(error) ||
  JSONParseError.isInstance(error) ||
  TypeValidationError.isInstance(error) ||
  EmptyResponseBodyError.isInstance(error) ||
  NoContentGeneratedError.isInstance(error);

// without streaming, the error about the document is the cause of another one
const isCutJson = (error: unknown): boolean =>
  JSONParseError.isInstance(error) || (APICallError.isInstance(error) && JSONParseError.isInstance(error.cause));

// openai-compatible uses the same class for a truncated stream and for malformed data; only the text differs. A proxy
// that cuts the connection can also cut an event in its JSON; of the first event, the Anthropic provider keeps no error.
const isCutStream = (error: unknown): boolean =>
  isCutJson(error) ||
  (error instanceof Error && error.message === 'Expected a normalized Anthropic stream error') ||
  (InvalidResponseDataError.isInstance(error) && error.message.includes('ended without'));

function errorTypeOf(error: unknown, facts: Facts, phase: ModelErrorType): ModelErrorType {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  if (isCutStream(error) && phase === 'llm_stream') return 'llm_stream';
  const failedAfterSuccess = APICallError.isInstance(error) && (error.statusCode ?? 500) < 400 && !facts.retryable;
  return isUnreadable(error) || failedAfterSuccess ? 'llm_response' : phase;
}

/** The account has nothing left, whatever the status says, or the key may not be used. */
const refusals = /insufficient_quota|invalid_api_key|authentication_error|permission_error|billing_error/;
const refusing: ReadonlySet<number | undefined> = new Set([401, 402, 403]);
const troubles = /overloaded|server_error|api_error|internal|timeout|unavailable/i;

const mayPass = (status = 0): boolean => status === 408 || status === 409 || status === 429 || status >= 500;

/** What kind of failure an error is, other than a request that is too long. */
function kindOf(error: unknown, { status, words, retryable }: Facts): FailureKind {
  if (error instanceof Error && error.name === 'TimeoutError') return 'silent';
  // no answer of a provider: a worker without its key, or with settings that are wrong
  if (isLanefoldError(error))
    return error.code === 'missing_provider_key' ? 'noKey' : mayPass(status) ? 'ours' : 'other';
  if (refusing.has(status) || refusals.test(words)) return 'refused';
  if (status === 404 || words.includes('model_not_found')) return 'noModel';
  if (status === 429 || words.includes('rate_limit')) return 'rateLimited';
  if (status !== undefined) {
    if (status !== 409 && mayPass(status)) return 'overloaded';
    return status === 409 || retryable ? 'again' : 'invalid';
  }
  if (isCutStream(error) || EmptyResponseBodyError.isInstance(error) || isNetworkFailure(error)) return 'connection';
  if (troubles.test(words)) return 'overloaded';
  return retryable ? 'connection' : 'other';
}

/** The message and the body of an error, because some servers put the reason into the body alone; of a plain object, all. */
function saidBy(error: unknown): string {
  if (typeof error === 'object' && !(error instanceof Error)) return JSON.stringify(error);
  const { message, responseBody } = Object(error) as { message?: unknown; responseBody?: unknown };
  return [message, responseBody].filter((text) => typeof text === 'string').join('\n');
}

function textOf(error: unknown, facts: Facts): string {
  const status = facts.status === undefined ? '' : ` (HTTP ${facts.status})`;
  if (APICallError.isInstance(error)) {
    // Without a parsed error the message is only the status text, so the body says more.
    const body = error.data === undefined && error.responseBody ? `: ${error.responseBody.slice(0, 500)}` : '';
    return `${error.message}${status}${body}`;
  }
  if (error instanceof Error) return `${error.message || error.name}${status}`;
  const message = (error as { message?: unknown } | null)?.message;
  if (typeof message === 'string') return `${message}${status}`;
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
}

/**
 * The wait Google asks for in the body of an error: a `RetryInfo` in `error.details[]`, whose `retryDelay` is a
 * protobuf duration, `"36s"` or `{seconds, nanos}` (https://google.aip.dev/193). At most an hour; undefined without one.
 */
function retryDelayMs(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const info = details.find((detail: { '@type'?: unknown } | null) =>
    String(detail?.['@type']).endsWith('google.rpc.RetryInfo'),
  ) as { retryDelay?: unknown } | undefined;
  const delay = info?.retryDelay;
  if (typeof delay === 'string') return /^\d+(\.\d+)?s$/.test(delay) ? bounded(parseFloat(delay) * 1000) : undefined;
  const { seconds, nanos } = (delay ?? {}) as { seconds?: unknown; nanos?: unknown };
  const ms = Number(seconds ?? 0) * 1000 + Number(nanos ?? 0) / 1e6;
  return Number.isFinite(ms) && ms > 0 ? bounded(ms) : undefined;
}
