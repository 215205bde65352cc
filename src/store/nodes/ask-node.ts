import type { NodeAnswer } from '../../nodes/watched-node.ts';
import { QuietClient } from '../../postgres/quiet-client.ts';
import { every } from '../../common/timer.ts';

/** How long the coordinator may take to connect to a node, in ms, and how long its answer may take. */
const connectMs = 7_000;
const answerMs = 8_000;
/** After a pause of this process, an answer may have come that it has not read. */
const busyMs = 500;

/**
 * Whether a node executes statements, refuses connections or says nothing; undefined if the coordinator does not answer,
 * or if this process was too busy to tell. Asks in a session that ends with the question: the coordinator's sessions keep
 * their connections to nodes, and one that waits for a frozen node cannot be cancelled.
 */
export async function askNode(
  url: string,
  { host, port }: { host: string; port: number },
): Promise<NodeAnswer | undefined> {
  const client = new QuietClient({
    ...{ connectionString: url, application_name: 'lanefold nodes' },
    ...{ connectionTimeoutMillis: answerMs, query_timeout: answerMs },
  });
  let askedAt: number | undefined;
  const pauses = watchPauses();
  try {
    await client.connect();
    await client.query(`begin; set local citus.node_connection_timeout = ${connectMs}`);
    askedAt = performance.now();
    const { rows } = await client.query<{ success: boolean }>(
      "select success from master_run_on_worker(array[$1::text], array[$2::int], array['select 1'], false)",
      [host, port],
    );
    if (rows[0]?.success) return 'answers';
    // Citus does not say why it could not connect
    if (performance.now() - askedAt < connectMs) return 'refuses';
    return pauses.longest() > busyMs ? undefined : 'silent';
  } catch (error) {
    const isLate = askedAt !== undefined && /Query read timeout/.test((error as Error).message);
    return isLate && pauses.longest() <= busyMs ? 'silent' : undefined;
  } finally {
    pauses.stop();
    void client.end().catch(() => {});
  }
}

/** Measures how long this process does not get to its timers. */
function watchPauses(): { longest: () => number; stop: () => void } {
  let last = performance.now();
  let longest = 0;
  const look = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = every(busyMs / 5, look, { ref: false });
  return {
    longest: () => {
      look();
      return longest;
    },
    stop: () => timer.cancel(),
  };
}
