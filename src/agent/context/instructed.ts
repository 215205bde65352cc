import type { Message } from './message.ts';

/**
 * The first message of a context as it is sent with an output contract: the instructions are appended to the system
 * prompt, or become it if there is none. They are never stored.
 */
export const withInstructions = (first: Message, instructions: string): Message[] =>
  first.role === 'system' && typeof first.content === 'string'
    ? [{ ...first, content: `${first.content}\n\n${instructions}` }]
    : [{ role: 'system', content: instructions }, first];
