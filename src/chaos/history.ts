import type { Check } from './checks/index.ts';
import type { Watch } from './watch.ts';
import type { Acknowledged } from './workload/conversation.ts';
import type { ToolStart } from './workload/journal.ts';

/**
 * The campaign's own memory, beside what it checks: a digest of each entry as it was written, every change of hands of
 * a run, what clients were told, and what tools did. The first two by triggers, because nobody else sees them.
 */
export const startWitness = (watch: Watch): Promise<unknown> =>
  watch.query(`
    create schema witness;
    create table witness.entry (thread_id text, seq bigint, digest text);
    create table witness.lease (thread_id text, run_id text, lease bigint, worker_id text, at timestamptz);
    create table witness.tool_start (run_id text, round int, call_index int, name text, pid int, at timestamptz);
    create table witness.worker (worker_id text, pid int);
    create table witness.acknowledged (kind text, thread_id text, id text);
    create function witness.see_entry() returns trigger language plpgsql security definer as $$ begin
      insert into witness.entry values (new.thread_id, new.seq, md5(new::text)); return null; end $$;
    create function witness.see_lease() returns trigger language plpgsql security definer as $$ begin
      insert into witness.lease values (new.thread_id, new.id, new.lease, new.worker_id, clock_timestamp()); return null; end $$;
    create trigger witness after insert on lanefold._entry for each row execute function witness.see_entry();
    create trigger witness after update of lease on lanefold._run for each row execute function witness.see_lease();`);

/** Brings in what was seen outside the database. */
export async function testify(
  watch: Watch,
  seen: { starts: ToolStart[]; workers: ReadonlyMap<string, number>; acknowledged: Acknowledged },
): Promise<void> {
  await watch.query('truncate witness.tool_start, witness.worker, witness.acknowledged');
  await watch.query(
    `insert into witness.tool_start
     select split_part(s.key, ':', 1), split_part(s.key, ':', 2)::int, split_part(s.key, ':', 3)::int, s.name, s.pid, to_timestamp(s.at / 1000.0)
     from jsonb_to_recordset($1) as s (key text, name text, pid int, at float8)`,
    [JSON.stringify(seen.starts)],
  );
  const workers = [...seen.workers].map(([workerId, pid]) => ({ worker_id: workerId, pid }));
  await watch.query('insert into witness.worker select * from jsonb_to_recordset($1) as w (worker_id text, pid int)', [
    JSON.stringify(workers),
  ]);
  const { runs, inputs, operations } = seen.acknowledged;
  const acknowledged = Object.entries({ run: runs, input: inputs, operation: operations }).flatMap(([kind, list]) =>
    list.map(({ threadId, id }) => ({ kind, thread_id: threadId, id })),
  );
  await watch.query(
    'insert into witness.acknowledged select * from jsonb_to_recordset($1) as a (kind text, thread_id text, id text)',
    [JSON.stringify(acknowledged)],
  );
}

/** Starts after the outcome of their call was stored, and whether the worker was the run's holder then. */
const starts = `
  select c.thread_id, c.run_id, c.round, c.call_index, c.name, s.pid, s.at as started_at, c.finished_at as stored_at,
         coalesce(w.worker_id = (
           select l.worker_id from witness.lease l where l.run_id = s.run_id and l.at <= s.at order by l.lease desc limit 1), false) as by_holder
  from witness.tool_start s
  join lanefold.run_tool_call c on c.run_id = s.run_id and c.round = s.round and c.call_index = s.call_index
  left join witness.worker w on w.pid = s.pid
  where s.at > c.finished_at`;

/** What only a campaign can check, as it has seen more than the database holds. */
export const witnessed: readonly Check[] = [
  {
    invariant: 'I2',
    name: 'every entry is as it was when it was written',
    holds: 'always',
    sql: `
      select coalesce(w.thread_id, e.thread_id) as thread_id, coalesce(w.seq, e.seq) as seq, e.seq is null as gone
      from witness.entry w full join lanefold._entry e on e.thread_id = w.thread_id and e.seq = w.seq
      where w.digest is distinct from md5(e::text)`,
  },
  {
    invariant: 'I5',
    name: 'what was acknowledged is there',
    holds: 'always',
    sql: `
      select a.thread_id, a.kind, a.id from witness.acknowledged a
      where not case a.kind
        when 'run' then exists (select from lanefold.run r where r.thread_id = a.thread_id and r.id = a.id)
        when 'input' then exists (select from lanefold.pending_input i where i.thread_id = a.thread_id and i.id = a.id)
        else exists (select from lanefold.context_op o where o.thread_id = a.thread_id and o.op_id = a.id) end`,
  },
  {
    invariant: 'I5',
    name: 'no holder of a run starts a call whose outcome is stored',
    holds: 'always',
    sql: `select thread_id, run_id, round, call_index, name, pid, started_at, stored_at from (${starts}) s where by_holder`,
  },
  {
    invariant: 'I5',
    name: 'a tool that must never run again was started once at most',
    holds: 'always',
    sql: `
      select r.thread_id, s.run_id, s.round, s.call_index, s.name, count(*) as starts from witness.tool_start s
      left join lanefold.run r on r.id = s.run_id where s.name = 'charge' group by 1, 2, 3, 4, 5 having count(*) > 1`,
  },
];

/** Starts by workers that were frozen between their check and the call, and had lost the run meanwhile. */
export async function lateStarts(watch: Watch): Promise<number> {
  const [row] = await watch.query<{ count: number }>(`select count(*)::int from (${starts}) s where not by_holder`);
  return row!.count;
}
