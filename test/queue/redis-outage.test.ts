import { createLanefold, defineAgent, type Lanefold, type Logger } from 'lanefold';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { startOutage, type Outage } from '../support/outage.ts';
import { until } from '../support/until.ts';

const told = /^Redis cannot be reached: .+ accepted runs wait in PostgreSQL and start when the queue is back\.$/;

const collect = () => {
  const errors: string[] = [];
  const quiet = () => {};
  const logger: Logger = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (_, message) => void errors.push(message),
  };
  return { errors, logger };
};

describe.skipIf(queueBackend() !== 'redis' || noRedis())('while Redis is down', () => {
  const atFront = collect();
  const atWorker = collect();
  let outage: Outage;
  let front: TestLanefold;
  let back: Lanefold;
  beforeAll(async () => {
    outage = await startOutage(inject('redisUrl'));
    const agents = [defineAgent({ name: 'echo', model: 'scripted:echo' })];
    front = await startLanefold({ agents, redisUrl: outage.url, logger: atFront.logger });
    back = await createLanefold({ ...front.options, logger: atWorker.logger });
    await back.startWorker();
  });
  afterAll(async () => {
    outage?.end();
    await back?.close();
    await front?.close();
    await outage?.close();
  });

  // each would take seconds if it waited for the queue
  test.each(['refuse', 'begin'] as const)('%s: runs are accepted at once, and run afterwards', async (how) => {
    outage[how]();
    const runs = [];
    for (let i = 0; i < 20; i++) runs.push(await front.runs.enqueue({ agent: 'echo', input: `${i}` }));
    outage.end();
    const ended = await Promise.all(runs.map((run) => front.runs.wait(run)));
    expect(ended.map(({ result }) => result)).toEqual(runs.map((_, i) => `${i}`));
  });

  test('each process says so in a line, at most every ten seconds', async () => {
    const since = performance.now();
    for (const { errors } of [atFront, atWorker]) errors.length = 0;
    const told10s = () => 1 + Math.floor((performance.now() - since) / 10_000);
    outage.refuse();
    const run = await front.runs.enqueue({ agent: 'echo', input: 'hello' });
    await until('both have noticed', () => atWorker.errors.length > 0 && atFront.errors.length > 0);
    outage.end();
    expect((await front.runs.wait(run)).result).toBe('hello');
    for (const { errors } of [atFront, atWorker]) {
      const outages = errors.filter((error) => !error.includes(' lock for job '));
      expect(outages.length).toBeLessThanOrEqual(told10s());
      for (const error of outages) expect(error).toMatch(told);
      // of jobs whose locks ran out meanwhile
      expect(errors.length - outages.length, errors.join('\n')).toBeLessThanOrEqual(2 * told10s());
    }
  });

  test('a worker stops while it connects again', async () => {
    const other = await createLanefold(front.options);
    const worker = await other.startWorker();
    // resets every connection
    outage.end();
    await worker.stop();
    await other.close();
  });
});
