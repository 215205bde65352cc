// @module-tag long
import { randomBytes } from 'node:crypto';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startProxy, type Proxy } from '../../src/ops/chaos/services/proxy.ts';
import { privatePrefix } from '../../src/database/store/run/private-fleets.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { deferred, until } from '../support/until.ts';

describe('a private fleet whose lock is gone', () => {
  let shared: TestLanefold;
  let proxy: Proxy;
  let own: Lanefold;
  let gate: ReturnType<typeof deferred<void>>;
  beforeAll(async () => {
    shared = await startLanefold();
    const { hostname: host, port } = new URL(shared.options.databaseUrl!);
    proxy = await startProxy(() => ({ host, port: Number(port) }));
  });
  beforeEach(async () => {
    gate = deferred();
    const { databaseUrl, redisUrl } = shared.options;
    const direct = new URL(databaseUrl!);
    [direct.hostname, direct.port] = ['127.0.0.1', String(proxy.port)];
    own = await createLanefold({
      databaseUrl: databaseUrl!,
      redisUrl: redisUrl!,
      directUrl: direct.href,
      queuePrefix: `${privatePrefix}${randomBytes(4).toString('hex')}`,
      privateQueue: true,
      agents: [defineAgent({ name: 'a', model: 'fake' })],
      models: { fake: fakeModel(async () => gate.promise.then(() => ({ text: 'done' }))) },
    });
    return async () => {
      gate.resolve();
      proxy.reset();
      await own.close();
    };
  });
  afterAll(async () => {
    await proxy?.close();
    await shared?.close();
  });

  /** Another process connects, which ends the runs of fleets that are gone. */
  const connectAnother = async () => {
    const { databaseUrl, redisUrl } = shared.options;
    await createLanefold({ databaseUrl: databaseUrl!, redisUrl: redisUrl! }).then((one) => one.close());
  };
  /** The statements of sessions that hold the lock of a fleet, or look whether one is held. */
  const lockSessions = async () => {
    const { rows } = await shared.database.pool.query<{ query: string }>(
      `select query from pg_stat_activity where datname = current_database() and application_name = 'lanefold fleet'`,
    );
    return rows.map(({ query }) => query);
  };
  /** As after a restart of the database, but this process cannot take it again yet. */
  const loseLock = async () => {
    proxy.refuse();
    await until('the lock is gone', async () => (await lockSessions()).length === 0);
  };

  test('its run continues if its worker reports', async () => {
    await own.startWorker();
    const run = await own.runs.enqueue({ agent: 'a', input: 'go' });
    await until('it is at work', async () => (await own.runs.get(run)).status === 'running');
    await loseLock();
    await connectAnother();
    expect(await own.runs.get(run)).toMatchObject({ status: 'running' });
    proxy.reset();
    gate.resolve();
    expect(await own.runs.wait(run)).toMatchObject({ status: 'completed', result: 'done' });
  });

  test('its run stays queued if its process, which has no worker yet, takes the lock again', async () => {
    const run = await own.runs.enqueue({ agent: 'a', input: 'go' });
    await loseLock();
    const connecting = connectAnother();
    await until('the other process has looked', async () =>
      (await lockSessions()).some((query) => query.includes('pg_try_advisory')),
    );
    proxy.reset();
    await connecting;
    expect(await own.runs.get(run)).toMatchObject({ status: 'queued' });
  });
});
