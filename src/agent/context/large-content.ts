import { createHash } from 'node:crypto';
import type { ContentPart, JsonObject } from './message.ts';

/** A text stored outside the log, in the table `content`. */
export interface LargeContent {
  id: string;
  text: string;
}

/**
 * An item of `refs.contents`, for each text that the message shows in part. `chars` are code points, as in PostgreSQL.
 */
export type ContentRef = { id: string; chars: number; bytes: number };

/** Name of the tool that reads the rest. */
export const readContentName = 'read_content';

/** Larger texts stay in their message, where the context limit rejects them: a jsonb value cannot exceed 256 MiB. */
const largestText = 2 ** 26;

export interface Shortened {
  text: string;
  ref: ContentRef;
  content: LargeContent;
}

/**
 * Shortens a text of more than `limit` UTF-8 bytes for the model: its beginning (a quarter of the limit, in characters)
 * and its end (a sixteenth), with a note between them on how to read the rest. The result has fewer than `limit` bytes.
 */
export function shorten(text: string, limit: number): Shortened | undefined {
  // a UTF-16 unit takes at most three bytes, so most texts need no counting
  if (text.length * 3 <= limit || text.length > largestText) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit || bytes > largestText) return undefined;
  const id = `c_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  const head = wholeBefore(text, Math.floor(limit / 4));
  const tail = wholeBefore(text, text.length - Math.floor(limit / 16));
  const [before, left, after] = [text.slice(0, head), text.slice(head, tail), text.slice(tail)].map(codePoints);
  const call = `${readContentName}({"id":"${id}","offset":${before}})`;
  return {
    text: `${text.slice(0, head)}\n\n[${left} characters omitted; call ${call} to read on]\n\n${text.slice(tail)}`,
    ref: { id, chars: before! + left! + after!, bytes },
    content: { id, text },
  };
}

interface Quoting {
  role?: unknown;
  content?: unknown;
  refs?: unknown;
}

/**
 * Shortens each large text of a message, and returns the message with these texts; an unchanged message if no text is large.
 * Model answers stay whole, and so does a text that was already shortened.
 */
export function shortenMessage<M extends Quoting>(message: M, limit: number): { message: M; contents: LargeContent[] } {
  const found: Shortened[] = [];
  const quoted = refsOf(message);
  const short = (text: string) => {
    if (quoted.some(({ id }) => text.includes(`${readContentName}({"id":"${id}"`))) return text;
    const shortened = shorten(text, limit);
    if (shortened) found.push(shortened);
    return shortened?.text ?? text;
  };
  const { content } = message;
  const shown =
    message.role === 'assistant'
      ? content
      : typeof content === 'string'
        ? short(content)
        : Array.isArray(content)
          ? (content as ContentPart[]).map((part) => (isText(part) ? { ...part, text: short(part.text) } : part))
          : content;
  if (found.length === 0) return { message, contents: [] };
  const contents = [...quoted, ...found.map(({ ref }) => ref)];
  const refs = { ...(message.refs as JsonObject | null | undefined), contents };
  return { message: { ...message, content: shown, refs }, contents: found.map((each) => each.content) };
}

/** The ids of the large texts that a stored message shows in part. */
export const contentIds = (message: Quoting): string[] => refsOf(message).map(({ id }) => id);

const refsOf = ({ refs }: Quoting): ContentRef[] =>
  (refs as { contents?: ContentRef[] } | null | undefined)?.contents ?? [];

const isText = (part: ContentPart): part is { type: 'text'; text: string } => {
  const { type, text } = Object(part) as { type?: unknown; text?: unknown };
  return type === 'text' && typeof text === 'string';
};

/** The last position at or before `index` that does not split a surrogate pair. */
const wholeBefore = (text: string, index: number): number =>
  isLowSurrogate(text.charCodeAt(index)) ? index - 1 : index;

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

function codePoints(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i++) if (isLowSurrogate(text.charCodeAt(i))) pairs++;
  return text.length - pairs;
}
