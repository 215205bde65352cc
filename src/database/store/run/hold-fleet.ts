import type pg from 'pg';
import { connectionTimeoutMillis } from '../../postgres/pool.ts';
import { QuietClient } from '../../postgres/watched-client.ts';
import { after, type Timer } from '../../../base/common/timer.ts';

/** `LFPF`, the first key of the session locks by which a process shows that it is alive. */
export const lockClass = 0x4c465046;
const againMs = 500;
/** How long an attempt to take a lost lock again may take: a server or proxy may accept a connection and stay silent. */
const reconnectMs = 4_000;

export interface HeldFleet {
  release(): Promise<void>;
}

/** Holds a lock on a dedicated connection for as long as the only process of a fleet lives, to show that it does. */
export async function holdFleet(url: string, prefix: string): Promise<HeldFleet> {
  let client: pg.Client;
  let released = false;
  let timer: Timer | undefined;
  const hold = async (connectMs: number) => {
    const own = new QuietClient({
      connectionString: url,
      application_name: 'lanefold fleet',
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
    });
    client = own;
    await own.connect();
    await own.query('select pg_advisory_lock($1, hashtext($2))', [lockClass, prefix]);
    own.once('end', again);
  };
  const again = () => {
    if (released) return;
    timer = after(againMs, () => void hold(reconnectMs).catch(again), { ref: false });
  };
  await hold(connectionTimeoutMillis);
  return {
    async release() {
      released = true;
      timer?.cancel();
      await client.end().catch(() => {});
    },
  };
}
