import pg from 'pg';

/** Sets limits of the operator, as `set_limit` takes them. */
export async function setLimits(databaseUrl: string, limits: Record<string, object>): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  for (const [name, limit] of Object.entries(limits))
    await client.query("select lanefold.set_limit('*', $1, $2)", [name, { scope: {}, by: 'bench', ...limit }]);
  await client.end();
}
