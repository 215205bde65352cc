import type { ContentPart, Message } from './message.ts';

/** The text of a message; its other parts are left out. */
export const textOf = (content: Message['content']): string =>
  typeof content === 'string' ? content : content.flatMap((part) => (isText(part) ? [part.text] : [])).join('\n');

export const isText = (part: ContentPart): part is { type: 'text'; text: string } =>
  part.type === 'text' && 'text' in part && typeof part.text === 'string';
