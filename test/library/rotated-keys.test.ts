import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
beforeAll(async () => void (lanefold = await startLanefold()));
afterAll(() => lanefold?.close());

const hour = 3_600_000;

test('no secret of a rotated key works longer than the key does, or than the overlap', async () => {
  const { id, key: first } = await lanefold.keys.create({ name: 'short', scopes: ['read'], expiresInMs: hour });
  const { key: second } = await lanefold.keys.rotate(id, { overlapMs: 48 * hour });
  const { key: third } = await lanefold.keys.rotate(id, { overlapMs: 48 * hour });
  for (const key of [first, second, third]) {
    const found = await lanefold.keys.find(key);
    expect(found).toMatchObject({ id, state: 'valid' });
    expect(found!.validForMs).toBeLessThanOrEqual(hour);
  }
  await lanefold.keys.rotate(id, { overlapMs: 0 });
  for (const key of [first, second, third]) expect((await lanefold.keys.find(key))!.state).toBe('expired');
});
