import { createHash } from 'node:crypto';

/** The queue of a thread: its runs share one, so a Redis Cluster spreads by thread. */
export function shardOf(threadId: string, shards: number): number {
  if (shards <= 1) return 0;
  return createHash('md5').update(threadId).digest().readUInt32BE(0) % shards;
}
