import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { reportWorker, type WorkerReport } from '../../src/database/store/worker/find-lacking.ts';
import { statements, urlAs } from '../support/citus.ts';
import { openLog, rows, useLog, value, workerReport } from './helpers.ts';

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
  tools?: string[];
}

const ask = 'select lanefold._is_attended($1, $2, $3, $4, $5)';
const valuesOf = (queue: string, { agent = 'a', version, strategy, tools }: Needs) =>
  [queue, agent, version ?? null, strategy ?? null, tools ?? null] as const;
const isAttended = (queue: string, needs: Needs = {}, on = log.db) =>
  value<boolean>(on, ask, ...valuesOf(queue, needs));
const reasonOf = (queue: string, needs: Needs = {}) =>
  value<string | null>(log.db, 'select lanefold.unattended_reason($1, $2, $3, $4, $5)', ...valuesOf(queue, needs));

/** For how long nobody could execute runs with these needs, in whole seconds, counted from so many seconds ago. */
const unattendedS = async (queue: string, since: number, needs: Needs = {}) => {
  const ms = await value<number | null>(
    log.db,
    "select lanefold.unattended_ms($1, $2, $3, $4, $5, lanefold._now() - $6::int * interval '1 s')",
    ...valuesOf(queue, needs),
    since,
  );
  return ms === null ? null : Math.round(ms / 10_000) * 10;
};

/** As if so much time had passed for the workers of some fleets. */
const ago = (seconds: number, ...queues: string[]) =>
  rows(
    log.db,
    `update lanefold._worker set heartbeat_at = heartbeat_at - $1::int * interval '1 s', stopped_at = stopped_at - $1::int * interval '1 s'
     where queue_prefix = any ($2)`,
    seconds,
    queues,
  );

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
  await log.pool.query(`grant execute on function lanefold._is_attended(text, text, text, text, text[]) to ${role}`);
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

describe('tools', () => {
  test('of an agent, of one of its versions, and of no agent', async () => {
    const queue = await fleetOf({
      agents: ['a', 'b'],
      versions: ['a@v_1', 'b@v_2'],
      tools: ['a+pay', 'a@v_1+pay', 'b+mail', '+search'],
    });
    const has = [{ tools: ['pay'] }, { tools: ['+pay'] }, { tools: ['+search'] }, { tools: ['pay', '+search'] }];
    for (const needs of [...has, { agent: 'b', tools: ['mail'] }, { version: 'v_1', tools: ['pay'] }, { tools: [] }])
      expect(await reasonOf(queue, needs), JSON.stringify(needs)).toBeNull();
    const lacks = [{ tools: ['mail'] }, { tools: ['search'] }, { tools: ['+mail'] }, { tools: ['pay', 'mail'] }];
    for (const needs of [...lacks, { agent: 'b', version: 'v_2', tools: ['mail'] }])
      expect(await reasonOf(queue, needs), JSON.stringify(needs)).toBe('unknown_tool');
  });

  test('that two workers have only together are unknown', async () => {
    const queue = await fleetOf({ tools: ['a+pay'] });
    await beat(queue, { id: `second of ${queue}`, tools: ['a+mail'] });
    expect(await isAttended(queue, { tools: ['mail'] })).toBe(true);
    expect(await reasonOf(queue, { tools: ['mail', 'pay'] })).toBe('unknown_tool');
  });
});

test('the reason is what workers lack that have everything before it', async () => {
  const queue = await fleetOf({ agents: ['a'], strategies: ['react'], versions: ['a@v_1'], tools: ['a@v_1+pay'] });
  const all = { version: 'v_1', strategy: 'react', tools: ['pay'] };
  expect(await reasonOf(queue, all)).toBeNull();
  expect(await reasonOf(queue, { ...all, agent: 'b' })).toBe('unknown_agent');
  expect(await reasonOf(queue, { version: 'v_2', strategy: 'tot', tools: ['mail'] })).toBe('unknown_version');
  expect(await reasonOf(queue, { ...all, strategy: 'tot', tools: ['mail'] })).toBe('unknown_strategy');
  expect(await reasonOf(queue, { ...all, tools: ['mail'] })).toBe('unknown_tool');
  await beat(queue, { draining: true });
  expect(await reasonOf(queue, all)).toBe('no_worker');
});

