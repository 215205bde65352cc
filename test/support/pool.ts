import pg from 'pg';
import { QuietClient } from '../../src/database/postgres/watched-client.ts';

/**
 * A pool whose connections a server may end at any time. `end` resolves before the server has read the farewell, so even
 * a pool that has ended may still be told that its database is dropped, which ends the process if nobody listens.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ Client: QuietClient, ...config });
  pool.on('error', () => {});
  return pool;
}
