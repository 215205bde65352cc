import { LanefoldError } from 'lanefold';
import { expect, test } from 'vitest';
import { FollowerHealth, preferFollower } from '../../src/database/postgres/listen.ts';
import type { Database } from '../../src/database/postgres/pool.ts';

/** A reader whose follower fails its first read with this error. */
function readerWith(error: Error) {
  let failed = false;
  const follower = async () => {
    if (failed) return ['follower'];
    failed = true;
    throw error;
  };
  const fake = (query: () => Promise<string[]>) => ({ query }) as unknown as Database;
  const primary = fake(async () => ['primary']);
  const reader = preferFollower(primary, fake(follower), new FollowerHealth());
  return async () => (await reader.query<string>('any', 'select 1'))[0];
}

test.each(['database_unreachable', 'database_busy'] as const)(
  'after %s, reads leave the follower alone for a while',
  async (code) => {
    const read = readerWith(new LanefoldError(code, 'It does not answer.'));
    expect([await read(), await read()]).toEqual(['primary', 'primary']);
  },
);

test('a read that the follower cancels goes to the primary, and the next one to the follower', async () => {
  const read = readerWith(new LanefoldError('database_timeout', 'It took too long.'));
  expect([await read(), await read()]).toEqual(['primary', 'follower']);
});

test('the primary is not asked what the follower rejects', async () => {
  const read = readerWith(new LanefoldError('database_error', 'It makes no sense.'));
  await expect(read()).rejects.toMatchObject({ code: 'database_error' });
});
