import type { Check } from './checks/runs.ts';
import { oddCalls, limitedCalls, providerLog, receiverLog, slots, waits } from './checks/outside.ts';
import type { Observer } from './schedule.ts';
import type { ProviderCall } from './provider.ts';
import type { Crash } from './services/postgres.ts';
import type { WebhookRequest } from './services/receiver.ts';
import type { Acknowledged, LimitAsk, ToolStart } from './workload/journal.ts';
import { strictLimits, webhooks } from './workload/features.ts';

/** What was recorded outside the database. */
export interface Recorded {
  starts: readonly ToolStart[];
  asks?: readonly LimitAsk[];
  /** Process id by worker id. */
  workers: ReadonlyMap<string, number>;
  acknowledged: Acknowledged;
  calls?: readonly ProviderCall[];
  requests?: readonly WebhookRequest[];
  crashes?: readonly Crash[];
  /** Since when there are webhooks, in milliseconds since the epoch; undefined: there are no webhooks. */
  webhooksSince?: number;
}

/** The tables of what was recorded outside the database, with their columns. */
const tables = {
  tool_start: 'run_id text, round int, call_index int, name text, pid int, at timestamptz',
  limit_ask: 'run_id text, pid int, at timestamptz, refused boolean',
  worker: 'worker_id text, pid int',
  acknowledged: 'kind text, thread_id text, id text',
  strategy_run: 'thread_id text, run_id text, result jsonb',
  provider_call:
    'no int, model text, thread_id text, pid int, at timestamptz, ended_at timestamptz, tokens int, problem text, odd text',
  crash: 'began_at timestamptz, at timestamptz',
  strict_limit: 'name text, kind text, amount int, per_ms int',
  schedule: 'name text, every_ms int, set_at timestamptz, last_slot timestamptz',
  event_sent: 'event text, content text, resolved jsonb',
  webhook: 'name text, ordered boolean, since timestamptz',
  webhook_request:
    'n int, webhook text, id text, type text, thread_id text, run_id text, signed boolean, accepted boolean',
} as const;

/**
 * Starts a history that is independent of the product: a digest of each entry as written, every lease of a run, and what
 * clients, tools, the provider and the receiver of webhooks have seen. Triggers record the first two as they happen.
 */
export const startHistory = (observer: Observer): Promise<unknown> =>
  observer.query(`
    create schema history;
    create table history.entry (thread_id text, seq bigint, digest text);
    create table history.lease (thread_id text, run_id text, lease bigint, worker_id text, at timestamptz);
    ${Object.entries(tables)
      .map(([name, columns]) => `create table history.${name} (${columns});`)
      .join('\n')}
    ${limitedCalls};
    create function history.record_entry() returns trigger language plpgsql security definer as $$ begin
      insert into history.entry values (new.thread_id, new.seq, md5(new::text)); return null; end $$;
    create function history.record_lease() returns trigger language plpgsql security definer as $$ begin
      insert into history.lease values (new.thread_id, new.id, new.lease, new.worker_id, clock_timestamp()); return null; end $$;
    create trigger history after insert on lanefold._entry for each row execute function history.record_entry();
    create trigger history after update of lease on lanefold._run for each row execute function history.record_lease();`);

/** Adds the records kept outside the database. */
export async function recordHistory(observer: Observer, recorded: Recorded): Promise<void> {
  const { runs, inputs, operations, strategies, schedules, events } = recorded.acknowledged;
  const at = (ms: number) => new Date(ms).toISOString();
  const { asks = [], calls = [], requests = [], crashes = [], webhooksSince: since } = recorded;
  const rows: Record<keyof typeof tables, readonly object[]> = {
    tool_start: recorded.starts.map(({ key, name, pid, at: ms }) => {
      const [run_id, round, call_index] = key.split(':');
      return { run_id, round, call_index, name, pid, at: at(ms) };
    }),
    limit_ask: asks.map((ask) => ({ ...ask, at: at(ask.at) })),
    worker: [...recorded.workers].map(([worker_id, pid]) => ({ worker_id, pid })),
    acknowledged: Object.entries({ run: runs, input: inputs, operation: operations }).flatMap(([kind, list]) =>
      list.map(({ threadId, id }) => ({ kind, thread_id: threadId, id })),
    ),
    strategy_run: strategies.map(({ threadId, id, result }) => ({ thread_id: threadId, run_id: id, result })),
    provider_call: calls.map((call) => ({ ...call, at: at(call.at), ended_at: at(call.ended_at) })),
    crash: crashes.map((crash) => ({ began_at: at(crash.beganAt), at: at(crash.at) })),
    strict_limit: strictLimits.map(({ perMs, ...limit }) => ({ ...limit, per_ms: perMs })),
    schedule: schedules.map(({ name, everyMs, setAt, lastSlot }) => ({
      name,
      every_ms: everyMs,
      set_at: at(setAt),
      last_slot: at(lastSlot),
    })),
    event_sent: events,
    webhook: since === undefined ? [] : webhooks.map((webhook) => ({ ...webhook, since: at(since) })),
    webhook_request: requests.map((request, n) => ({ n, ...request })),
  };
  for (const [name, columns] of Object.entries(tables)) {
    await observer.query(`truncate history.${name}`);
    const values = [JSON.stringify(rows[name as keyof typeof tables])];
    await observer.query(`insert into history.${name} select * from jsonb_to_recordset($1) as r (${columns})`, values);
  }
  await observer.query('refresh materialized view history.limited_call');
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

/** A campaign's runs harm no worker. */
const noRunIsPoisoned: Check = {
  invariant: 'I5',
  name: 'no run ends as poisoned for faults that it did not cause',
  holds: 'at_rest',
  sql: `select thread_id, id as run_id, error from lanefold.run where termination_reason = 'poisoned'`,
};

/** Checks that need the history of a campaign in addition to the database of the product. */
export const historyChecks: readonly Check[] = [
  unchangedSinceWritten,
  acknowledgedIsStored,
  finishedCallNotRestarted,
  neverReplayed,
  strategiesAreUndisturbed,
  noRunIsPoisoned,
  ...oddCalls,
  ...providerLog,
  ...slots,
  ...receiverLog,
  ...waits,
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
