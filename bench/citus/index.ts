import type { Servers } from '../setup.ts';
import { besidePlain } from './beside-plain.ts';
import { byNodes } from './by-nodes.ts';
import { latency } from './latency.ts';
import { moving } from './moving.ts';
import { stopNodes } from './nodes.ts';

const parts = { latency, moving, 'beside-plain': besidePlain, 'by-nodes': byNodes };

/**
 * A distributed database: the cost of the coordinator, the gain from nodes, and how long writes wait for moving shards.
 */
export async function citus(servers: Servers, part: string | undefined): Promise<void> {
  if (!servers.redisUrl) throw new Error('This benchmark keeps its queue in Redis: put redis-server on the PATH.');
  if (part !== undefined && !(part in parts))
    throw new Error(`Part "${part}" does not exist; choose one of ${Object.keys(parts).join(', ')}.`);
  try {
    for (const [name, measure] of Object.entries(parts))
      if (part === undefined || part === name) await measure(servers);
  } finally {
    await stopNodes();
  }
}
