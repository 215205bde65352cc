import type { ContentPart } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';

/**
 * Converts a user message of the AI SDK to a run's input. @throws LanefoldError `invalid_input` for parts no model
 * takes
 */
export function toInput(parts: unknown): string | ContentPart[] {
  if (!Array.isArray(parts)) throw invalid('has no parts');
  const content = parts.map(toContentPart);
  const [first] = content;
  return content.length === 1 && first!.type === 'text' ? (first as { text: string }).text : content;
}

function toContentPart(part: unknown): ContentPart {
  const { type, text, mediaType, url, filename } = Object(part) as Record<string, unknown>;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'file' && typeof mediaType === 'string' && typeof url === 'string')
    return { type, media_type: mediaType, url, ...(typeof filename === 'string' ? { filename } : {}) };
  throw invalid(`has a part that is neither text nor a file: ${JSON.stringify(type)?.slice(0, 80)}`);
}

const invalid = (what: string): LanefoldError =>
  new LanefoldError('invalid_input', `The message ${what}.`, {
    hint: 'Send { id, role: "user", parts: [{ type: "text", text }] }, as the AI SDK does.',
  });
