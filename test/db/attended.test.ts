import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/postgres/pool.ts';
import { reportWorker, type WorkerReport } from '../../src/store/worker/report-worker.ts';
import { statements, urlAs } from '../support/citus.ts';
import { rows, useLog, value, workerReport } from './helpers.ts';

const log = useLog();

/** A fleet of one worker, `given`, which tests ask about without meeting the workers of other tests. */
let fleets = 0;
async function fleetOf(given: Partial<WorkerReport> = {}): Promise<string> {
  const queue = `fleet-${++fleets}`;
  await beat(queue, given);
  return queue;
}

const beat = (queue: string, given: Partial<WorkerReport> = {}) =>
  reportWorker(log.db, workerReport(given.id ?? `worker of ${queue}`, { queue, agents: ['a'], ...given }));

interface Needs {
  agent?: string;
  version?: string;
  strategy?: string;
}

const ask = 'select lanefold._is_attended($1, $2, $3, $4)';
const isAttended = (queue: string, { agent = 'a', version, strategy }: Needs = {}, on = log.db) =>
  value<boolean>(on, ask, queue, agent, version ?? null, strategy ?? null);

test('a run is attended by a worker of its fleet with its agent, version and strategy', async () => {
  const queue = await fleetOf({ agents: ['a', 'b'], strategies: ['react', 'tot'], versions: ['a@v_1', 'a@stable'] });
  for (const needs of [{}, { agent: 'b' }, { version: 'v_1' }, { version: 'stable' }, { strategy: 'tot' }])
    expect(await isAttended(queue, needs), JSON.stringify(needs)).toBe(true);
  const lacking = [{ agent: 'c' }, { version: 'v_2' }, { agent: 'b', version: 'v_1' }, { strategy: 'got' }];
  for (const needs of [...lacking, { version: 'v_1', strategy: 'got' }])
    expect(await isAttended(queue, needs), JSON.stringify(needs)).toBe(false);
  expect(await isAttended('another fleet')).toBe(false);
});

test('two workers that each have a part of what a run needs do not attend it', async () => {
  const queue = await fleetOf({ strategies: ['tot'] });
  await beat(queue, { id: `second of ${queue}`, strategies: ['react'], versions: ['a@v_1'] });
  expect(await isAttended(queue, { version: 'v_1', strategy: 'tot' })).toBe(false);
  expect(await isAttended(queue, { version: 'v_1', strategy: 'react' })).toBe(true);
});

test('a worker attends runs from its first heartbeat until it drains, and again if it no longer does', async () => {
  const queue = await fleetOf();
  const attended: boolean[] = [];
  for (const draining of [false, true, false]) {
    await beat(queue, { draining });
    attended.push(await isAttended(queue));
  }
  await beat(queue, { draining: true, stopped: true });
  expect([...attended, await isAttended(queue)]).toEqual([true, false, true, false]);
});

test('a worker attends no run while it is silent, and attends runs again with its next heartbeat', async () => {
  const queue = await fleetOf({ deadAfterMs: 60_000 });
  await rows(
    log.db,
    "update lanefold._worker set heartbeat_at = heartbeat_at - interval '61 s' where queue_prefix = $1",
    queue,
  );
  expect(await isAttended(queue)).toBe(false);
  await beat(queue);
  expect(await isAttended(queue)).toBe(true);
});

test.for(['worker', 'api'])('a session of role %s has the same answer whichever tenant it acts for', async (duty) => {
  const queue = await fleetOf();
  const role = `${duty}_${randomBytes(4).toString('hex')}`;
  await log.pool.query(`create role ${role} login password 'p'`);
  await rows(log.db, 'select lanefold.grant_role($1, $2)', role, duty);
  await log.pool.query(`grant execute on function lanefold._is_attended(text, text, text, text) to ${role}`);
  const session = openDatabase({ url: urlAs(log.url, role, 'p'), max: 1 });
  try {
    for (const tenant of ['', 'acme']) {
      await rows(session, "select set_config('lanefold.tenant', $1, false)", tenant);
      expect(await isAttended(queue, {}, session), tenant).toBe(true);
      expect(await isAttended(queue, { agent: 'c' }, session), tenant).toBe(false);
      expect(await value(session, "select current_setting('lanefold.tenant')")).toBe(tenant);
    }
    expect(await rows(session, 'select from lanefold.worker where queue = $1', queue)).toEqual([]);
  } finally {
    await session.close();
    await statements(log.url, `select lanefold.revoke_role('${role}')`, `drop role ${role}`);
  }
});
