import type pg from 'pg';
import type { Lanefold } from 'lanefold';

export async function linesOf(threads: Pick<Lanefold['threads'], 'export'>, id: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of threads.export(id)) lines.push(line);
  return lines;
}

/** The contexts of all lanes of a thread after each entry below `rev`, without the id of the thread. */
export async function contextsOf(pool: Pick<pg.Pool, 'query'>, id: string, rev: number): Promise<unknown[]> {
  const { rows } = await pool.query<{ row: unknown }>(
    `select jsonb_build_array(l.context_ref, s.seq, to_jsonb(c) - 'thread_id') as row
     from generate_series(-1, $2::bigint - 1) as s (seq)
     cross join (select distinct context_ref from lanefold.thread_entry where thread_id = $1 and seq < $2 and context_ref is not null) l
     cross join lateral lanefold.lane_context_at($1, l.context_ref, s.seq) c
     order by l.context_ref, s.seq, c.ordinal`,
    [id, rev],
  );
  return rows.map(({ row }) => row);
}

/** Everything of the thread that its entries decide, without its id. */
export async function factsOf(pool: Pick<pg.Pool, 'query'>, id: string, rev: number): Promise<unknown> {
  const { rows } = await pool.query<{ facts: unknown }>(
    `select jsonb_build_object(
       'entries', (select jsonb_agg(to_jsonb(e) - 'thread_id' order by seq) from lanefold.thread_entry e where thread_id = $1 and seq < $2),
       'lanes', (select jsonb_agg(to_jsonb(l) - 'thread_id' order by context_ref) from lanefold.lanes_from_log($1) l),
       'branches', (select jsonb_agg(to_jsonb(l) - 'thread_id' order by context_ref) from lanefold.lane_tree l where thread_id = $1),
       'tree', (select jsonb_agg(to_jsonb(m) - 'thread_id' order by seq) from lanefold.message_tree m where thread_id = $1 and seq < $2),
       'contents', (select jsonb_object_agg(c.id, lanefold.read_content($1, c.id) ->> 'text') from lanefold.content c where thread_id = $1),
       'state', t.state, 'active', t.active_context_ref, 'configured', t.configured, 'metadata', t.metadata) as facts
     from lanefold.thread t where id = $1`,
    [id, rev],
  );
  return rows[0]!.facts;
}
