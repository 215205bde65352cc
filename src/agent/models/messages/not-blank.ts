import type { Message } from '../../context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { isBlank } from '../../../base/checks/text.ts';

/** Rejects blank content: providers reject it, now or in a later run. @throws LanefoldError `empty_content` */
export function assertNotBlank(content: Message['content'] | undefined, what: string): void {
  const texts = Array.isArray(content)
    ? content.flatMap((part) => (part.type === 'text' && typeof part['text'] === 'string' ? [part['text']] : []))
    : [content ?? ''];
  const empty = Array.isArray(content) && content.length === 0;
  if (!empty && !texts.some(isBlank)) return;
  const where = Array.isArray(content) && !empty ? 'contains an empty text part' : 'is empty';
  throw new LanefoldError('empty_content', `${what} ${where}.`, {
    hint: 'Nothing was written. White space alone counts as empty.',
  });
}
