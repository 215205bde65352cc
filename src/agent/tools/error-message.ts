import { cleanText } from '../../base/checks/text.ts';
import type { ToolFailure } from './tool-error.ts';

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
