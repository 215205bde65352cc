import canonicalize from 'canonicalize';
import type { diffArrays } from './compare.ts';
import type { Message } from '../api/types.ts';

/** A step from the messages of one call to the next one's. */
export type Change =
  | { kind: 'same'; messages: Message[] }
  | { kind: 'removed' | 'added'; message: Message }
  | { kind: 'changed'; before: Message; after: Message };

/** The differences between two calls. A message replaced by one with the same role counts as changed. */
export function diffMessages(compare: typeof diffArrays, before: Message[], after: Message[]): Change[] {
  const text = (message: Message) => canonicalize(message) as string;
  const changes: Change[] = [];
  let from = 0;
  let to = 0;
  let removed: Message[] = [];
  const flush = () => {
    for (const message of removed) changes.push({ kind: 'removed', message });
    removed = [];
  };
  for (const part of compare(before.map(text), after.map(text))) {
    if (part.removed) {
      removed.push(...before.slice(from, from + part.count));
      from += part.count;
      continue;
    }
    const messages = after.slice(to, to + part.count);
    to += part.count;
    if (!part.added) {
      from += part.count;
      flush();
      changes.push({ kind: 'same', messages });
      continue;
    }
    for (const message of messages) {
      const replaced = removed[0]?.role === message.role ? removed.shift() : undefined;
      changes.push(replaced ? { kind: 'changed', before: replaced, after: message } : { kind: 'added', message });
    }
    flush();
  }
  flush();
  return changes;
}
