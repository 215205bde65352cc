import type pg from 'pg';
import { QuietClient } from '../../postgres/quiet-client.ts';

/** Connects for the time of `work`. */
export async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new QuietClient({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
