import { afterEach, expect, inject, test, vi } from 'vitest';
import { watchedClient } from '../../src/database/postgres/watched-client.ts';

afterEach(() => void vi.restoreAllMocks());

test('a connection that has ended is checked no more, even if its owner removed all listeners', async () => {
  const [started, cleared] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
  const client = new (watchedClient(3_600_000))({ connectionString: inject('postgresUrl') });
  await client.connect();
  const timers = started.mock.results.map(({ value }) => value as NodeJS.Timeout);
  const own = timers[started.mock.calls.findIndex(([, ms]) => ms === 2_400_000)];
  expect(own).toBeDefined();
  client.removeAllListeners();
  await client.end();
  await expect.poll(() => cleared.mock.calls.flat()).toContain(own);
});
