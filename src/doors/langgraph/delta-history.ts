import type { DeltaChannelHistory, SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { Database } from '../../database/postgres/pool.ts';
import { readAncestors } from '../../database/store/history/read-appended.ts';
import { unreadable } from '../../database/store/history/unreadable.ts';
import { findCheckpoint } from './find-checkpoint.ts';
import { checkpointsOf } from './keys.ts';
import { readCheckpoints, type FoundCheckpoint } from './read-checkpoints.ts';
import { loadValue } from './read-values.ts';
import { loadWrites } from './writes.ts';

/** How many ancestors are read at once. */
const pageSize = 64;

/**
 * The writes to channels that their value grew from: from the nearest ancestor that has a value, which is the `seed`,
 * or from the first checkpoint.
 */
export async function deltaHistory(
  serde: SerializerProtocol,
  db: Database,
  { threadId, ns, id, channels }: { threadId: string; ns: string; id: string | undefined; channels: string[] },
): Promise<Record<string, DeltaChannelHistory>> {
  /** By channel, from the newest checkpoint back. */
  const found = new Map<string, DeltaChannelHistory['writes'][]>(channels.map((channel) => [channel, []]));
  const seeds = new Map<string, unknown>();
  const open = new Set(channels);
  const of = open.size > 0 ? await findCheckpoint(db, threadId, ns, id) : undefined;
  for await (const ancestor of ancestorsOf(db, threadId, ns, of?.payload.parent)) {
    for (const channel of open) {
      const own = ancestor.writes.filter((write) => write.channel === channel);
      found.get(channel)!.push(await loadWrites(serde, own, ancestor.texts));
      const value = ancestor.values.get(channel);
      if (!value) continue;
      seeds.set(channel, await loadValue(serde, value.located, ancestor.texts));
      open.delete(channel);
    }
    if (open.size === 0) break;
  }
  return Object.fromEntries(
    [...found].map(([channel, writes]): [string, DeltaChannelHistory] => [
      channel,
      { writes: writes.reverse().flat(), ...(seeds.has(channel) ? { seed: seeds.get(channel) } : {}) },
    ]),
  );
}

async function* ancestorsOf(
  db: Database,
  threadId: string,
  ns: string,
  parent: string | undefined,
): AsyncGenerator<FoundCheckpoint> {
  const seen = new Set<number>();
  for (let first = parent; first !== undefined;) {
    const entries = await readAncestors(db, threadId, { prefix: checkpointsOf(ns).from, first, limit: pageSize });
    for (const { seq } of entries) {
      // one that is its own ancestor has no first one
      if (seen.has(seq)) throw unreadable(`The checkpoint in entry ${seq}`);
      seen.add(seq);
    }
    const page = await readCheckpoints(db, threadId, ns, entries);
    yield* page;
    first = page.length < pageSize ? undefined : page.at(-1)!.payload.parent;
  }
}
