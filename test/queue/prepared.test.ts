import { defineAgent } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

let lanefold: TestLanefold;
beforeAll(async () => {
  const agents = [defineAgent({ name: 'a', model: 'fake' })];
  lanefold = await startLanefold({ agents, models: { fake: fakeModel(() => ({ text: 'Done.' })) }, redisUrl: null });
  await lanefold.startWorker();
});
afterAll(() => lanefold?.close());

const complete = async () => lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'a', input: 'go' }));

test('the statements of BullMQ are prepared once a connection', async () => {
  const sent = vi.spyOn(
    pg.Connection.prototype as unknown as { parse(query: { name: string; text: string }): void },
    'parse',
  );
  await complete();
  await complete();
  const names = sent.mock.calls.map(([query]) => query);
  expect(names.filter(({ text }) => text.includes('move_to_')).map(({ name }) => name)).not.toContain('');
});

test('a statement whose result has got another column is sent again', async () => {
  await complete();
  await lanefold.database.pool.query('alter table bullmq.job add column later int');
  await until('runs complete with the new column', async () => (await complete()).status === 'completed');
  await lanefold.database.pool.query('alter table bullmq.job drop column later');
  expect(await complete()).toMatchObject({ status: 'completed' });
});
