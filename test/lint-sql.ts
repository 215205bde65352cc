import { access, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { binaryCandidates } from '../src/database/postgres/embedded/binaries.ts';
import { startEmbeddedPostgres } from '../src/database/postgres/embedded/index.ts';
import { migrate } from '../src/database/store/schema/migrate.ts';

// Checks every plpgsql function with plpgsql_check: names, types, dead code, volatility. Bodies are otherwise checked only
// when they first run. Part of `npm run check` where a PostgreSQL with the extension is installed.

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** The folder of the first PostgreSQL here that has the extension; no server is started to find out. */
async function findBinDir(): Promise<string | undefined> {
  for await (const candidate of binaryCandidates()) {
    if (!(await isThere(path.join(candidate, 'initdb')))) continue;
    const prefix = path.dirname(await realpath(candidate));
    const shares = [prefix.replace('/lib/postgresql/', '/share/postgresql/'), `${prefix}/share`];
    for (const share of [...shares, `${prefix}/share/postgresql`]) {
      if (await isThere(path.join(share, 'extension/plpgsql_check.control'))) return candidate;
    }
  }
  return undefined;
}

interface Finding {
  function: string;
  lineno: number | null;
  level: string;
  message: string;
  detail: string | null;
}

async function check(url: string): Promise<Finding[]> {
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('create extension plpgsql_check');
    // A trigger function is checked against its table. What only raises must not be taken for a constant, whatever is faster.
    const { rows } = await client.query<Finding>(
      `select p.oid::regprocedure::text as function, c.lineno, c.level, c.message, c.detail
       from pg_proc p
       join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
       left join lateral (select tgrelid from pg_trigger where tgfoid = p.oid limit 1) t on true
       cross join lateral plpgsql_check_function_tb(p.oid, coalesce(t.tgrelid, 0), extra_warnings => true,
         performance_warnings => true, security_warnings => true) c
       where p.pronamespace = 'lanefold'::regnamespace
         and not (p.proname = '_fail' and c.level = 'performance')
         -- it quotes the name, and has the types from the catalog
         and not (p.proname = '_for_tenant' and c.level = 'security')
         -- what locks rows must be volatile
         and not (p.proname = '_hold_rows' and c.message like '%should be STABLE')
         -- several OUT arguments may be rows
         and c.message not like 'composite OUT variable%'
       order by 1, 2`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

const binDir = await findBinDir();
if (binDir === undefined) {
  console.log('SQL not linted: no PostgreSQL with plpgsql_check here (Debian: postgresql-15-plpgsql-check).');
} else {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-lint-'));
  const postgres = await startEmbeddedPostgres({ dir, binDir, settings: { fsync: 'off' } });
  try {
    const findings = await check(postgres.url);
    for (const { function: name, lineno, level, message, detail } of findings)
      console.error(`${name}:${lineno ?? 0}: ${level}: ${message}${detail ? ` (${detail})` : ''}`);
    if (findings.length > 0) process.exitCode = 1;
  } finally {
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
}
