import type { ContentPart } from '../../../agent/context/message.ts';
import { acceptContent, type ContentInput } from '../../../agent/models/accept-content.ts';

/**
 * Content parts as a lane may have them. A part that no model accepts becomes the text `[its type]`: in the lane it
 * would fail every run.
 */
export const acceptableParts = (parts: readonly unknown[]): ContentPart[] =>
  parts.map((part) => {
    try {
      const [accepted] = acceptContent([part] as ContentInput) as ContentPart[];
      if (accepted) return accepted;
    } catch {
      // said in its place
    }
    const { type } = Object(part) as { type?: unknown };
    return { type: 'text', text: `[${typeof type === 'string' ? type : 'part'}]` };
  });

/** A list that is one text, as that text. */
export const plainIfOne = (parts: ContentPart[]): string | ContentPart[] => {
  const [only] = parts;
  if (!only) return '';
  return parts.length === 1 && only.type === 'text' && 'text' in only && Object.keys(only).length === 2
    ? (only.text as string)
    : parts;
};
