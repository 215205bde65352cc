import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fakeModel, type FakeModel } from '../../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../../support/lanefold.ts';
import { until } from '../../support/until.ts';

let lanefold: TestLanefold;
let other: Lanefold;
let holder: pg.Client;
let model: FakeModel;

beforeEach(async () => {
  model = fakeModel(() => new Promise(() => {}));
  const agents = [defineAgent({ name: 'a', model: 'fake' })];
  lanefold = await startLanefold({ agents, models: { fake: model } });
  other = await createLanefold(lanefold.options);
  holder = new pg.Client({ connectionString: lanefold.database.url });
  await holder.connect();
  // notes which runs each renewal asks about; the first one, when told so, answers late
  await holder.query(`
    create table renewal (no bigint generated always as identity, runs text[]);
    create function is_slow() returns boolean language sql as 'select false';
    create function note_renewal(p_runs text[]) returns void language plpgsql as $$
    declare
      v_no bigint;
    begin
      insert into public.renewal (runs) values (p_runs) returning no into v_no;
      if v_no = 1 and public.is_slow() then
        perform pg_advisory_lock_shared(1);
      end if;
    end $$;
    alter function lanefold.renew_lease(text, text, bigint, int) rename to renew_lease_now;
    create function lanefold.renew_lease(p_thread_id text, p_run_id text, p_lease bigint, p_lease_ms int)
    returns table (lost boolean, cancel_requested boolean, renewed boolean) language plpgsql as $$
    begin
      perform public.note_renewal(array[p_run_id]);
      return query select * from lanefold.renew_lease_now(p_thread_id, p_run_id, p_lease, p_lease_ms);
    end $$;
    alter function lanefold.renew_leases(jsonb, int) rename to renew_leases_now;
    create function lanefold.renew_leases(p_leases jsonb, p_lease_ms int)
    returns table (thread_id text, run_id text, lost boolean, cancel_requested boolean, renewed boolean) language plpgsql as $$
    begin
      perform public.note_renewal((select array_agg(x ->> 'run_id') from jsonb_array_elements(p_leases) x));
      return query select * from lanefold.renew_leases_now(p_leases, p_lease_ms);
    end $$`);
});
afterEach(async () => {
  await holder?.end();
  await other?.close();
  await lanefold?.close();
});

/** The runs of each renewal that asked about this one. */
const renewalsOf = async (runId: string) => {
  const { rows } = await holder.query<{ runs: string[] }>(
    'select runs from renewal where $1 = any (runs) order by no',
    [runId],
  );
  return rows.map(({ runs }) => runs);
};

/** Waits until both workers listen: a cancel that is notified earlier is found only by a renewal. */
const listening = (workers: number) =>
  until('the workers listen', async () => {
    const { rows } = await holder.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'lanefold listen'
         and query ilike 'listen%' and state = 'idle'`,
    );
    return rows.length === workers;
  });

test('a cancel asks the database about that run alone, in the worker that holds it alone', async () => {
  const never = { leaseMs: 3_600_000, sweepMs: 3_600_000, stopGraceMs: 0 };
  await lanefold.startWorker({ ...never, concurrency: 3 });
  const runs = await Promise.all([1, 2, 3].map(() => lanefold.runs.enqueue({ agent: 'a', input: 'hi' })));
  await until('the models are called', () => model.calls.length === 3);
  await other.startWorker({ ...never, concurrency: 3 });
  const more = await other.runs.enqueue({ agent: 'a', input: 'hi' });
  await until('the model is called', () => model.calls.length === 4);
  await listening(2);
  await lanefold.runs.cancel(runs[1]!);
  expect(await lanefold.runs.wait(runs[1]!)).toMatchObject({ status: 'cancelled' });
  await lanefold.runs.cancel(more);
  expect(await lanefold.runs.wait(more)).toMatchObject({ status: 'cancelled' });
  expect(await renewalsOf(runs[1]!.id)).toContainEqual([runs[1]!.id]);
  expect(await renewalsOf(more.id)).toContainEqual([more.id]);
  // a worker asks about all its runs once, when it begins to listen, which may be after it has claimed them
  expect((await renewalsOf(runs[0]!.id)).length).toBeLessThanOrEqual(1);
});

test('a cancel during a renewal reaches the run at once', async () => {
  await holder.query(`create or replace function is_slow() returns boolean language sql as 'select true'`);
  await holder.query('select pg_advisory_lock(1)');
  await lanefold.startWorker({ leaseMs: 9_000, sweepMs: 3_600_000, stopGraceMs: 0 });
  const run = await lanefold.runs.enqueue({ agent: 'a', input: 'hi' });
  await until('the model is called', () => model.calls.length === 1);
  await until('a renewal is under way', async () => {
    const { rows } = await holder.query(`select from pg_locks where locktype = 'advisory' and not granted`);
    return rows.length === 1;
  });
  await lanefold.runs.cancel(run);
  await until('the model call is aborted', () => model.calls[0]!.abortSignal!.aborted);
  const { rows } = await holder.query(`select from pg_locks where locktype = 'advisory' and not granted`);
  expect(rows).toHaveLength(1);
  await holder.query('select pg_advisory_unlock(1)');
  expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'cancelled' });
});
