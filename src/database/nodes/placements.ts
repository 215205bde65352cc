/** Where threads are, and how statements name them. */
export interface Placements {
  /** In the order of their hashes. */
  shards: readonly Shard[];
  /** Tables with threads, and views of them. */
  relations: ReadonlySet<string>;
  /** Functions that the node of their first argument, a thread, executes. */
  functions: ReadonlySet<string>;
  /** Functions that need every node: they write what all nodes have a copy of, or read several threads. */
  everywhere: ReadonlySet<string>;
}

/** The threads whose ids have a hash up to this one, and above that of the shard before. */
export interface Shard {
  upTo: number;
  host: string;
  port: number;
}

export const nameOf = ({ host, port }: Pick<Shard, 'host' | 'port'>): string => `${host}:${port}`;

/** The shard of a hash; undefined if there are no shards. */
export function shardAt(shards: readonly Shard[], hash: number): Shard | undefined {
  let low = 0;
  let high = shards.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hash <= shards[middle]!.upTo) high = middle;
    else low = middle + 1;
  }
  return shards[low];
}
