import { cleanJson, cleanText } from '../../base/checks/text.ts';
import { parseJson } from '../../base/common/json.ts';
import { errorMessage, type Rendered } from './error-message.ts';
import { represent } from './represent.ts';
import { readThrown } from './tool-error.ts';

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
