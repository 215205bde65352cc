import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewEntry } from '../../src/runs/operations/threads/append.ts';
import { canonicalMessage, contextHash } from '../../src/agent/context/canonical.ts';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { closedMessages } from '../db/arbitraries.ts';
import { newThread, openLog, type TestLog } from '../db/helpers.ts';
import { sqlRun } from '../db/sql-run.ts';
import { cases } from '../support/cases.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog()));
afterAll(() => log.drop());

const canonical = (messages: object[]) => messages.map((message) => canonicalMessage(message as JsonObject));

const context = async (threadId: string) => {
  const context = await log.contexts.project(threadId);
  return context.map(canonicalMessage);
};

test('appended messages keep their canonical form in the database', async () => {
  await fc.assert(
    fc.asyncProperty(closedMessages, async (messages) => {
      const threadId = await newThread(log);
      await log.threads.append(
        threadId,
        messages.map((message) => ({ message }) as unknown as NewEntry),
      );
      const stored = await context(threadId);
      expect(stored).toStrictEqual(canonical(messages));
      // The hash depends on the order of keys, which equality ignores.
      expect(JSON.stringify(stored)).toBe(JSON.stringify(canonical(messages)));
      expect(contextHash(stored)).toBe(contextHash(canonical(messages)));
    }),
    { numRuns: cases(15) },
  );
});

test('so do the messages of an anchor', async () => {
  await fc.assert(
    fc.asyncProperty(closedMessages, async (messages) => {
      const threadId = await newThread(log);
      await log.contexts.replace(threadId, { entries: messages as never });
      expect(JSON.stringify(await context(threadId))).toBe(JSON.stringify(canonical(messages)));
    }),
    { numRuns: cases(8) },
  );
});

test('so do the messages a run commits', async () => {
  await fc.assert(
    fc.asyncProperty(closedMessages, async (messages) => {
      const threadId = await newThread(log);
      const run = sqlRun(log.db, threadId, 'run');
      await run.enqueue({ input: 'go' });
      await run.claim();
      const entries = messages.map(({ role, ...payload }) => ({ role: role!, payload }));
      await run.commit(0, { entries });
      expect(JSON.stringify(await context(threadId))).toBe(
        JSON.stringify(canonical([{ role: 'user', content: 'go' }, ...messages])),
      );
    }),
    { numRuns: cases(8) },
  );
});

test.each([
  ['numbers at the edges', [0, -0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 0.1 + 0.2, Number.MAX_SAFE_INTEGER]],
  ['keys in any order', { b: 1, a: { d: 1, c: 2 }, '': 0, 10: 'ten', 9: 'nine', é: 1, '\u{1f600}': 2, '\ufb01': 3 }],
  ['a key that JavaScript treats specially', JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}')],
  ['text that needs escapes', ['\u2028\u2029', '\u001f', '"\\/', '\u{1f600}', 'a\u0301']],
])('%s survive', async (_, value) => {
  const threadId = await newThread(log);
  const message = { role: 'user' as const, content: 'x', reasoning_details: value };
  await log.threads.append(threadId, [{ message: message as never }]);
  expect(JSON.stringify(await context(threadId))).toBe(JSON.stringify(canonical([message])));
});