describe('the time in which no worker could execute a run', () => {
  const lacking = { agents: ['b'], deadAfterMs: 60_000 };
  /** Two workers: one that lives and has only agent b, and `mortal`, which has agent a. */
  async function pair(mortal: Partial<WorkerReport> = {}) {
    // one that the test does not date back: the database hears workers all the time
    await fleetOf();
    const queue = await fleetOf({ deadAfterMs: 60_000, ...mortal });
    const other = `other ${queue}`;
    const hear = () => beat(queue, { ...lacking, id: other });
    await hear();
    return { queue, hear, back: (seconds: number) => ago(seconds, queue) };
  }

  test('is that since it was noticed, if no worker ever could', async () => {
    const queue = await fleetOf(lacking);
    expect(await unattendedS(queue, 600)).toBe(600);
    expect(await unattendedS(queue, 0)).toBe(0);
  });

  test('is none while a worker is alive that can, however long the run has waited', async () => {
    const { queue } = await pair();
    expect(await unattendedS(queue, 86_400)).toBeNull();
    expect(await unattendedS(queue, 86_400, { tools: ['pay'] })).toBe(86_400);
  });

  test('is not told where no worker of the fleet is alive', async () => {
    const { queue, back } = await pair();
    await back(61);
    expect(await unattendedS(queue, 86_400)).toBeNull();
  });

  test('begins when the last worker that could counts as dead, or has stopped', async () => {
    const { queue, hear, back } = await pair();
    await back(300);
    await hear();
    expect(await unattendedS(queue, 600)).toBe(240);
    await beat(queue);
    expect(await unattendedS(queue, 600)).toBeNull();
    await beat(queue, { stopped: true });
    await back(50);
    await hear();
    expect(await unattendedS(queue, 600)).toBe(50);
  });

  test('does not include times in which the database heard no worker', async () => {
    const alone = await openLog();
    onTestFinished(() => alone.drop());
    const beatAlone = (id: string, given: Partial<WorkerReport> = {}) =>
      reportWorker(alone.db, workerReport(id, { queue: 'lf', deadAfterMs: 60_000, ...given }));
    const back = (seconds: number) =>
      rows(
        alone.db,
        `update lanefold._worker set heartbeat_at = heartbeat_at - $1::int * interval '1 s',
           silences = (select coalesce(range_agg(tstzrange(lower(s) - $1::int * interval '1 s', upper(s) - $1::int * interval '1 s')), '{}')
                       from unnest(silences) s)`,
        seconds,
      );
    const seconds = async () => {
      const ms = await value<number | null>(
        alone.db,
        "select lanefold.unattended_ms('lf', 'a', null, null, null, lanefold._now() - interval '1 hour')",
      );
      return ms === null ? null : Math.round(ms / 10_000) * 10;
    };
    await beatAlone('mortal', { agents: ['a'] });
    await beatAlone('other', { agents: ['b'], deadAfterMs: 3_600_000 });
    await back(300);
    // nobody has reported since the database answers again
    expect(await seconds()).toBe(0);
    await beatAlone('other', { agents: ['b'], deadAfterMs: 3_600_000 });
    expect(await seconds()).toBe(300 - 60);
    // a worker that counts as dead sooner would have reported long ago
    await beatAlone('strict', { agents: ['b'] });
    await back(200);
    await beatAlone('strict', { agents: ['b'] });
    expect(await seconds()).toBe(300 - 60);
    // from here on the others report, and the mortal one does not
    for (let passed = 0; passed < 120; passed += 20) {
      await back(20);
      await beatAlone('strict', { agents: ['b'] });
    }
    expect(await seconds()).toBe(300 - 60 + 120);
    await beatAlone('mortal', { agents: ['a'] });
    expect(await seconds()).toBeNull();
  });
});
