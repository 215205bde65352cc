import pg from 'pg';

export interface Listener {
  close(): Promise<void>;
}

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Calls `onWake` for each notification of a channel, and after each lost connection, when some may have been missed.
 * A wake-up only: whoever listens polls as well. Needs a session, so `url` must not be a transaction pooler.
 */
export function listen(url: string, channel: string, onWake: (payload: string | undefined) => void): Listener {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let pauseMs = firstPauseMs;

  const connect = async () => {
    const own = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'lanefold listen' });
    client = own;
    const onLost = () => {
      if (client !== own || closed) return;
      client = undefined;
      own.end().catch(() => {});
      timer = setTimeout(() => void connect(), pauseMs).unref();
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    };
    own.on('error', onLost).on('end', onLost);
    own.on('notification', (notice) => onWake(notice.payload));
    try {
      await own.connect();
      await own.query(`listen ${pg.escapeIdentifier(channel)}`);
      pauseMs = firstPauseMs;
      onWake(undefined);
    } catch {
      onLost();
    }
  };
  const connecting = connect();

  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await connecting;
      await client?.end().catch(() => {});
    },
  };
}
