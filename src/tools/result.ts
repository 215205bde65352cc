import { cleanJson, cleanText } from '../text.ts';
import { readThrown, type ToolFailure } from './tool-error.ts';

/** Default of `max_tool_result_bytes`. */
export const defaultMaxResultBytes = 262_144;

const maxMessageLength = 2_000;
const maxTypeLength = 100;

/** A result as the model sees it. `cleaned`: text the database cannot store was replaced with U+FFFD. */
export interface Rendered {
  status: 'ok' | 'error';
  content: string;
  error?: ToolFailure;
  cleaned?: boolean;
}

/**
 * The value of a tool as text: a string as it is, `undefined` as `null`, anything else as JSON.
 *
 * Renders an error instead for what is not JSON (`invalid_result`) or longer than `maxBytes` in UTF-8
 * (`result_too_large`). Never throws.
 */
export function renderResult(value: unknown, maxBytes: number = defaultMaxResultBytes): Rendered {
  let text: string | undefined;
  let cleaned = false;
  try {
    if (typeof value === 'string') text = value;
    else ({ text, cleaned } = toJson(value === undefined ? null : value));
  } catch (error) {
    return renderError({ type: 'invalid_result', message: notJson(readThrown(error).message), retryable: false });
  }
  if (text === undefined)
    return renderError({ type: 'invalid_result', message: notJson(`a ${typeof value}`), retryable: false });

  const content = cleanText(text);
  // A UTF-16 unit takes at most three bytes, so most results need no count.
  const bytes = content.length * 3 > maxBytes ? Buffer.byteLength(content) : 0;
  if (bytes > maxBytes) {
    const message = `The result has ${bytes} bytes, the limit is ${maxBytes}. Ask for less.`;
    return renderError({ type: 'result_too_large', message, retryable: false });
  }
  return { status: 'ok', content, ...((cleaned || content !== text) && { cleaned: true }) };
}

/** `{"ok":false,"error":{"type","message","retryable"}}`, the message cut to 2,000 characters. */
export function renderError({ type, message, retryable }: ToolFailure): Rendered {
  const short = { type: cut(type, maxTypeLength), message: cut(message, maxMessageLength) };
  const error = { type: cleanText(short.type), message: cleanText(short.message), retryable };
  const cleaned = error.type !== short.type || error.message !== short.message;
  return { status: 'error', content: JSON.stringify({ ok: false, error }), error, ...(cleaned && { cleaned: true }) };
}

function toJson(value: unknown): { text: string | undefined; cleaned: boolean } {
  const text = JSON.stringify(value) as string | undefined;
  // Escapes are storable as text, but would break the first query that casts the content to jsonb.
  if (text === undefined || !/\\u(?:0000|d[89a-f])/.test(text)) return { text, cleaned: false };
  const clean = cleanJson<unknown>(JSON.parse(text));
  return clean.cleaned ? { text: JSON.stringify(clean.value), cleaned: true } : { text, cleaned: false };
}

const notJson = (why: string): string => `The tool returned a value that is not JSON: ${why}`;

/** Cuts between characters, never inside a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const split = /[\ud800-\udbff]/.test(text.charAt(length - 1)) && /[\udc00-\udfff]/.test(text.charAt(length));
  return text.slice(0, split ? length - 1 : length);
}
