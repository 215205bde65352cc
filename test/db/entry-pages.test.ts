import { expect, test } from 'vitest';
import { newThread, useLog } from './helpers.ts';

const log = useLog();

test('a page of entries keeps to its bytes, whether payloads fill it or refs', async () => {
  for (const filling of ['payload', 'refs'] as const) {
    const threadId = await newThread(log);
    const filled = { [filling]: { text: 'x'.repeat(10_000) } };
    await log.threads.append(
      threadId,
      Array.from({ length: 10 }, () => filled),
    );
    const sizes: number[] = [];
    for (let after: number | null = -1; after !== null;) {
      const page: Awaited<ReturnType<typeof log.threads.entryPage>> = await log.threads.entryPage(threadId, {
        after,
        maxBytes: 25_000,
      });
      sizes.push(page.data.length);
      after = page.nextAfter;
    }
    expect(sizes, filling).toEqual([3, 3, 3, 1]);
  }
});
