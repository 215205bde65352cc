import pg from 'pg';
import type { TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

/** A row of the view `limit_usage`. */
export interface Usage {
  name: string;
  key: string | null;
  amount: number;
  used: number;
  reserved: number;
  waiting: number;
  total: number;
}

/** A session of SQL on the limits of a database. */
export async function sqlOf({ databaseUrl }: Pick<TestLanefold, 'databaseUrl'>) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const rows = async <Row>(text: string, values: unknown[] = []) => (await client.query(text, values)).rows as Row[];
  return {
    rows,
    setLimit: (name: string, limit: object, owner = '*') =>
      rows('select lanefold.set_limit($1, $2, $3)', [owner, name, { scope: {}, by: 'test', ...limit }]),
    usage: (name: string): Promise<Usage[]> =>
      rows(
        `select name, key, amount::float8, used::float8, reserved::float8, waiting, total::float8
         from lanefold.limit_usage where name = $1 order by key`,
        [name],
      ),
    /** Resolves once every account of a run is closed. */
    settled: () =>
      until('all accounts are closed', async () => (await rows('select from lanefold._limit_account')).length === 0),
    close: () => client.end(),
  };
}
