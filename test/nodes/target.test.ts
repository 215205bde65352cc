import { expect, test } from 'vitest';
import { shardAt } from '../../src/database/nodes/placements.ts';
import { targetOf } from '../../src/database/nodes/guard.ts';

const known = {
  relations: new Set(['thread', '_run', 'run', 'thread_entry', '_wait']),
  functions: new Set(['commit_step', 'renew_lease', 'new_events']),
  everywhere: new Set(['set_limit', 'context_diff']),
};

test.each([
  ['select lanefold.commit_step($1, $2) as result', { threadAt: 0 }],
  ['select lost, renewed from lanefold.renew_lease($1, $2, $3, $4)', { threadAt: 0 }],
  ['select r.id from lanefold._run r where r.thread_id = $2 and r.id = $3', { threadAt: 1 }],
  ['select rev from lanefold.thread where id = $1', { threadAt: 0 }],
  ['select 1 from lanefold._wait where child_thread_id = $3 and thread_id = $1', { threadAt: 0 }],
  ['select thread_id from lanefold._run where finished_at is null', 'all'],
  ['select from lanefold._run where id = $1', 'all'],
  ['select e.* from unnest($1::text[]) w (id) cross join lateral lanefold.new_events(w.id, 0) e', 'all'],
  ['select lanefold.set_limit($1)', 'all'],
  ['select * from lanefold.context_diff($1, $2, $3)', 'all'],
  ['select lanefold.report_worker($1, $2)', 'coordinator'],
  ['select found from lanefold._limit_account where thread_id = $1', 'coordinator'],
  ['select 1', 'coordinator'],
  ['select success from master_run_on_worker(array[$1::text], array[$2::int], array[$3::text], false)', { nodeAt: 0 }],
])('what a statement concerns: %s', (text, target) => {
  expect(targetOf(text, known)).toEqual(target);
});

test('a hash belongs to the first shard that reaches as far', () => {
  const shards = [-10, 0, 10].map((upTo) => ({ upTo, host: 'h', port: upTo }));
  expect([-99, -10, -9, 0, 1, 10].map((hash) => shardAt(shards, hash)?.upTo)).toEqual([-10, -10, 0, 0, 10, 10]);
  expect(shardAt([], 1)).toBeUndefined();
});
