import type { ServiceFault } from './fault.ts';

/** PostgreSQL crashes and recovers. Hits the runs that are active right after recovery. */
export const postgres: ServiceFault = async ({ postgres: server, observer }) => {
  await server.crash();
  return { hit: await observer.activeRuns(), over: Promise.resolve() };
};

/**
 * PostgreSQL is shut down for good and its synchronous standby takes over. The fault lasts until the new primary has a
 * standby too.
 */
export const failover: ServiceFault = async ({ postgres: server, observer }) => {
  await server.failOver();
  return { hit: await observer.activeRuns(), over: server.addStandby() };
};

/** Redis is killed and restarted empty. */
export const redis: ServiceFault = async ({ redis: server, observer }) => {
  const hit = await observer.activeRuns();
  await server!.restart();
  return { hit, over: Promise.resolve() };
};

/** Every job is lost: FLUSHALL, or TRUNCATE of BullMQ's tables. */
export const flush: ServiceFault = async ({ redis: server, observer }) => {
  const hit = await observer.activeRuns();
  if (server) await server.flush();
  else await observer.query(truncateTables);
  return { hit, over: Promise.resolve() };
};

// retried after a lock timeout or deadlock, because workers keep using these tables
const truncateTables = `
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
    raise exception 'could not truncate the queue tables: they stayed locked';
  end $$`;
