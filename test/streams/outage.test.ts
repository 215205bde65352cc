import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventsOf } from '../support/log.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { readStream } from '../support/read-stream.ts';
import { startPair, type Pair } from '../support/two-processes.ts';
import { until } from '../support/until.ts';

describe.skipIf(noRedis())('a relay outage', () => {
  let pair: Pair;
  let restore: () => Promise<void>;
  beforeAll(async () => {
    pair = await startPair();
    const prefix = pair.front.options.queuePrefix!;
    if (queueBackend() === 'redis') {
      const redis = new Redis(inject('redisUrl'));
      const key = `{${prefix}-relay}::relay:{${prefix}}:nodes`;
      await redis.set(key, 'not what it should be');
      restore = async () => {
        await redis.del(key);
        redis.disconnect();
      };
    } else {
      const { pool } = pair.front.database;
      await pool.query('alter table bullmq.relay_node rename to away');
      restore = async () => void (await pool.query('alter table bullmq.away rename to relay_node'));
    }
  });
  afterAll(() => pair?.close());

  test('does not affect runs; streams deliver every event and answer, and deltas again once the relay is back', async () => {
    const run = await pair.front.runs.enqueue({ agent: 'typist', input: 'hi' });
    const reader = readStream(pair.front.runs.stream(run));
    const keys = await pair.model.next();
    keys.type('Said in silence.');
    keys.stop();
    await reader.ended;
    expect(await pair.front.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Said in silence.' });
    expect(reader.seqs()).toEqual((await eventsOf(pair.front, run.threadId)).map((event) => event.event_seq));
    expect(reader.answer()).toBe('Said in silence.');

    const next = await pair.front.runs.enqueue({ agent: 'typist', input: 'again', threadId: run.threadId });
    const second = readStream(pair.front.runs.stream(next));
    const more = await pair.model.next();
    more.type('Heard ');
    await second.has('llm_started');
    await restore();
    await until('the first delta arrives', () => second.answer() === 'Heard ');
    more.type('again.');
    more.stop();
    await second.ended;
    expect(second.answer()).toBe('Heard again.');
  });
});
