import { createLanefold, defineAgent, type Logger } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { startOutage, type Outage } from '../support/outage.ts';
import { until } from '../support/until.ts';

const told =
  /PostgreSQL.+ Retrying; no run is accepted until PostgreSQL is back\. Active runs then continue from their last commit\.$/;

describe.skipIf(queueBackend() !== 'postgres')('while PostgreSQL is down, with the queue in it', () => {
  const errors: string[] = [];
  let owner: TestLanefold;
  let outage: Outage;
  beforeAll(async () => {
    owner = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
    outage = await startOutage(owner.database.url);
  });
  afterAll(async () => {
    await outage?.close();
    await owner?.close();
  });

  test('a worker says that nothing is accepted, and continues when it is back', async () => {
    const ignore = () => {};
    const logger: Logger = {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: (_, message) => void errors.push(message),
    };
    const far = await createLanefold({ ...owner.options, databaseUrl: outage.url, directUrl: outage.url, logger });
    try {
      await far.startWorker({ sweepMs: 50 });
      outage.refuse();
      await expect(far.runs.enqueue({ agent: 'echo', input: 'hi' })).rejects.toMatchObject({
        code: 'database_unreachable',
      });
      await until('the worker has noticed', () => errors.length > 0);
      for (const error of errors) expect(error).toMatch(told);
      outage.end();
      const run = await owner.runs.enqueue({ agent: 'echo', input: 'hello' });
      expect((await owner.runs.wait(run)).result).toBe('hello');
      // and nothing of a queue beside a database that is there
      expect(errors.join('\n')).not.toContain('wait in PostgreSQL');
    } finally {
      outage.end();
      await far.close();
    }
  });
});
