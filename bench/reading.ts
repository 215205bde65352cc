import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Servers } from './setup.ts';
import { timeToOpen, type OpenedThread } from './support/page.ts';
import { text400 } from './workload.ts';

const sizes = [1_000, 100_000, 1_000_000];
const reads = 300;

/**
 * Measures how long it takes to read a 100-message context from threads of three sizes. The messages follow an anchor
 * near the head, or are scattered over the whole thread in a separate lane.
 */
export async function reading(servers: Servers): Promise<void> {
  const url = await servers.database();
  const lanefold = await createLanefold({
    databaseUrl: url,
    redisUrl: servers.redisUrl ?? null,
    queuePrefix: 'reading',
  });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  for (const size of sizes) await fill(pool, size);
  await pool.query('vacuum analyze');
  console.log(`\nReading a 100-message context, median of ${reads} interleaved reads (ms)`);
  for (const contextRef of ['default', 'scattered']) {
    const times = new Map<number, number[]>(sizes.map((size) => [size, []]));
    for (let i = 0; i < reads + 20; i++) {
      for (const size of sizes) {
        const startedAt = performance.now();
        const rows = await lanefold.contexts.project(`size-${size}`, { contextRef });
        if (rows.length !== 100) throw new Error(`${rows.length} messages instead of 100`);
        if (i >= 20) times.get(size)!.push(performance.now() - startedAt);
      }
    }
    const medians = sizes.map((size) => times.get(size)!.sort((a, b) => a - b)[reads / 2]!);
    const ratio = Math.max(...medians) / Math.min(...medians);
    const what = contextRef === 'default' ? 'after an anchor' : 'scattered over the thread';
    console.log(
      `${what.padEnd(32)} ${sizes.map((size, i) => `${size}: ${medians[i]!.toFixed(2)}`).join('  ')}  largest/smallest ${ratio.toFixed(2)} (goal 1.3)`,
    );
  }
  const { rows: threads } = await pool.query<OpenedThread>(
    `select id, rev::int as entries from lanefold.thread where starts_with(id, 'size-') order by rev`,
  );
  await pool.end();
  const opened = await timeToOpen(lanefold, threads);
  for (const where of ['newest', 'middle'] as const) {
    const each = opened?.map((times, i) => `${sizes[i]}: ${times[where].toFixed(0)}`).join('  ');
    if (each) console.log(`The page, until its ${where} entries are drawn (ms, median): ${each} (goal 300)`);
  }
  await lanefold.close();
}

/** Writes to the tables directly: this measures reads, not the append function. */
async function fill(pool: pg.Pool, size: number): Promise<void> {
  const thread = `size-${size}`;
  await pool.query('insert into lanefold.thread (id, rev, created_at, updated_at) values ($1, $2, now(), now())', [
    thread,
    size,
  ]);
  await pool.query(
    `insert into lanefold._entry (thread_id, seq, at, kind, context_ref, role, is_anchor, payload)
     select $1, n, now(),
       case when n = $2::bigint - 101 then 'ai_context_operation' else 'ai_message' end,
       case when n % ($2::bigint / 100) = 3 and n < $2::bigint - 101 then 'scattered' else 'default' end,
       case when n = $2::bigint - 101 then null when n % 2 = 0 then 'user' else 'assistant' end,
       n = $2::bigint - 101,
       case when n = $2::bigint - 101 then '{"operation": {"type": "replace", "reason": "manual", "result_context": {"entries": []}}}'::jsonb
            else jsonb_build_object('content', $3::text) end
     from generate_series(0, $2::bigint - 1) n`,
    [thread, size, text400],
  );
  await pool.query(
    `insert into lanefold._entry (thread_id, seq, at, kind, context_ref, role, payload)
     select $1, rev + n, now(), 'ai_message', 'scattered', 'user', jsonb_build_object('content', $2::text)
     from lanefold.thread, generate_series(0, 99 - (select count(*)::int from lanefold._entry where thread_id = $1 and context_ref = 'scattered')) n
     where id = $1`,
    [thread, text400],
  );
  // the head of the default lane is the hundred messages after the anchor
  await pool.query(
    'update lanefold.thread set rev = (select max(seq) + 1 from lanefold._entry where thread_id = $1) where id = $1',
    [thread],
  );
  await pool.query(
    'insert into lanefold._lane (thread_id, context_ref) select $1, context_ref from lanefold.lanes_from_log($1)',
    [thread],
  );
}
