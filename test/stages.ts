// What test:all and test:long run again on a distributed database and on the oldest PostgreSQL, which differ from the usual one in
// SQL alone: suites that call each function of db/sql, and whole runs of each kind.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const named = (folder: string, names: string) => names.split(' ').map((name) => `test/${folder}/${name}.test.ts`);

/** What writes to several threads, or to tables that every node has, from the request to the end. */
const wholeRuns = [
  ...named('runtime/run', 'run approval steering cancel'),
  ...named('waits', 'children events'),
  'test/schedules/firing.test.ts',
  'test/streams/streams.test.ts',
];

/**
 * On Citus: a suite for each function that runs call, each lock and each branch for databases that are distributed. A file is
 * chosen here or below when it calls a function that no other file calls: `uncalled` says what is missing.
 */
export const onCitus = [
  ...named('db', 'append append-only approval audit cancel claim commit-step erase finish-run fork inputs interrupt'),
  ...named('db', 'leases loss-cause operations recent-runs run-marks state sweep tenants workers'),
  ...named('limits', 'line settled'),
  'test/branches/branch.test.ts',
  'test/circuits/acts.test.ts',
  'test/faults/unclaimable.test.ts',
  'test/faults/zombie.test.ts',
  ...wholeRuns,
];

/** On Citus before a release: the functions of single features, and of rights, retention and imports. */
export const onCitusToo = [
  ...named('db', 'compaction context-size refs restore writer'),
  ...named('limits', 'buckets idle-buckets'),
  ...named('evals', 'budget cases held runs'),
  ...named('runtime/worker', 'retention trim-events'),
  ...named('library', 'erase-children evidence large-content threads-asked'),
  'test/runtime/run/compaction.test.ts',
  'test/context/projection.test.ts',
  'test/context/canonical.test.ts',
  'test/monitors/monitors.test.ts',
  'test/api/audited.test.ts',
  'test/webhooks/delivery.test.ts',
  'test/handoffs/handoffs.test.ts',
];

/** On the oldest PostgreSQL, where what is asked of SQL may be refused or answered otherwise. */
export const onOldest = ['test/db', 'test/context', ...named('limits', 'line buckets'), ...wholeRuns];

/** What a distributed database does otherwise: batches, imports, leases of several threads, jobs in its transactions. */
const notDistributed =
  /^(_plain_|_import_|_check_import|import_|attempt|renew_leases$|_add_(taken_)?job$|open_endpoints$)/;

/**
 * The functions of db/sql that no suite has called on Citus, by the list that LANEFOLD_TEST_FUNCTIONS names. Functions
 * in SQL become part of the statements that call them, and are not counted.
 */
export function uncalled(list: string): string[] {
  const called = new Set(
    readFileSync(list, 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[1]),
  );
  return readdirSync('db/sql', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => readFileSync(path.join('db/sql', file), 'utf8'))
    .flatMap((text) => text.split(/(?=create or replace function)/))
    .flatMap((text) => {
      const name = /^create or replace function lanefold\.(\w+)/.exec(text)?.[1];
      return name && /language plpgsql/.test(text) && !called.has(name) && !notDistributed.test(name) ? [name] : [];
    });
}
