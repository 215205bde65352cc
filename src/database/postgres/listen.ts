import pg from 'pg';
import { connectionTimeoutMillis } from './pool.ts';
import { silenceMs, watchedClient } from './watched-client.ts';
import { after, type Timer } from '../../base/common/timer.ts';

export interface Listener {
  close(): Promise<void>;
}

/** Handles a notification; the payload is `undefined` if notifications may have been missed. */
export type OnWake = (payload: string | undefined) => void;

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Listens on channels, all over one connection. Each notification calls the function of its channel; every (re)connect
 * calls all of them, because notifications may have been missed. Notifications are only a wake-up, so listeners must
 * also poll. A connection silent for `limitMs` is replaced. `url` must not be a transaction pooler, because LISTEN
 * needs a session.
 */
export function listen(url: string, channels: Record<string, OnWake>, limitMs = silenceMs): Listener {
  const Client = watchedClient(limitMs);
  let client: InstanceType<typeof Client> | undefined;
  let timer: Timer | undefined;
  let closed = false;
  let pauseMs = firstPauseMs;

  const connect = async () => {
    const settings = { connectionString: url, keepAlive: true, connectionTimeoutMillis, query_timeout: limitMs };
    const own = new Client({ ...settings, application_name: 'lanefold listen' });
    client = own;
    const onLost = () => {
      if (client !== own || closed) return;
      client = undefined;
      own.end().catch(() => {});
      timer = after(pauseMs, () => void connect(), { ref: false });
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    };
    own.on('error', onLost).on('end', onLost);
    own.on('notification', (notice) => channels[notice.channel]?.(notice.payload));
    try {
      await own.connect();
      for (const channel of Object.keys(channels)) await own.query(`listen ${pg.escapeIdentifier(channel)}`);
      pauseMs = firstPauseMs;
      for (const onWake of Object.values(channels)) onWake(undefined);
    } catch {
      onLost();
    }
  };
  const connecting = connect();

  return {
    async close() {
      closed = true;
      timer?.cancel();
      await connecting;
      await client?.end().catch(() => {});
    },
  };
}
