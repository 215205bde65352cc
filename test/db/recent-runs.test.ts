import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { countVersionRuns } from '../../src/database/store/agent/versions.ts';
import { countedRuns } from '../../src/database/store/run/recent-runs.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { statements, urlAs } from '../support/citus.ts';
import { onCitus } from '../support/services.ts';
import { openLog, rows, type TestLog } from './helpers.ts';
import { rowsReadOf, type Explained } from './plan.ts';

const duties = ['owner', 'worker', 'api'] as const;
const suffix = randomBytes(4).toString('hex');
const more = 15_000;
/** Each is found in the index, and then read. */
const most = 2 * countedRuns + 100;

let log: TestLog;
const opened: Database[] = [];
const sessions = {} as Record<(typeof duties)[number], Database>;
beforeAll(async () => {
  log = await openLog();
  // one a second, the last one now; every third of the agent `rare`, and half of those by another version
  await rows(
    log.db,
    `insert into lanefold._run (thread_id, id, request_hash, agent, agent_version, strategy, model, context_ref, status, active, created_at,
       started_at, finished_at, enqueued_at, usage, iteration)
     select 't' || n, 'r', '', case when n % 3 = 0 then 'rare' else 'usual' end, 'v' || n % 2, 'react', 'm', 'default', 'completed', false, at,
       at, at + interval '2 s', at, '{"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}', 1
     from generate_series(0, ${countedRuns + more - 1}) n
     cross join lateral (select now() - n * interval '1 second' as at) c`,
  );
  await rows(log.db, 'analyze lanefold._run');
  for (const duty of duties) {
    if (duty !== 'owner') {
      const role = `${duty}_${suffix}`;
      await log.pool.query(`create role ${role} login password 'a'`);
      await log.pool.query(`select lanefold.grant_role('${role}', '${duty}')`);
    }
    const url = duty === 'owner' ? log.url : urlAs(log.url, `${duty}_${suffix}`, 'a');
    const db = openDatabase({ url, max: 1 });
    db.settings.distributed = onCitus;
    opened.push(db);
    sessions[duty] = duty === 'api' ? db.forTenant({ tenant: 'default' }) : db;
  }
});
afterAll(async () => {
  for (const db of opened) await db.close();
  for (const duty of ['worker', 'api'])
    await statements(log.url, `select lanefold.revoke_role('${duty}_${suffix}')`, `drop role ${duty}_${suffix}`);
  await log.drop();
});

/** How many rows of `_run` a look-up reads. */
async function runsRead(of: Database, look: (db: Database) => Promise<unknown>): Promise<number> {
  let read = 0;
  const query = async (name: string, text: string, values: unknown[] = []) => {
    const [explained] = await of.query<Explained & Record<string, unknown>>(
      `explain_${name}`,
      `explain (analyze, format json) ${text}`,
      values,
    );
    read += rowsReadOf('_run', explained!);
    return of.query(name, text, values);
  };
  await look({ query, settings: {} } as unknown as Database);
  return read;
}

describe.each(duties)('as %s', (duty) => {
  test.skipIf(citusLacks.plans)('statistics read no more runs than they count', async () => {
    const db = sessions[duty];
    expect(await runsRead(db, (of) => countVersionRuns(of, 'rare', 168))).toBeLessThanOrEqual(most);
  });

  test.skipIf(citusLacks.plans)('statistics read no more runs where the planner finds their index dear', async () => {
    await rows(sessions[duty], `set random_page_cost = 15`);
    try {
      expect(await runsRead(sessions[duty], (of) => countVersionRuns(of, 'rare', 168))).toBeLessThanOrEqual(most);
    } finally {
      await rows(sessions[duty], 'reset random_page_cost');
    }
  });

  test('statistics count the newest runs, and say since when', async () => {
    const db = sessions[duty];
    const [oldest] = await rows<{ at: Date }>(
      log.db,
      `select created_at as at from lanefold._run order by created_at desc offset ${countedRuns - 1} limit 1`,
    );
    const counted = await countVersionRuns(db, 'rare', 168);
    expect(counted.since).toEqual(oldest!.at);
    const rare = Math.ceil(countedRuns / 3);
    expect(counted.versions.toSorted((a, b) => (a.version < b.version ? -1 : 1))).toMatchObject([
      { version: 'v0', runs: Math.ceil(rare / 2), completed: Math.ceil(rare / 2), failed: 0, meanDurationMs: 2_000 },
      { version: 'v1', runs: Math.floor(rare / 2) },
    ]);
    expect(counted.versions.flatMap((one) => one.spent).reduce((sum, { outputTokens }) => sum + outputTokens, 0)).toBe(
      2 * rare,
    );
  });
});
