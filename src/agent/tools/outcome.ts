import type { JsonObject } from '../context/message.ts';
import type { StateEffect } from '../context/state.ts';
import { type RefusedEffect, openEffects } from './effects.ts';
import { type HandoffRequest, type NextAgent, Handoff } from './handoff.ts';
import { type WaitRequest, Wait } from './wait.ts';
import { cleanJson, cleanText } from '../../base/checks/values.ts';
import { parseJson } from '../../base/common/json.ts';
import { represent } from './represent.ts';
import { readThrown, ToolError, type ToolFailure } from './tool-error.ts';

/** The outcome of a call. `durationMs` is the duration of the last attempt, in whole milliseconds. */
export interface ToolOutcome extends Omit<Rendered, 'status'> {
  /** `unknown`: the call may have taken effect, and must not be made again. */
  status: Rendered['status'] | 'unknown' | 'denied' | 'abandoned' | 'waiting';
  attempts: number;
  durationMs: number;
  /** What a `waiting` call waits for; its result comes later. A `spawn` has a result too. */
  wait?: WaitRequest;
  /** The agent that is to continue the run; once the handoff is accepted, `next` says all about it. */
  handoff?: HandoffRequest;
  next?: NextAgent;
  /** The result came from the end of a wait. */
  waited?: true;
  /** Effects as the tool returned them, before the policy is applied. */
  offered?: readonly unknown[];
  effects?: StateEffect[];
  refused?: RefusedEffect[];
  /** Added to the refs of the tool message. */
  refs?: JsonObject;
}

/** Default for `maxToolResultBytes`. */
export const defaultMaxResultBytes = 262_144;

/**
 * Renders the return value of a tool as text: a string unchanged, `undefined` as `null`, anything else as JSON, see
 * `represent`.
 *
 * Renders an error instead if the value is not JSON (`invalid_result`) or exceeds `maxBytes` in UTF-8
 * (`result_too_large`). Never throws.
 */
export function renderResult(value: unknown, maxBytes: number = defaultMaxResultBytes): Rendered {
  let text: string;
  let cleaned = false;
  try {
    if (typeof value === 'string') text = value;
    else ({ text, cleaned } = toJson(value ?? null));
  } catch (error) {
    return errorMessage({ type: 'invalid_result', message: notJson(readThrown(error).message), retryable: false });
  }

  const content = cleanText(text);
  // A UTF-16 unit takes at most three bytes, so most results need no counting.
  const bytes = content.length * 3 > maxBytes ? Buffer.byteLength(content) : 0;
  if (bytes > maxBytes) {
    const message = `The result has ${bytes} bytes; the limit is ${maxBytes}. Request less data.`;
    return errorMessage({ type: 'result_too_large', message, retryable: false });
  }
  return { status: 'ok', content, ...((cleaned || content !== text) && { cleaned: true }) };
}

function toJson(value: unknown): { text: string; cleaned: boolean } {
  const text = JSON.stringify(represent(value));
  // As text these escapes are storable, but they would break any query that casts the content to jsonb.
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return { text, cleaned: false };
  const clean = cleanJson<unknown>(parseJson(text));
  return clean.cleaned ? { text: JSON.stringify(clean.value), cleaned: true } : { text, cleaned: false };
}

const notJson = (why: string): string => `The tool returned a value that is not JSON: ${why}`;

/** What a tool returned, without its effects. @throws ToolError for a wait with effects, because its result comes later */
export function openReturned(value: unknown): ReturnType<typeof openEffects> {
  const opened = openEffects(value);
  if (opened.offered && opened.result instanceof Wait) {
    throw new ToolError('A call that waits cannot change the state of the thread; return the wait alone', {
      type: 'invalid_result',
      retryable: false,
    });
  }
  return opened;
}

/** A result as the model sees it, or what the call asks for instead. Never throws. */
export function renderReturned(
  result: unknown,
  maxBytes: number,
): Pick<ToolOutcome, 'status' | 'content' | 'error' | 'cleaned' | 'wait' | 'handoff'> {
  if (result instanceof Wait) return { status: 'waiting', content: '', wait: result.request };
  if (result instanceof Handoff) return { status: 'ok', content: '', handoff: result.request };
  return renderResult(result, maxBytes);
}

/**
 * The outcome that the model reads for a call that may or may not have taken effect, so that it does not simply call
 * again.
 */
export const unknownOutcome = (happened: string): Omit<Rendered, 'status'> & { status: 'unknown' } => ({
  ...errorMessage({
    type: 'unknown_outcome',
    message: `${happened}; whether it took effect is unknown.`,
    retryable: false,
  }),
  status: 'unknown',
});

const maxMessageLength = 2_000;
const maxTypeLength = 100;

/** A result as the model sees it. `cleaned` means that text the database cannot store was replaced with U+FFFD. */
export interface Rendered {
  status: 'ok' | 'error';
  content: string;
  error?: ToolFailure;
  cleaned?: boolean;
}

/**
 * A tool error as the message that the model reads: `{"ok":false,"error":{"type","message","retryable"}}`. The message
 * is cut to 2,000 characters.
 */
export function errorMessage({ type, message, retryable }: ToolFailure): Rendered {
  const short = { type: cut(type, maxTypeLength), message: cut(message, maxMessageLength) };
  const error = { type: cleanText(short.type), message: cleanText(short.message), retryable };
  const cleaned = error.type !== short.type || error.message !== short.message;
  return { status: 'error', content: JSON.stringify({ ok: false, error }), error, ...(cleaned && { cleaned: true }) };
}

/** Never cuts inside a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const split = /[\ud800-\udbff]/.test(text.charAt(length - 1)) && /[\udc00-\udfff]/.test(text.charAt(length));
  return text.slice(0, split ? length - 1 : length);
}
