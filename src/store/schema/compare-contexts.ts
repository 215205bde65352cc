import type pg from 'pg';
import { LanefoldError } from '../../errors.ts';

/** Stays on the coordinator until all is distributed: another process may continue an interrupted distribution. */
const remembered = 'lanefold._context_before';

/** One short row for each lane, computed by the database, so that this process holds no contexts. */
const hashes = `
  select thread_id, context_ref, sha256(string_agg(sha256(convert_to(jsonb_build_array(ordinal, anchor_seq, seq, role, content,
    tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata, run_id, request_id, refs)::text, 'UTF8')),
    ''::bytea order by ordinal)) as hash
  from lanefold.lane_context group by thread_id, context_ref`;

/** Stores a hash of the context of every lane, before threads move. */
export async function rememberContexts(client: pg.Client): Promise<void> {
  await client.query(`drop table if exists ${remembered}`);
  await client.query(`create table ${remembered} as ${hashes}`);
}

/** Whether a distribution has begun and not finished. */
export async function isRemembered(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select from pg_class where oid = to_regclass($1)', [remembered]);
  return rows.length > 0;
}

/**
 * Compares the contexts with the stored hashes, if there are any.
 *
 * @throws LanefoldError `database_error`
 */
export async function compareContexts(client: pg.Client): Promise<void> {
  if (!(await isRemembered(client))) return;
  await client.query('drop table if exists pg_temp.context_after');
  await client.query(`create temporary table context_after as ${hashes}`);
  const { rows } = await client.query<{ thread: string; lane: string }>(
    `select coalesce(b.thread_id, a.thread_id) as thread, coalesce(b.context_ref, a.context_ref) as lane
     from ${remembered} b full join context_after a on a.thread_id = b.thread_id and a.context_ref = b.context_ref
     where a.hash is distinct from b.hash limit 1`,
  );
  const [differs] = rows;
  if (differs) {
    throw new LanefoldError(
      'database_error',
      `The context of lane ${differs.lane} of thread ${differs.thread} changed during the distribution.`,
      {
        hint: `Unless a process wrote to the database meanwhile, the distribution changed rows: start no process, restore the backup, and please report this. ${remembered} has the earlier hash of every context.`,
        details: differs,
      },
    );
  }
  await client.query(`drop table ${remembered}, pg_temp.context_after`);
}
