import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { format, resolveConfig } from 'prettier';
import { startEmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';

/** Where the store finds the functions of the database. Written by `npm run types:db`. */
export const functionsFile = path.resolve('src/database/store/functions.ts');

interface Described {
  name: string;
  /** Names and types of the arguments, then those of the columns it returns, if it returns a table. */
  names: string[];
  types: string[];
  modes: string[] | null;
  returns: string;
  set: boolean;
}

/** The functions that a process may call, which are those without an underscore. SQL that reads the rows of a table calls the others. */
const described = `
  select p.proname::text as name, coalesce(p.proargnames, '{}')::text[] as names,
    array(select format_type(t, null) from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as a (t, n) order by n) as types,
    p.proargmodes::text[] as modes, format_type(p.prorettype, null) as returns, p.proretset as set
  from pg_proc p
  where p.pronamespace = 'lanefold'::regnamespace and p.prokind = 'f' and p.proname !~ '^_' and p.prorettype <> 'trigger'::regtype
    and not exists (select from pg_type t where t.oid = p.prorettype and t.typtype = 'c')
  order by p.proname collate "C"`;

const moment = 'timestamp with time zone';

const given: Record<string, string> = {
  bigint: 'number | string',
  [moment]: 'Date | string',
  jsonb: 'object | string',
  bytea: 'Buffer',
};

const answered: Record<string, string> = {
  bigint: 'number',
  [moment]: 'Date',
  bytea: 'Buffer',
  void: 'void',
};

const plain: Record<string, string> = {
  text: 'string',
  smallint: 'number',
  integer: 'number',
  'double precision': 'number',
  boolean: 'boolean',
};

const typeOf = (sql: string, known: Record<string, string>): string =>
  sql.endsWith('[]') ? `readonly (${typeOf(sql.slice(0, -2), known)})[]` : (known[sql] ?? plain[sql] ?? 'unknown');

/** The name of an argument without its prefix, as TypeScript writes it. */
const camel = (name: string): string =>
  name.replace(/^p_/, '').replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A value as `pg` is to read it: a bigint as a number, and a moment as text, with its microseconds. */
const read = (value: string, type: string): string =>
  type === 'bigint' ? `${value}::float8` : type === moment ? `to_jsonb(${value})` : value;

/** The source of `functionsFile`, from the catalog of a migrated database. */
export async function databaseFunctions(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Described>(described).finally(() => client.end());
  const names = new Set<string>();
  for (const { name } of rows) {
    if (names.has(name)) throw new Error(`lanefold.${name} has two signatures: a caller could not say which it means`);
    names.add(name);
  }
  const source = [
    header,
    'export interface DatabaseFunctions {',
    ...rows.map((fn) => `${fn.name}: { takes: ${takes(fn)}; returns: ${returns(fn)} };`),
    '}',
    '/** The arguments of each function in their order, and the statement that calls it. */',
    'export const databaseFunctions = {',
    ...rows.map(
      (fn) =>
        `${fn.name}: { takes: ${JSON.stringify(inputs(fn).map(({ name }) => camel(name)))}, text: \`${text(fn)}\`, returns: '${isTable(fn) ? 'rows' : 'value'}' },`,
    ),
    '} as const satisfies Record<keyof DatabaseFunctions, { takes: readonly string[]; text: string; returns: "rows" | "value" }>;',
  ].join('\n');
  return format(source, { ...(await resolveConfig(functionsFile)), filepath: functionsFile });
}

const header = `// Generated from the catalog of the database: run \`npm run types:db\`.

/** What each function of the database takes and returns; any argument may be null. */`;

const parts = ({ names, types, modes }: Described, wanted: string) =>
  types.flatMap((type, i) => ((modes?.[i] ?? 'i') === wanted ? [{ name: names[i]!, type }] : []));
const inputs = (fn: Described) => parts(fn, 'i');
const columns = (fn: Described) => parts(fn, 't');
const isTable = (fn: Described): boolean => columns(fn).length > 0 || fn.set;

const takes = (fn: Described): string =>
  inputs(fn).length === 0
    ? 'Record<never, never>'
    : `{ ${inputs(fn)
        .map(({ name, type }) => `${camel(name)}: ${typeOf(type, given)} | null`)
        .join('; ')} }`;

function returns(fn: Described): string {
  const found = columns(fn);
  if (found.length > 0) return `{ ${found.map(({ name, type }) => `${name}: ${typeOf(type, answered)}`).join('; ')} }`;
  const value = fn.returns === moment ? 'string' : typeOf(fn.returns, answered);
  return isTable(fn) ? `{ result: ${value} }` : value;
}

/**
 * A distributed database sends a call to the node of its thread only if the call is all that the statement selects; all
 * other functions are executed where they are called.
 */
function text(fn: Described): string {
  const call = `lanefold.${fn.name}(${inputs(fn)
    .map((_, i) => `$${i + 1}`)
    .join(', ')})`;
  const found = columns(fn);
  if (found.length > 0)
    return `select ${found.map(({ name, type }) => (type === 'bigint' ? `${read(name, type)} as ${name}` : name)).join(', ')} from ${call}`;
  if (fn.returns === 'void' && inputs(fn)[0]?.name !== 'p_thread_id') return `select from ${call}`;
  if (inputs(fn)[0]?.name === 'p_thread_id' && !fn.set) return `select ${read(call, fn.returns)} as result`;
  return `select ${read('r.result', fn.returns)} as result from ${call} as r (result)`;
}

if (process.argv[1] === import.meta.filename) {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lanefold-functions-'));
  const server = await startEmbeddedPostgres({ dir });
  try {
    await migrate(server.url);
    await writeFile(functionsFile, await databaseFunctions(server.url));
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
}
