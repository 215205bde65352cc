import type { StreamItem } from 'lanefold';
import { expect } from 'vitest';
import { until } from './until.ts';

/** Reads a stream in the background and appends to `items`. */
export function readStream(stream: AsyncIterable<StreamItem>) {
  const items: StreamItem[] = [];
  const ended = (async () => {
    for await (const item of stream) items.push(item);
  })();
  ended.catch(() => {});
  const kinds = () => items.map((item) => (item.type === 'event' ? item.event.kind : item.type));
  return {
    items,
    ended,
    kinds,
    seqs: () => items.flatMap((item) => (item.type === 'event' ? [item.event.eventSeq] : [])),
    has: (kind: ReturnType<typeof kinds>[number]) => until(`${kind} arrives`, () => kinds().includes(kind)),
    /** The text or thinking of a call, assembled as a client does. Fails on a gap or an overlap. */
    answer(part: 'text' | 'thinking' = 'text', callId?: string) {
      let text = '';
      for (const item of items) {
        if (item.type === 'event' || item.type === 'unattended') continue;
        if (callId !== undefined && item.llmCallId !== callId) continue;
        if (item.type === 'llm_snapshot') text = item[part];
        else if (part in item) {
          expect(item.offset).toBe(text.length);
          text += (item as never)[part];
        }
      }
      return text;
    },
  };
}
