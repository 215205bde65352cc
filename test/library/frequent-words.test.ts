import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

describe('threads with a word', () => {
  let lanefold: TestLanefold;
  let looksUp = false;
  const ids = Array.from({ length: 60 }, (_, n) => `thread-${String(n).padStart(2, '0')}`);
  beforeAll(async () => {
    lanefold = await startLanefold();
    for (const [n, id] of ids.entries()) {
      const content = `Where is order ${id}${n % 2 === 0 ? ', the parcel' : ''}${n === 3 ? ' with a hat' : ''}?`;
      await lanefold.threads.create({ id });
      await lanefold.threads.append(id, [{ message: { role: 'user', content } }]);
    }
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const { text = '' } = Object(args[0]) as { text?: string };
      if (/^select e\.thread_id from lanefold\._entry e .* limit \d+$/s.test(text)) looksUp = true;
      return query.apply(this, args) as never;
    });
  });
  afterEach(() => void (looksUp = false));
  afterAll(async () => {
    vi.restoreAllMocks();
    await lanefold?.close();
  });

  const found = async (text: string, limit = 100) => {
    const all: string[] = [];
    for (let after: string | undefined, more = true; more;) {
      const page = await lanefold.threads.list({ text, limit, ...(after ? { after } : {}) });
      all.push(...page.data.map(({ id }) => id));
      after = page.nextAfter ?? undefined;
      more = after !== undefined;
    }
    return all;
  };

  test.each([
    ['order', ids],
    ['parcel', ids.filter((_, n) => n % 2 === 0)],
    ['order -parcel', ids.filter((_, n) => n % 2 === 1)],
  ])('%s, which many of the newest have, are found without the index of words', async (text, expected) => {
    expect(await found(text)).toEqual(expected.toReversed());
    expect(await found(text, 7)).toEqual(expected.toReversed());
    expect(looksUp).toBe(false);
  });

  test('that few have are found by the index of words', async () => {
    expect(await found('hat')).toEqual(['thread-03']);
    expect(looksUp).toBe(true);
  });
});
