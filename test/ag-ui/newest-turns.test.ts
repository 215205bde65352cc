import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgUiMessage } from '../../src/runs/formats/ag-ui/event.ts';
import { newestTurns } from '../../src/runs/formats/ag-ui/history.ts';
import { hasMoreValues } from '../../src/base/common/json-bytes.ts';
import { cases } from '../support/cases.ts';

const calls = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: `c${i}`,
    type: 'function' as const,
    function: { name: 'look', arguments: '{}' },
  }));
const message = fc.oneof(
  fc
    .integer({ min: 0, max: 400_000 })
    .map((size): AgUiMessage => ({ id: 'u', role: 'user', content: 'ü'.repeat(size) })),
  fc.integer({ min: 1, max: 1_000 }).map((n): AgUiMessage => ({ id: 'a', role: 'assistant', toolCalls: calls(n) })),
);

test('a client can send back a conversation that it got, unless its last turn alone is too large', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
      const newest = newestTurns(messages);
      expect(newest.complete).toBe(newest.messages.length === messages.length);
      expect(newest.messages).toEqual(messages.slice(messages.length - newest.messages.length));
      if (newest.complete && newest.messages.length === 0) return;
      const turns = newest.messages.filter(({ role }, at) => role === 'user' || at === 0).length;
      const text = Buffer.from(JSON.stringify(newest.messages));
      expect(text.length <= 2_200_000 || turns === 1, 'bytes').toBe(true);
      expect(!hasMoreValues(text, 26_000) || turns === 1, 'values').toBe(true);
      if (!newest.complete) expect(newest.messages[0]!.role).toBe('user');
    }),
    { numRuns: cases(10) },
  );
});
