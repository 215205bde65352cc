// @module-tag slow
import { defineAgent } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

describe('a run whose thread somebody keeps locked', () => {
  let lanefold: TestLanefold;
  let holder: pg.Client;
  const errors: unknown[] = [];
  beforeAll(async () => {
    const agents = [defineAgent({ name: 'a', model: 'fake' })];
    lanefold = await startLanefold({ agents, models: { fake: fakeModel(() => ({ text: 'Done.' })) } });
    holder = new pg.Client({ connectionString: lanefold.database.url });
    await holder.connect();
  });
  afterAll(async () => {
    await holder?.end();
    await lanefold?.close();
  });

  test('is claimed later; its worker stays ready and continues with the others', async () => {
    const locked = await lanefold.runs.enqueue({ agent: 'a', input: 'go' });
    await holder.query('begin');
    await holder.query('select from lanefold.thread where id = $1 for update', [locked.threadId]);
    const worker = await lanefold.startWorker({ onError: (error) => errors.push(error) });
    await until('its claim is refused', () => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'thread_locked' });
    expect(await worker.health()).toEqual({ ready: true, reasons: [] });
    const other = await lanefold.runs.enqueue({ agent: 'a', input: 'go' });
    expect(await lanefold.runs.wait(other)).toMatchObject({ status: 'completed' });
    await holder.query('commit');
    expect(await lanefold.runs.wait(locked)).toMatchObject({ status: 'completed' });
  });
});
