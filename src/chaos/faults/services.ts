import type { ServiceFault } from './rig.ts';

/** PostgreSQL dies and recovers. The runs it hit are those active when it is back, before anybody has gone on. */
export const postgres: ServiceFault = async ({ postgres: server, watch }) => {
  await server.crash();
  return { hit: await watch.active(), over: Promise.resolve() };
};

/** Redis dies with everything in it, and an empty one comes up. */
export const redis: ServiceFault = async ({ redis: server, watch }) => {
  const hit = await watch.active();
  await server!.restart();
  return { hit, over: Promise.resolve() };
};

/** Every job is gone: FLUSHALL, or the emptied tables of BullMQ. */
export const flush: ServiceFault = async ({ redis: server, watch }) => {
  const hit = await watch.active();
  if (server) await server.flush();
  else await watch.query(emptyTables);
  return { hit, over: Promise.resolve() };
};

// tried again where it waits for a lock too long or meets a deadlock: workers are at work on these tables
const emptyTables = `
  do $$ declare v_tables text; begin
    select string_agg(format('%I.%I', schemaname, tablename), ', ') into v_tables from pg_tables
    where schemaname = 'bullmq' and tablename !~ 'migration|version';
    set local lock_timeout = '300ms';
    for i in 1 .. 100 loop
      begin
        execute 'truncate ' || v_tables || ' cascade';
        return;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(0.02);
      end;
    end loop;
    raise exception 'the tables of the queue could not be emptied';
  end $$`;
