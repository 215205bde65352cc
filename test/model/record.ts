import type pg from 'pg';

/** What a transaction did to a thread, in the order of the database. */
export interface Recorded {
  tx: string;
  kind: string;
  thread_id: string;
  run_id: string | null;
  /** A lease, a step, an enqueue_no, a status or a seq. */
  value: string | null;
}

/**
 * Records what happens to runs, with triggers that know nothing of the code under test: they compare the rows before and
 * after.
 */
export const startRecording = (pool: pg.Pool): Promise<unknown> =>
  pool.query(`
    create schema history;
    create table history.action (n bigint generated always as identity, tx text default pg_current_xact_id()::text,
      kind text, thread_id text, run_id text, value text);
    create function history.note(p_kind text, p_thread_id text, p_run_id text, p_value text) returns void language sql
      security definer as $$ insert into history.action (kind, thread_id, run_id, value) values ($1, $2, $3, $4) $$;
    create function history.run() returns trigger language plpgsql security definer as $$ begin
      if tg_op = 'INSERT' then
        perform history.note('enqueue', new.thread_id, new.id, (new.status = 'queued')::int::text);
        return null;
      end if;
      if old.cancel_requested_at is null and new.cancel_requested_at is not null then
        perform history.note('cancel', new.thread_id, new.id, '0');
      end if;
      if old.lease <> new.lease then
        perform history.note('claim', new.thread_id, new.id, new.lease::text);
      end if;
      if old.step <> new.step then
        perform history.note(case new.status when 'suspended' then 'suspend' else 'commit' end, new.thread_id, new.id, new.step::text);
      end if;
      if old.finished_at is null and new.finished_at is not null then
        perform history.note('end', new.thread_id, new.id, new.status);
      elsif old.enqueue_no <> new.enqueue_no then
        perform history.note(case when old.status = 'waiting' then 'promote' when old.status = 'suspended' then 'go_on'
          when old.status = 'running' and new.status = 'queued' then 'release' else 'queue_again' end,
          new.thread_id, new.id, new.enqueue_no::text);
      end if;
      return null; end $$;
    create function history.entry() returns trigger language plpgsql security definer as $$ begin
      perform history.note('entry', new.thread_id, new.run_id, new.seq::text); return null; end $$;
    create function history.input() returns trigger language plpgsql security definer as $$ begin
      perform history.note('input', new.thread_id, new.run_id, '0'); return null; end $$;
    create function history.wait() returns trigger language plpgsql security definer as $$ begin
      if tg_op = 'INSERT' then
        perform history.note('wait', new.thread_id, new.run_id, '0');
      elsif old.status = 'open' and new.status = 'resolved' then
        perform history.note('resolve', new.thread_id, new.run_id, '0');
      end if;
      return null; end $$;
    create trigger history after insert or update on lanefold._run for each row execute function history.run();
    create trigger history after insert on lanefold._entry for each row execute function history.entry();
    create trigger history after insert on lanefold.pending_input for each row execute function history.input();
    create trigger history after insert or update on lanefold._wait for each row execute function history.wait();`);

/**
 * What was recorded on these threads, transaction by transaction. Those of one thread follow each other, because each locks
 * it; of two threads, they overlap, and are in the order in which they ended.
 */
export async function recordedOn(pool: pg.Pool, threadIds: readonly string[]): Promise<Recorded[]> {
  const { rows } = await pool.query<Recorded>(
    `select tx, kind, thread_id, run_id, value from (
       select *, max(n) over (partition by tx) as last_of_tx from history.action where thread_id = any ($1)) a
     order by last_of_tx, thread_id, n`,
    [threadIds],
  );
  return rows;
}
