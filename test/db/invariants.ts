import { expect } from 'vitest';
import { marksStored } from '../../src/ops/chaos/checks/runs.ts';
import { checks } from '../../src/ops/chaos/run-checks.ts';
import type { Database } from '../../src/database/postgres/pool.ts';
import { onCitus } from '../support/services.ts';

// a statement over all nodes calls no function of one thread
const statement = [...checks, ...(onCitus ? [] : marksStored)]
  .filter((check) => check.holds === 'always')
  .map(({ name, sql }) => `select '${name}' as invariant, (select json_agg(b) from (${sql}) b) as breaches`)
  .join(' union all ');

/** Asserts what must hold between any two commits. */
export async function assertInvariants(db: Database): Promise<void> {
  const found = await db.query<{ breaches: unknown }>(
    'invariants',
    `select * from (${statement}) i where i.breaches is not null`,
  );
  expect(found).toEqual([]);
}
