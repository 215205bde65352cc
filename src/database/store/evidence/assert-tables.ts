import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { readOnce } from './read-log.ts';

/** The columns that are verified, with their PostgreSQL types; `required` ones are never null. */
const columns = {
  _entry: {
    required: {
      seq: 'bigint',
      thread_id: 'text',
      tenant_id: 'text',
      at: 'timestamp with time zone',
      kind: 'text',
      is_anchor: 'boolean',
      payload: 'jsonb',
    },
    optional: {
      context_ref: 'text',
      role: 'text',
      op_id: 'text',
      run_id: 'text',
      request_id: 'text',
      refs: 'jsonb',
      hash: 'bytea',
    },
  },
  thread: {
    required: { id: 'text', tenant_id: 'text', rev: 'bigint', chained: 'boolean' },
    optional: { erased_at: 'timestamp with time zone' },
  },
  content: {
    required: { thread_id: 'text', id: 'text', chars: 'integer', bytes: 'integer' },
    optional: { home_thread_id: 'text', text: 'text' },
  },
};

/**
 * Checks that the tables to verify are the tables of the log. A view in their place, an inherited table, another policy
 * or a second row with the same key could show this session other rows than it shows the others.
 *
 * @throws LanefoldError `log_replaced`
 */
export async function assertTables(db: Database): Promise<void> {
  const rows = await readOnce<{ table: string; column: string; type: string; required: string; plain: string }>(
    db,
    `select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type, a.attnotnull as required,
         c.relkind = 'r' and not exists (select from pg_inherits i where i.inhparent = c.oid)
           and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname <> 'tenant')
           and exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary and i.indisvalid) as plain
       from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
       where n.nspname = 'lanefold' and c.relname = any ($1) and a.attnum > 0 and not a.attisdropped`,
    [Object.keys(columns)],
  );
  const plain = rows.filter((row) => row.plain === 't');
  const found = new Set(plain.map(({ table, column, type, required }) => `${table}.${column} ${type} ${required}`));
  for (const [table, { required, optional }] of Object.entries(columns)) {
    const has = (types: object, never: 't' | 'f') =>
      Object.entries(types).every(([column, type]) => found.has(`${table}.${column} ${type} ${never}`));
    if (has(required, 't') && has(optional, 'f')) continue;
    throw new LanefoldError(
      'log_replaced',
      `lanefold.${table} is not the table that Lanefold created; nothing was verified.`,
      {
        hint: 'Treat this as an attack: such a table can show each session different rows. Verify a backup on a server you control.',
        details: { table: `lanefold.${table}` },
      },
    );
  }
}
