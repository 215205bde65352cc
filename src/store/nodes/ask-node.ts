import { QuietClient } from '../../postgres/quiet-client.ts';

/** How long the coordinator may take to connect to a node, in ms, and how long its answer may take. */
const connectMs = 2_500;
const answerMs = 3_500;

/**
 * Whether a node executes statements; undefined if the coordinator does not answer. Asks in a session that ends with the
 * question: the coordinator's sessions keep their connections to nodes, and one that waits for a frozen node cannot be
 * cancelled.
 */
export async function askNode(
  url: string,
  { host, port }: { host: string; port: number },
): Promise<boolean | undefined> {
  const client = new QuietClient({
    ...{ connectionString: url, application_name: 'lanefold nodes' },
    ...{ connectionTimeoutMillis: answerMs, query_timeout: answerMs },
  });
  let asked = false;
  try {
    await client.connect();
    await client.query(`begin; set local citus.node_connection_timeout = ${connectMs}`);
    asked = true;
    const { rows } = await client.query<{ success: boolean }>(
      "select success from master_run_on_worker(array[$1::text], array[$2::int], array['select 1'], false)",
      [host, port],
    );
    return rows[0]?.success;
  } catch (error) {
    return asked && /Query read timeout/.test((error as Error).message) ? false : undefined;
  } finally {
    void client.end().catch(() => {});
  }
}
