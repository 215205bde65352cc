import type { Check } from './checks/check.ts';
import type { Observer } from './observer.ts';
import type { Acknowledged } from './workload/client.ts';
import type { ToolStart } from './workload/journal.ts';

/**
 * Starts a history that is independent of the product: a digest of each entry as written, every lease of a run, what
 * was acknowledged to clients, and every start of a tool. Triggers record the first two as they happen.
 */
export const startHistory = (observer: Observer): Promise<unknown> =>
  observer.query(`
    create schema history;
    create table history.entry (thread_id text, seq bigint, digest text);
    create table history.lease (thread_id text, run_id text, lease bigint, worker_id text, at timestamptz);
    create table history.tool_start (run_id text, round int, call_index int, name text, pid int, at timestamptz);
    create table history.worker (worker_id text, pid int);
    create table history.acknowledged (kind text, thread_id text, id text);
    create table history.strategy_run (thread_id text, run_id text, result jsonb);
    create function history.record_entry() returns trigger language plpgsql security definer as $$ begin
      insert into history.entry values (new.thread_id, new.seq, md5(new::text)); return null; end $$;
    create function history.record_lease() returns trigger language plpgsql security definer as $$ begin
      insert into history.lease values (new.thread_id, new.id, new.lease, new.worker_id, clock_timestamp()); return null; end $$;
    create trigger history after insert on lanefold._entry for each row execute function history.record_entry();
    create trigger history after update of lease on lanefold._run for each row execute function history.record_lease();`);

/** Adds the records kept outside the database. */
export async function recordHistory(
  observer: Observer,
  recorded: { starts: ToolStart[]; workers: ReadonlyMap<string, number>; acknowledged: Acknowledged },
): Promise<void> {
  await observer.query('truncate history.tool_start, history.worker, history.acknowledged, history.strategy_run');
  await observer.query(
    `insert into history.tool_start
     select split_part(s.key, ':', 1), split_part(s.key, ':', 2)::int, split_part(s.key, ':', 3)::int, s.name, s.pid, to_timestamp(s.at / 1000.0)
     from jsonb_to_recordset($1) as s (key text, name text, pid int, at float8)`,
    [JSON.stringify(recorded.starts)],
  );
  const workers = [...recorded.workers].map(([workerId, pid]) => ({ worker_id: workerId, pid }));
  await observer.query(
    'insert into history.worker select * from jsonb_to_recordset($1) as w (worker_id text, pid int)',
    [JSON.stringify(workers)],
  );
  const { runs, inputs, operations, strategies } = recorded.acknowledged;
  const acknowledged = Object.entries({ run: runs, input: inputs, operation: operations }).flatMap(([kind, list]) =>
    list.map(({ threadId, id }) => ({ kind, thread_id: threadId, id })),
  );
  await observer.query(
    'insert into history.acknowledged select * from jsonb_to_recordset($1) as a (kind text, thread_id text, id text)',
    [JSON.stringify(acknowledged)],
  );
  await observer.query(
    `insert into history.strategy_run select "threadId", id, result from jsonb_to_recordset($1) as t ("threadId" text, id text, result jsonb)`,
    [JSON.stringify(strategies)],
  );
}

/** Tool starts after the outcome of the call was stored, and whether the worker held the run at that moment. */
const repeatedStarts = `
  select c.thread_id, c.run_id, c.round, c.call_index, c.name, s.pid, s.at as started_at, c.finished_at as stored_at,
         coalesce(w.worker_id = (
           select l.worker_id from history.lease l where l.run_id = s.run_id and l.at <= s.at order by l.lease desc limit 1), false) as by_holder
  from history.tool_start s
  join lanefold.run_tool_call c on c.run_id = s.run_id and c.round = s.round and c.call_index = s.call_index
  left join history.worker w on w.pid = s.pid
  where s.at > c.finished_at`;

const unchangedSinceWritten: Check = {
  invariant: 'I2',
  name: 'every entry is unchanged since it was written',
  holds: 'always',
  sql: `
      select coalesce(w.thread_id, e.thread_id) as thread_id, coalesce(w.seq, e.seq) as seq, e.seq is null as gone
      from history.entry w full join lanefold._entry e on e.thread_id = w.thread_id and e.seq = w.seq
      where w.digest is distinct from md5(e::text)`,
};

export const acknowledgedIsStored: Check = {
  invariant: 'I5',
  name: 'everything acknowledged to a client is stored',
  holds: 'always',
  sql: `
      select a.thread_id, a.kind, a.id from history.acknowledged a
      where not case a.kind
        when 'run' then exists (select from lanefold.run r where r.thread_id = a.thread_id and r.id = a.id)
        when 'input' then exists (select from lanefold.pending_input i where i.thread_id = a.thread_id and i.id = a.id)
        else exists (select from lanefold.context_op o where o.thread_id = a.thread_id and o.op_id = a.id) end`,
};

export const finishedCallNotRestarted: Check = {
  invariant: 'I5',
  name: 'the holder of a run never starts a call whose outcome is stored',
  holds: 'always',
  sql: `select thread_id, run_id, round, call_index, name, pid, started_at, stored_at from (${repeatedStarts}) s where by_holder`,
};

export const neverReplayed: Check = {
  invariant: 'I5',
  name: 'a tool with replay: never is started at most once per call',
  holds: 'always',
  sql: `
      select r.thread_id, s.run_id, s.round, s.call_index, s.name, count(*) as starts from history.tool_start s
      left join lanefold.run r on r.id = s.run_id where s.name in ('charge', 'sign') group by 1, 2, 3, 4, 5 having count(*) > 1`,
};

/** Removes tokens and times, which differ because calls are lost, repeated and slow. */
const comparable = (result: string): string =>
  `case jsonb_typeof(${result}) when 'object' then (${result} - 'usage') #- '{termination,duration_ms}' else ${result} end`;

const strategiesAreUndisturbed: Check = {
  invariant: 'I8',
  name: 'a completed run of a strategy has the same result as without faults',
  holds: 'at_rest',
  sql: `
      select r.thread_id, r.id as run_id, r.result, t.result as undisturbed
      from history.strategy_run t join lanefold.run r on r.thread_id = t.thread_id and r.id = t.run_id
      where r.status = 'completed' and ${comparable('r.result')} is distinct from ${comparable('t.result')}`,
};

/** Checks that need the history of a campaign in addition to the database of the product. */
export const historyChecks: readonly Check[] = [
  unchangedSinceWritten,
  acknowledgedIsStored,
  finishedCallNotRestarted,
  neverReplayed,
  strategiesAreUndisturbed,
];

/**
 * Counts repeated starts by workers that lost the run while frozen between checking the lease and starting the tool.
 */
export async function lateStarts(observer: Observer): Promise<number> {
  const [row] = await observer.query<{ count: number }>(
    `select count(*)::int from (${repeatedStarts}) s where not by_holder`,
  );
  return row!.count;
}
