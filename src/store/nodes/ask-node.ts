import type { NodeAnswer } from '../../nodes/watched-node.ts';
import { QuietClient } from '../../postgres/quiet-client.ts';

/** How long the coordinator may take to connect to a node, in ms, and how long its answer may take. */
const connectMs = 2_500;
const answerMs = 3_500;

/**
 * Whether a node executes statements, refuses connections or says nothing; undefined if the coordinator does not answer. Asks in a session that ends with the
 * question: the coordinator's sessions keep their connections to nodes, and one that waits for a frozen node cannot be
 * cancelled.
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
    return performance.now() - askedAt < connectMs ? 'refuses' : 'silent';
  } catch (error) {
    return askedAt && /Query read timeout/.test((error as Error).message) ? 'silent' : undefined;
  } finally {
    void client.end().catch(() => {});
  }
}
